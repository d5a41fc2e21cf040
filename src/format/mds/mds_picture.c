/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/mds/mds_picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/text.h"

enum {
	NUMBER = 4,
	PIXELS_HEAD = 3 * NUMBER,
	MODE_MOST = 8,
	COLOURS = 3,
	UINT8 = 8, /* the number of that type of elements */
	NPY_ALIGNMENT = 64,
	NPY_PREFIX = 10,
};

/* The value of a sample, while its beginning is read. */
struct value_reader {
	struct mds_shard *shard;
	uint32_t sample;
	struct mds_picture *out;
};

/* Takes `n` bytes from the begin of the value. */
static int take_bytes(struct value_reader *value, void *out, uint64_t n)
{
	struct mds_value *body = &value->out->body;
	int err;

	if (n > body->length)
		return mds_refuse_sample(value->shard, value->sample,
					 "has a value that ends within its own head");
	err = leap_reader_read(&value->shard->reader, out, (size_t)n, body->at);
	if (err)
		return mds_refuse_read(value->shard, err);
	body->at += n;
	body->length -= n;
	return 0;
}

/* ---- Pixels and arrays ---- */

/* A header of netpbm. */
static void put_netpbm(struct mds_picture *out, uint64_t width, uint64_t height,
		       unsigned channels)
{
	out->head_length = (size_t)snprintf(out->head, sizeof(out->head),
					    "P%d\n%" PRIu64 " %" PRIu64 "\n255\n",
					    channels == COLOURS ? 6 : 5, width, height);
	out->extension = channels == COLOURS ? "ppm" : "pgm";
}

static int refuse_size(const struct value_reader *value)
{
	return mds_refuse_sample(value->shard, value->sample,
				 "has an image or an array of another size than its bytes");
}

/* Does the product of the dimensions, times the bytes of an element, make the length? */
static bool fills(uint64_t length, const uint64_t *dims, unsigned rank, unsigned bytes)
{
	uint64_t size = bytes;

	for (unsigned i = 0; i < rank; i++)
		if (!checked_mul(size, dims[i], &size))
			return false;
	return size == length;
}

/* PIL: u32 width, height, bytes of the mode; the mode; the pixels. */
static int read_pixels(struct value_reader *value)
{
	unsigned char head[PIXELS_HEAD];
	char mode[MODE_MOST] = "";
	struct mds_picture *out = value->out;
	uint64_t dims[2], n;
	unsigned channels;
	int err = take_bytes(value, head, sizeof(head));

	if (err)
		return err;
	dims[0] = little_endian(head, NUMBER);
	dims[1] = little_endian(head + NUMBER, NUMBER);
	n = little_endian(head + 2 * NUMBER, NUMBER);
	out->none = n >= MODE_MOST;
	err = out->none ? 0 : take_bytes(value, mode, n);
	if (err || out->none)
		return err;
	channels = strcmp(mode, "RGB") == 0 ? COLOURS : strcmp(mode, "L") == 0;
	out->none = !channels || !dims[0] || !dims[1];
	if (out->none)
		return 0;
	put_netpbm(out, dims[0], dims[1], channels);
	return fills(out->body.length, dims, 2, channels) ? 0 : refuse_size(value);
}

/* NumPy's .npy of version 1: a text, padded to where the elements begin. */
static void put_npy(struct mds_picture *out, const char *type, const uint64_t *dims,
		    unsigned rank)
{
	char text[MDS_HEAD_BYTES - NPY_PREFIX - NPY_ALIGNMENT] = "";
	size_t n, total;

	buffer_print(text, sizeof(text), "{'descr': '%s', 'fortran_order': False, 'shape': (",
		     type);
	for (unsigned i = 0; i < rank; i++)
		buffer_print(text, sizeof(text), "%" PRIu64 "%s", dims[i],
			     rank == 1 ? "," : i + 1 < rank ? ", " : "");
	buffer_print(text, sizeof(text), "), }");
	n = strlen(text);
	total = (NPY_PREFIX + n + NPY_ALIGNMENT) / NPY_ALIGNMENT * NPY_ALIGNMENT;
	memcpy(out->head, "\223NUMPY\1\0", 8);
	out->head[8] = (char)((total - NPY_PREFIX) & 255);
	out->head[9] = (char)((total - NPY_PREFIX) >> 8);
	memcpy(out->head + NPY_PREFIX, text, n);
	memset(out->head + NPY_PREFIX + n, ' ', total - NPY_PREFIX - n);
	out->head[total - 1] = '\n';
	out->head_length = total;
	out->extension = "npy";
}

/* u8: the rank, and how many bytes a dimension takes; the dimensions. */
static int read_shape(struct value_reader *value, uint64_t *dims, unsigned *rank)
{
	unsigned char head, stored[8];
	unsigned bytes;
	int err = take_bytes(value, &head, 1);

	if (err)
		return err;
	*rank = head >> 2;
	bytes = 1u << (head & 3);
	for (unsigned i = 0; i < *rank && !err; i++) {
		err = take_bytes(value, stored, bytes);
		if (!err)
			dims[i] = little_endian(stored, bytes);
	}
	return err;
}

static int read_array(struct value_reader *value, const struct mds_column *column)
{
	uint64_t own[MDS_RANK_MOST + 1];
	const uint64_t *dims = column->rank ? column->dims : own;
	unsigned char element = (unsigned char)column->element;
	unsigned rank = column->rank, bytes = 0;
	const char *type;
	int err = element ? 0 : take_bytes(value, &element, 1);

	if (!err && !rank)
		err = read_shape(value, own, &rank);
	if (err)
		return err;
	type = mds_element_type(element, &bytes);
	if (!type)
		return mds_refuse_sample(value->shard, value->sample,
					 "has an array of an unknown type");
	if (!fills(value->out->body.length, dims, rank, bytes))
		return refuse_size(value);
	if (element == UINT8 && (rank == 2 || (rank == COLOURS && dims[2] == COLOURS)))
		put_netpbm(value->out, dims[1], dims[0], rank == 2 ? 1 : COLOURS);
	else
		put_npy(value->out, type, dims, rank);
	return 0;
}

/* ---- Files ---- */

/* [u32], u32 count, u32 sizes, and the images: the first one. */
static int read_first(struct value_reader *value, unsigned skips)
{
	struct mds_picture *out = value->out;
	unsigned char number[NUMBER];
	uint64_t count, size;
	int err = skips ? take_bytes(value, number, skips) : 0;

	if (!err)
		err = take_bytes(value, number, NUMBER);
	if (err)
		return err;
	count = little_endian(number, NUMBER);
	out->several = count > 1;
	out->none = count == 0;
	if (out->none)
		return 0;
	err = take_bytes(value, number, NUMBER);
	if (err)
		return err;
	size = little_endian(number, NUMBER);
	if (NUMBER * (count - 1) > out->body.length ||
	    size > out->body.length - NUMBER * (count - 1))
		return refuse_size(value);
	out->body.at += NUMBER * (count - 1);
	out->body.length = size;
	return 0;
}

static int find_type(struct value_reader *value)
{
	const struct mds_value *body = &value->out->body;
	unsigned char head[SAMPLES_SNIFF_BYTES];
	size_t n = body->length < sizeof(head) ? (size_t)body->length : sizeof(head);
	int err = n ? leap_reader_read(&value->shard->reader, head, n, body->at) : 0;

	if (err)
		return mds_refuse_read(value->shard, err);
	value->out->extension = samples_detect_type(head, n);
	return 0;
}

int mds_picture_read(struct mds_shard *shard, const struct mds_column *column, uint32_t number,
		     struct mds_picture *out)
{
	struct value_reader value = { .shard = shard, .sample = number, .out = out };
	int err = 0;

	out->body = mds_shard_value(shard, column);
	out->none = out->several = false;
	out->extension = NULL;
	out->head_length = 0;
	if (column->kind == MDS_PIXELS)
		return read_pixels(&value);
	if (column->kind == MDS_ARRAY)
		return read_array(&value, column);
	if (column->kind == MDS_IMAGES)
		err = read_first(&value, column->list_skips);
	return err || out->none ? err : find_type(&value);
}
