/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mds_shard.h: one shard of MosaicML Streaming (MDS), or one chunk of LitData: its columns, and
 * where the values of each sample are. Private to format/mds/.
 *
 * A shard is u32 n, u32 offsets[n + 1] from the file's start, JSON with the columns, samples.
 * A sample is u32 sizes of the columns without a fixed size, then the values of all. All
 * numbers are little-endian. A chunk is the same without the JSON, and all of its columns have
 * sizes in each sample. Facts: streaming/base/format/mds/writer.py and reader.py of
 * mosaicml/streaming; litdata/streaming/writer.py and item_loader.py of Lightning-AI/litData.
 *
 * Positions are bytes from the window's start. Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_MDS_MDS_SHARD_H
#define GRANARY_FORMAT_MDS_MDS_SHARD_H

#include "format/format.h"
#include "format/leap_reader.h"
#include "format/mds/mds_columns.h"

/* How sure, by a file's first bytes: as format.probe. */
int mds_shard_probe(const unsigned char *head, size_t n);
int litdata_chunk_probe(const unsigned char *head, size_t n);

struct mds_value {
	uint64_t at, length;
};

struct mds_shard {
	struct scan *scan;
	struct error *e;
	const char *what; /* "an MDS shard" */
	struct leap_reader reader;
	struct mds_columns columns;
	uint32_t samples;
	unsigned char *offsets;   /* samples + 1 numbers */
	unsigned char *sizes;     /* of the sample at hand */
	struct mds_value *values; /* the same, one for each column */
};

/* To be closed in any case: 0, or an error that was told. */
int mds_shard_open(struct mds_shard *shard, struct scan *scan, struct error *e);
int litdata_chunk_open(struct mds_shard *chunk, struct scan *scan, struct error *e);
void mds_shard_close(struct mds_shard *shard);

/* Fills in `values` with those of a sample: 0, or an error that was told. */
int mds_shard_sample(struct mds_shard *shard, uint32_t number);

/* The value of a column in that sample. */
struct mds_value mds_shard_value(const struct mds_shard *shard, const struct mds_column *column);

/* "'x' WHAT". -EBADMSG. */
#define mds_refuse(shard, ...) format_refuse((shard)->scan, (shard)->e, __VA_ARGS__)

/* "'x' is damaged: sample 7 (at byte 123) WHAT; copy the file again". -EBADMSG. */
int mds_refuse_sample(struct mds_shard *shard, uint32_t number, const char *what);

/* The sentence for an error of the reader. */
int mds_refuse_read(struct mds_shard *shard, int err);
int mds_no_memory(struct mds_shard *shard);

#endif
