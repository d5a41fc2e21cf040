/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * With any bytes in an index, an accessor does no more than give an error.
 * Meaningful under the address sanitizer: the index lies at the end of pages.
 */
#include "build/kit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "index/layout.h"

enum { ROUNDS = 20000, VISITS = 3000 };

static const char tail[] = "literal bytes";

static void rich_image(struct image *image)
{
	struct entry_xattr xattrs[] = { { "user.x", "value", 5 }, { "user.y", "", 0 } };
	struct entry_extent extents[] = { { 2, 5, 3, 0 }, { 9, 50, 3, 0 } };
	struct builder *builder = kit_builder(DUPLICATES_ERROR);
	const char *script = "f:a:7 h:h:a s:s:target f:d/e/b:1 f:d/e/c:2 h:d/i:a d:o";
	struct entries *log = kit_log(&script);
	struct entry entry = { .kind = ENTRY_FILE, .path = "d/w", .size = 20,
			       .extents = extents, .extent_count = 2,
			       .xattrs = xattrs, .xattr_count = 2 };

	kit_add(log, &entry);
	assert_int_equal(builder_apply(builder, log, "s0", NULL), 0);
	entries_free(log);
	assert_int_equal(kit_seal(builder, image, NULL), 0);
	builder_free(builder);
	image_append(image, SECTION_LITERALS, tail, sizeof(tail));
}

static uint8_t *rich_bytes(size_t *size)
{
	struct image image;
	uint8_t *bytes;

	rich_image(&image);
	bytes = kit_bytes(&image, size);
	image_free(&image);
	return bytes;
}

/* The sum of all that a walk reads, so that every promised byte is there. */
struct walk {
	const struct tree *tree;
	unsigned visits; /* a hostile tree may have very many paths */
	uint64_t sum;
	unsigned errors;
};

static void sum_bytes(struct walk *w, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < size; i++)
		w->sum = w->sum * 31 + at[i];
}

static void visit_xattrs(struct walk *w, uint32_t node)
{
	char list[512], value[512];
	int n = tree_listxattr(w->tree, node, list, sizeof(list));

	w->errors += n < 0 && n != -ERANGE;
	for (int i = 0; i < n; i += (int)strlen(list + i) + 1) {
		int size = tree_getxattr(w->tree, node, list + i, value, sizeof(value));

		if (size > 0)
			sum_bytes(w, value, (size_t)size);
	}
	tree_getxattr(w->tree, node, "user.x", value, sizeof(value));
}

static void visit_contents(struct walk *w, uint32_t node, uint64_t size)
{
	struct tree_piece piece;
	uint64_t at = 0;

	for (int i = 0; i < 100 && at < size; i++) {
		int err = tree_piece(w->tree, node, at, &piece);

		if (err) {
			assert_int_equal(err, -EIO);
			w->errors++;
			return;
		}
		assert_true(piece.length > 0 && piece.length <= size - at);
		at += piece.length;
	}
	tree_piece(w->tree, node, size, &piece);
	tree_piece(w->tree, node, size / 2, &piece);
}

static void visit_node(struct walk *w, uint32_t node)
{
	struct tree_stat st;
	char target[TREE_TARGET_BYTES];
	char path[64];
	uint32_t parent;
	int err = tree_stat(w->tree, node, &st);

	sum_bytes(w, path, strlen(tree_path(w->tree, node, path, sizeof(path))));
	w->errors += tree_parent(w->tree, node, &parent) != 0;
	visit_xattrs(w, node);
	if (err) {
		assert_int_equal(err, -EIO);
		w->errors++;
		return;
	}
	assert_in_range(st.kind, TREE_DIRECTORY, TREE_SYMLINK);
	assert_true(st.mode <= 0777 && st.mtime_ns < 1000000000);
	if (tree_readlink(w->tree, node, target) == 0)
		sum_bytes(w, target, strlen(target));
	if (st.kind == TREE_FILE)
		visit_contents(w, node, st.size);
}

static void walk_directory(struct walk *w, uint32_t node)
{
	struct tree_name name;
	uint32_t found, count = 0;
	int err = 0;

	visit_node(w, node);
	w->errors += tree_child_count(w->tree, node, &count) == -EIO;
	for (uint32_t i = 0; i < count && w->visits < VISITS; i++) {
		err = tree_child(w->tree, node, i, &name);
		w->visits++;
		w->errors += err != 0;
		if (err)
			continue;
		sum_bytes(w, name.name, name.length);
		tree_lookup(w->tree, node, name.name, name.length, &found);
		if (name.kind == TREE_DIRECTORY && name.node > node)
			walk_directory(w, name.node);
		else
			visit_node(w, name.node);
	}
	tree_walk(w->tree, node, "d/e/b", &found);
}

static struct walk walk_index(const struct index *index)
{
	struct walk w = { .tree = index_tree(index) };
	struct index_summary summary;
	struct volume_desc volume;
	uint8_t literals[64];
	uint64_t size = index_literals_size(index);

	walk_directory(&w, TREE_ROOT);
	for (uint32_t i = 0; i < tree_count(w.tree) && i < 100; i++)
		visit_node(&w, i);
	visit_node(&w, UINT32_MAX);
	index_summary(index, &summary);
	sum_bytes(&w, summary.options, strlen(summary.options));
	for (uint32_t i = 0; i <= index_volume_count(index) && i < 100; i++)
		index_volume(index, i, &volume);
	for (uint64_t at = 0; at < size; at += sizeof(literals)) {
		size_t n = size - at < sizeof(literals) ? size - at : sizeof(literals);

		if (index_read_literals(index, literals, n, at) == 0)
			sum_bytes(&w, literals, n);
	}
	return w;
}

/* Opens bytes if their head lets it; walks and checks: was it opened? */
static bool survive(const uint8_t *bytes, size_t size)
{
	struct index *index;
	struct error e = { 0 };

	if (kit_open_bytes(bytes, size, &index, &e) < 0) {
		assert_true(e.text[0] != '\0');
		return false;
	}
	walk_index(index);
	if (index_check(index, &e) < 0)
		assert_true(e.text[0] != '\0');
	index_close(index);
	return true;
}

static void test_a_sound_index_is_walked_without_errors(void **state)
{
	struct image image;
	struct index *index;
	struct walk w;

	(void)state;
	rich_image(&image);
	index = kit_open(&image);
	w = walk_index(index);
	assert_int_equal(w.visits, 10);
	/* the node that is past the end: its parent, xattrs, stat */
	assert_in_range(w.errors, 1, 3);
	index_close(index);
}

/* Of a table that was changed no sum can be made: its sections may be anywhere. */
static void fix_sums(uint8_t *bytes, bool sections)
{
	if (sections)
		kit_fix_sums(bytes);
	else
		kit_fix_header(bytes);
}

static void test_every_byte_changed_in_turn(void **state)
{
	static const uint8_t changes[] = { 0x01, 0x80, 0xff };
	size_t size;
	uint8_t *bytes = rich_bytes(&size);
	size_t body = kit_section(bytes, SECTION_SUMMARY, NULL);
	unsigned opened = 0;

	(void)state;
	for (size_t i = 0; i < size; i++) {
		for (size_t k = 0; k < COUNT(changes); k++) {
			uint8_t before = bytes[i];

			bytes[i] ^= changes[k];
			fix_sums(bytes, i >= body);
			opened += survive(bytes, size);
			bytes[i] = before;
		}
	}
	assert_in_range(opened, 2 * size, 3 * size);
	free(bytes);
}

/* Neither in a section nor between two of them. */
static void test_no_changed_byte_is_overlooked(void **state)
{
	size_t size;
	uint8_t *bytes = rich_bytes(&size);

	(void)state;
	for (size_t i = 0; i < size; i++) {
		bytes[i] ^= 1;
		if (survive(bytes, size))
			fail_msg("byte %zu of %zu", i, size);
		bytes[i] ^= 1;
	}
	free(bytes);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Bytes, or whole words with the numbers that are most likely to hurt. */
static void corrupt(uint8_t *bytes, size_t size, size_t from, uint64_t *seed)
{
	static const uint32_t words[] = { 0, 1, 2, 7, 0x7fffffff, 0x80000000, 0xffffffff,
					  0x40000000, 0xc0000000, 0x00ffffff };
	unsigned count = 1 + (unsigned)(next_random(seed) % 12);

	while (count-- > 0) {
		size_t at = from + (size_t)(next_random(seed) % (size - from - 4));
		uint64_t r = next_random(seed);
		const uint32_t *word = &words[r / 2 % COUNT(words)];

		if (r % 2)
			bytes[at] = (uint8_t)(r >> 8);
		else
			memcpy(bytes + (at & ~(size_t)3), word, sizeof(*word));
	}
}

static void test_random_corruption(void **state)
{
	const size_t table = sizeof(struct layout_header);
	size_t size;
	uint8_t *bytes = rich_bytes(&size), *copy = malloc(size);
	size_t body = kit_section(bytes, SECTION_SUMMARY, NULL);
	uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);
	unsigned opened = 0;

	(void)state;
	assert_non_null(copy);
	for (unsigned i = 0; i < ROUNDS; i++) {
		memcpy(copy, bytes, size);
		corrupt(copy, size, i % 10 ? body : table, &seed);
		fix_sums(copy, i % 10 != 0);
		opened += survive(copy, size);
	}
	assert_in_range(opened, ROUNDS / 2, ROUNDS);
	free(copy);
	free(bytes);
}

/* Seals hold whatever the caller does with the descriptor that it still has. */
static void test_an_open_index_cannot_change(void **state)
{
	size_t size;
	uint8_t *bytes = rich_bytes(&size), *map;
	struct index *index;
	struct error e = { 0 };
	int fd;

	(void)state;
	assert_int_equal(kit_open_bytes(bytes, size, &index, &e), 0);
	fd = dup(index_descriptor(index));
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "x", 1, 0), -1);
	assert_int_equal(ftruncate(fd, 0), -1);
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_equal(map, MAP_FAILED);
	walk_index(index);
	close(fd);
	index_close(index);
	free(bytes);
}

/* A file that may still be cut or overwritten is not opened at all. */
static void test_an_unsealed_index_is_refused(void **state)
{
	size_t size;
	uint8_t *bytes = rich_bytes(&size);
	int fds[] = { memfd_create("kit", MFD_CLOEXEC | MFD_ALLOW_SEALING),
		      open("plain", O_CREAT | O_TRUNC | O_RDWR, 0600) };
	struct index *index;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_true(fds[i] >= 0);
		assert_int_equal(write(fds[i], bytes, size), size);
		assert_int_equal(index_open_memory(fds[i], 0, "kit", &index, NULL), -EBADMSG);
	}
	free(bytes);
}

/* Nor one whose pages its reader would have to pay for. */
static void test_an_index_of_holes_is_refused(void **state)
{
	size_t size;
	uint8_t *bytes = rich_bytes(&size);
	int fd = memfd_create("kit", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct index *index;
	struct error e;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	assert_int_equal(ftruncate(fd, 128 << 20), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE), 0);
	assert_int_equal(index_open_memory(fd, 0, "kit", &index, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "kit: it is empty, has holes"));
	free(bytes);
}

/* Each section is compared with its checksum before anything is read from it. */
static void test_a_damaged_section_is_named(void **state)
{
	size_t size, length;
	uint8_t *bytes = rich_bytes(&size);
	struct index *index;
	struct error e;

	(void)state;
	for (unsigned i = 0; i < SECTION_COUNT_LEAST; i++) {
		size_t at = kit_section(bytes, i, &length);
		char said[64];

		if (length == 0)
			continue;
		bytes[at + length / 2] ^= 1;
		assert_int_equal(kit_open_bytes(bytes, size, &index, &e), -EBADMSG);
		snprintf(said, sizeof(said), "section %s is damaged", layout_types[i].name);
		assert_non_null(strstr(e.text, said));
		bytes[at + length / 2] ^= 1;
	}
	free(bytes);
}

static const struct CMUnitTest damage[] = {
	cmocka_unit_test(test_a_sound_index_is_walked_without_errors),
	cmocka_unit_test(test_every_byte_changed_in_turn),
	cmocka_unit_test(test_no_changed_byte_is_overlooked),
	cmocka_unit_test(test_random_corruption),
	cmocka_unit_test(test_an_open_index_cannot_change),
	cmocka_unit_test(test_an_unsealed_index_is_refused),
	cmocka_unit_test(test_an_index_of_holes_is_refused),
	cmocka_unit_test(test_a_damaged_section_is_named),
};

UNIT_MAIN(damage)
