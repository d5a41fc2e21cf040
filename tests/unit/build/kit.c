/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "build/kit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "build/findings.h"
#include "index/layout.h"

enum { TOKEN_BYTES = 1024 };

/* The next word into `token`, or false at the end of the log. */
static bool next_token(const char **script, char *token)
{
	size_t length;

	*script += strspn(*script, " ");
	if (**script == '\0' || **script == '|' || **script == ')')
		return false;
	length = strcspn(*script, " ");
	assert_in_range(length, 3, TOKEN_BYTES - 1);
	memcpy(token, *script, length);
	token[length] = '\0';
	*script += length;
	return true;
}

static struct entries *nested_log(const char **script, bool failed)
{
	struct entries *log;

	*script += strspn(*script, " ");
	assert_int_equal(**script, '(');
	++*script;
	log = kit_log(script);
	assert_int_equal(**script, ')');
	++*script;
	if (failed)
		entries_set_failed(log);
	return log;
}

static void set_size(struct entries *log, struct entry *entry, const char *argument,
		     struct entry_extent *extent)
{
	entry->size = strtoull(argument, NULL, 10);
	if (entry->size == 0)
		return;
	assert_int_equal(entries_raw_extent(log, 0, KIT_SOURCE_SIZE, entry->size,
					    entry->size, extent), 0);
	entry->extents = extent;
	entry->extent_count = 1;
}

static void add_token(struct entries *log, char *token, const char **script)
{
	struct entry_extent extent;
	struct entry entry = { .mode = KIT_MODE, .uid = KIT_UID, .gid = KIT_GID,
			       .mtime = KIT_MTIME, .path = token + 2 };
	char *argument = strchr(token + 2, ':');

	assert_int_equal(token[1], ':');
	if (argument)
		*argument++ = '\0';
	if (token[0] == 'd' || token[0] == 'n')
		entry.mode = argument ? (uint32_t)strtoul(argument, NULL, 8) : 0755;
	if (token[0] == 'f' || token[0] == 'x')
		set_size(log, &entry, argument, &extent);
	if (token[0] == 's' || token[0] == 'h')
		entry.target = argument;
	if (token[0] == 'n' || token[0] == 'x')
		entry.nested = nested_log(script, token[0] == 'x');
	entry.kind = token[0] == 'd' ? ENTRY_DIRECTORY : token[0] == 'f' ? ENTRY_FILE :
		     token[0] == 's' ? ENTRY_SYMLINK : token[0] == 'h' ? ENTRY_HARDLINK :
		     ENTRY_NESTED;
	kit_add(log, &entry);
}

struct entries *kit_log(const char **script)
{
	struct entries *log = entries_new();
	char token[TOKEN_BYTES];

	assert_non_null(log);
	while (next_token(script, token))
		add_token(log, token, script);
	return log;
}

void kit_add(struct entries *log, const struct entry *entry)
{
	assert_int_equal(entries_add(log, entry), 0);
}

/* Of the builder at hand, told when it is sealed. */
static struct findings kit_findings;

struct builder *kit_builder(enum duplicates duplicates)
{
	struct builder_defaults defaults = { 0755, 1, 2, 3, 0 };
	struct builder *builder = builder_new(duplicates, &defaults, &kit_findings);

	assert_non_null(builder);
	return builder;
}

int kit_apply(struct builder *builder, const char *script, struct error *e)
{
	static const char *const labels[] = { "s0", "s1", "s2", "s3" };
	int err = 0;

	for (size_t i = 0; !err; i++) {
		struct entries *log = kit_log(&script);

		assert_in_range(i, 0, COUNT(labels) - 1);
		err = builder_apply(builder, log, labels[i], e);
		entries_free(log);
		if (*script != '|')
			break;
		script++;
	}
	return err;
}

int kit_seal(struct builder *builder, struct image *image, struct error *e)
{
	struct builder_source source = { { KIT_SOURCE_SIZE, 2000, 3000, 0, 0 }, "kit.tar" };
	struct index_summary summary = { .format = "tar", .options = "shape=kit" };

	int err = builder_seal(builder, &source, 1, &summary, image, e);

	if (!err)
		err = findings_publish(&kit_findings, NULL);
	findings_free(&kit_findings);
	return err;
}

void kit_image(const char *script, struct image *image)
{
	struct builder *builder = kit_builder(DUPLICATES_ERROR);
	struct error e;

	assert_int_equal(kit_apply(builder, script, &e), 0);
	assert_int_equal(kit_seal(builder, image, &e), 0);
	builder_free(builder);
}

static void kit_seal_memory(int fd)
{
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK),
			 0);
}

struct index *kit_open(struct image *image)
{
	int fd = memfd_create("kit", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct index *index = NULL;
	struct error e = { 0 };

	assert_true(fd >= 0);
	assert_int_equal(image_write(image, fd, "kit", &e), 0);
	image_free(image);
	kit_seal_memory(fd);
	if (index_open_memory(fd, geteuid(), "kit", &index, &e) < 0)
		fail_msg("%s", e.text);
	return index;
}

struct index *kit_make(const char *script)
{
	struct image image;

	kit_image(script, &image);
	return kit_open(&image);
}

static void image_of(struct entries *log, struct image *image)
{
	struct builder *builder = kit_builder(DUPLICATES_ERROR);
	struct error e;

	assert_int_equal(builder_apply(builder, log, "s0", &e), 0);
	entries_free(log);
	assert_int_equal(kit_seal(builder, image, &e), 0);
	builder_free(builder);
}

struct index *kit_index_of(struct entries *log)
{
	struct image image;

	image_of(log, &image);
	return kit_open(&image);
}

uint8_t *kit_bytes_of(struct entries *log, size_t *size)
{
	struct image image;
	uint8_t *bytes;

	image_of(log, &image);
	bytes = kit_bytes(&image, size);
	image_free(&image);
	return bytes;
}

static void list_one(FILE *out, const struct tree *tree, uint32_t node)
{
	struct tree_stat st;
	char target[TREE_TARGET_BYTES];

	assert_int_equal(tree_stat(tree, node, &st), 0);
	if (st.kind == TREE_SYMLINK) {
		assert_int_equal(tree_readlink(tree, node, target), 0);
		fprintf(out, ">%s", target);
	} else if (st.kind == TREE_FILE) {
		fprintf(out, "=%llu", (unsigned long long)st.size);
	} else {
		fputc('/', out);
		if (st.mode != 0755)
			fprintf(out, ",%o", st.mode);
	}
	if (st.kind != TREE_DIRECTORY && st.links != 1)
		fprintf(out, "*%u", st.links);
	fputc(' ', out);
}

static void list_children(FILE *out, const struct tree *tree, uint32_t node,
			  const char *prefix)
{
	struct tree_name name;

	for (uint32_t i = 0; tree_child(tree, node, i, &name) == 0; i++) {
		char path[2048];

		snprintf(path, sizeof(path), "%s%.*s", prefix, (int)name.length,
			 name.name);
		fputs(path, out);
		list_one(out, tree, name.node);
		strcat(path, "/");
		if (name.kind == TREE_DIRECTORY)
			list_children(out, tree, name.node, path);
	}
}

char *kit_list(const struct tree *tree)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	list_children(out, tree, TREE_ROOT, "");
	fclose(out);
	if (size)
		text[size - 1] = '\0'; /* the last space */
	return text;
}

char *kit_result(const char *script, enum duplicates duplicates)
{
	struct builder *builder = kit_builder(duplicates);
	struct image image = { 0 };
	struct index *index;
	struct error e = { 0 };
	char *text;
	int err = kit_apply(builder, script, &e);

	if (!err)
		err = kit_seal(builder, &image, &e);
	builder_free(builder);
	if (err) {
		text = strdup(e.text);
		assert_non_null(text);
		return text;
	}
	index = kit_open(&image);
	text = kit_list(index_tree(index));
	if (index_check(index, &e) < 0)
		fail_msg("the index of %s is not sound: %s", script, e.text);
	index_close(index);
	return text;
}

uint32_t kit_node(const struct tree *tree, const char *path)
{
	uint32_t node;

	assert_int_equal(tree_walk(tree, TREE_ROOT, path, &node), 0);
	return node;
}

uint8_t *kit_bytes(const struct image *image, size_t *size)
{
	struct error e;
	FILE *f = tmpfile();
	uint8_t *bytes;

	assert_non_null(f);
	assert_int_equal(image_write(image, fileno(f), "kit", &e), 0);
	*size = (size_t)lseek(fileno(f), 0, SEEK_END);
	bytes = malloc(*size);
	assert_non_null(bytes);
	assert_int_equal(pread(fileno(f), bytes, *size, 0), *size);
	fclose(f);
	return bytes;
}

int kit_open_bytes(const uint8_t *bytes, size_t size, struct index **out,
		   struct error *e)
{
	int fd = memfd_create("kit", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	kit_seal_memory(fd);
	return index_open_memory(fd, geteuid(), "kit", out, e);
}

int kit_open_path(const char *path, struct index **out, struct error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	struct stat st;
	uint8_t *bytes;

	if (fd < 0)
		return -errno;
	assert_int_equal(fstat(fd, &st), 0);
	bytes = malloc((size_t)st.st_size + 1);
	assert_non_null(bytes);
	assert_int_equal(read(fd, bytes, (size_t)st.st_size), st.st_size);
	close(fd);
	err = kit_open_bytes(bytes, (size_t)st.st_size, out, e);
	free(bytes);
	return err;
}

void kit_fix_header(uint8_t *bytes)
{
	struct layout_header header;
	size_t head;

	memcpy(&header, bytes, sizeof(header));
	/* a count that a test has made up is not believed */
	head = sizeof(header) + (header.section_count > SECTION_COUNT_LEAST &&
						 header.section_count <= SECTION_COUNT ?
				 header.section_count : SECTION_COUNT_LEAST) *
				sizeof(struct layout_section);
	header.checksum = 0;
	memcpy(bytes, &header, sizeof(header));
	header.checksum = XXH3_64bits(bytes, head);
	memcpy(bytes, &header, sizeof(header));
}

static uint8_t *section_entry(uint8_t *bytes, unsigned section)
{
	return bytes + sizeof(struct layout_header) +
	       section * sizeof(struct layout_section);
}

void kit_fix_sums(uint8_t *bytes)
{
	struct layout_header header;

	memcpy(&header, bytes, sizeof(header));
	for (unsigned i = 0; i < header.section_count; i++) {
		struct layout_section s;

		memcpy(&s, section_entry(bytes, i), sizeof(s));
		s.checksum = XXH3_64bits(bytes + s.offset, s.length);
		memcpy(section_entry(bytes, i), &s, sizeof(s));
	}
	kit_fix_header(bytes);
}

size_t kit_section(const uint8_t *bytes, unsigned section, size_t *length)
{
	struct layout_section s;

	memcpy(&s, bytes + sizeof(struct layout_header) + section * sizeof(s), sizeof(s));
	if (length)
		*length = s.length;
	return s.offset;
}
