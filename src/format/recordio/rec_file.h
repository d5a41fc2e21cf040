/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rec_file.h: the records of one RecordIO file, one after the other. Private to
 * format/recordio/.
 *
 * A part is u32 magic number, u32 of which the upper 3 bits are its kind and the others its
 * length, the data, and zeros up to a multiple of 4. A record is one part; but where its data
 * hold the magic number at a multiple of 4, they are cut there, and these 4 bytes are left out:
 * the magic number of the next part stands for them. Facts: dmlc-core, include/dmlc/recordio.h
 * and src/recordio.cc.
 *
 * Positions are bytes from the window's start. Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_RECORDIO_REC_FILE_H
#define GRANARY_FORMAT_RECORDIO_REC_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "format/format.h"
#include "format/leap_reader.h"

enum { REC_PARTS_MOST = 4096 };

/* Bytes of the window. */
struct rec_range {
	uint64_t at, length;
};

struct rec_record {
	uint64_t number;  /* the first one is 0 */
	uint64_t at, end; /* with heads of parts, and zeros behind */
	uint64_t length;  /* of its data */
	const struct rec_range *ranges; /* its data, until the next record is read */
	size_t range_count;             /* at least 1 */
};

struct rec_file {
	struct scan *scan;
	struct error *e;
	struct leap_reader reader;
	VEC(struct rec_range) ranges;
	uint64_t next, next_at; /* record: its number and place */
	uint64_t advanced;      /* bytes of the window that were said to be passed */
};

/* To be closed in any case: 0, or an error that was told. */
int rec_file_open(struct rec_file *file, struct scan *scan, struct error *e);
void rec_file_close(struct rec_file *file);

/* Goes back before the first record. */
void rec_file_rewind(struct rec_file *file);

/*
 * The next record: 1, 0 behind the last, or an error that was told. In a stream the last
 * record's data may be cut off, which the next call finds.
 */
int rec_file_next(struct rec_file *file, struct rec_record *out);

/* `n` bytes of the record's data from `at` on, which lie within: 0, or an error that was told. */
int rec_record_read(struct rec_file *file, const struct rec_record *record, uint64_t at,
		    void *out, size_t n);

/* Says that the record has been passed, once in all rounds. */
void rec_file_advance(struct rec_file *file, const struct rec_record *record);

/* How sure, by a file's first bytes: as format.probe. */
int rec_file_probe(const unsigned char *head, size_t n);

/* "'x' WHAT". -EBADMSG. */
#define rec_refuse(file, ...) format_refuse((file)->scan, (file)->e, __VA_ARGS__)

/* "'x' is damaged: record 7 (at byte 123) WHAT; copy the file again". -EBADMSG. */
int rec_refuse_record(struct rec_file *file, const struct rec_record *record,
		      const char *what);
int rec_no_memory(struct rec_file *file);

#endif
