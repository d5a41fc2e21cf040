/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "build/image.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/cleanup.h"
#include "index/block_sums.h"
#include "os/whole.h"

int64_t image_append(struct image *image, enum layout_section_id section,
		     const void *bytes, size_t size)
{
	int64_t at = (int64_t)image->sections[section].count;

	if (vec_reserve(&image->sections[section], size) < 0)
		return -ENOMEM;
	if (size)
		memcpy(image->sections[section].items + at, bytes, size);
	image->sections[section].count += size;
	return at;
}

uint32_t image_nodes(const struct image *image)
{
	return (uint32_t)(image->sections[SECTION_NODES].count / sizeof(struct layout_node));
}

int image_set_sums(struct image *image, const uint64_t *sums,
		   const struct block_sums *blocks)
{
	image->sections[SECTION_SUMS].count = 0;
	image->sections[SECTION_BLOCKS].count = 0;
	if (image_append(image, SECTION_SUMS, sums,
			 image_nodes(image) * sizeof(*sums)) < 0 ||
	    (blocks && image_append(image, SECTION_BLOCKS, blocks->items,
				    blocks->count * sizeof(*blocks->items)) < 0))
		return -ENOMEM;
	return 0;
}

int image_add_identity(struct image *image, const struct identity *identity)
{
	const struct layout_identity out = { identity->number, identity->samples };

	return image_append(image, SECTION_IDENTITIES, &out, sizeof(out)) < 0 ? -ENOMEM : 0;
}

static uint64_t aligned(uint64_t offset)
{
	return (offset + LAYOUT_ALIGNMENT - 1) & ~(uint64_t)(LAYOUT_ALIGNMENT - 1);
}

struct image_head {
	struct layout_header header;
	struct layout_section table[SECTION_COUNT];
};

/* Empty optional sections are left out, so that older versions can read the index. */
static uint32_t section_count(const struct image *image)
{
	uint32_t count = SECTION_COUNT;

	while (count > SECTION_COUNT_LEAST && image->sections[count - 1].count == 0)
		count--;
	return count;
}

/* Returns the size of the header. */
static size_t fill_head(const struct image *image, struct image_head *head)
{
	uint32_t count = section_count(image);
	size_t size = sizeof(head->header) + count * sizeof(*head->table);
	uint64_t offset = aligned(size);

	*head = (struct image_head){ .header = { .version = LAYOUT_VERSION,
					   .byte_order = LAYOUT_BYTE_ORDER,
					   .section_count = count } };
	memcpy(head->header.magic, LAYOUT_MAGIC, sizeof(head->header.magic));
	for (uint32_t i = 0; i < count; i++) {
		uint64_t length = image->sections[i].count;

		head->table[i] = (struct layout_section){
			.id = i, .item_size = layout_types[i].item_size,
			.offset = offset, .length = length,
			.checksum = XXH3_64bits(image->sections[i].items, length) };
		offset = aligned(offset + length);
	}
	head->header.file_size = offset;
	head->header.checksum = XXH3_64bits(head, size);
	return size;
}

static int write_padded(int fd, const void *bytes, size_t size)
{
	static const uint8_t zeros[LAYOUT_ALIGNMENT];
	int err = write_whole(fd, bytes, size);

	return err ? err : write_whole(fd, zeros, aligned(size) - size);
}

/* `freed`: NULL, or the image, of which each section is freed once it is written. */
static int write_sections(const struct image *image, struct image *freed, int fd)
{
	struct image_head head;
	size_t size = fill_head(image, &head);
	int err = write_padded(fd, &head, size);

	for (uint32_t i = 0; i < head.header.section_count && !err; i++) {
		err = write_padded(fd, image->sections[i].items, image->sections[i].count);
		if (freed)
			vec_free(&freed->sections[i]);
	}
	return err;
}

static int explain_write(int err, const char *label, struct error *e)
{
	if (err)
		return error_set(e, ERROR_SYSTEM, -err,
				 "%s: the index cannot be written: %s", label,
				 strerror(-err));
	return 0;
}

int image_write(const struct image *image, int fd, const char *label, struct error *e)
{
	return explain_write(write_sections(image, NULL, fd), label, e);
}

int image_move(struct image *image, int fd, const char *label, struct error *e)
{
	return explain_write(write_sections(image, image, fd), label, e);
}

/* No wider than the packed files and the umask: names may be secret. */
static int set_access(const struct place *place, int fd, const struct image_access *access)
{
	mode_t mask = umask(0), mode = access->mode & 0666;

	umask(mask);
	/* root may change the owner; others only the group */
	if (place_set_owner(place, fd, access->uid, access->gid) < 0 &&
	    place_set_owner(place, fd, (uid_t)-1, access->gid) < 0)
		mode &= ~(mode_t)060; /* the file has another group */
	return place_set_mode(place, fd, (mode & ~mask) | S_IRUSR);
}

static int image_finish_file(const struct place *place, int fd, const char *temporary,
			     const struct image_access *access)
{
	int err = set_access(place, fd, access);

	if (!err && fsync(fd) < 0)
		err = -errno;
	return err ? err : place_rename(place, temporary, "");
}

static int publish(const struct image *image, const struct place *place,
		   const struct image_access *access, struct error *e)
{
	char temporary[PLACE_TEMPORARY_BYTES];
	CLEANUP(cleanup_close) int fd = place_create_temporary(place, temporary);
	int err;

	if (fd < 0)
		return error_set(e, ERROR_SYSTEM, -fd, "%s: cannot be created: %s",
				 place_path(place), strerror(-fd));
	err = image_write(image, fd, place_path(place), e);
	if (!err) {
		err = image_finish_file(place, fd, temporary, access);
		if (err)
			error_set(e, ERROR_SYSTEM, -err, "%s: %s", place_path(place),
				  strerror(-err));
	}
	if (err)
		place_unlink(place, temporary);
	return err;
}

static bool is_index(const struct place *place)
{
	char magic[sizeof(((struct layout_header *)0)->magic)];
	CLEANUP(cleanup_close) int fd = place_read(place, "");

	return fd >= 0 && read(fd, magic, sizeof(magic)) == sizeof(magic) &&
	       memcmp(magic, LAYOUT_MAGIC, sizeof(magic)) == 0;
}

int image_may_replace(const struct place *place, struct error *e)
{
	struct stat st;

	if (place_stat(place, "", &st) < 0)
		return 0; /* free, or writing will fail with the reason */
	if (S_ISREG(st.st_mode) && (st.st_size == 0 || is_index(place)))
		return 0;
	return error_set(e, ERROR_SYSTEM, EEXIST,
			 "%s: there is something else of that name, which is no index and "
			 "is not replaced; name another place", place_path(place));
}

int image_publish(const struct image *image, const struct place *place,
		  const struct image_access *access, struct error *e)
{
	sigset_t termination, before;
	int err;

	sigemptyset(&termination);
	sigaddset(&termination, SIGINT);
	sigaddset(&termination, SIGTERM);
	sigaddset(&termination, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &termination, &before);
	err = publish(image, place, access, e);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

void image_free(struct image *image)
{
	for (int i = 0; i < SECTION_COUNT; i++)
		vec_free(&image->sections[i]);
}
