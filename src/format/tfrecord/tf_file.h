/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tf_file.h: the records of one TFRecord file, one after the other. Private to
 * format/tfrecord/.
 *
 * A record is u64 length, u32 checksum of these 8 bytes, the data, u32 checksum of the data;
 * the file has neither head nor end. Facts: tensorflow/core/lib/io/record_writer.h.
 *
 * Positions are bytes from the window's start. Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_TFRECORD_TF_FILE_H
#define GRANARY_FORMAT_TFRECORD_TF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/format.h"
#include "format/leap_reader.h"

enum { TF_FRAME_BYTES = 16, TF_HEAD_BYTES = 12 }; /* around the data, and before them */

struct tf_record {
	uint64_t number; /* the first one is 0 */
	uint64_t at;     /* its frame's first byte */
	uint64_t data, length;
};

struct tf_file {
	struct scan *scan;
	struct error *e;
	struct leap_reader reader;
	uint64_t next, next_at;  /* record: its number and place */
	uint64_t advanced;       /* bytes of the window that were said to be passed */
	unsigned char *block;    /* for checksums of data; NULL: they are not compared */
};

/* To be closed in any case: 0, or an error that was told. */
int tf_file_open(struct tf_file *file, struct scan *scan, struct error *e);
void tf_file_close(struct tf_file *file);

/* Goes back before the first record. */
void tf_file_rewind(struct tf_file *file);

/*
 * The next record: 1, 0 behind the last, or an error that was told. In a stream the last
 * record's data may be cut off, which the next call finds.
 */
int tf_file_next(struct tf_file *file, struct tf_record *out);

/* Says that the record has been passed, once in all rounds. */
void tf_file_advance(struct tf_file *file, const struct tf_record *record);

/* How sure, by a file's first bytes: as format.probe. */
int tf_file_probe(const unsigned char *head, size_t n);

/* "'x' WHAT". -EBADMSG. */
#define tf_refuse(file, ...) format_refuse((file)->scan, (file)->e, __VA_ARGS__)

/* "'x' is damaged: TFRecord 7 (at byte 123) WHAT; copy the file again". -EBADMSG. */
int tf_refuse_record(struct tf_file *file, const struct tf_record *record, const char *what);

/* The sentence for an error of the reader: storage, or a place behind the end. */
int tf_refuse_read(struct tf_file *file, const struct tf_record *record, int err);
int tf_no_memory(struct tf_file *file);

#endif
