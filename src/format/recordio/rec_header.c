/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/recordio/rec_header.h"

#include <math.h>

#include "base/bytes.h"
#include "base/ieee.h"

enum { HEADER_BYTES = 24, FLOAT_BYTES = 4, LABELS_MOST = 65536, PIECE_LABELS = 256 };

static float get_float(const unsigned char *bytes)
{
	return (float)ieee_value(little_endian(bytes, FLOAT_BYTES), FLOAT_BYTES);
}

static void add_label(struct rec_header *header, uint64_t i, uint64_t wanted, float value)
{
	int64_t number = 0;
	bool whole = ieee_whole((double)value, &number);

	if (i == wanted)
		header->label = value;
	if (i == 0)
		header->first = value;
	if (i == 1)
		header->second = value;
	one_hot_add(&header->hot, whole, number);
}

static int read_labels(struct rec_file *file, const struct rec_record *record, uint64_t wanted,
		       struct rec_header *header)
{
	unsigned char bytes[PIECE_LABELS * FLOAT_BYTES];
	uint64_t most = header->labels < LABELS_MOST ? header->labels : LABELS_MOST;
	int err = 0;

	header->hot.odd = header->labels > LABELS_MOST;
	for (uint64_t done = 0; done < most && !err; done += PIECE_LABELS) {
		size_t n = most - done < PIECE_LABELS ? (size_t)(most - done) : PIECE_LABELS;

		err = rec_record_read(file, record, HEADER_BYTES + done * FLOAT_BYTES, bytes,
				      n * FLOAT_BYTES);
		for (size_t i = 0; i < n && !err; i++)
			add_label(header, done + i, wanted, get_float(bytes + i * FLOAT_BYTES));
	}
	return err;
}

int rec_header_read(struct rec_file *file, const struct rec_record *record, uint64_t label,
		    struct rec_header *out)
{
	unsigned char bytes[HEADER_BYTES];
	uint64_t flag;
	int err;

	*out = (struct rec_header){ .labels = 1, .label = NAN };
	if (record->length < sizeof(bytes))
		return 1;
	err = rec_record_read(file, record, 0, bytes, sizeof(bytes));
	if (err)
		return err;
	flag = little_endian(bytes, 4);
	out->id = little_endian(bytes + 8, 8);
	out->image = HEADER_BYTES + flag * FLOAT_BYTES;
	if (out->image > record->length)
		return 1;
	if (flag) {
		out->labels = flag;
		return read_labels(file, record, label, out);
	}
	add_label(out, 0, label, get_float(bytes + 4));
	return 0;
}

bool rec_header_counts(const struct rec_header *header)
{
	int64_t first = 0, second = 0;

	return header->labels == 2 && header->id == 0 &&
	       ieee_whole((double)header->first, &first) &&
	       ieee_whole((double)header->second, &second) && first > 0 && second >= first;
}
