/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dataset/kit.h"

#include <unistd.h>

#include "source/source_set.h"
#include "../build/publish.h"

static const char *const names[MADE_SOURCES] = { "0.bin", "1.bin", "2.bin", "3.bin" };

unsigned char made_byte(uint32_t source, uint64_t offset)
{
	return (unsigned char)(source * 31 + offset * 7 + offset / 251 + offset / 65521);
}

static void write_source(uint32_t source, uint64_t size)
{
	unsigned char *bytes = malloc(size <= MADE_WRITTEN_MOST ? size : 1);

	assert_non_null(bytes);
	if (size > MADE_WRITTEN_MOST) {
		unit_write(names[source], bytes, 0);
		assert_int_equal(truncate(names[source], (off_t)size), 0);
		free(bytes);
		return;
	}
	for (uint64_t i = 0; i < size; i++)
		bytes[i] = made_byte(source, i);
	unit_write(names[source], bytes, size);
	free(bytes);
}

void made_begin(struct made *made, const uint64_t *sizes)
{
	*made = (struct made){ .log = entries_new() };
	assert_non_null(made->log);
	for (uint32_t i = 0; i < MADE_SOURCES && sizes[i]; i++) {
		made->sizes[i] = sizes[i];
		write_source(i, sizes[i]);
	}
}

struct entry_extent made_extent(struct made *made, uint32_t source, uint64_t offset,
				uint64_t length, uint64_t file_offset)
{
	struct entry_extent extent;

	assert_int_equal(entries_raw_extent(made->log, source, made->sizes[source], offset,
					    length, &extent), 0);
	extent.file_offset = file_offset;
	return extent;
}

void made_pieces(struct made *made, const char *path, uint64_t size,
		 const struct entry_extent *extents, size_t count)
{
	kit_add(made->log, &(struct entry){ .kind = ENTRY_FILE, .path = path, .size = size,
					    .extents = extents, .extent_count = count });
}

void made_file(struct made *made, const char *path, uint32_t source, uint64_t offset,
	       uint64_t length)
{
	struct entry_extent extent = { 0 };

	if (length)
		extent = made_extent(made, source, offset, length, 0);
	made_pieces(made, path, length, &extent, length ? 1 : 0);
}

static uint32_t describe(const struct made *made, char **sources,
			 struct builder_source *described)
{
	struct source_set set;
	struct identity identities[MADE_SOURCES];
	uint32_t count = 0;

	for (; count < MADE_SOURCES && made->sizes[count]; count++) {
		sources[count] = strdup(names[count]);
		assert_non_null(sources[count]);
	}
	assert_int_equal(source_set_open(sources, count, false, &set, NULL), 0);
	assert_int_equal(source_set_identify(&set, identities, NULL), 0);
	source_set_close(&set);
	for (uint32_t i = 0; i < count; i++)
		described[i] = (struct builder_source){ identities[i], names[i] };
	return count;
}

static void publish(struct made *made, const struct builder_source *sources, uint32_t count)
{
	const struct dataset_config usual = { 0 };
	const struct image_access access = { 0600, getuid(), getgid() };
	struct builder *builder = kit_builder(DUPLICATES_ERROR);
	struct index_summary summary = { .format = "tar" };
	struct image image;

	dataset_config_shape(&usual, count, summary.options);
	assert_int_equal(builder_apply(builder, made->log, "made", NULL), 0);
	entries_free(made->log);
	made->log = NULL;
	assert_int_equal(builder_seal(builder, sources, count, &summary, &image, NULL), 0);
	builder_free(builder);
	assert_int_equal(publish_at(&image, "made.gidx", &access, NULL), 0);
	image_free(&image);
}

struct dataset *made_open(struct made *made)
{
	char index[] = "made.gidx", *sources[MADE_SOURCES];
	struct builder_source described[MADE_SOURCES];
	struct dataset_config config = { .index = index };
	uint32_t count = describe(made, sources, described);
	struct dataset *dataset = NULL;
	struct error e = { 0 };

	publish(made, described, count);
	if (dataset_open(&config, sources, count, &dataset, &e) < 0)
		fail_msg("%s", e.text);
	for (uint32_t i = 0; i < count; i++)
		free(sources[i]);
	return dataset;
}

uint32_t made_node(const struct dataset *dataset, const char *path)
{
	return kit_node(dataset_tree(dataset), path);
}
