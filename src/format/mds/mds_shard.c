/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/mds/mds_shard.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "format/mds/litdata_index.h"

enum { NUMBER = 4, JSON_MOST = 1 << 20, INTEGER_BYTES = 8, DIGITS_MOST = 20 };

/* ---- Errors ---- */

int mds_no_memory(struct mds_shard *shard)
{
	return format_no_memory(shard->scan->label, shard->e);
}

static uint64_t offset_of(const struct mds_shard *shard, uint32_t number)
{
	return little_endian(shard->offsets + (size_t)number * NUMBER, NUMBER);
}

int mds_refuse_sample(struct mds_shard *shard, uint32_t number, const char *what)
{
	return mds_refuse(shard, "is damaged: sample %" PRIu32 " (at byte %" PRIu64 ") %s; copy the "
				 "file again, or write it again", number,
			  shard->scan->base + offset_of(shard, number), what);
}

int mds_refuse_read(struct mds_shard *shard, int err)
{
	if (shard->reader.err)
		return format_unreadable(shard->scan->label, shard->reader.err, shard->e);
	if (err == -ENOMEM)
		return mds_no_memory(shard);
	return mds_refuse(shard, "is truncated: it is %s, and ends at byte %" PRIu64 ", before its "
				 "samples do; copy it again", shard->what,
			  shard->scan->base + shard->reader.length);
}

static int refuse_damaged(struct mds_shard *shard, const char *what)
{
	return mds_refuse(shard, "is %s that is damaged: it %s; copy it again, or write it again",
			  shard->what, what);
}

/* ---- The table and the columns ---- */

/*
 * Offsets that rise, the first of them `gap` bytes behind the table or more. Leaves in *end where
 * the table ends.
 */
static bool is_sample_table(const unsigned char *head, size_t n, unsigned gap, uint64_t *end)
{
	uint64_t before = 0, samples = n < 3 * NUMBER ? 0 : little_endian(head, NUMBER);

	*end = NUMBER * (samples + 2);
	for (size_t at = NUMBER; samples && at + NUMBER <= n && at < *end; at += NUMBER) {
		uint64_t offset = little_endian(head + at, NUMBER);

		if (offset < *end + gap || offset < before)
			return false;
		before = offset;
	}
	return samples > 0;
}

/* JSON begins behind the table, which may be longer than what is looked at. */
int mds_shard_probe(const unsigned char *head, size_t n)
{
	uint64_t end;

	if (!is_sample_table(head, n, 1, &end))
		return 0;
	if (end + 1 >= n)
		return n >= FORMAT_HEAD_BYTES / 16 ? 40 : 0;
	return head[end] == '{' && head[end + 1] == '"' ? 60 : 0;
}

int litdata_chunk_probe(const unsigned char *head, size_t n)
{
	uint64_t end;

	return is_sample_table(head, n, 0, &end) && little_endian(head + NUMBER, NUMBER) == end ?
		       40 : 0;
}

static int shard_read(struct mds_shard *shard, void *out, size_t n, uint64_t at)
{
	int err = leap_reader_read(&shard->reader, out, n, at);

	return err ? mds_refuse_read(shard, err) : 0;
}

/* The number of samples, and their offsets. */
static int read_table(struct mds_shard *shard)
{
	unsigned char count[NUMBER];
	uint64_t bytes;
	int err = shard_read(shard, count, sizeof(count), 0);

	if (err)
		return err;
	shard->samples = (uint32_t)little_endian(count, NUMBER);
	bytes = NUMBER * ((uint64_t)shard->samples + 1);
	if (bytes > shard->reader.length - NUMBER)
		return mds_refuse_read(shard, -EBADMSG);
	if (NUMBER + bytes > UINT32_MAX)
		return refuse_damaged(shard, "has a table of 4 GiB or more, behind which "
					     "no offset of 32 bits lies");
	shard->offsets = malloc((size_t)bytes);
	if (!shard->offsets)
		return mds_no_memory(shard);
	return shard_read(shard, shard->offsets, (size_t)bytes, NUMBER);
}

/* A sample that ends before it begins, or behind the file. */
static int check_offsets(struct mds_shard *shard)
{
	uint64_t before = NUMBER * ((uint64_t)shard->samples + 2);

	for (uint32_t i = 0; i <= shard->samples; i++) {
		uint64_t offset = offset_of(shard, i);

		if (offset < before)
			return mds_refuse_sample(shard, i, "begins within the one before it, or in "
							   "the table");
		before = offset;
	}
	return before > shard->reader.length ? mds_refuse_read(shard, -EBADMSG) : 0;
}

static int read_columns(struct mds_shard *shard)
{
	uint64_t begin = NUMBER * ((uint64_t)shard->samples + 2);
	size_t n = (size_t)(offset_of(shard, 0) - begin);
	CLEANUP(cleanup_free) char *json = NULL;
	const char *fault = NULL;
	int err;

	if (n > JSON_MOST)
		return refuse_damaged(shard, "has more than a MiB before its first sample");
	json = malloc(n + 1);
	if (!json)
		return mds_no_memory(shard);
	err = shard_read(shard, json, n, begin);
	if (err)
		return err;
	err = mds_columns_read(&shard->columns, json, n, &fault);
	if (err)
		return err == -ENOMEM ? mds_no_memory(shard) : refuse_damaged(shard, fault);
	return 0;
}

/* Of a chunk: index.json has them. */
static int find_columns(struct mds_shard *chunk)
{
	const struct source *index = chunk->scan->listed_in;

	if (offset_of(chunk, 0) != NUMBER * ((uint64_t)chunk->samples + 2))
		return refuse_damaged(chunk, "has bytes between its table and its first sample");
	if (!index)
		return mds_refuse(chunk, "is a chunk of LitData, and the index.json beside it says what "
					 "is in it: name that one, or the directory");
	return litdata_index_read(&chunk->columns, index, chunk->e);
}

static int open_shard(struct mds_shard *shard, struct scan *scan, const char *what,
		      int (*columns)(struct mds_shard *shard), struct error *e)
{
	int err;

	*shard = (struct mds_shard){ .scan = scan, .e = e, .what = what };
	if (leap_reader_open(&shard->reader, scan->source, scan->base, scan->length) < 0)
		return mds_no_memory(shard);
	err = read_table(shard);
	if (!err)
		err = check_offsets(shard);
	if (!err)
		err = columns(shard);
	if (err)
		return err;
	shard->sizes = malloc((size_t)shard->columns.own_sizes * NUMBER + 1);
	shard->values = calloc(shard->columns.items.count, sizeof(*shard->values));
	return shard->sizes && shard->values ? 0 : mds_no_memory(shard);
}

/* 1: it is decimal text; 0: it is none; or an error that was told. */
static int is_decimal(struct mds_shard *chunk, const struct mds_value *value)
{
	char text[DIGITS_MOST + 1] = "";
	size_t sign;
	int err;

	if (value->length == 0 || value->length > DIGITS_MOST)
		return 0;
	err = shard_read(chunk, text, (size_t)value->length, value->at);
	if (err)
		return err;
	sign = *text == '-';
	return value->length > sign &&
	       strspn(text + sign, "0123456789") == value->length - sign;
}

/* Judges integers by the sample at hand: how many of the columns it leaves open. */
static int find_integers_of_sample(struct mds_shard *chunk, size_t *open)
{
	*open = 0;
	for (size_t i = 0; i < chunk->columns.items.count; i++) {
		struct mds_column *column = &chunk->columns.items.items[i];
		int r;

		if (column->kind != MDS_INTEGER || column->width)
			continue;
		r = is_decimal(chunk, &chunk->values[i]);
		if (r < 0)
			return r;
		if (r == 0)
			column->width = INTEGER_BYTES;
		else if (chunk->values[i].length != INTEGER_BYTES)
			column->kind = MDS_DIGITS;
		else
			++*open;
	}
	return 0;
}

/*
 * Before litdata was a package of its own, lightning.data wrote integers as decimal text. The
 * first value tells, or another one where it has 8 digits: as numbers they would be above 2^61.
 */
static int find_integers(struct mds_shard *chunk)
{
	size_t open = 1;
	int err = 0;

	for (uint32_t i = 0; i < chunk->samples && open && !err; i++) {
		err = mds_shard_sample(chunk, i);
		if (!err)
			err = find_integers_of_sample(chunk, &open);
	}
	for (size_t i = 0; i < chunk->columns.items.count && chunk->samples; i++) {
		struct mds_column *column = &chunk->columns.items.items[i];

		if (column->kind == MDS_INTEGER && !column->width)
			column->kind = MDS_DIGITS;
		if (column->kind == MDS_DIGITS)
			column->extension = "txt";
	}
	return err;
}

int mds_shard_open(struct mds_shard *shard, struct scan *scan, struct error *e)
{
	return open_shard(shard, scan, "an MDS shard", read_columns, e);
}

int litdata_chunk_open(struct mds_shard *chunk, struct scan *scan, struct error *e)
{
	int err = open_shard(chunk, scan, "a LitData chunk", find_columns, e);

	return err ? err : find_integers(chunk);
}

void mds_shard_close(struct mds_shard *shard)
{
	leap_reader_close(&shard->reader);
	mds_columns_free(&shard->columns);
	free(shard->offsets);
	free(shard->sizes);
	free(shard->values);
}

/* ---- Samples ---- */

int mds_shard_sample(struct mds_shard *shard, uint32_t number)
{
	uint64_t at = offset_of(shard, number), end = offset_of(shard, number + 1);
	size_t head = (size_t)shard->columns.own_sizes * NUMBER;
	const unsigned char *size = shard->sizes;
	int err;

	if (end - at < head)
		return mds_refuse_sample(shard, number, "is shorter than the sizes of its columns");
	err = head ? shard_read(shard, shard->sizes, head, at) : 0;
	if (err)
		return err;
	at += head;
	for (size_t i = 0; i < shard->columns.items.count; i++) {
		const struct mds_column *column = &shard->columns.items.items[i];
		struct mds_value *value = &shard->values[i];

		value->at = at;
		value->length = column->size;
		if (!value->length) {
			value->length = little_endian(size, NUMBER);
			size += NUMBER;
		}
		if (value->length > end - at)
			return mds_refuse_sample(shard, number, "has columns beyond its end");
		if (column->width && value->length != column->width)
			return mds_refuse_sample(shard, number, "has a number of another size than its "
								"type has");
		at += value->length;
	}
	return at == end ? 0 : mds_refuse_sample(shard, number, "has bytes behind its columns");
}

struct mds_value mds_shard_value(const struct mds_shard *shard, const struct mds_column *column)
{
	return shard->values[column - shard->columns.items.items];
}
