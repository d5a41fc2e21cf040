/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Apache Arrow IPC files and streams: rows of bytes, with labels, as samples.
 *
 * Flatbuffers describe them, read by ourselves: there is no C library for
 * Arrow. Buffers are not copied: a sample is where its bytes lie in the file.
 */
#include "build/findings.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "format/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/arrow/batch_rows.h"
#include "format/arrow/label_column.h"
#include "format/row_labels.h"
#include "format/row_names.h"
#include "names/column_titles.h"
#include "names/label_words.h"
#include "names/split_words.h"

enum {
	LIST_BYTES = 900,
	IMAGES_MOST = 64,     /* columns, each of which is gone through by itself */
	ROWS_FREE = 1 << 20,  /* that need no room in the file */
	ROW_LEAST = 16,       /* bytes of the file that another row takes */
};

#define ARE_LABELS "integers, whole floats, bools, text, or one-hot lists"

static const struct arrow_column *find_column(const struct arrow_schema *schema,
					      const char *name)
{
	for (size_t i = 0; i < schema->columns.count; i++)
		if (strcmp(schema->columns.items[i].name, name) == 0)
			return &schema->columns.items[i];
	return NULL;
}

static int arrow_refuse_labels(struct arrow_file *file, const char *name)
{
	const struct arrow_column *column = find_column(&file->schema, name);
	char list[LIST_BYTES], type[48] = "";

	arrow_schema_list(&file->schema, list, sizeof(list));
	if (!column)
		return row_labels_refuse_name(file->scan, file->e, "column", list);
	arrow_type_name(column, type, sizeof(type));
	return arrow_refuse(file, "has no labels in its column '%.100s', which is %s: they "
				  "are " ARE_LABELS "; its columns are: %s",
			    name, type, list);
}

/* Is there a column that is called as labels are, and holds none? Then that is said. */
static void report_no_images(const struct arrow_file *file)
{
	const struct arrow_column *found = NULL;
	char type[48] = "";
	int best = -1;

	for (size_t i = 0; i < file->schema.columns.count; i++) {
		const struct arrow_column *column = &file->schema.columns.items[i];

		if (title_is_better(TITLE_LABEL, column->name, strlen(column->name), &best))
			found = column;
	}
	if (!found || file->scan->rows->tree || arrow_column_has_files(found) ||
	    arrow_column_can_label(found))
		return;
	arrow_type_name(found, type, sizeof(type));
	findings_add(file->scan->findings, FINDING_CHOSEN,
		     "no labels are taken from the column '%.60s', which is %s: they are "
		     ARE_LABELS "; labels=NAME says which column holds them", found->name,
		     type);
}

/* Floats and lists may be what no label is, and nobody has said that they are: looks. */
static int inspect_labels(struct arrow_file *file, const struct arrow_column *column,
			  bool *unfit)
{
	char why[ARROW_WHY_BYTES];
	int fits;

	if (column->self.dictionary ||
	    (column->self.type != ARROW_FLOAT && !arrow_is_list(&column->self)))
		return 0;
	fits = arrow_labels_fit(file, column, why);
	*unfit = fits == 0;
	if (*unfit && !file->scan->rows->tree)
		findings_add(file->scan->findings, FINDING_CHOSEN,
			     "no labels are taken from the column '%.60s', which %s: "
			     "they are " ARE_LABELS "; labels=NAME says which column "
			     "holds them", column->name, why);
	return fits < 0 ? fits : 0;
}

static int inspect_column(void *context, size_t column, bool *unfit)
{
	struct arrow_file *file = context;

	return inspect_labels(file, &file->schema.columns.items[column], unfit);
}

static int guess_labels(struct arrow_file *file, struct arrow_choice *choice)
{
	const struct arrow_schema *schema = &file->schema;
	const struct arrow_column *columns = schema->columns.items;
	size_t n = schema->columns.count;
	CLEANUP(cleanup_free) struct label_column_facts *facts = calloc(n + 1, sizeof(*facts));
	struct label_column_choice best;
	int err;

	if (!facts)
		return arrow_no_memory(file);
	for (size_t i = 0; i < n; i++)
		facts[i] = (struct label_column_facts){
			.name = columns[i].name,
			.can_label = arrow_column_can_label(&columns[i]),
			.integers = columns[i].self.type == ARROW_INT &&
				    !columns[i].self.dictionary,
		};
	row_labels_note_classes(schema->metadata, schema->metadata_size, facts, n);
	err = row_labels_choose(facts, n, inspect_column, file, &best);
	if (err)
		return err;
	choice->labels = best.taken >= 0 ? &columns[best.taken] : NULL;
	if (best.other >= 0)
		row_labels_report(file->scan, "column",
				  choice->labels ? choice->labels->name : NULL,
				  columns[best.other].name);
	if (!choice->labels)
		report_no_images(file);
	return 0;
}

static int choose_labels(struct arrow_file *file, struct arrow_choice *choice)
{
	const char *name = file->scan->rows->labels;

	if (!name)
		return guess_labels(file, choice);
	choice->labels = find_column(&file->schema, name);
	if (!choice->labels || !arrow_column_can_label(choice->labels))
		return arrow_refuse_labels(file, name);
	return 0;
}

static int read_classes(struct arrow_file *file, struct arrow_choice *choice)
{
	struct arrow_schema *schema = &file->schema;
	int err;

	if (!schema->metadata || !choice->labels || choice->labels->self.dictionary ||
	    choice->labels->self.type != ARROW_INT)
		return 0;
	err = row_names_classes(schema->metadata, schema->metadata_size,
				choice->labels->name, &schema->arena,
				&choice->class_names, &choice->class_count);
	if (err == -ENOMEM)
		return arrow_no_memory(file);
	if (err)
		findings_add(file->scan->findings, FINDING_LEFT_OUT,
			     "what it has under the key 'huggingface' is no JSON with "
			     "info.features: its classes have no names");
	return 0;
}

static int refuse_columns(struct arrow_file *file)
{
	char list[LIST_BYTES];

	arrow_schema_list(&file->schema, list, sizeof(list));
	return arrow_refuse(file, "has no column of images (binary, large_binary, "
				  "binary_view, or struct<bytes, path>); its columns are: %s; write the "
				  "encoded images into one",
			    list);
}

/* "stream, image (struct<bytes, path>), labels: label (int64), 10 class names" */
static void arrow_describe(const struct arrow_file *file,
			   const struct arrow_choice *choice, const char *images)
{
	struct scan *scan = file->scan;
	size_t room = sizeof(scan->detail);
	char type[48];

	snprintf(scan->detail, room, "%s, %s", file->stream ? "stream" : "file", images);
	if (choice->labels) {
		arrow_type_name(choice->labels, type, sizeof(type));
		buffer_print(scan->detail, room, ", labels: %.30s (%s)",
			     choice->labels->name, type);
	} else {
		buffer_print(scan->detail, room, ", no labels");
	}
	if (choice->class_count)
		buffer_print(scan->detail, room, ", %zu names", choice->class_count);
}

/* ---- Images ---- */

/* A column of bytes, and what it is taken for. */
struct image_column {
	const struct arrow_column *column;
	struct arrow_rows_type looks;
};

struct image_columns {
	struct image_column items[IMAGES_MOST];
	struct image_column_facts facts[IMAGES_MOST];
	bool left_out[IMAGES_MOST];
	unsigned count;
	bool known; /* one of them at least begins like images */
};

/* Bytes alone in a struct: they may be images, if nothing else is. */
static bool is_bare_member(const struct arrow_column *column)
{
	return column->parent && !column->bytes.type;
}

static int inspect_columns(struct arrow_file *file, struct arrow_choice *choice, bool members,
			   struct image_columns *out)
{
	int err = 0;

	for (size_t i = 0; i < file->schema.columns.count && !err; i++) {
		struct image_column *image = &out->items[out->count];
		struct image_column_facts *facts = &out->facts[out->count];

		choice->images = &file->schema.columns.items[i];
		if (!arrow_column_has_files(choice->images) ||
		    is_bare_member(choice->images) != members)
			continue;
		if (out->count++ == IMAGES_MOST)
			return arrow_refuse(file, "has more than %d columns of bytes; "
						  "write it again with fewer",
					    IMAGES_MOST);
		*image = (struct image_column){ .column = choice->images };
		err = arrow_rows_inspect(file, choice, &image->looks);
		facts->known = image->looks.known;
		facts->empty = image->looks.rows && image->looks.nulls == image->looks.rows;
		out->known |= facts->known;
	}
	return err;
}

static int inspect_all(struct arrow_file *file, struct arrow_choice *choice,
		       struct image_columns *out)
{
	int err = inspect_columns(file, choice, false, out);

	if (!err && !out->known)
		err = inspect_columns(file, choice, true, out);
	return err || out->count ? err : refuse_columns(file);
}

/* Hugging Face's library keeps paths in its cache, and no bytes. */
static int arrow_refuse_empty(struct arrow_file *file, const struct image_column *image)
{
	return arrow_refuse(file, "has no bytes in '%.60s' in any of its %" PRIu64 " rows (null)%s; "
				  "write it with them (datasets: ds.with_format(\"arrow\")"
				  ".map(datasets.table.embed_table_storage, batched=True)"
				  ".with_format(None).save_to_disk(DIRECTORY))",
			    image->column->name, image->looks.rows,
			    image->column->path.type ? ", but paths of files" : "");
}

static void arrow_report_left_out(struct arrow_file *file,
				  const struct image_columns *images)
{
	unsigned shown = 0;
	char list[200] = "";
	size_t count = 0;

	while (images->left_out[shown])
		shown++;
	for (unsigned i = 0; i < images->count; i++) {
		if (!images->left_out[i])
			continue;
		buffer_print(list, sizeof(list), "%s'%.40s'", count++ ? ", " : "",
			     images->items[i].column->name);
	}
	if (count)
		findings_add(file->scan->findings, FINDING_LEFT_OUT,
			     "%s %s not shown beside '%.40s': by the first bytes no row "
			     "is an image, or all are null; view=tree shows %s", list,
			     count > 1 ? "are" : "is", images->items[shown].column->name,
			     count > 1 ? "them" : "it");
}

static int choose_images(struct arrow_file *file, struct image_columns *images)
{
	if (!image_columns_choose(images->facts, images->count, images->left_out))
		return arrow_refuse_empty(file, &images->items[0]);
	if (file->scan->rows->tree)
		memset(images->left_out, 0, sizeof(images->left_out));
	arrow_report_left_out(file, images);
	return 0;
}

/* One group a column. */
static int arrow_add_columns(struct arrow_file *file, struct arrow_choice *choice)
{
	struct image_columns images = { .count = 0 };
	char text[64] = "", type[48];
	int err = inspect_all(file, choice, &images);

	if (!err)
		err = choose_images(file, &images);
	for (unsigned i = 0; i < images.count && !err; i++) {
		if (images.left_out[i])
			continue;
		choice->images = images.items[i].column;
		arrow_type_name(choice->images, type, sizeof(type));
		buffer_print(text, sizeof(text), "%s%.20s (%s)", *text ? ", " : "",
			     choice->images->name, type);
		err = arrow_rows_add(file, choice, images.items[i].looks.extension);
	}
	arrow_describe(file, choice, text);
	return err;
}

/* Rows of another file, as datasets of Hugging Face writes them: one column, "indices". */
static bool is_selection(const struct arrow_schema *schema)
{
	const struct arrow_column *column = schema->columns.items;

	return schema->columns.count == 1 && strcmp(column->name, "indices") == 0 &&
	       column->self.type == ARROW_INT && !column->self.dictionary;
}

/* The column that says the split of each row; labels=split makes it a class. */
static const struct arrow_column *find_splits(const struct arrow_file *file,
					      const struct arrow_column *labels)
{
	for (size_t i = 0; i < file->schema.columns.count && !file->scan->rows->tree; i++) {
		const struct arrow_column *column = &file->schema.columns.items[i];

		if (column != labels && !column->parent && !column->part &&
		    arrow_is_text(&column->self) && name_is_split_column(column->name))
			return column;
	}
	return NULL;
}

/* Numbers, and words under a vague name, do not say for sure that they are splits. */
static void say_unused_splits(const struct arrow_file *file, const struct arrow_choice *choice)
{
	for (size_t i = 0; i < file->schema.columns.count && !file->scan->rows->tree; i++) {
		const struct arrow_column *column = &file->schema.columns.items[i];

		const char *dot = column->parent ? strrchr(column->name, '.') : NULL;

		if (!choice->splits && column != choice->labels && !column->part &&
		    arrow_column_can_label(column) &&
		    name_may_say_split(dot ? dot + 1 : column->name))
			row_labels_report_split(file->scan, "row", column->name);
	}
}

static int arrow_scan_file(struct arrow_file *file)
{
	char split[SPLIT_BYTES];
	struct arrow_choice choice = {
		.split = split, .row_budget = file->scan->length / ROW_LEAST + ROWS_FREE,
	};
	int err;

	if (is_selection(&file->schema))
		return arrow_selection_read(file);
	split_of_path(file->scan->label, split);
	err = choose_labels(file, &choice);
	if (!err)
		err = read_classes(file, &choice);
	choice.splits = find_splits(file, choice.labels);
	say_unused_splits(file, &choice);
	return err ? err : arrow_add_columns(file, &choice);
}

static int arrow_scan(struct scan *scan, struct error *e)
{
	struct arrow_file file;
	int err = arrow_file_open(&file, scan, e);

	if (!err)
		err = arrow_scan_file(&file);
	arrow_file_close(&file);
	return err;
}

const struct format format_arrow = {
	.name = "arrow",
	.rows = true,
	.probe = arrow_file_probe,
	.scan = arrow_scan,
};
