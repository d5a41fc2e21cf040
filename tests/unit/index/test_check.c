/* SPDX-License-Identifier: GPL-3.0-or-later */
/* index_check finds damage of every kind. */
#include "build/kit.h"

#include <errno.h>

#include "index/layout.h"

/* Volume 1: three chunks of 100, 50 and 30 bytes, which no file uses. */
static void append_coded_volume(struct image *image)
{
	static const struct volume_chunk chunks[] = {
		{ 0, 1000, 70, 0 }, { 100, 2000, 20, 0 }, { 150, 500, 30, 1 },
	};
	struct layout_volume volume = { .kind = VOLUME_CODED, .length = 180,
					.chunk_count = COUNT(chunks), .codecs = { 1 } };

	assert_true(image_append(image, SECTION_VOLUMES, &volume, sizeof(volume)) >= 0);
	assert_true(image_append(image, SECTION_CHUNKS, chunks, sizeof(chunks)) >= 0);
}

/* Volume 2: 5 x 4 elements of 2 bytes in tiles of 2 x 4, the second not stored. */
static void append_array_volume(struct image *image)
{
	static const struct volume_chunk tiles[] = {
		{ 0, 1000, 70, 0 }, { 0, 0, 0, 0 }, { 0, 500, 30, 1 },
	};
	struct volume_array array = { .rank = 2, .item = 2, .dims = { 5, 4 },
				      .tile = { 2, 4 }, .order = { 1, 0 }, .filled = 1,
				      .fill = 5 };
	struct layout_volume volume = { .kind = VOLUME_ARRAY, .length = 40,
					.first_chunk = 3, .chunk_count = COUNT(tiles),
					.codecs = { 1 } };

	assert_true(image_append(image, SECTION_VOLUMES, &volume, sizeof(volume)) >= 0);
	assert_true(image_append(image, SECTION_ARRAYS, &array, sizeof(array)) >= 0);
	assert_true(image_append(image, SECTION_CHUNKS, tiles, sizeof(tiles)) >= 0);
}

/*
 * An index in which no section is empty. Its nodes: 0 root, 1 a, 2 d, 3 h (an
 * alias of 1), 4 s, 5 w, 6 d/b, 7 d/c.
 */
static void full_image(struct image *image)
{
	struct entry_xattr xattr = { "user.x", "value", 5 };
	struct entry_extent extents[] = { { 2, 5, 3, 0 }, { 9, 50, 3, 0 } };
	struct builder *builder = kit_builder(DUPLICATES_ERROR);
	const char *script = "f:a:7 h:h:a s:s:target f:d/b:1 f:d/c:2";
	struct entries *log = kit_log(&script);
	struct entry entry = { .kind = ENTRY_FILE, .path = "w", .size = 20,
			       .extents = extents, .extent_count = 2,
			       .xattrs = &xattr, .xattr_count = 1 };

	kit_add(log, &entry);
	assert_int_equal(builder_apply(builder, log, "s0", NULL), 0);
	entries_free(log);
	assert_int_equal(kit_seal(builder, image, NULL), 0);
	builder_free(builder);
	assert_int_equal(image_append(image, SECTION_LITERALS, "literal", 7), 0);
	append_coded_volume(image);
	append_array_volume(image);
}

static uint8_t *full_bytes(size_t *size)
{
	struct image image;
	uint8_t *bytes;

	full_image(&image);
	bytes = kit_bytes(&image, size);
	image_free(&image);
	return bytes;
}

static int check_bytes(const uint8_t *bytes, size_t size, struct error *e)
{
	struct index *index = NULL;
	int err;

	err = kit_open_bytes(bytes, size, &index, e);
	if (err)
		return err;
	err = index_check(index, e);
	index_close(index);
	return err;
}

static void test_a_sound_index_passes(void **state)
{
	size_t size, length;
	uint8_t *bytes = full_bytes(&size);
	struct error e;

	(void)state;
	for (unsigned i = 0; i < SECTION_COUNT_LEAST; i++) {
		kit_section(bytes, i, &length);
		assert_true(length > 0);
	}
	assert_int_equal(check_bytes(bytes, size, &e), 0);
	kit_fix_sums(bytes);
	assert_int_equal(check_bytes(bytes, size, &e), 0);
	free(bytes);
}

static void test_every_flip_in_a_section_is_found(void **state)
{
	size_t size, length;
	uint8_t *bytes = full_bytes(&size);

	(void)state;
	for (unsigned i = 0; i < SECTION_COUNT_LEAST; i++) {
		size_t at = kit_section(bytes, i, &length);

		for (size_t k = at; k < at + length; k++) {
			struct error e = { 0 };

			bytes[k] ^= (uint8_t)(1U << k % 8);
			assert_int_equal(check_bytes(bytes, size, &e), -EBADMSG);
			assert_non_null(strstr(e.text, "is damaged"));
			bytes[k] ^= (uint8_t)(1U << k % 8);
		}
	}
	free(bytes);
}

struct damage {
	const char *what;
	unsigned section;
	size_t at, bytes;
	uint64_t value;
	const char *word;
};

#define NODE(i, member)                                                    \
	SECTION_NODES,                                                     \
		(i) * sizeof(struct layout_node) +                         \
			offsetof(struct layout_node, member),              \
		sizeof(((struct layout_node *)NULL)->member)
#define ITEM(section, type, i, member)                                     \
	SECTION_##section, (i) * sizeof(struct type) +                     \
		offsetof(struct type, member),                             \
		sizeof(((struct type *)NULL)->member)
#define KIND(kind) ((uint64_t)(kind) << 30)

/* With right checksums: a bug of ours, or malice. */
static const struct damage damages[] = {
	{ "the root is a file", NODE(0, kind_nsec), KIND(TREE_FILE), "node 0" },
	{ "the root is an alias", NODE(0, kind_nsec), KIND(TREE_ALIAS), "node 0" },
	{ "children past the end", NODE(0, where_high), 50, "children" },
	{ "its own child", NODE(0, where_low), 0, "children" },
	{ "another's children", NODE(2, where_low), 5, "children of another" },
	{ "too few children", NODE(2, where_high), 1, "no directory" },
	{ "too many", NODE(2, where_high), 3, "children" },
	{ "a parent that is none", NODE(6, parent), 1, "another directory" },
	{ "a parent past the end", NODE(6, parent), 99, "another directory" },
	{ "a name past the end", NODE(6, name_low), 1 << 20, "no proper name" },
	{ "a name far past it", NODE(6, name_high), 255, "no proper name" },
	{ "the root's empty name", NODE(6, name_low), 0, "no proper name" },
	{ "twice the same name", NODE(7, name_low), 11, "out of order" },
	{ "no attributes", NODE(1, flags_attr), 0xffffff, "attributes" },
	{ "a link count that is missing", NODE(6, flags_attr), NODE_LINKS << 24,
	  "attributes" },
	{ "an alias of a directory", NODE(3, where_low), 2, "" },
	{ "an alias of an alias", NODE(3, where_low), 3, "" },
	{ "an alias of nothing", NODE(3, where_high), 1, "" },
	{ "a volume that is too short", ITEM(VOLUMES, layout_volume, 0, length), 13,
	  "past the end" },
	{ "a file of a volume that is none", NODE(6, where_high), 0x300, "past the end" },
	{ "a file that is too long", NODE(6, size_high), 0x8000, "past the end" },
	{ "pieces past the end", NODE(5, where_low), 3, "attributes" },
	{ "too many pieces", NODE(5, where_high), 1000, "attributes" },
	{ "a target past the end", NODE(4, where_high), 1, "without a target" },
	{ "a target without an end", NODE(4, size_low), 5, "without a target" },
	{ "a piece of another volume", ITEM(EXTENTS, layout_extent, 0, volume), 7,
	  "past the end" },
	{ "a piece past its volume", ITEM(EXTENTS, layout_extent, 1, offset),
	  UINT64_MAX - 1, "past the end" },
	{ "bytes that are not stored", ITEM(EXTENTS, layout_extent, 1, stored), 999,
	  "stored bytes" },
	{ "a piece that wraps round", ITEM(EXTENTS, layout_extent, 1, file_offset),
	  UINT64_MAX - 1, "lead nowhere" },
	{ "a name with a slash", SECTION_NAMES, 14, 1, '/', "no proper name" },
	{ "a name with a NUL", SECTION_NAMES, 14, 1, 0, "no proper name" },
	{ "a name that is a dot", SECTION_NAMES, 14, 1, '.', "no proper name" },
	{ "names out of order", SECTION_NAMES, 12, 1, 'z', "out of order" },
	{ "an empty name", SECTION_NAMES, 13, 1, 0, "no proper name" },
};

static void expect_found(const uint8_t *bytes, size_t size, const struct damage *d)
{
	uint8_t *copy = malloc(size);
	struct error e = { 0 };

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	memcpy(copy + kit_section(bytes, d->section, NULL) + d->at, &d->value, d->bytes);
	kit_fix_sums(copy);
	if (check_bytes(copy, size, &e) != -EBADMSG)
		fail_msg("%s: was not found", d->what);
	if (!strstr(e.text, d->word))
		fail_msg("%s: %s", d->what, e.text);
	free(copy);
}

/* Names lie in the order of the nodes: "", a, d, h, s, w, b, c. */
static void test_damage_under_right_checksums_is_found(void **state)
{
	size_t i = unit_row(state);
	size_t size;
	uint8_t *bytes = full_bytes(&size);

	assert_int_equal(bytes[kit_section(bytes, SECTION_NAMES, NULL) + 12], 'b');
	expect_found(bytes, size, &damages[i]);
	free(bytes);
}

/* Bytes that are written over "b", from its length on, under right checksums. */
static const struct {
	const char *what, *bytes;
	size_t length;
} bad_names[] = {
	{ "an empty name", "\0b", 2 },     { "a slash", "\1/", 2 },
	{ "a NUL", "\1\0", 2 },            { "a dot", "\1.", 2 },
	{ "two dots", "\2..", 3 },         { "upwards", "\3../", 4 },
	{ "a path", "\3a/b", 4 },          { "from the root", "\2/b", 3 },
};

/* No accessor gives such a name out: whatever looks at the tree need not ask for that. */
static void expect_no_name(const struct tree *tree, const char *what)
{
	struct tree_name name;
	uint32_t node, directory = 2, b = 6;
	char path[256];

	if (tree_child(tree, directory, 0, &name) != -EIO ||
	    tree_lookup(tree, directory, "..", 2, &node) == 0 ||
	    tree_lookup(tree, directory, "", 0, &node) == 0 ||
	    tree_lookup(tree, directory, "/", 1, &node) == 0 ||
	    tree_walk(tree, TREE_ROOT, "d/..", &node) == 0 ||
	    tree_walk(tree, TREE_ROOT, "d/../b", &node) == 0)
		fail_msg("%s: is a name", what);
	if (*tree_path(tree, b, path, sizeof(path)))
		fail_msg("%s: is in a path: %s", what, path);
}

static void test_no_accessor_gives_out_a_name_that_leads_elsewhere(void **state)
{
	size_t i = unit_row(state);
	size_t size;
	uint8_t *bytes = full_bytes(&size);
	struct error e;
	uint8_t *copy = malloc(size);
	struct index *index;

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	memcpy(copy + kit_section(bytes, SECTION_NAMES, NULL) + 11,
	       bad_names[i].bytes, bad_names[i].length);
	kit_fix_sums(copy);
	assert_int_equal(kit_open_bytes(copy, size, &index, &e), 0);
	expect_no_name(index_tree(index), bad_names[i].what);
	index_close(index);
	free(copy);
	free(bytes);
}

/* check.h: "all of it": whatever an accessor or a volume would trip over. */
static const struct damage sides[] = {
	{ "xattrs past the end", ITEM(XATTR_NODES, layout_xattr_node, 0, first), 9, "" },
	{ "too many xattrs", ITEM(XATTR_NODES, layout_xattr_node, 0, count), 9, "" },
	{ "an xattr past the end", ITEM(XATTRS, layout_xattr, 0, at), 1 << 20, "" },
	{ "an endless value", ITEM(XATTRS, layout_xattr, 0, value_length), UINT32_MAX, "" },
};

static void test_damaged_xattrs_are_found(void **state)
{
	size_t i = unit_row(state);
	size_t size;
	uint8_t *bytes = full_bytes(&size);

	expect_found(bytes, size, &sides[i]);
	free(bytes);
}

static const struct damage volumes[] = {
	{ "no such source", ITEM(VOLUMES, layout_volume, 0, source), 1, "" },
	{ "no such kind", ITEM(VOLUMES, layout_volume, 0, kind), 9, "" },
	{ "a literal past the end", ITEM(VOLUMES, layout_volume, 0, kind),
	  VOLUME_LITERAL, "" },
	{ "no chunks", ITEM(VOLUMES, layout_volume, 1, chunk_count), 0, "volume 1" },
	{ "too many chunks", ITEM(VOLUMES, layout_volume, 1, chunk_count), 4, "volume 1" },
	{ "very many chunks", ITEM(VOLUMES, layout_volume, 1, chunk_count), UINT64_MAX,
	  "volume 1" },
	{ "chunks past the end", ITEM(VOLUMES, layout_volume, 1, first_chunk), 1, "volume 1" },
	{ "chunks that wrap round", ITEM(VOLUMES, layout_volume, 1, first_chunk),
	  UINT64_MAX - 1, "volume 1" },
	{ "chunks of no source", ITEM(VOLUMES, layout_volume, 1, source), 1, "volume 1" },
	{ "an empty last chunk", ITEM(VOLUMES, layout_volume, 1, length), 150, "volume 1" },
	{ "a last chunk of 1 GiB and more", ITEM(VOLUMES, layout_volume, 1, length),
	  (UINT64_C(1) << 30) + 151, "volume 1" },
	{ "a first chunk not at 0", ITEM(CHUNKS, volume_chunk, 0, start), 1, "volume 1" },
	{ "two that begin together", ITEM(CHUNKS, volume_chunk, 1, start), 0, "volume 1" },
	{ "two out of order", ITEM(CHUNKS, volume_chunk, 1, start), 151, "volume 1" },
	{ "one far behind the other", ITEM(CHUNKS, volume_chunk, 2, start),
	  UINT64_MAX - 5, "volume 1" },
	{ "stored past the source", ITEM(CHUNKS, volume_chunk, 1, stored_at),
	  KIT_SOURCE_SIZE - 19, "volume 1" },
	{ "stored where it wraps round", ITEM(CHUNKS, volume_chunk, 1, stored_at),
	  UINT64_MAX - 3, "volume 1" },
	{ "nothing stored", ITEM(CHUNKS, volume_chunk, 2, stored_length), 0, "volume 1" },
	{ "more stored than is served", ITEM(CHUNKS, volume_chunk, 2, stored_length),
	  (1 << 30) + 1, "volume 1" },
};

static void test_volumes_that_cannot_be_read_are_found(void **state)
{
	size_t i = unit_row(state);
	size_t size;
	uint8_t *bytes = full_bytes(&size);

	expect_found(bytes, size, &volumes[i]);
	free(bytes);
}

/* Volume 3 on the source, and volume 4 on that: two chunks each, with points. */
static uint8_t *stream_bytes(size_t *size)
{
	static const struct volume_chunk chunks[] = {
		{ 0, 1000, 70, 0 }, { 100, 1069, 20, 0 }, { 0, 10, 70, 0 }, { 90, 90, 20, 0 },
	};
	static const struct volume_point points[] = {
		{ 7, 0, 0, 0 }, { 8, 0, 5, 3 }, { 9, 0, 0, 0 }, { 10, 5, 4, 7 | 127 << 8 },
	};
	struct layout_volume streams[] = {
		{ .kind = VOLUME_STREAM, .length = 180, .first_chunk = 6, .chunk_count = 2,
		  .codecs = { 32 } },
		{ .kind = VOLUME_STREAM, .source = VOLUME_ON_STREAM | 3, .length = 160,
		  .base = 2, .first_chunk = 8, .chunk_count = 2, .codecs = { 32 } },
	};
	struct image image;
	uint8_t *bytes;

	full_image(&image);
	assert_true(image_append(&image, SECTION_VOLUMES, streams, sizeof(streams)) >= 0);
	assert_true(image_append(&image, SECTION_CHUNKS, chunks, sizeof(chunks)) >= 0);
	assert_true(image_append(&image, SECTION_POINTS, points, sizeof(points)) >= 0);
	assert_true(image_append(&image, SECTION_WINDOWS, "windows..", 9) >= 0);
	bytes = kit_bytes(&image, size);
	image_free(&image);
	return bytes;
}

#define POINT(i, member) ITEM(POINTS, volume_point, i, member)
#define STREAM(i, member) ITEM(VOLUMES, layout_volume, i, member)

static const struct damage streams[] = {
	{ "more bits than a byte has", POINT(1, bits), 8, "volume 3" },
	{ "bits of another value", POINT(1, bits), 3 | 8 << 8, "volume 3" },
	{ "a window past its table", POINT(3, window), 6, "volume 4" },
	{ "a window far away", POINT(3, window), UINT64_MAX - 1, "volume 4" },
	{ "a window that is too long", POINT(1, window_length), 10, "volume 3" },
	{ "a window of 4 GiB", POINT(1, window_length), UINT32_MAX, "volume 3" },
	{ "points past their table", STREAM(4, base), 3, "volume 4" },
	{ "points far away", STREAM(4, base), UINT64_MAX, "volume 4" },
	{ "a stream on itself", STREAM(4, source), VOLUME_ON_STREAM | 4, "volume 4" },
	{ "a stream on a later one", STREAM(3, source), VOLUME_ON_STREAM | 4, "volume 3" },
	{ "a stream on a volume that is none", STREAM(4, source), VOLUME_ON_STREAM | 1,
	  "volume 4" },
	{ "a stream on nothing", STREAM(4, source), VOLUME_ON_STREAM | 99, "volume 4" },
	{ "a stream of no source", STREAM(3, source), 1, "volume 3" },
	{ "a chunk past the source", ITEM(CHUNKS, volume_chunk, 7, stored_at),
	  KIT_SOURCE_SIZE - 19, "volume 3" },
	{ "a chunk past the stream below", ITEM(CHUNKS, volume_chunk, 9, stored_at), 161,
	  "volume 4" },
	{ "chunks out of order", ITEM(CHUNKS, volume_chunk, 9, start), 0, "volume 4" },
	{ "a chunk of 2^63 bytes", STREAM(4, length), UINT64_C(1) << 63, "volume 4" },
};

static void test_streams_that_cannot_be_read_are_found(void **state)
{
	size_t i = unit_row(state);
	struct error e = { 0 };
	size_t size;
	uint8_t *bytes = stream_bytes(&size);

	assert_int_equal(check_bytes(bytes, size, &e), 0);
	expect_found(bytes, size, &streams[i]);
	free(bytes);
}

#define ARRAY(member) ITEM(ARRAYS, volume_array, 0, member)
#define TILE(i, member) ITEM(CHUNKS, volume_chunk, 3 + (i), member)

static const struct damage arrays[] = {
	{ "no such array", ITEM(VOLUMES, layout_volume, 2, base), 1, "volume 2" },
	{ "an array far away", ITEM(VOLUMES, layout_volume, 2, base), UINT64_MAX, "volume 2" },
	{ "of no source", ITEM(VOLUMES, layout_volume, 2, source), 1, "volume 2" },
	{ "longer than it is", ITEM(VOLUMES, layout_volume, 2, length), 41, "volume 2" },
	{ "shorter than it is", ITEM(VOLUMES, layout_volume, 2, length), 39, "volume 2" },
	{ "too few tiles", ITEM(VOLUMES, layout_volume, 2, chunk_count), 2, "volume 2" },
	{ "tiles past the end", ITEM(VOLUMES, layout_volume, 2, first_chunk), 4, "volume 2" },
	{ "tiles that wrap round", ITEM(VOLUMES, layout_volume, 2, first_chunk),
	  UINT64_MAX - 1, "volume 2" },
	{ "no axes", ARRAY(rank), 0, "volume 2" },
	{ "too many axes", ARRAY(rank), 9, "volume 2" },
	{ "very many axes", ARRAY(rank), UINT32_MAX, "volume 2" },
	{ "elements of nothing", ARRAY(item), 0, "volume 2" },
	{ "endless elements", ARRAY(item), UINT32_MAX, "volume 2" },
	{ "an axis of no length", ARRAY(dims[1]), 0, "volume 2" },
	{ "an endless axis", ARRAY(dims[0]), UINT64_MAX, "volume 2" },
	{ "more elements than a number holds", ARRAY(dims[0]), (UINT64_C(1) << 61) + 5,
	  "volume 2" },
	{ "tiles of nothing", ARRAY(tile[0]), 0, "volume 2" },
	{ "a tile of 1 GiB and more", ARRAY(tile[0]), (1 << 27) + 1, "volume 2" },
	{ "an endless tile", ARRAY(tile[1]), UINT64_MAX, "volume 2" },
	{ "larger tiles, and fewer", ARRAY(tile[0]), 3, "volume 2" },
	{ "an axis that is not there", ARRAY(order[0]), 2, "volume 2" },
	{ "an axis twice", ARRAY(order[0]), 0, "volume 2" },
	{ "an element past the literals", ARRAY(fill), 6, "volume 2" },
	{ "an element far away", ARRAY(fill), UINT64_MAX, "volume 2" },
	{ "a tile that begins somewhere", TILE(1, start), 1, "volume 2" },
	{ "a tile past the source", TILE(0, stored_at), KIT_SOURCE_SIZE - 69, "volume 2" },
	{ "a tile that wraps round", TILE(2, stored_at), UINT64_MAX - 3, "volume 2" },
	{ "more stored than is served", TILE(2, stored_length), (1 << 30) + 1, "volume 2" },
};

static void test_arrays_that_cannot_be_read_are_found(void **state)
{
	size_t i = unit_row(state);
	size_t size;
	uint8_t *bytes = full_bytes(&size);

	expect_found(bytes, size, &arrays[i]);
	free(bytes);
}

/* Nodes may not share them: or checking a small index would take for ever. */
static void test_shared_xattrs_are_found(void **state)
{
	struct entry_xattr xattr = { "user.x", "value", 5 };
	struct entries *log = entries_new();
	struct layout_xattr_node owner;
	struct error e = { 0 };
	struct index *index;
	struct image image;
	struct builder *builder = kit_builder(DUPLICATES_ERROR);
	uint8_t *bytes, *second;
	size_t size;

	(void)state;
	for (const char *path = "a\0b\0"; *path; path += 2)
		kit_add(log, &(struct entry){ .kind = ENTRY_FILE, .path = path,
					      .xattrs = &xattr, .xattr_count = 1 });
	assert_int_equal(builder_apply(builder, log, "s", NULL), 0);
	entries_free(log);
	assert_int_equal(kit_seal(builder, &image, NULL), 0);
	builder_free(builder);
	bytes = kit_bytes(&image, &size);
	image_free(&image);
	second = bytes + kit_section(bytes, SECTION_XATTR_NODES, NULL) + sizeof(owner);
	memcpy(&owner, second, sizeof(owner));
	owner.first = 0;
	owner.count = 2;
	memcpy(second, &owner, sizeof(owner));
	kit_fix_sums(bytes);
	assert_int_equal(kit_open_bytes(bytes, size, &index, NULL), 0);
	assert_int_equal(index_check(index, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "shares"));
	index_close(index);
	free(bytes);
}

static const struct CMUnitTest check[] = {
	cmocka_unit_test(test_shared_xattrs_are_found),
	cmocka_unit_test(test_a_sound_index_passes),
	cmocka_unit_test(test_every_flip_in_a_section_is_found),
	unit_table(test_damage_under_right_checksums_is_found, damages, what),
	unit_table(test_no_accessor_gives_out_a_name_that_leads_elsewhere, bad_names, what),
	unit_table(test_damaged_xattrs_are_found, sides, what),
	unit_table(test_volumes_that_cannot_be_read_are_found, volumes, what),
	unit_table(test_streams_that_cannot_be_read_are_found, streams, what),
	unit_table(test_arrays_that_cannot_be_read_are_found, arrays, what),
};

UNIT_MAIN(check)
