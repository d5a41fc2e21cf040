#include "tree/index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "tree/array.h"
#include "tree/check.h"
#include "tree/image.h"
#include "tree/view.h"
#include "util/checked.h"
#include "util/cleanup.h"

struct index {
	struct tree tree;
	int fd;
	void *map;
	size_t size;
	uid_t owner;
	uint32_t section_count; /* in the table; optional ones may be missing */
	struct layout_section table[SECTION_COUNT];
};

static int bad(struct error *e, const char *why)
{
	return error_set(e, ERROR_DATASET, EBADMSG, "%s", why);
}

/* The header by itself: is this a file that we can read at all? */
static int check_header(const struct layout_header *header, uint64_t size,
			struct error *e)
{
	if (memcmp(header->magic, LAYOUT_MAGIC, sizeof(header->magic)) != 0)
		return bad(e, "it is no index of granaryfs");
	if (header->byte_order != LAYOUT_BYTE_ORDER)
		return bad(e, "it was made on a machine of another byte order");
	if (header->version != LAYOUT_VERSION)
		return bad(e, "it was made by another version of granaryfs");
	if (header->file_size != size)
		return bad(e, "it is cut off, or has grown");
	if (header->section_count < SECTION_COUNT_LEAST ||
	    header->section_count > SECTION_COUNT)
		return bad(e, "its sections are not those of this version");
	return 0;
}

static int check_head_sum(const uint8_t *base, size_t size, struct error *e)
{
	uint8_t head[sizeof(struct layout_header) +
		     SECTION_COUNT * sizeof(struct layout_section)];
	struct layout_header header;
	uint64_t sum;

	memcpy(head, base, size);
	memcpy(&header, head, sizeof(header));
	sum = header.checksum;
	header.checksum = 0;
	memcpy(head, &header, sizeof(header));
	return XXH3_64bits(head, size) == sum ? 0 :
	       bad(e, "its header is damaged");
}

static int map_section(struct index *index, uint32_t i, struct error *e)
{
	const struct layout_section *s = &index->table[i];

	if (s->id != i || s->item_size != layout_types[i].item_size ||
	    !range_within(s->offset, s->length, index->size) ||
	    s->offset % LAYOUT_ALIGNMENT || s->length % s->item_size)
		return bad(e, "its table of sections makes no sense");
	index->tree.sections[i] = (struct section){
		.base = (const uint8_t *)index->map + s->offset,
		.count = s->length / s->item_size,
	};
	return 0;
}

/* What each accessor may rely on: there are nodes, and sums of all or of none. */
static int check_counts(const struct index *index, struct error *e)
{
	const struct section *sections = index->tree.sections;
	uint64_t nodes = sections[SECTION_NODES].count, sums = sections[SECTION_SUMS].count;

	if (nodes == 0 || nodes > LAYOUT_NODE_LIMIT || sections[SECTION_SUMMARY].count != 1)
		return bad(e, "it holds no tree");
	if (sums != 0 && sums != nodes)
		return bad(e, "its checksums are not one for each name");
	if (sums == 0 && sections[SECTION_BLOCKS].count != 0)
		return bad(e, "it has checksums of blocks, and none of files");
	return 0;
}

int index_check_head(const void *head, size_t n, uint64_t size, struct error *e)
{
	struct layout_header header;
	size_t table_size;
	int err;

	if (n < sizeof(header))
		return bad(e, "it is no index of granaryfs");
	memcpy(&header, head, sizeof(header));
	err = check_header(&header, size, e);
	if (err)
		return err;
	table_size = header.section_count * sizeof(struct layout_section);
	if (n < sizeof(header) + table_size)
		return bad(e, "it is cut off");
	return check_head_sum(head, sizeof(header) + table_size, e);
}

static int read_head(struct index *index, struct error *e)
{
	struct layout_header header;
	int err = index_check_head(index->map, index->size, index->size, e);

	if (err)
		return err;
	memcpy(&header, index->map, sizeof(header));
	index->section_count = header.section_count;
	memcpy(index->table, (const uint8_t *)index->map + sizeof(header),
	       header.section_count * sizeof(*index->table));
	for (uint32_t i = 0; i < index->section_count && !err; i++)
		err = map_section(index, i, e);
	return err ? err : check_counts(index, e);
}

static int map_memory(struct index *index, struct error *e)
{
	/* before Linux 6.7 no sealed memfd can be mapped as MAP_SHARED, not even to be read */
	index->map = mmap(NULL, index->size, PROT_READ, MAP_PRIVATE, index->fd, 0);
	if (index->map != MAP_FAILED)
		return 0;
	index->map = NULL;
	return error_set(e, ERROR_SYSTEM, errno, "it cannot be mapped: %s", strerror(errno));
}

/* Once and for good: nobody can change these bytes. */
static int check_sums(const struct index *index, struct error *e)
{
	for (uint32_t i = 0; i < index->section_count; i++) {
		const uint8_t *bytes = (const uint8_t *)index->map + index->table[i].offset;

		if (XXH3_64bits(bytes, index->table[i].length) != index->table[i].checksum)
			return error_set(e, ERROR_DATASET, EBADMSG,
					 "its section %s is damaged (%llu bytes at %llu)",
					 layout_types[i].name,
					 (unsigned long long)index->table[i].length,
					 (unsigned long long)index->table[i].offset);
	}
	return 0;
}

static bool is_sealed(int fd)
{
	const int seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK;
	int now = fcntl(fd, F_GET_SEALS);

	return now >= 0 && (now & seals) == seals;
}

int index_open_memory(int fd_taken, uid_t owner, const char *label, struct index **out,
		      struct error *e)
{
	CLEANUP(cleanup_close) int fd = fd_taken;
	struct index *index = calloc(1, sizeof(*index));
	struct stat st;
	int err;

	if (!index)
		return error_set(e, ERROR_SYSTEM, ENOMEM, "out of memory");
	if (!is_sealed(fd) || fstat(fd, &st) < 0 || st.st_size == 0) {
		free(index);
		return error_set(e, ERROR_DATASET, EBADMSG, "%s: it is empty, or may be changed",
				 label);
	}
	*index = (struct index){ .fd = steal_fd(&fd), .size = (size_t)st.st_size,
				 .owner = owner };
	err = map_memory(index, e);
	if (!err)
		err = read_head(index, e);
	if (!err)
		err = check_sums(index, e);
	if (err) {
		error_prefix(e, "%s", label);
		index_close(index);
		return err;
	}
	*out = index;
	return 0;
}

void index_close(struct index *index)
{
	if (!index)
		return;
	if (index->map)
		munmap(index->map, index->size);
	close(index->fd);
	free(index);
}

uid_t index_owner(const struct index *index)
{
	return index->owner;
}

int index_descriptor(const struct index *index)
{
	return index->fd;
}

uint64_t index_size(const struct index *index)
{
	return index->size;
}

const struct tree *index_tree(const struct index *index)
{
	return &index->tree;
}

int index_summary(const struct index *index, struct index_summary *out)
{
	int err = view_item(&index->tree, SECTION_SUMMARY, 0, out, sizeof(*out));

	out->format[sizeof(out->format) - 1] = '\0';
	out->options[sizeof(out->options) - 1] = '\0';
	out->detail[sizeof(out->detail) - 1] = '\0';
	out->names[sizeof(out->names) - 1] = '\0';
	out->labels[sizeof(out->labels) - 1] = '\0';
	out->view[sizeof(out->view) - 1] = '\0';
	out->notes[sizeof(out->notes) - 1] = '\0';
	return err;
}

void index_for_each_note(const struct index_summary *summary,
			 void (*visit)(const char *line, void *context), void *context)
{
	char notes[sizeof(summary->notes)], *rest = notes, *line;

	memcpy(notes, summary->notes, sizeof(notes));
	while ((line = strsep(&rest, "\n")))
		if (*line)
			visit(line, context);
}

static int stale(struct error *e, const char *why)
{
	return error_set(e, ERROR_DATASET, ESTALE, "%s", why);
}

int index_source(const struct index *index, uint32_t i, struct identity *out)
{
	struct layout_source s;
	int err = view_item(&index->tree, SECTION_SOURCES, i, &s, sizeof(s));

	*out = (struct identity){ 0 };
	if (!err)
		*out = (struct identity){ s.size, s.mtime_ns, s.digest };
	return err;
}

static int accept_source(const struct index *index, uint32_t i,
			 const struct identity *want, struct error *e)
{
	struct identity have;

	if (index_source(index, i, &have) < 0)
		return bad(e, "its list of sources is cut off");
	if (identity_equal(&have, want))
		return 0;
	return error_set(e, ERROR_DATASET, ESTALE,
			 "packed file number %u has another %s than when it was indexed",
			 i + 1, have.size != want->size ? "size" :
			 !identity_same_time(&have, want) ? "time of change" :
			 "beginning or end");
}

int index_accept_shape(const struct index *index, uint32_t count, const char *options,
		       struct error *e)
{
	struct index_summary summary;
	int err = index_summary(index, &summary);

	if (err)
		return bad(e, "it cannot be read");
	if (index->tree.sections[SECTION_SOURCES].count != count)
		return stale(e, "it was made for another set of packed files");
	if (strcmp(summary.options, options) != 0)
		return error_set(e, ERROR_DATASET, ESTALE,
				 "it was made with other options (%s)", summary.options);
	return 0;
}

int index_accept(const struct index *index, const struct identity *sources,
		 uint32_t count, const char *options, struct error *e)
{
	int err = index_accept_shape(index, count, options, e);

	for (uint32_t i = 0; i < count && !err; i++)
		err = accept_source(index, i, &sources[i], e);
	return err;
}

int index_check(const struct index *index, struct error *e)
{
	return tree_check(&index->tree, e);
}

uint32_t index_volume_count(const struct index *index)
{
	uint64_t count = index->tree.sections[SECTION_VOLUMES].count;

	return count < LAYOUT_VOLUME_LIMIT ? (uint32_t)count : LAYOUT_VOLUME_LIMIT;
}

int index_volume(const struct index *index, uint32_t i, struct volume_desc *out)
{
	struct layout_volume v;
	int err = view_item(&index->tree, SECTION_VOLUMES, i, &v, sizeof(v));

	if (err)
		return err;
	*out = (struct volume_desc){
		.kind = (enum volume_kind)v.kind, .source = v.source, .base = v.base,
		.length = v.length, .guard = (enum volume_guard)v.guard,
		.first_chunk = v.first_chunk, .chunk_count = v.chunk_count,
	};
	memcpy(out->codecs, v.codecs, sizeof(v.codecs));
	return 0;
}

/* The number of the last chunk that begins at or before `offset`. */
static int find_chunk(const struct index *index, const struct volume_desc *volume,
		      uint64_t offset, uint64_t *out)
{
	uint64_t low = volume->first_chunk, high;

	if (!checked_add(low, volume->chunk_count, &high) || low == high)
		return -EIO;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;
		struct volume_chunk chunk;

		if (view_item(&index->tree, SECTION_CHUNKS, middle, &chunk,
			      sizeof(chunk)) < 0)
			return -EIO;
		if (chunk.start <= offset)
			low = middle;
		else
			high = middle;
	}
	*out = low;
	return 0;
}

int index_chunk(const struct index *index, const struct volume_desc *volume,
		uint64_t offset, uint64_t *number, struct volume_chunk *out,
		uint64_t *plain)
{
	struct volume_chunk next = { .start = volume->length };
	uint64_t last = volume->first_chunk + volume->chunk_count - 1;

	if (find_chunk(index, volume, offset, number) < 0 ||
	    view_item(&index->tree, SECTION_CHUNKS, *number, out, sizeof(*out)) < 0)
		return -EIO;
	if (*number < last && view_item(&index->tree, SECTION_CHUNKS, *number + 1, &next,
					sizeof(next)) < 0)
		return -EIO;
	if (out->start > offset || next.start <= offset ||
	    next.start - out->start > VOLUME_CHUNK_LIMIT)
		return -EIO;
	*plain = next.start - out->start;
	return 0;
}

int index_array(const struct index *index, const struct volume_desc *volume,
		struct volume_array *out, struct array_measure *measure)
{
	if (view_item(&index->tree, SECTION_ARRAYS, volume->base, out, sizeof(*out)) < 0 ||
	    array_measure(out, measure) < 0 || measure->bytes != volume->length ||
	    measure->tiles != volume->chunk_count)
		return -EIO;
	return 0;
}

int index_tile(const struct index *index, const struct volume_desc *volume, uint64_t tile,
	       uint64_t *number, struct volume_chunk *out)
{
	if (tile >= volume->chunk_count || !checked_add(volume->first_chunk, tile, number))
		return -EIO;
	return view_item(&index->tree, SECTION_CHUNKS, *number, out, sizeof(*out));
}

uint64_t index_literals_size(const struct index *index)
{
	return index->tree.sections[SECTION_LITERALS].count;
}

int index_read_literals(const struct index *index, void *buffer, size_t length,
			uint64_t offset)
{
	const uint8_t *bytes = view_bytes(&index->tree, SECTION_LITERALS, offset, length);

	if (!bytes)
		return -EIO;
	memcpy(buffer, bytes, length);
	return 0;
}

bool index_has_sums(const struct index *index)
{
	return index->tree.sections[SECTION_SUMS].count > 0;
}

int index_sum(const struct index *index, uint32_t node, uint64_t *out)
{
	if (!index_has_sums(index))
		return -ENOENT;
	if (view_item(&index->tree, SECTION_SUMS, node, out, sizeof(*out)) < 0)
		return -EIO;
	return *out ? 0 : -ENOENT;
}

int index_copy(const struct index *index, struct image *out)
{
	int err = 0;

	*out = (struct image){ 0 };
	for (uint32_t i = 0; i < index->section_count && !err; i++) {
		const uint8_t *bytes = (const uint8_t *)index->map + index->table[i].offset;

		if (image_append(out, (enum layout_section_id)i, bytes,
				 index->table[i].length) < 0)
			err = -ENOMEM;
	}
	if (err)
		image_free(out);
	return err;
}
