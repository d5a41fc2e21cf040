/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/arrow/label_column.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/ieee.h"
#include "format/row_names.h"
#include "labels/label_text.h"

enum {
	ELEMENTS_MOST = 1 << 20, /* of a list, */
	VALUES_MOST = 1 << 20,	 /* and of a dictionary */
};

static int no_label(struct arrow_labels *labels, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int no_label(struct arrow_labels *labels, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	vsnprintf(labels->why, sizeof(labels->why), format, values);
	va_end(values);
	return -EDOM;
}

/* ---- Numbers ---- */

static int get_float_label(struct arrow_labels *labels, double value,
			   struct arrow_label *out)
{
	if (value != value) {
		out->none = true;
		return 0;
	}
	if (ieee_whole(value, &out->number))
		return 0;
	return no_label(labels, "has a label that is no whole number, %g", value);
}

static int get_integer_label(struct arrow_labels *labels, const struct arrow_array *array,
			     uint64_t value, struct arrow_label *out)
{
	if (array->is_signed && array->bits < 64 && value >> (array->bits - 1))
		value |= UINT64_MAX << array->bits;
	out->number = (int64_t)value;
	if (array->is_signed || out->number >= 0)
		return 0;
	return no_label(labels, "has a label that is larger than %" PRId64, INT64_MAX);
}

/* Element i of values that lie one behind the other. */
static int label_column_get_number(struct arrow_labels *labels,
				   const struct arrow_array *array,
				   const unsigned char *values, size_t i,
				   struct arrow_label *out)
{
	size_t bytes = array->bits / 8;

	if (array->type == ARROW_BOOL) {
		out->number = values[i / 8] >> i % 8 & 1;
		return 0;
	}
	if (array->type == ARROW_FLOAT)
		return get_float_label(labels,
				       ieee_value(little_endian(values + i * bytes,
								    (unsigned)bytes),
								    (unsigned)bytes),
				       out);
	return get_integer_label(labels, array,
				 little_endian(values + i * bytes, (unsigned)bytes), out);
}

/* ---- Text ---- */

static int label_column_get_text(struct arrow_labels *labels, struct arrow_file *file,
				 const struct arrow_batch *batch,
				 struct arrow_slice *slice, size_t i,
				 struct arrow_label *out)
{
	uint64_t length;
	int err = arrow_slice_text(file, batch, slice, i, &out->text, &length);

	if (err)
		return err;
	out->length = (size_t)length;
	if (length == 0 || (length == 3 && out->text &&
			    label_text_read(out->text, 3, &out->number) == LABEL_TEXT_NONE)) {
		out->none = true;
		out->text = NULL;
		return 0;
	}
	if (out->text && length <= ROW_NAME_BYTES &&
	    !memchr(out->text, '\0', out->length))
		return 0;
	return no_label(labels, "has text that names no class: %" PRIu64 " bytes",
			length);
}

/* ---- Lists ---- */

/* The elements of row i: false where they lie outside. */
static bool find_elements(const struct arrow_labels *labels, size_t i, uint64_t first,
			  uint64_t *begin, uint64_t *end)
{
	const struct arrow_array *array = labels->slice.array;
	const unsigned char *offsets = labels->slice.values.items;
	unsigned width = arrow_is_large(array) ? 8 : 4;

	if (array->type == ARROW_FIXED_LIST) {
		if (!checked_mul(first + i, array->length, begin) ||
		    !checked_add(*begin, array->length, end))
			return false;
	} else {
		*begin = little_endian(offsets + i * width, width);
		*end = little_endian(offsets + (i + 1) * width, width);
	}
	return *begin <= *end && *end <= labels->elements.rows;
}

static int read_bits(struct arrow_file *file, struct arrow_bytes *to,
		     const struct arrow_stretch *from, uint64_t begin, uint64_t end)
{
	uint64_t bytes = (end + 7) / 8 - begin / 8;

	to->count = 0;
	if (from->length < (end + 7) / 8)
		return -EBADMSG;
	if (vec_reserve(to, bytes) < 0)
		return -ENOMEM;
	return bytes ? leap_reader_read(&file->reader, to->items, (size_t)bytes,
				  from->at + begin / 8)
		     : 0;
}

static int label_column_read_elements(struct arrow_labels *labels,
				      struct arrow_file *file, uint64_t begin,
				      uint64_t end)
{
	const struct arrow_array *array = &labels->column->elements;
	uint64_t bytes = array->bits / 8;
	int err;

	if (labels->elements.validity.length) {
		err = read_bits(file, &labels->nulls, &labels->elements.validity, begin,
				end);
		if (err)
			return err;
	}
	if (array->type == ARROW_BOOL)
		return read_bits(file, &labels->row, &labels->elements.values, begin,
				 end);
	labels->row.count = 0;
	if (vec_reserve(&labels->row, (end - begin) * bytes) < 0)
		return -ENOMEM;
	return end > begin ? leap_reader_read(&file->reader, labels->row.items,
					(size_t)((end - begin) * bytes),
					labels->elements.values.at + begin * bytes)
			   : 0;
}

/* The place of the one element that is not 0; of one element alone it is the label. */
static int get_one_hot_label(struct arrow_labels *labels, uint64_t n, uint64_t shift,
			     struct arrow_label *out)
{
	const struct arrow_array *array = &labels->column->elements;
	uint64_t from = array->type == ARROW_BOOL ? shift : 0;
	struct one_hot row = { 0 };

	for (uint64_t i = 0; i < n; i++) {
		struct arrow_label element = {.none = false};
		uint64_t bit = shift + i;
		int err = 0;

		if (!labels->elements.validity.length ||
		    labels->nulls.items[bit / 8] >> bit % 8 & 1)
			err = label_column_get_number(labels, array, labels->row.items,
						      (size_t)(from + i), &element);
		if (err)
			return err;
		if (n == 1) {
			out->number = element.number;
			return 0;
		}
		one_hot_add(&row, true, element.number);
		if (row.odd)
			return no_label(labels, "has a list that is not one-hot");
	}
	out->number = row.label;
	out->none = !row.found;
	return 0;
}

static int label_column_get_list(struct arrow_labels *labels, struct arrow_file *file,
				 const struct arrow_batch *batch, size_t i,
				 struct arrow_label *out)
{
	uint64_t begin, end;
	int err;

	if (!find_elements(labels, i, labels->slice.first, &begin, &end))
		return arrow_refuse_batch(file, batch, "has a list outside its elements");
	if (end - begin > ELEMENTS_MOST)
		return no_label(labels, "has a list of %" PRIu64 " elements",
				end - begin);
	if (labels->length && labels->length != end - begin)
		return no_label(labels,
				"has lists of %" PRIu64 " and of %" PRIu64 " elements",
				labels->length, end - begin);
	labels->length = end - begin;
	if (begin == end)
		return no_label(labels, "has a list without elements");
	err = label_column_read_elements(labels, file, begin, end);
	if (err)
		return arrow_refuse_read(file, err);
	return get_one_hot_label(labels, end - begin, begin % 8, out);
}

/* ---- Dictionaries ---- */

static int label_column_add_value(struct arrow_labels *labels, struct arrow_file *file,
				  const struct arrow_batch *batch,
				  struct arrow_slice *slice, size_t i)
{
	struct arrow_dictionary *dictionary = &labels->dictionary;
	struct arrow_label item = {.none = arrow_slice_is_null(slice, i)};
	int err = 0;

	if (!item.none && arrow_is_text(slice->array))
		err = label_column_get_text(labels, file, batch, slice, i, &item);
	else if (!item.none)
		err = label_column_get_number(labels, slice->array, slice->values.items,
					      i, &item);
	if (err == -EDOM)
		return arrow_refuse(
			file,
			"%s, in the dictionary of '%s'; choose another column "
			"with labels=NAME",
			labels->why, labels->column->name);
	if (err)
		return err;
	if (item.text) {
		item.text = arena_copy(&dictionary->arena, item.text, item.length);
		if (!item.text)
			return arrow_no_memory(file);
	}
	return vec_push(&dictionary->items, item) < 0 ? arrow_no_memory(file) : 0;
}

static void empty_dictionary(struct arrow_dictionary *dictionary)
{
	dictionary->items.count = 0;
	arena_free(&dictionary->arena);
	dictionary->arena = (struct arena){NULL};
}

static int visit_dictionary(struct arrow_file *file, const struct arrow_batch *batch,
			    bool more)
{
	struct arrow_labels *labels = file->visitor;
	struct arrow_dictionary *dictionary = &labels->dictionary;
	struct arrow_slice slice;
	int err;

	if (!more)
		empty_dictionary(dictionary);
	if (batch->rows > VALUES_MOST - dictionary->items.count)
		return arrow_refuse(file,
				    "has a dictionary of more than %d values for '%s'; "
				    "choose another column with labels=NAME",
				    VALUES_MOST, labels->column->name);
	arrow_slice_begin(&slice, &dictionary->values,
			  arrow_is_text(&dictionary->values));
	err = arrow_slice_find(file, batch, &slice);
	for (uint64_t first = 0; first < batch->rows && !err; first += ARROW_SLICE_ROWS) {
		uint64_t rest = batch->rows - first;
		size_t n = rest < ARROW_SLICE_ROWS ? (size_t)rest : ARROW_SLICE_ROWS;

		err = arrow_slice_load(file, batch, &slice, first, n);
		for (size_t i = 0; i < n && !err; i++)
			err = label_column_add_value(labels, file, batch, &slice, i);
	}
	arrow_slice_end(&slice);
	return err;
}

static int get_value_label(struct arrow_labels *labels, struct arrow_file *file,
			   const struct arrow_batch *batch, size_t i,
			   struct arrow_label *out)
{
	struct arrow_label index = {.none = false};
	int err = label_column_get_number(labels, labels->slice.array,
					  labels->slice.values.items, i, &index);

	if (err || index.number < 0 ||
	    (uint64_t)index.number >= labels->dictionary.items.count)
		return arrow_refuse_batch(file, batch,
					  "has a value of '%s' that its dictionary "
					  "lacks",
					  labels->column->name);
	*out = labels->dictionary.items.items[index.number];
	return 0;
}

/* ---- The column ---- */

void arrow_labels_begin(struct arrow_labels *labels, struct arrow_file *file,
			const struct arrow_column *column)
{
	bool encoded = column && column->self.dictionary;

	*labels = (struct arrow_labels){.column = column};
	if (!column)
		return;
	arrow_slice_begin(&labels->slice, encoded ? &column->index : &column->self,
			  !encoded);
	if (!encoded)
		return;
	labels->dictionary.values = column->self;
	labels->dictionary.values.dictionary = false;
	labels->dictionary.values.node = labels->dictionary.values.buffer = 0;
	labels->dictionary.values.views = labels->dictionary.values.unions = 0;
	file->dictionary_id = column->dictionary_id;
	file->visit_dictionary = visit_dictionary;
	file->visitor = labels;
}

void arrow_labels_end(struct arrow_labels *labels, struct arrow_file *file)
{
	arrow_slice_end(&labels->slice);
	vec_free(&labels->row);
	vec_free(&labels->nulls);
	vec_free(&labels->dictionary.items);
	arena_free(&labels->dictionary.arena);
	file->visit_dictionary = NULL;
}

int arrow_labels_restart(struct arrow_labels *labels, struct arrow_file *file)
{
	labels->length = 0;
	empty_dictionary(&labels->dictionary);
	return arrow_file_visit_dictionaries(file);
}

int arrow_labels_find(struct arrow_labels *labels, struct arrow_file *file,
		      const struct arrow_batch *batch)
{
	const struct arrow_column *column = labels->column;
	int err = arrow_slice_find(file, batch, &labels->slice);

	if (err || !column || column->self.dictionary || !column->elements.type)
		return err;
	return arrow_batch_parts(file, batch, &column->elements, &labels->elements);
}

int arrow_labels_load(struct arrow_labels *labels, struct arrow_file *file,
		      const struct arrow_batch *batch, uint64_t first, size_t n)
{
	return arrow_slice_load(file, batch, &labels->slice, first, n);
}

int arrow_labels_get(struct arrow_labels *labels, struct arrow_file *file,
		     const struct arrow_batch *batch, size_t i, struct arrow_label *out)
{
	const struct arrow_column *column = labels->column;

	*out = (struct arrow_label){.none = true};
	if (!column || arrow_slice_is_null(&labels->slice, i))
		return 0;
	out->none = false;
	if (column->self.dictionary)
		return get_value_label(labels, file, batch, i, out);
	if (arrow_is_text(&column->self))
		return label_column_get_text(labels, file, batch, &labels->slice, i,
					     out);
	if (arrow_is_list(&column->self))
		return label_column_get_list(labels, file, batch, i, out);
	return label_column_get_number(labels, &column->self, labels->slice.values.items,
				       i, out);
}

/* Called for each label: 0, or what ends the way. */
typedef int arrow_label_visit(struct arrow_file *file, const struct arrow_label *label);

static int visit_labels(struct arrow_labels *labels, struct arrow_file *file,
			const struct arrow_batch *batch, arrow_label_visit *visit)
{
	struct arrow_label label;
	int err = arrow_labels_find(labels, file, batch);

	for (uint64_t first = 0; first < batch->rows && !err; first += ARROW_SLICE_ROWS) {
		uint64_t rest = batch->rows - first;
		size_t n = rest < ARROW_SLICE_ROWS ? (size_t)rest : ARROW_SLICE_ROWS;

		err = arrow_labels_load(labels, file, batch, first, n);
		for (size_t i = 0; i < n && !err; i++) {
			err = arrow_labels_get(labels, file, batch, i, &label);
			if (!err && visit)
				err = visit(file, &label);
		}
	}
	return err;
}

/* All labels of a column; -EDOM, and why, where one is none. */
static int visit_column(struct arrow_file *file, const struct arrow_column *column,
			arrow_label_visit *visit, char why[ARROW_WHY_BYTES])
{
	struct arrow_labels labels;
	struct arrow_batch batch;
	int err, there = 1;

	arrow_labels_begin(&labels, file, column);
	arrow_file_rewind(file);
	err = arrow_labels_restart(&labels, file);
	while (!err && (there = arrow_file_next(file, &batch)) > 0)
		err = visit_labels(&labels, file, &batch, visit);
	memcpy(why, labels.why, ARROW_WHY_BYTES);
	arrow_labels_end(&labels, file);
	return err ? err : there;
}

int arrow_labels_fit(struct arrow_file *file, const struct arrow_column *column,
		     char why[ARROW_WHY_BYTES])
{
	int err = visit_column(file, column, NULL, why);

	return err == -EDOM ? 0 : err < 0 ? err : 1;
}

static int select_row(struct arrow_file *file, const struct arrow_label *label)
{
	if (label->none || label->number < 0)
		return arrow_refuse(
			file, "has a number of a row that is null, or below 0; write "
			      "it again");
	return vec_push(&file->scan->selection, (uint64_t)label->number) < 0
		       ? arrow_no_memory(file)
		       : 0;
}

int arrow_selection_read(struct arrow_file *file)
{
	char why[ARROW_WHY_BYTES];
	int err;

	snprintf(file->scan->detail, sizeof(file->scan->detail),
		 "%s, rows of another file", file->stream ? "stream" : "file");
	file->scan->selects = true;
	err = visit_column(file, file->schema.columns.items, select_row, why);
	return err == -EDOM ? arrow_refuse(file, "%s; write it again", why) : err;
}
