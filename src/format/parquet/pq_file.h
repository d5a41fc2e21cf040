/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pq_file.h: the footer of a Parquet file: its columns, and where they are. Private to
 * format/parquet/. Facts: parquet.thrift of apache/parquet-format.
 *
 * Positions are bytes from the window's start. Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_PARQUET_PQ_FILE_H
#define GRANARY_FORMAT_PARQUET_PQ_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "format/format.h"
#include "format/leap_reader.h"

/* The physical types of values. */
enum pq_type {
	PQ_BOOLEAN = 0, PQ_INT32 = 1, PQ_INT64 = 2, PQ_INT96 = 3, PQ_FLOAT = 4, PQ_DOUBLE = 5,
	PQ_BYTES = 6, PQ_FIXED = 7, PQ_TYPES,
};

enum pq_codec {
	PQ_PLAIN = 0, PQ_SNAPPY = 1, PQ_GZIP = 2, PQ_LZO = 3, PQ_BROTLI = 4, PQ_LZ4_HADOOP = 5,
	PQ_ZSTD = 6, PQ_LZ4_RAW = 7, PQ_CODECS,
};

/* A column: a leaf of the schema. */
struct pq_column {
	const char *name;     /* with those above it: "image.bytes" */
	enum pq_type type;
	bool text;            /* bytes that are marked as UTF-8 */
	bool is_unsigned;
	unsigned definition, repetition; /* the highest levels */
};

/* The part of a column in a row group. */
struct pq_chunk {
	enum pq_codec codec;
	uint64_t at, length;  /* all of its pages, dictionary first */
	uint64_t values;      /* nulls included */
	bool elsewhere;       /* in another file, */
	bool encrypted;       /* or not to be read */
};

struct pq_group {
	uint64_t rows;
	size_t first;         /* of its chunks: one a column, in their order */
};

struct pq_file {
	struct scan *scan;
	struct error *e;
	struct leap_reader reader;
	struct arena arena;
	VEC(struct pq_column) columns;
	VEC(struct pq_chunk) chunks;
	VEC(struct pq_group) groups;
	uint64_t rows;
	const char *notes;    /* the JSON of Hugging Face, or NULL */
	size_t notes_size;
	unsigned char *footer;
	uint64_t footer_at;   /* where pages end */
};

/* How sure, by the first bytes. */
int pq_file_probe(const unsigned char *head, size_t n);

/* Reads the footer: 0, or an error that was told. To be closed in any case. */
int pq_file_open(struct pq_file *file, struct scan *scan, struct error *e);
void pq_file_close(struct pq_file *file);

/* The column of that name, or NULL. */
const struct pq_column *pq_file_find(const struct pq_file *file, const char *name);

/* The chunk of a column in a row group. */
const struct pq_chunk *pq_file_chunk(const struct pq_file *file, const struct pq_group *group,
				     const struct pq_column *column);

/* "bytes", "int64", "string" */
const char *pq_type_name(const struct pq_column *column);
const char *pq_codec_name(enum pq_codec codec);

/* "image.bytes (bytes), label (int64)", as far as there is room. */
void pq_file_list(const struct pq_file *file, char *text, size_t room);

/* "'x' WHAT". -EBADMSG. */
#define pq_refuse(file, ...) format_refuse((file)->scan, (file)->e, __VA_ARGS__)

/* "'x' is damaged: WHAT; copy it again, or write it again". -EBADMSG. */
#define pq_refuse_damaged(file, format, ...)                                               \
	pq_refuse(file, "is damaged: " format "; copy it again, or write it again",        \
		  ##__VA_ARGS__)

/* The sentence for an error of the reader. */
int pq_refuse_read(struct pq_file *file, int err);
int pq_no_memory(struct pq_file *file);

#endif
