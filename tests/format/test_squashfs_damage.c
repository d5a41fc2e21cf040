/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Damaged squashfs images: entries within the file, or one sentence. */
#include "config.h"
#if WITH_SQUASHFS && WITH_DEFLATE && WITH_LZ4 && WITH_ZSTD && WITH_LZMA && WITH_LZO
#include "squashfs_run.h"

#include <errno.h>
#include <unistd.h>

#include "base/log.h"

static void assert_bounded(const struct run *run)
{
	for (size_t i = 0; i < entries_volume_count(run->entries); i++) {
		const struct volume_desc *v = entries_volume(run->entries, i);
		const struct volume_chunk *chunk = entries_chunks(run->entries, i);

		for (size_t k = 0; k < v->chunk_count; k++)
			assert_true(chunk[k].stored_at + chunk[k].stored_length <=
				    run->scan.length);
	}
	for (size_t i = 0; i < entries_count(run->entries); i++) {
		const struct entry *entry = entries_get(run->entries, i);

		for (size_t k = 0; k < entry->extent_count; k++)
			assert_true(entry->extents[k].file_offset +
					    entry->extents[k].length <= entry->size);
	}
}

/* A scan ends with entries, or with one sentence: 1 or 0. */
static unsigned scan_damaged(const char *path)
{
	struct run run;
	unsigned refused;

	run_prepare(&run, path);
	run.err = format_by_name("squashfs")->scan(&run.scan, &run.e);
	refused = run.err != 0;
	if (refused) {
		assert_int_equal(run.err, -EBADMSG);
		assert_int_equal(run.e.status, ERROR_DATASET);
		assert_non_null(strstr(run.e.text, path));
		assert_non_null(strstr(run.e.text, "again"));
	} else {
		assert_bounded(&run);
	}
	run_end(&run);
	return refused;
}

static const char make_little[] =
	"mkdir -p little/d/e && cd little && echo one >d/one && ln d/one two\n"
	"ln -s d/one link && yes | head -c 20000 >d/e/big && truncate -s 9000 hole\n"
	"head -c 9000 /dev/urandom >random && mkfifo d/fifo && cd ..\n"
	"setfattr -n user.name -v value little/d/one && setfattr -n user.name -v value little/d\n"
	"mksquashfs little metadata -noappend -quiet -no-progress -b 4096 -nopad "
	"-noI -noX -noF >pack.log\n";

/* Each byte of the metadata, which are not compressed, is another one. */
static void test_each_byte(void **state)
{
	static const unsigned char masks[] = { 0xff, 0x01, 0x80 };
	size_t size, refused = 0, start = 0;
	unsigned char *image;

	(void)state;
	unit_shell(make_little);
	image = (unsigned char *)unit_read("metadata", &size);
	memcpy(&start, image + 64, sizeof(start)); /* of the inodes */
	assert_true(start < size && size - start < 4000);
	for (size_t i = 0; i < size; i = i == 95 ? start : i + 1)
		for (size_t k = 0; k < COUNT(masks) + 1; k++) {
			unsigned char was = image[i];

			image[i] = k < COUNT(masks) ? image[i] ^ masks[k] : 0;
			unit_write("damaged", image, size);
			refused += scan_damaged("damaged");
			image[i] = was;
		}
	assert_true(refused > 500);
	free(image);
}

static void test_truncated(void **state)
{
	size_t size;
	char *image;

	(void)state;
	unit_shell("[ -f metadata ] || { echo no image; exit 1; }");
	image = unit_read("metadata", &size);
	for (size_t n = 0; n < size; n += n < 200 || size - n < 2000 ? 1 : 97) {
		unit_write("damaged", image, n);
		assert_int_equal(scan_damaged("damaged"), 1);
	}
	free(image);
}

/* Bytes that are put over the superblock, and the sentence for them. */
static const struct patch {
	size_t at, size;
	uint64_t value;
	const char *said;
} patches[] = {
	{ 12, 4, 0, "size of blocks" },
	{ 12, 4, 12288, "size of blocks" },
	{ 12, 4, 2097152, "size of blocks" },
	{ 22, 2, 13, "size of blocks" },
	{ 16, 4, UINT32_MAX, "fragments" },
	{ 20, 2, 0, "number of the compression" },
	{ 20, 2, 2, "lzma compression" },
	{ 20, 2, 7, "number of the compression" },
	{ 26, 2, 0, "owners" },
	{ 26, 2, 65535, "is not right" },
	{ 32, 8, UINT64_MAX, "is not right" },
	{ 32, 8, 1, "is not right" },
	{ 40, 8, 0, "size of the image" },
	{ 40, 8, UINT64_MAX, "size of the image" },
	{ 40, 8, 1 << 30, "is truncated: it needs 1073741824 bytes and has" },
	{ 48, 8, UINT64_MAX, "owners" },
	{ 56, 8, 0, "xattrs" },
	{ 56, 8, 96, "is not right" },
	{ 64, 8, 0, "inodes" },
	{ 64, 8, UINT64_MAX, "inodes" },
	{ 72, 8, UINT64_MAX, "directories" },
	{ 72, 8, 0, "inodes" },
	{ 80, 8, UINT64_MAX, "fragments" },
	{ 88, 8, 1, "export table" },
};

static void test_superblock(void **state)
{
	size_t size;
	char *image;

	(void)state;
	image = unit_read("metadata", &size);
	for (size_t i = 0; i < COUNT(patches); i++) {
		const struct patch *patch = &patches[i];
		char was[8];
		struct run run;

		memcpy(was, image + patch->at, patch->size);
		memcpy(image + patch->at, &patch->value, patch->size);
		unit_write("damaged", image, size);
		run_prepare(&run, "damaged");
		run.err = format_by_name("squashfs")->scan(&run.scan, &run.e);
		assert_int_equal(run.err, -EBADMSG);
		if (!strstr(run.e.text, patch->said))
			fail_msg("%zu: not \"%s\": %s", i, patch->said, run.e.text);
		run_end(&run);
		memcpy(image + patch->at, was, patch->size);
	}
	free(image);
}

/* Storage that fails is not damage: the image has shrunk since it was opened. */
static void test_unreadable(void **state)
{
	struct run run;

	(void)state;
	unit_shell("cp metadata shrinks");
	run_prepare(&run, "shrinks");
	unit_shell("truncate -s 96 shrinks");
	run.err = format_by_name("squashfs")->scan(&run.scan, &run.e);
	assert_int_equal(run.err, -EIO);
	assert_int_equal(run.e.status, ERROR_SYSTEM);
	assert_non_null(strstr(run.e.text, "cannot read 'shrinks' near byte"));
	run_end(&run);
}

/* A directory that is put into itself is refused, not walked for ever. */
static void test_loop(void **state)
{
	static const char make[] =
		"mkdir -p loop/d && mksquashfs loop looped -noappend -quiet -no-progress "
		"-noI -nopad >pack.log\n";
	uint64_t root, listing;
	struct run run;
	size_t size;
	char *image;

	(void)state;
	unit_shell(make);
	image = unit_read("looped", &size);
	memcpy(&root, image + 32, sizeof(root));
	memcpy(&listing, image + 72, sizeof(listing));
	/* block header (2), run header (12), then the offset of d's inode */
	assert_int_equal(image[listing + 14 + 8], 'd');
	memcpy(image + listing + 14, &root, 2);
	unit_write("looped", image, size);
	run_prepare(&run, "looped");
	run.err = format_by_name("squashfs")->scan(&run.scan, &run.e);
	assert_int_equal(run.err, -EBADMSG);
	assert_non_null(strstr(run.e.text, "in another one"));
	run_end(&run);
	free(image);
}

static int enter(void **state)
{
	log_level_now = LOG_LEVEL_ERROR;
	return unit_enter(state);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_each_byte),
	cmocka_unit_test(test_truncated),
	cmocka_unit_test(test_superblock),
	cmocka_unit_test(test_unreadable),
	cmocka_unit_test(test_loop),
};

UNIT_MAIN_IN(tests, enter, unit_leave)

#else
#include "left_out.h"
#endif
