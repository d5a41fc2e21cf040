/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * thrift.h: structs in Thrift's compact protocol, in memory. Private to format/parquet/.
 *
 * Each step is checked against the end, a list has at most as many items as bytes are left,
 * and structs nest to THRIFT_DEPTH_MOST. So time is linear in the bytes. Facts:
 * thrift-compact-protocol.md of apache/thrift.
 *
 * Threads: a reader belongs to one thread at a time.
 */
#ifndef GRANARY_FORMAT_PARQUET_THRIFT_H
#define GRANARY_FORMAT_PARQUET_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { THRIFT_DEPTH_MOST = 32 };

enum thrift_type {
	THRIFT_TRUE = 1, THRIFT_FALSE = 2, THRIFT_I8 = 3, THRIFT_I16 = 4, THRIFT_I32 = 5,
	THRIFT_I64 = 6, THRIFT_DOUBLE = 7, THRIFT_BINARY = 8, THRIFT_LIST = 9, THRIFT_SET = 10,
	THRIFT_MAP = 11, THRIFT_STRUCT = 12,
};

struct thrift {
	const unsigned char *at, *end;
	unsigned depth;
};

/* A field of a struct, or an item of a list, whose id is that of the list. */
struct thrift_field {
	int id;
	enum thrift_type type;
	int64_t number;     /* of integers; of bools 0 or 1 */
	const char *bytes;  /* of binary: length */
	size_t length;
	uint32_t count;     /* of a list: its items, */
	enum thrift_type item; /* of this type */
};

/*
 * Called for each field. It may read a struct or a list with the functions below, and then
 * returns 1; or 0: its bytes are passed over. Or a negative errno, which ends all.
 */
typedef int thrift_visit(struct thrift *thrift, const struct thrift_field *field,
			 void *context);

/* Reads a struct to its end: 0, -EBADMSG, or what `visit` said. */
int thrift_read_struct(struct thrift *thrift, thrift_visit *visit, void *context);

/* Reads the items of a list or a set: `visit` gets each. */
int thrift_read_list(struct thrift *thrift, const struct thrift_field *list,
		     thrift_visit *visit, void *context);

/* Is it an integer? */
bool thrift_is_number(const struct thrift_field *field);

#endif
