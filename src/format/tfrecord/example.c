/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/tfrecord/example.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/ieee.h"
#include "base/protobuf.h"

/* Fields of Example, SequenceExample, Features, its map, and Feature's lists. */
enum { EXAMPLE_FEATURES = 1, SEQUENCE_LISTS = 2, FEATURES_FEATURE = 1, MAP_KEY = 1, MAP_VALUE = 2,
       LIST_VALUE = 1 };

enum { ELEMENTS_MOST = 65536, FLOAT_BYTES = 4 };

struct example {
	struct tf_file *file;
	tf_feature_visit *visit;
	void *context;
	bool sequence;
	unsigned char head[PROTOBUF_HEAD_BYTES];
	int err; /* what ended it, but for a message that is none */
};

static int read_bytes(struct example *example, void *out, size_t n, uint64_t at)
{
	int err = leap_reader_read(&example->file->reader, out, n, at);

	if (err)
		example->err = err;
	return err;
}

static int fetch_bytes(void *context, uint64_t at, size_t n, const unsigned char **out)
{
	struct example *example = context;

	*out = example->head;
	return read_bytes(example, example->head, n, at);
}

/* ---- Values ---- */

static void add_number(struct tf_feature *feature, bool whole, int64_t number, bool nan)
{
	if (feature->count++ == 0) {
		feature->whole = whole;
		feature->number = number;
		feature->nan = nan;
	}
	if (feature->count <= ELEMENTS_MOST)
		one_hot_add(&feature->hot, whole, number);
	else
		feature->hot.odd = true;
}

static void add_float(struct tf_feature *feature, uint64_t bits)
{
	double value = ieee_value(bits, FLOAT_BYTES);
	int64_t number = 0;
	bool whole = ieee_whole(value, &number);

	add_number(feature, whole, number, value != value);
}

/* Packed numbers: 0, or -EBADMSG. */
static int add_packed(struct example *example, struct protobuf packed,
		      struct tf_feature *feature)
{
	unsigned char bytes[FLOAT_BYTES];
	uint64_t value;
	int r = 1;

	if (feature->kind == TF_INTEGERS) {
		while ((r = protobuf_next_varint(&packed, &value)) > 0)
			add_number(feature, true, (int64_t)value, false);
		return r;
	}
	if ((packed.end - packed.at) % FLOAT_BYTES)
		return -EBADMSG;
	for (; packed.at < packed.end && r >= 0; packed.at += FLOAT_BYTES) {
		r = read_bytes(example, bytes, sizeof(bytes), packed.at);
		if (!r)
			add_float(feature, little_endian(bytes, sizeof(bytes)));
	}
	return r < 0 ? r : 0;
}

static int add_value(struct example *example, const struct protobuf *list,
		     const struct protobuf_field *field, struct tf_feature *feature)
{
	if (field->number != LIST_VALUE)
		return 0;
	if (feature->kind == TF_BYTES) {
		if (field->kind != PROTOBUF_BYTES)
			return -EBADMSG;
		if (feature->count++ == 0) {
			feature->at = field->at;
			feature->length = field->length;
		}
		return 0;
	}
	if (field->kind == PROTOBUF_BYTES)
		return add_packed(example, protobuf_inside(list, field), feature);
	if (field->kind != (feature->kind == TF_FLOATS ? PROTOBUF_FIXED32 : PROTOBUF_VARINT))
		return -EBADMSG;
	if (feature->kind == TF_FLOATS)
		add_float(feature, field->value);
	else
		add_number(feature, true, (int64_t)field->value, false);
	return 0;
}

/* ---- Messages ---- */

/* A list of values, in place of one of another kind before it. */
static int read_list(struct example *example, struct protobuf list, enum tf_kind kind,
		     struct tf_feature *feature)
{
	struct protobuf_field field;
	int r;

	if (feature->kind != kind) {
		feature->kind = kind;
		feature->count = feature->length = 0;
		feature->hot = (struct one_hot){ 0 };
	}
	while ((r = protobuf_next(&list, &field)) > 0) {
		r = add_value(example, &list, &field, feature);
		if (r)
			return r;
	}
	return r;
}

static int read_feature(struct example *example, struct protobuf message,
			struct tf_feature *feature)
{
	struct protobuf_field field;
	int r;

	while ((r = protobuf_next(&message, &field)) > 0) {
		if (field.number < TF_BYTES || field.number > TF_INTEGERS)
			continue;
		if (field.kind != PROTOBUF_BYTES)
			return -EBADMSG;
		r = read_list(example, protobuf_inside(&message, &field),
			      (enum tf_kind)field.number, feature);
		if (r)
			return r;
	}
	return r;
}

static int read_key(struct example *example, const struct protobuf_field *field, char *key)
{
	int err;

	*key = '\0';
	if (field->length > TF_KEY_BYTES)
		return 0;
	err = read_bytes(example, key, (size_t)field->length, field->at);
	key[field->length] = '\0';
	if (memchr(key, '\0', (size_t)field->length))
		*key = '\0';
	return err;
}

/* An item of the map. */
static int read_item(struct example *example, struct protobuf item)
{
	struct tf_feature feature = { .kind = TF_NONE };
	struct protobuf_field field;
	int r;

	while ((r = protobuf_next(&item, &field)) > 0) {
		if (field.number > MAP_VALUE)
			continue;
		if (field.kind != PROTOBUF_BYTES)
			return -EBADMSG;
		r = field.number == MAP_KEY ?
			    read_key(example, &field, feature.key) :
			    read_feature(example, protobuf_inside(&item, &field), &feature);
		if (r)
			return r;
	}
	if (r || !*feature.key)
		return r;
	example->err = example->visit(example->context, &feature);
	return example->err;
}

static int read_features(struct example *example, struct protobuf features)
{
	struct protobuf_field field;
	int r;

	while ((r = protobuf_next(&features, &field)) > 0) {
		if (field.number != FEATURES_FEATURE)
			continue;
		if (field.kind != PROTOBUF_BYTES)
			return -EBADMSG;
		r = read_item(example, protobuf_inside(&features, &field));
		if (r)
			return r;
	}
	return r;
}

/* An Example has one field. Whatever else is there makes it another message. */
static int read_example(struct example *example, struct protobuf message)
{
	struct protobuf_field field;
	bool other = false;
	int r;

	while ((r = protobuf_next(&message, &field)) > 0) {
		if (field.kind != PROTOBUF_BYTES || field.number > SEQUENCE_LISTS) {
			other = true;
		} else if (field.number == SEQUENCE_LISTS) {
			example->sequence = true;
		} else {
			r = read_features(example, protobuf_inside(&message, &field));
			if (r)
				return r;
		}
	}
	return r ? r : other ? -EBADMSG : 0;
}

int tf_example_visit(struct tf_file *file, const struct tf_record *record,
		     tf_feature_visit *visit, void *context)
{
	struct example example = { .file = file, .visit = visit, .context = context };
	struct protobuf message = { fetch_bytes, &example, record->data,
				    record->data + record->length };
	int r = read_example(&example, message);

	if (example.err)
		return tf_refuse_read(file, record, example.err);
	if (r)
		return TF_OTHER;
	return example.sequence ? TF_SEQUENCE_EXAMPLE : TF_EXAMPLE;
}
