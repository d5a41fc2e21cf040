/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * forge-index INDEX FROM TO: puts the bytes of TO in the place of those of FROM, which are
 * as many and occur once, and makes all checksums right again. As a stranger does who
 * wants his index to be read.
 *
 * forge-index --as-0.1 INDEX: takes away what 0.1 did not record: the sections behind the
 * checksums of files.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "index/layout.h"

static char *read_all(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	char *bytes = NULL;

	if (file && fseek(file, 0, SEEK_END) == 0) {
		*size = (size_t)ftell(file);
		rewind(file);
		bytes = malloc(*size + 1);
		if (bytes && fread(bytes, 1, *size, file) != *size) {
			free(bytes);
			bytes = NULL;
		}
	}
	if (file)
		fclose(file);
	return bytes;
}

static void replace(char *bytes, size_t size, const char *from, const char *to)
{
	size_t n = strlen(from);
	char *at = memmem(bytes, size, from, n), *again;

	again = at ? memmem(at + 1, size - (size_t)(at + 1 - bytes), from, n) : NULL;
	if (!at || again || strlen(to) != n) {
		fprintf(stderr, "'%s' is not there once\n", from);
		exit(1);
	}
	memcpy(at, to, n);
}

static void fix_checksums(char *bytes)
{
	struct layout_header header;
	struct layout_section section;
	char *table = bytes + sizeof(header);

	memcpy(&header, bytes, sizeof(header));
	for (unsigned i = 0; i < header.section_count; i++) {
		memcpy(&section, table + i * sizeof(section), sizeof(section));
		section.checksum = XXH3_64bits(bytes + section.offset, section.length);
		memcpy(table + i * sizeof(section), &section, sizeof(section));
	}
	header.checksum = 0;
	memcpy(bytes, &header, sizeof(header));
	header.checksum = XXH3_64bits(bytes, sizeof(header) +
				      header.section_count * sizeof(section));
	memcpy(bytes, &header, sizeof(header));
}

static void make_old(char *bytes)
{
	struct layout_header header;
	struct layout_section sums;

	memcpy(&header, bytes, sizeof(header));
	memcpy(&sums, bytes + sizeof(header) + SECTION_SUMS * sizeof(sums), sizeof(sums));
	header.section_count = SECTION_COUNT_LEAST + (sums.length > 0);
	memcpy(bytes, &header, sizeof(header));
}

int main(int argc, char **argv)
{
	bool old = argc == 3 && strcmp(argv[1], "--as-0.1") == 0;
	const char *path = old ? argv[2] : argv[1];
	size_t size = 0;
	char *bytes = old || argc == 4 ? read_all(path, &size) : NULL;
	FILE *file;
	bool written;

	if (!bytes) {
		fprintf(stderr, "usage: forge-index INDEX FROM TO | --as-0.1 INDEX\n");
		return 1;
	}
	if (old)
		make_old(bytes);
	else
		replace(bytes, size, argv[2], argv[3]);
	fix_checksums(bytes);
	file = fopen(path, "wb");
	written = file && fwrite(bytes, 1, size, file) == size;
	free(bytes);
	return !(file && fclose(file) == 0 && written);
}
