/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The batches are gone through twice: first as far as 16 rows that are not empty, whose
 * beginnings say which extension they get; then to the end. Of a batch the rows'
 * offsets, labels and names are read, in slices; never an image.
 */
#include "format/arrow/batch_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "format/arrow/row_names.h"
#include "format/arrow/slice.h"
#include "format/limits.h"

enum { ROWS_SNIFFED = 16 };

/* One way through the rows of a column. */
struct pass {
	struct arrow_file *file;
	struct arrow_choice *choice;
	struct arrow_slice images, structs, paths, labels;
	bool sniffing, done;
	unsigned sniffed;
	const char *extensions[ROWS_SNIFFED], *extension;
	struct arrow_names names;
	uint64_t row, without_bytes, without_label;
	char class_name[ARROW_NAME_BYTES + 1];
};

/* Of the columns' arrays those that hold the bytes. */
static const struct arrow_array *bytes_of(const struct arrow_column *column)
{
	return column->bytes.type ? &column->bytes : &column->self;
}

/* The extension */

static int sniff(struct pass *pass, uint64_t at, uint64_t length)
{
	unsigned char head[SAMPLES_SNIFF_BYTES];
	size_t n = length < sizeof(head) ? (size_t)length : sizeof(head);
	int err;

	if (n == 0)
		return 0;
	err = arrow_read(&pass->file->reader, head, n, at);
	if (err)
		return arrow_refuse_read(pass->file, err);
	pass->extensions[pass->sniffed++] = samples_sniff(head, n);
	pass->done = pass->sniffed == ROWS_SNIFFED;
	return 0;
}

/* Samples */

/* A word that is to be a directory's name. */
static int take_class_name(struct pass *pass, const struct arrow_batch *batch, size_t i,
			   struct sample *sample)
{
	uint64_t length;
	const char *text;
	int err = arrow_slice_text(pass->file, batch, &pass->labels, i, &text, &length);

	if (err)
		return err;
	if (length == 0) {
		pass->without_label++;
		sample->label = -1;
		return 0;
	}
	if (!text || length > ARROW_NAME_BYTES || memchr(text, '\0', length))
		return arrow_refuse(pass->file,
				    "has text in the column '%s' that names no class: row "
				    "%" PRIu64 " has %" PRIu64 " bytes there; choose another "
				    "column with labels=NAME, or rename this one",
				    pass->choice->labels->name, pass->row, length);
	memcpy(pass->class_name, text, (size_t)length);
	pass->class_name[length] = '\0';
	sample->class_name = pass->class_name;
	return 0;
}

static int take_label(struct pass *pass, const struct arrow_batch *batch, size_t i,
		      struct sample *sample)
{
	const struct arrow_column *labels = pass->choice->labels;

	if (!labels)
		return 0;
	if (arrow_slice_is_null(&pass->labels, i)) {
		pass->without_label++;
		sample->label = -1;
		return 0;
	}
	if (arrow_is_text(&labels->self))
		return take_class_name(pass, batch, i, sample);
	if (arrow_slice_integer(&pass->labels, i, &sample->label))
		return 0;
	return arrow_refuse(pass->file,
			    "has a label in '%s' that is larger than %" PRId64 ", in row "
			    "%" PRIu64 "; write another, or choose another column with "
			    "labels=NAME",
			    labels->name, INT64_MAX, pass->row);
}

static int take_name(struct pass *pass, const struct arrow_batch *batch, size_t i,
		     struct sample *sample)
{
	uint64_t length;
	const char *text;
	int err;

	if (!pass->choice->images->path.type || arrow_slice_is_null(&pass->paths, i))
		return 0;
	err = arrow_slice_text(pass->file, batch, &pass->paths, i, &text, &length);
	if (!err && text)
		sample->name = arrow_names_make(&pass->names, pass->file->scan->samples,
						text, (size_t)length, pass->row,
						pass->extension);
	return err;
}

/* Rows may share bytes, and then they do not count twice. */
static void advance(struct arrow_file *file, uint64_t bytes)
{
	uint64_t left = file->scan->length - file->advanced;

	if (bytes > left)
		bytes = left;
	file->advanced += bytes;
	if (file->scan->advance)
		file->scan->advance(file->scan, bytes);
}

static int add_sample(struct pass *pass, const struct arrow_batch *batch, size_t i,
		      uint64_t at, uint64_t length)
{
	struct scan *scan = pass->file->scan;
	struct entry_extent extent = { 0 };
	struct sample sample = { .name = NULL };
	int err = take_label(pass, batch, i, &sample);

	if (!err)
		err = take_name(pass, batch, i, &sample);
	if (err)
		return err;
	if (length)
		err = entries_raw_extent(scan->entries, scan->source_number,
					 scan->base + scan->length, scan->base + at, length,
					 &extent);
	if (err == -EBADMSG)
		return arrow_refuse_read(pass->file, err);
	sample.body = (struct sample_bytes){ extent.offset, length, extent.volume };
	if (err || samples_add(scan->samples, &sample) < 0 ||
	    (sample.name && arrow_names_note(&pass->names, sample.name, pass->row) < 0))
		return arrow_no_memory(pass->file);
	advance(pass->file, length);
	return 0;
}

/* Rows */

static int visit_row(struct pass *pass, const struct arrow_batch *batch, size_t i)
{
	uint64_t at, length;
	int err;

	if (arrow_slice_is_null(&pass->structs, i) || arrow_slice_is_null(&pass->images, i)) {
		pass->without_bytes++;
		return pass->sniffing ? 0 : add_sample(pass, batch, i, 0, 0);
	}
	err = arrow_slice_place_of(pass->file, batch, &pass->images, i, &at, &length);
	if (err)
		return err;
	return pass->sniffing ? sniff(pass, at, length) :
				add_sample(pass, batch, i, at, length);
}

static int visit_slice(struct pass *pass, const struct arrow_batch *batch,
		       uint64_t first, size_t n)
{
	struct arrow_slice *const slices[] = { &pass->structs, &pass->images, &pass->paths,
					       &pass->labels };
	int err = 0;

	for (size_t i = 0; i < sizeof(slices) / sizeof(*slices) && !err; i++)
		err = arrow_slice_load(pass->file, batch, slices[i], first, n);
	for (size_t i = 0; i < n && !err && !pass->done; i++) {
		err = visit_row(pass, batch, i);
		pass->row++;
	}
	return err;
}

static int charge_rows(struct pass *pass, const struct arrow_batch *batch)
{
	if (pass->sniffing)
		return 0;
	if (batch->rows > pass->choice->row_budget)
		return arrow_refuse(pass->file, "has more rows than there is room for in a "
						"file of its size: they are empty; write it "
						"without them");
	pass->choice->row_budget -= batch->rows;
	return 0;
}

static int visit_batch(struct pass *pass, const struct arrow_batch *batch)
{
	struct arrow_slice *const slices[] = { &pass->structs, &pass->images, &pass->paths,
					       &pass->labels };
	int err = 0;

	for (size_t i = 0; i < sizeof(slices) / sizeof(*slices) && !err; i++)
		err = arrow_slice_find(pass->file, batch, slices[i]);
	if (!err)
		err = charge_rows(pass, batch);
	for (uint64_t first = 0; first < batch->rows && !err && !pass->done;
	     first += ARROW_SLICE_ROWS) {
		uint64_t rest = batch->rows - first;

		err = visit_slice(pass, batch, first,
				  rest < ARROW_SLICE_ROWS ? (size_t)rest :
							    ARROW_SLICE_ROWS);
	}
	return err;
}

static int visit_all(struct pass *pass)
{
	struct arrow_batch batch;
	int there;

	arrow_file_rewind(pass->file);
	pass->row = pass->without_bytes = pass->without_label = 0;
	do {
		there = arrow_file_next(pass->file, &batch);
		if (there > 0) {
			int err = visit_batch(pass, &batch);

			if (err)
				return err;
		}
	} while (there > 0 && !pass->done);
	return there < 0 ? there : 0;
}

/* The group */

static int begin_group(struct pass *pass)
{
	const struct arrow_choice *choice = pass->choice;
	struct sample_group group = {
		.split = choice->split,
		.name = choice->images->name,
		.labels = choice->labels ? choice->labels->name : NULL,
		.extension = pass->extension,
		.class_names = choice->class_names,
		.class_count = choice->class_count,
		.rows = pass->file->blocks.count, /* at least, where they are known */
	};

	return samples_begin(pass->file->scan->samples, &group) < 0 ?
		       arrow_no_memory(pass->file) : 0;
}

static void warn(const struct pass *pass)
{
	const char *label = pass->file->scan->label;
	const char *column = pass->choice->images->name;

	if (pass->without_bytes)
		log_warn("'%s': %" PRIu64 " of %" PRIu64 " rows hold no bytes in '%s' "
			 "(null): they are empty files",
			 label, pass->without_bytes, pass->row, column);
	if (pass->without_label)
		log_warn("'%s': %" PRIu64 " of %" PRIu64 " rows have no label in '%s' "
			 "(null or empty): they get the label -1",
			 label, pass->without_label, pass->row,
			 pass->choice->labels->name);
	if (pass->names.again)
		log_warn("'%s': %" PRIu64 " of %" PRIu64 " names in '%s' came before: the "
			 "row's number is put before them",
			 label, pass->names.again, pass->row, column);
}

static void prepare(struct pass *pass)
{
	const struct arrow_column *images = pass->choice->images;
	const struct arrow_column *labels = pass->choice->labels;

	arrow_slice_begin(&pass->images, bytes_of(images), false);
	if (images->bytes.type)
		arrow_slice_begin(&pass->structs, &images->self, false);
	if (images->path.type)
		arrow_slice_begin(&pass->paths, &images->path, true);
	if (labels)
		arrow_slice_begin(&pass->labels, &labels->self, true);
	arrow_names_begin(&pass->names);
}

int arrow_rows_take(struct arrow_file *file, struct arrow_choice *choice)
{
	struct pass pass = { .file = file, .choice = choice, .sniffing = true };
	int err;

	prepare(&pass);
	err = visit_all(&pass);
	pass.extension = samples_common_extension(pass.extensions, pass.sniffed);
	pass.sniffing = pass.done = false;
	if (!err)
		err = begin_group(&pass);
	if (!err)
		err = visit_all(&pass);
	if (!err)
		warn(&pass);
	arrow_names_end(&pass.names);
	arrow_slice_end(&pass.structs);
	arrow_slice_end(&pass.images);
	arrow_slice_end(&pass.paths);
	arrow_slice_end(&pass.labels);
	return err;
}
