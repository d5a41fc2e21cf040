/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kit.h: packs a table of entries with a writer, without a source tree. */
#ifndef GRANARY_TESTS_UNIT_PACKER_KIT_H
#define GRANARY_TESTS_UNIT_PACKER_KIT_H

#include "unit.h"

#include "packer/writer.h"

/* An entry; a file's contents are entry.size bytes made from `seed`, 0 for zeros. */
struct item {
	struct pack_entry entry;
	unsigned seed;
};

/* Contents, which the caller frees. */
char *kit_contents(const struct item *item);

/* Into a new file at `path`: what the first function that failed returned. */
int kit_pack(const struct writer_ops *ops, const char *path,
	     const struct writer_config *config, const struct item *items, size_t count,
	     struct error *e);

/* The same, where all must be well. */
void kit_packed(const struct writer_ops *ops, const char *path,
		const struct writer_config *config, const struct item *items,
		size_t count);

/* The output of a shell command; the caller frees it. */
char *kit_output(const char *command);

/* Is the text there? Says both if not. */
void kit_assert_in(const char *text, const char *part);

#endif
