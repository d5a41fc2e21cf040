/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An index as it is, and with checksums that are made right: an index that was made to
 * do harm has those.
 *
 * granary-fuzz: index
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "index/layout.h"
#include "base/checked.h"
#include "os/sealed.h"

static void fix_header(uint8_t *bytes, size_t n)
{
	struct layout_header header;
	size_t head = sizeof(header);

	memcpy(&header, bytes, sizeof(header));
	if (header.section_count <= SECTION_COUNT)
		head += header.section_count * sizeof(struct layout_section);
	if (head > n)
		return;
	header.file_size = n;
	header.checksum = 0;
	memcpy(bytes, &header, sizeof(header));
	header.checksum = XXH3_64bits(bytes, head);
	memcpy(bytes, &header, sizeof(header));
}

static void fix_sums(uint8_t *bytes, size_t n)
{
	uint8_t *at = bytes + sizeof(struct layout_header);
	struct layout_section section;

	for (int i = 0; i < SECTION_COUNT; i++, at += sizeof(section)) {
		if ((size_t)(at - bytes) + sizeof(section) > n)
			return;
		memcpy(&section, at, sizeof(section));
		if (!range_within(section.offset, section.length, n))
			break;
		section.checksum = XXH3_64bits(bytes + section.offset, section.length);
		memcpy(at, &section, sizeof(section));
	}
	fix_header(bytes, n);
}

static void open_and_read(const uint8_t *bytes, size_t n, const struct source_set *sources)
{
	struct error e = { 0 };
	struct index *index;
	int fd = fuzz_file(bytes, n), err = sealed_make(fd);

	if (err)
		abort();
	err = index_open_memory(fd, geteuid(), "index", &index, &e);

	fuzz_expect_sentence(err, &e);
	if (err)
		return;
	fuzz_read(index, sources);
	fuzz_expect_sentence(index_check(index, &e), &e);
	index_close(index);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);
	struct source_set sources;
	int fd = fuzz_file(bytes, n); /* the source is the index itself: any bytes */

	log_level_now = fuzz_log_level;
	if (!copy)
		abort();
	if (n)
		memcpy(copy, bytes, n);
	sources = fuzz_source(fd);
	open_and_read(copy, n, &sources);
	if (n >= sizeof(struct layout_header)) {
		fix_sums(copy, n);
		open_and_read(copy, n, &sources);
	}
	source_set_close(&sources);
	close(fd);
	free(copy);
	return 0;
}
