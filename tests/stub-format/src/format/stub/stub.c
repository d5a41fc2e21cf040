/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The smallest format: "granstub", a file's name, a line feed, the file's bytes. Of it
 * tests/dev/stub-format.sh learns how many files a new format changes.
 */
#include "format/format.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#define MAGIC "granstub"

enum { MAGIC_BYTES = sizeof(MAGIC) - 1, NAME_MOST = 255, UPPER = 1 };

static int stub_probe(const unsigned char *head, size_t n)
{
	return n > MAGIC_BYTES && memcmp(head, MAGIC, MAGIC_BYTES) == 0 ? 100 : 0;
}

static void raise_case(char *name)
{
	for (; *name; name++)
		if (*name >= 'a' && *name <= 'z')
			*name = (char)(*name - 'a' + 'A');
}

static int add_file(struct scan *scan, const char *name, uint64_t at)
{
	struct entry_extent extent;
	struct entry entry = { .kind = ENTRY_FILE, .path = name, .mode = 0444,
			       .size = scan->length - at };
	int err = 0;

	if (entry.size) {
		err = entries_raw_extent(scan->entries, scan->source_number,
					 source_size(scan->source), scan->base + at,
					 entry.size, &extent);
		entry.extents = &extent;
		entry.extent_count = 1;
	}
	return err ? err : entries_add(scan->entries, &entry);
}

static int stub_scan(struct scan *scan, struct error *e)
{
	char name[NAME_MOST + 1], *end;
	uint64_t left = scan->length - MAGIC_BYTES;
	size_t n = left < NAME_MOST ? (size_t)left : NAME_MOST;
	int err = source_pread(scan->source, name, n, scan->base + MAGIC_BYTES);

	if (err)
		return format_unreadable(scan->label, err, e);
	end = memchr(name, '\n', n);
	if (!end)
		return error_set(e, ERROR_DATASET, EBADMSG,
				 "'%s' is damaged: its name does not end; copy it again",
				 scan->label);
	*end = '\0';
	if (scan->options && scan->options->stub_case == UPPER)
		raise_case(name);
	err = add_file(scan, name, MAGIC_BYTES + (uint64_t)(end + 1 - name));
	return err ? format_no_memory(scan->label, e) : 0;
}

const struct format format_stub = {
	.name = "stub",
	.probe = stub_probe,
	.scan = stub_scan,
};
