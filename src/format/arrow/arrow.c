/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Apache Arrow IPC files and streams: rows of bytes, with labels, as samples.
 *
 * What describes them are flatbuffers, read by ourselves: there is no C library for
 * Arrow. Buffers are not copied: a sample is where its bytes lie in the file.
 */
#include "format/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "format/arrow/batch_rows.h"
#include "format/arrow/row_names.h"
#include "names/split_words.h"

enum {
	LIST_BYTES = 900,
	IMAGES_MOST = 64,     /* columns, each of which is gone through by itself */
	ROWS_FREE = 1 << 20,  /* that need no room in the file */
	ROW_LEAST = 16,       /* bytes of the file that another row takes */
};

/* Where labels are, if nobody says so: the first name that a column has. */
static const char *const label_names[] = {
	"label", "labels", "target", "targets", "class", "cls", "y", "fine_label",
	"fine_labels", "class_id", "label_id", "category", "coarse_label",
};

enum { LABEL_NAMES = sizeof(label_names) / sizeof(*label_names) };

static const struct arrow_column *find_column(const struct arrow_schema *schema,
					      const char *name)
{
	for (size_t i = 0; i < schema->columns.count; i++)
		if (strcmp(schema->columns.items[i].name, name) == 0)
			return &schema->columns.items[i];
	return NULL;
}

static int refuse_labels(struct arrow_file *file, const char *name)
{
	const struct arrow_column *column = find_column(&file->schema, name);
	char list[LIST_BYTES], type[48] = "";

	arrow_schema_list(&file->schema, list, sizeof(list));
	if (!column)
		return arrow_refuse(file, "has no column '%.100s' for the labels; its "
					  "columns are: %s; name one of them with "
					  "labels=NAME",
				    name, list);
	arrow_type_name(column, type, sizeof(type));
	return arrow_refuse(file, "has no labels in its column '%.100s', which is %s: they "
				  "are integers, or text%s; its columns are: %s",
			    name, type,
			    column->self.dictionary ?
				    " (pyarrow: column.dictionary_decode() before writing)" :
				    "",
			    list);
}

/* The first column behind `after` in the order of the usual names. */
static const struct arrow_column *usual_labels(const struct arrow_schema *schema,
					       const struct arrow_column *after)
{
	bool behind = after == NULL;

	for (size_t i = 0; i < LABEL_NAMES; i++) {
		const struct arrow_column *column = find_column(schema, label_names[i]);

		if (behind && column &&
		    (arrow_column_can_label(column) || column->self.dictionary))
			return column;
		behind = behind || (column && column == after);
	}
	return NULL;
}

static void warn_of_choice(const struct arrow_file *file, const char *taken,
			   const char *other)
{
	if (taken)
		log_warn("'%s': the labels are taken from the column '%s'; '%s' could be "
			 "meant, too: labels=NAME chooses",
			 file->scan->label, taken, other);
	else
		log_warn("'%s' has classes in several columns, of which '%s' is the first: "
			 "none is taken; choose one with labels=NAME",
			 file->scan->label, other);
}

/* The one column that is said to be of classes, else the first of the usual names. */
static const struct arrow_column *guess_labels(const struct arrow_file *file)
{
	const struct arrow_schema *schema = &file->schema;
	const struct arrow_column *column = NULL, *other;
	struct arrow_class_columns classes = { .count = 0 };

	if (schema->metadata)
		arrow_class_columns(schema->metadata, schema->metadata_size, &classes);
	if (classes.count == 1)
		column = find_column(schema, classes.names[0]);
	if (column && column->self.type == ARROW_INT)
		return column;
	column = usual_labels(schema, NULL);
	other = column ? usual_labels(schema, column) : NULL;
	if (other)
		warn_of_choice(file, column->name, other->name);
	else if (classes.count > 1 && !column)
		warn_of_choice(file, NULL, classes.names[0]);
	else if (classes.count > 1)
		warn_of_choice(file, column->name,
			       classes.names[strcmp(classes.names[0], column->name) == 0]);
	return column;
}

/* Is there a column that is called as labels are, and holds none? Then that is said. */
static void warn_of_none(const struct arrow_file *file)
{
	const struct arrow_column *column = NULL;
	char type[48] = "";

	if (file->scan->rows->tree)
		return;
	for (size_t i = 0; i < LABEL_NAMES && !column; i++)
		column = find_column(&file->schema, label_names[i]);
	if (!column || arrow_column_has_files(column))
		return;
	arrow_type_name(column, type, sizeof(type));
	log_warn("'%s': no labels are taken from the column '%s', which is %s: they are "
		 "integers, or text; labels=NAME says which column holds them",
		 file->scan->label, column->name, type);
}

static int choose_labels(struct arrow_file *file, struct arrow_choice *choice)
{
	const char *name = file->scan->rows->labels;

	choice->labels = name ? find_column(&file->schema, name) :
				guess_labels(file);
	if (!choice->labels && name)
		return refuse_labels(file, name);
	if (!choice->labels) {
		warn_of_none(file);
		return 0;
	}
	if (!arrow_column_can_label(choice->labels))
		return refuse_labels(file, choice->labels->name);
	return 0;
}

static int read_classes(struct arrow_file *file, struct arrow_choice *choice)
{
	struct arrow_schema *schema = &file->schema;
	int err;

	if (!schema->metadata || !choice->labels || choice->labels->self.type != ARROW_INT)
		return 0;
	err = arrow_class_names(schema->metadata, schema->metadata_size,
				choice->labels->name, &schema->arena,
				&choice->class_names, &choice->class_count);
	if (err == -ENOMEM)
		return arrow_no_memory(file);
	if (err)
		log_warn("'%s': what it has under the key 'huggingface' is no JSON with "
			 "info.features: its classes have no names",
			 file->scan->label);
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
static void describe(const struct arrow_file *file, const struct arrow_choice *choice,
		     const char *images)
{
	struct scan *scan = file->scan;
	size_t room = sizeof(scan->detail), n;
	char type[48];

	n = (size_t)snprintf(scan->detail, room, "%s, %s", file->stream ? "stream" : "file",
			     images);
	if (n < room && !choice->labels) {
		snprintf(scan->detail + n, room - n, ", no labels");
	} else if (n < room) {
		arrow_type_name(choice->labels, type, sizeof(type));
		n += (size_t)snprintf(scan->detail + n, room - n, ", labels: %.30s (%s)",
				      choice->labels->name, type);
	}
	if (n < room && choice->class_count)
		snprintf(scan->detail + n, room - n, ", %zu names", choice->class_count);
}

/* One group a column. */
static int take_columns(struct arrow_file *file, struct arrow_choice *choice)
{
	const struct arrow_schema *schema = &file->schema;
	char images[64] = "";
	unsigned found = 0;
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; i < schema->columns.count && !err; i++) {
		const struct arrow_column *column = &schema->columns.items[i];
		char type[48];

		if (!arrow_column_has_files(column))
			continue;
		if (found++ == IMAGES_MOST)
			return arrow_refuse(file, "has more than %d columns of bytes; "
						  "write it again with fewer",
					    IMAGES_MOST);
		arrow_type_name(column, type, sizeof(type));
		if (n < sizeof(images))
			n += (size_t)snprintf(images + n, sizeof(images) - n,
					      "%s%.20s (%s)", n ? ", " : "", column->name,
					      type);
		choice->images = column;
		err = arrow_rows_take(file, choice);
	}
	if (!err && !found)
		return refuse_columns(file);
	describe(file, choice, images);
	return err;
}

static int take_file(struct arrow_file *file)
{
	char split[SPLIT_BYTES];
	struct arrow_choice choice = {
		.split = split, .row_budget = file->scan->length / ROW_LEAST + ROWS_FREE,
	};
	int err;

	if (file->schema.metadata && arrow_class_names_need())
		return arrow_refuse(file, "has metadata of Hugging Face, in JSON: this granaryfs "
					  "was built without %s", arrow_class_names_need());
	err = choose_labels(file, &choice);
	split_of_path(file->scan->label, split);
	if (!err)
		err = read_classes(file, &choice);
	return err ? err : take_columns(file, &choice);
}

static int arrow_scan(struct scan *scan, struct error *e)
{
	struct arrow_file file;
	int err = arrow_file_open(&file, scan, e);

	if (!err)
		err = take_file(&file);
	arrow_file_close(&file);
	return err;
}

const struct format format_arrow = {
	.name = "arrow",
	.rows = true,
	.probe = arrow_file_probe,
	.scan = arrow_scan,
};
