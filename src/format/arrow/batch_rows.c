/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The batches are gone through twice for each column: as far as 16 rows that are not empty,
 * whose beginnings say what the column holds; and to the end. Of a batch the rows'
 * offsets, labels and names are read, in slices; never an image.
 */
#include "format/arrow/batch_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/vec.h"
#include "build/findings.h"
#include "format/arrow/label_column.h"
#include "format/row_names.h"
#include "format/arrow/slice.h"
#include "labels/row_splits.h"
#include "names/split_words.h"

enum {
	ROWS_SNIFFED = 16,
};

struct arrow_slices {
	struct arrow_slice *items;
	size_t count, room;
};

/* One way through the rows of a column. */
struct pass {
	struct arrow_file *file;
	struct arrow_choice *choice;
	struct arrow_slice images, paths;
	struct arrow_slices above;       /* the structs that images are members of, */
	struct arrow_slices label_above; /* and labels */
	struct arrow_labels labels;
	bool sniffing, done;
	unsigned sniffed;
	const char *extensions[ROWS_SNIFFED], *extension;
	struct row_names names;
	uint64_t row, without_bytes;
	char class_name[ROW_NAME_BYTES + 1];
	struct arrow_labels splits;      /* words */
	struct row_splits words;
	VEC(uint8_t) parts;              /* of each row the number of its word */
};

/* Of the columns' arrays those that hold the bytes. */
static const struct arrow_array *bytes_of(const struct arrow_column *column)
{
	return column->bytes.type ? &column->bytes : &column->self;
}

/* The extension */

static int batch_rows_sniff(struct pass *pass, uint64_t at, uint64_t length)
{
	unsigned char head[SAMPLES_SNIFF_BYTES];
	size_t n = length < sizeof(head) ? (size_t)length : sizeof(head);
	int err;

	if (n == 0)
		return 0;
	err = leap_reader_read(&pass->file->reader, head, n, at);
	if (err)
		return arrow_refuse_read(pass->file, err);
	pass->extensions[pass->sniffed++] = samples_detect_type(head, n);
	pass->done = pass->sniffed == ROWS_SNIFFED;
	return 0;
}

/* Samples */

static bool is_null_above(const struct arrow_slices *above, size_t i)
{
	for (size_t k = 0; k < above->count; k++)
		if (arrow_slice_is_null(&above->items[k], i))
			return true;
	return false;
}

static int batch_rows_set_label(struct pass *pass, const struct arrow_batch *batch,
				size_t i, struct sample *sample)
{
	struct arrow_label label = { .none = true };
	int err = 0;

	if (!pass->choice->labels)
		return 0;
	if (!is_null_above(&pass->label_above, i))
		err = arrow_labels_get(&pass->labels, pass->file, batch, i, &label);
	if (err == -EDOM)
		return arrow_refuse(pass->file, "%s, in '%s', row %" PRIu64 "; choose another "
						"column with labels=NAME, or write it otherwise",
				    pass->labels.why, pass->choice->labels->name, pass->row);
	if (err)
		return err;
	sample->label = label.none ? SAMPLE_UNLABELLED : label.number;
	if (label.none || !label.text)
		return 0;
	memcpy(pass->class_name, label.text, label.length);
	pass->class_name[label.length] = '\0';
	sample->class_name = pass->class_name;
	return 0;
}

static int batch_rows_set_name(struct pass *pass, const struct arrow_batch *batch,
			       size_t i, struct sample *sample)
{
	uint64_t length;
	const char *text;
	int err;

	if (!pass->choice->images->path.type || arrow_slice_is_null(&pass->paths, i))
		return 0;
	err = arrow_slice_text(pass->file, batch, &pass->paths, i, &text, &length);
	if (!err && text)
		sample->name = row_names_make(&pass->names, pass->file->scan->samples,
						text, (size_t)length, pass->row,
						pass->extension);
	return err;
}

/* Rows may share bytes, and then they do not count twice. */
static void batch_rows_advance(struct arrow_file *file, uint64_t bytes)
{
	uint64_t left = file->scan->length - file->advanced;

	if (bytes > left)
		bytes = left;
	file->advanced += bytes;
	if (file->scan->advance)
		file->scan->advance(file->scan, bytes);
}

static int batch_rows_add_sample(struct pass *pass, const struct arrow_batch *batch,
				 size_t i, uint64_t at, uint64_t length)
{
	struct scan *scan = pass->file->scan;
	struct entry_extent extent = { 0 };
	struct sample sample = { .name = NULL };
	int err = batch_rows_set_label(pass, batch, i, &sample);

	if (!err)
		err = batch_rows_set_name(pass, batch, i, &sample);
	if (err)
		return err;
	if (length)
		err = entries_raw_extent(scan->entries, scan->source_number,
					 scan->base + scan->length, scan->base + at, length,
					 &extent);
	if (err == -EBADMSG)
		return arrow_refuse_read(pass->file, err);
	sample.body = (struct sample_bytes){ extent.offset, length,
					     at ? extent.volume : SAMPLE_MISSING };
	if (err || samples_add(scan->samples, &sample) < 0 ||
	    (sample.name && row_names_note(&pass->names, sample.name, pass->row) < 0))
		return arrow_no_memory(pass->file);
	batch_rows_advance(pass->file, length);
	return 0;
}

static int refuse_split(struct pass *pass)
{
	return arrow_refuse(pass->file, "says the split of each row in '%s', and in row %" PRIu64
			    " that is no word that a directory can have, or there are "
			    "more than %d: write others, or see all rows as one with -o view=tree",
			    pass->choice->splits->name, pass->row, ROW_SPLITS_MOST);
}

/* Notes the row's split. */
static int batch_rows_take_split(struct pass *pass, const struct arrow_batch *batch, size_t i)
{
	struct arrow_label label = { .none = true };
	int k, err;

	if (!pass->choice->splits)
		return 0;
	err = arrow_labels_get(&pass->splits, pass->file, batch, i, &label);
	if (err && err != -EDOM)
		return err;
	k = err || !label.text ? -1 : row_splits_number(&pass->words, label.text, label.length);
	if (k < 0 || !split_names_directory(pass->words.words[k]))
		return refuse_split(pass);
	return vec_push(&pass->parts, (uint8_t)k) < 0 ? arrow_no_memory(pass->file) : 0;
}

static int part_rows(struct pass *pass)
{
	const char *words[ROW_SPLITS_MOST];

	if (!pass->choice->splits)
		return 0;
	for (size_t i = 0; i < pass->words.count; i++)
		words[i] = pass->words.words[i];
	return samples_part(pass->file->scan->samples, pass->parts.items, words,
			    pass->words.count) < 0 ? arrow_no_memory(pass->file) : 0;
}

/* Rows */

static int visit_row(struct pass *pass, const struct arrow_batch *batch, size_t i)
{
	uint64_t at, length;
	int err = pass->sniffing ? 0 : batch_rows_take_split(pass, batch, i);

	if (err)
		return err;
	if (is_null_above(&pass->above, i) ||
	    arrow_slice_is_null(&pass->images, i)) {
		pass->without_bytes++;
		return pass->sniffing ? 0 : batch_rows_add_sample(pass, batch, i, 0, 0);
	}
	err = arrow_slice_place_of(pass->file, batch, &pass->images, i, &at, &length);
	if (err)
		return err;
	return pass->sniffing ? batch_rows_sniff(pass, at, length) :
				batch_rows_add_sample(pass, batch, i, at, length);
}

static int load_above(struct pass *pass, struct arrow_slices *above,
		      const struct arrow_batch *batch, uint64_t first, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < above->count && !err; i++)
		err = arrow_slice_load(pass->file, batch, &above->items[i], first, n);
	return err;
}

static int load_all(struct pass *pass, const struct arrow_batch *batch, uint64_t first,
		    size_t n)
{
	int err = arrow_slice_load(pass->file, batch, &pass->images, first, n);

	if (!err)
		err = arrow_slice_load(pass->file, batch, &pass->paths, first, n);
	if (!err)
		err = load_above(pass, &pass->above, batch, first, n);
	if (!err)
		err = load_above(pass, &pass->label_above, batch, first, n);
	if (!err)
		err = arrow_labels_load(&pass->labels, pass->file, batch, first, n);
	return err ? err : arrow_labels_load(&pass->splits, pass->file, batch, first, n);
}

static int find_above(struct pass *pass, struct arrow_slices *above,
		      const struct arrow_batch *batch)
{
	int err = 0;

	for (size_t i = 0; i < above->count && !err; i++)
		err = arrow_slice_find(pass->file, batch, &above->items[i]);
	return err;
}

static int find_all(struct pass *pass, const struct arrow_batch *batch)
{
	int err = arrow_slice_find(pass->file, batch, &pass->images);

	if (!err)
		err = arrow_slice_find(pass->file, batch, &pass->paths);
	if (!err)
		err = find_above(pass, &pass->above, batch);
	if (!err)
		err = find_above(pass, &pass->label_above, batch);
	if (!err)
		err = arrow_labels_find(&pass->labels, pass->file, batch);
	return err ? err : arrow_labels_find(&pass->splits, pass->file, batch);
}

static int visit_slice(struct pass *pass, const struct arrow_batch *batch,
		       uint64_t first, size_t n)
{
	int err = load_all(pass, batch, first, n);

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
	int err = find_all(pass, batch);

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
	there = arrow_labels_restart(&pass->labels, pass->file);
	if (there >= 0)
		there = arrow_labels_restart(&pass->splits, pass->file);
	if (there < 0)
		return there;
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

static int batch_rows_begin_group(struct pass *pass)
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

static void report_rows(const struct pass *pass)
{
	struct scan *scan = pass->file->scan;
	const char *column = pass->choice->images->name;

	if (pass->without_bytes)
		findings_add(scan->findings, FINDING_LEFT_OUT,
			     "%" PRIu64 " of %" PRIu64 " rows hold no bytes in '%.60s' "
			     "(null): they are left out", pass->without_bytes, pass->row,
			     column);
	if (pass->names.again)
		findings_add(scan->findings, FINDING_CHOSEN,
			     "%" PRIu64 " of %" PRIu64 " names in '%.60s' came before: "
			     "the row's number is put before them", pass->names.again,
			     pass->row, column);
}

/* The structs that a column is a member of, and the one that an image is. */
static int begin_above(struct pass *pass, const struct arrow_column *column,
		       struct arrow_slices *above)
{
	const struct arrow_column *columns = pass->file->schema.columns.items;
	struct arrow_slice slice;

	for (bool is_struct = column->bytes.type != 0;; is_struct = true) {
		arrow_slice_begin(&slice, &column->self, false);
		if (is_struct && vec_push(above, slice) < 0)
			return arrow_no_memory(pass->file);
		if (!column->parent)
			return 0;
		column = &columns[column->parent - 1];
	}
}

static int begin_pass(struct pass *pass, struct arrow_file *file, struct arrow_choice *choice,
		      bool sniffing)
{
	const struct arrow_column *images = choice->images;
	const struct arrow_column *labels = sniffing ? NULL : choice->labels;
	int err;

	*pass = (struct pass){ .file = file, .choice = choice, .sniffing = sniffing };
	arrow_slice_begin(&pass->images, bytes_of(images), false);
	if (images->path.type && !sniffing)
		arrow_slice_begin(&pass->paths, &images->path, true);
	arrow_labels_begin(&pass->labels, file, labels);
	arrow_labels_begin(&pass->splits, file, sniffing ? NULL : choice->splits);
	row_names_begin(&pass->names);
	err = begin_above(pass, images, &pass->above);
	return err || !labels ? err : begin_above(pass, labels, &pass->label_above);
}

static void end_above(struct arrow_slices *above)
{
	for (size_t i = 0; i < above->count; i++)
		arrow_slice_end(&above->items[i]);
	vec_free(above);
}

static void end_pass(struct pass *pass)
{
	row_names_end(&pass->names);
	arrow_labels_end(&pass->labels, pass->file);
	arrow_labels_end(&pass->splits, pass->file);
	vec_free(&pass->parts);
	arrow_slice_end(&pass->images);
	arrow_slice_end(&pass->paths);
	end_above(&pass->above);
	end_above(&pass->label_above);
}

int arrow_rows_inspect(struct arrow_file *file, struct arrow_choice *choice,
		       struct arrow_rows_type *out)
{
	struct pass pass;
	int err = begin_pass(&pass, file, choice, true);

	if (!err)
		err = visit_all(&pass);
	*out = (struct arrow_rows_type){
		.extension = samples_common_extension(pass.extensions, pass.sniffed),
		.rows = pass.row, .nulls = pass.without_bytes,
	};
	out->known = strcmp(out->extension, SAMPLES_UNKNOWN) != 0;
	end_pass(&pass);
	return err;
}

int arrow_rows_add(struct arrow_file *file, struct arrow_choice *choice,
		   const char *extension)
{
	struct pass pass;
	int err = begin_pass(&pass, file, choice, false);

	pass.extension = extension;
	if (!err)
		err = batch_rows_begin_group(&pass);
	if (!err)
		err = visit_all(&pass);
	if (!err)
		err = part_rows(&pass);
	if (!err)
		report_rows(&pass);
	end_pass(&pass);
	return err;
}
