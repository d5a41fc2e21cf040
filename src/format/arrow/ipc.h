/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ipc.h: the record batches of an Arrow IPC file or stream, one after the other.
 *
 * A file ends with a footer that says where its batches are; a stream is gone through
 * from message to message. Positions count from the start of the window. Facts:
 * Message.fbs and File.fbs of apache/arrow, "Serialization and Interprocess
 * Communication (IPC)".
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_ARROW_IPC_H
#define GRANARY_FORMAT_ARROW_IPC_H

#include <inttypes.h>
#include "format/leap_reader.h"
#include "format/arrow/schema.h"
#include "format/format.h"

enum { ARROW_V4 = 3, ARROW_V5 = 4 }; /* versions of metadata, as they are stored */

struct arrow_batch;
struct arrow_file;

/* A batch of a dictionary's values; `more`: they follow those that came before. */
typedef int arrow_dictionary_visit(struct arrow_file *file, const struct arrow_batch *batch,
				   bool more);

struct arrow_file {
	struct scan *scan;
	struct error *e;
	struct leap_reader reader;
	struct arrow_schema schema;
	bool stream;
	VEC(unsigned char) footer;
	struct flat_vector blocks;   /* of a file, in its footer: of record batches, */
	struct flat_vector dictionaries; /* and of dictionaries */
	uint64_t behind_schema;      /* of a stream: where its batches begin */
	uint64_t limit;              /* of a file: where its footer begins */

	uint64_t next, next_at;      /* batch: its number, and of a stream its place */
	VEC(unsigned char) metadata; /* of the message at hand */
	uint64_t advanced;           /* bytes of the window that were said to be passed */
	bool warned;                 /* of what is wrong with a stream's end */
	int64_t dictionary_id;       /* that is wanted: */
	arrow_dictionary_visit *visit_dictionary; /* NULL: none is */
	void *visitor;
};

struct arrow_batch {
	uint64_t number;             /* the first one is 0 */
	uint64_t at;                 /* where its message begins */
	uint64_t body, body_length;
	uint64_t rows;
	unsigned version;
	struct flat_vector nodes, buffers, variadic; /* until the next batch */
};

/* Is this the beginning of a file or stream? As format.probe. */
int arrow_file_probe(const unsigned char *head, size_t n);

/* Reads the schema. To be closed in any case. */
int arrow_file_open(struct arrow_file *file, struct scan *scan, struct error *e);
void arrow_file_close(struct arrow_file *file);

/* Goes back before the first batch. */
void arrow_file_rewind(struct arrow_file *file);

/* Visits the dictionaries that a file's footer lists; a stream has them among its batches. */
int arrow_file_visit_dictionaries(struct arrow_file *file);

/*
 * 1, and the next batch that has rows; 0 behind the last; or an error. Dictionaries of a
 * stream that lie before it are visited.
 */
int arrow_file_next(struct arrow_file *file, struct arrow_batch *batch);

/* "'x.arrow' WHAT". -EBADMSG. */
#define arrow_refuse(file, ...) format_refuse((file)->scan, (file)->e, __VA_ARGS__)

/* "'x.arrow': record batch 7 (at byte 123) WHAT; copy the file again, or write it again" */
#define arrow_refuse_batch(file, batch, format, ...)                                       \
	arrow_refuse(file,                                                                 \
		     "is damaged: record batch %" PRIu64 " (at byte %" PRIu64 ") " format  \
		     "; copy the file again, or write it again", (batch)->number,          \
		     (file)->scan->base + (batch)->at, ##__VA_ARGS__)

/* The sentence for an error of leap_reader_read: storage, or a place outside the file. */
int arrow_refuse_read(struct arrow_file *file, int err);
int arrow_no_memory(struct arrow_file *file);

#endif
