/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/lmdb/lmdb_value.h"

#include <errno.h>
#include <string.h>

#include "base/checked.h"
#include "base/protobuf.h"
#include "labels/label_text.h"

const struct lmdb_form lmdb_forms[] = {
	{"pickled pairs", "the labels in the pickled values", lmdb_decode_pickle},
	{"Caffe Datums", "the label of each Datum", lmdb_decode_datum},
	{"msgpack lists", "the labels in the msgpack lists", lmdb_decode_msgpack},
};

const size_t lmdb_form_count = sizeof(lmdb_forms) / sizeof(*lmdb_forms);

void lmdb_label_number(struct lmdb_sample *sample, int64_t number)
{
	sample->labelled = true;
	sample->label = number;
}

/* A number keeps its spelling, as in other formats: "1" and "01" may be two names. */
void lmdb_label_text(struct lmdb_sample *sample, const char *text, size_t n)
{
	enum label_text kind = label_text_read(text, n, &sample->label);

	sample->labelled =
		kind != LABEL_TEXT_NONE && n <= LMDB_TEXT_MOST && !memchr(text, '\0', n);
	if (sample->labelled && kind != LABEL_TEXT_HOT)
		memcpy(sample->text, text, n);
}

int lmdb_detect_type(struct value_window *window, uint64_t at, uint64_t size,
		     const char **out)
{
	size_t n = size < SAMPLES_SNIFF_BYTES ? (size_t)size : SAMPLES_SNIFF_BYTES;
	const unsigned char *head;
	int err = value_window_get(window, at, n, &head);

	*out = err ? NULL : samples_detect_type(head, n);
	return err;
}

/* ---- Caffe's Datum: caffe.proto of BVLC/caffe ---- */

enum {
	DATUM_CHANNELS = 1,
	DATUM_HEIGHT,
	DATUM_WIDTH,
	DATUM_DATA,
	DATUM_LABEL,
	DATUM_FLOATS,
	DATUM_ENCODED
};

static int datum_fetch(void *context, uint64_t at, size_t n, const unsigned char **out)
{
	return value_window_get(context, at, n, out);
}

/* Pixels are planes of blue, green and red, as OpenCV has them. */
static int datum_set_pixels(struct lmdb_sample *out, const uint64_t numbers[])
{
	uint64_t size;

	if (numbers[DATUM_CHANNELS] != 1 && numbers[DATUM_CHANNELS] != 3)
		return -ENODATA;
	out->channels = (unsigned)numbers[DATUM_CHANNELS];
	out->width = numbers[DATUM_WIDTH];
	out->height = numbers[DATUM_HEIGHT];
	out->planes = out->blue_first = out->channels == 3;
	return out->width && checked_mul(out->width, out->height, &size) &&
			       checked_mul(size, out->channels, &size) &&
			       size == out->size
		       ? 0
		       : -ENODATA;
}

int lmdb_decode_datum(struct value_window *window, uint64_t at, uint64_t size,
		      const char *labels, struct lmdb_sample *out)
{
	struct protobuf message = {datum_fetch, window, at, at + size};
	uint64_t numbers[DATUM_ENCODED + 1] = {0};
	struct protobuf_field field;
	int more;

	(void)labels;
	while ((more = protobuf_next(&message, &field)) > 0) {
		if (field.number > DATUM_ENCODED)
			return -ENODATA;
		if (field.kind == PROTOBUF_VARINT)
			numbers[field.number] = field.value;
		if (field.number == DATUM_LABEL)
			lmdb_label_number(out, (int32_t)(uint32_t)field.value);
		if (field.number != DATUM_DATA)
			continue;
		if (field.kind != PROTOBUF_BYTES || out->size)
			return -ENODATA;
		out->at = field.at;
		out->size = field.length;
	}
	if (more < 0)
		return more == -EBADMSG ? -ENODATA : more;
	if (out->size == 0)
		return -ENODATA;
	return numbers[DATUM_ENCODED] ? 0 : datum_set_pixels(out, numbers);
}
