/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pax_records.h: what the pax headers before a member say, and those for all members
 * that follow. Private to format/tar/.
 *
 * POSIX.1-2017, pax, "pax Extended Header": records of KEYWORD=VALUE; the last one of a
 * keyword counts; an empty value takes back what a header for all said.
 *
 * Threads: one set of records belongs to one thread.
 */
#ifndef GRANARY_FORMAT_TAR_PAX_RECORDS_H
#define GRANARY_FORMAT_TAR_PAX_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct tar_record {
	const char *key;   /* NUL-terminated; as are values, which may hold NULs, too */
	const char *value;
	size_t size;       /* of the value */
	unsigned header;   /* which of several headers it is from */
};

struct tar_records {
	VEC(struct tar_record) items;
	VEC(char *) texts; /* that the records lie in */
};

void tar_records_free(struct tar_records *records);

/* Forgets the records, for the next member. */
void tar_records_clear(struct tar_records *records);

/*
 * Takes one header's records: `text` is n bytes and a NUL, allocated, and belongs to
 * the records from now on, whatever is returned. 0; -EBADMSG where a record makes no
 * sense (those before it have been taken); -ENOMEM.
 */
int tar_records_add(struct tar_records *records, char *text, size_t n);

/* The valid record of a keyword, with an empty value if it was said so; or NULL. */
const struct tar_record *tar_records_find(const struct tar_records *records,
					  const char *key);

/*
 * Puts the records of a header for all that follow into `global`, as far as they can
 * matter to a tree: times, owners, names, sizes and xattrs. 0, -ENOMEM, or -E2BIG where
 * they are more than a member may have.
 */
int tar_records_merge(struct tar_records *global, const struct tar_records *header);

/* "12.5": seconds before or after 1970. False if that is not what it is. */
bool tar_record_time(const struct tar_record *record, int64_t *seconds, uint32_t *ns);

/* A whole number, or the nearest that fits; a fraction is cut off. False if it is none. */
bool tar_record_number(const struct tar_record *record, int64_t *out);

#endif
