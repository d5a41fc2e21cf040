/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parquet files: rows of encoded images, with labels, as samples.
 *
 * The footer says where the pages of each column are. An image is where it lies in a page:
 * an extent of the file, or of the page's decoded chunk. There is no C library for Parquet.
 */
#include "format/format.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "build/findings.h"
#include "build/samples.h"
#include "format/parquet/pq_labels.h"
#include "format/parquet/pq_rows.h"
#include "labels/column_rules.h"
#include "names/split_words.h"

enum {
	LIST_BYTES = 900,
	COLUMN_BYTES = 300,
	IMAGES_MOST = 64,
	ROWS_FREE = 1 << 20, /* that need no room in the file */
	ROW_LEAST = 16,      /* bytes of the file that another row takes */
};

struct image_columns {
	const struct pq_column *items[IMAGES_MOST];
	struct pq_looks looks[IMAGES_MOST];
	struct image_column_facts facts[IMAGES_MOST];
	bool left_out[IMAGES_MOST];
	unsigned count;
};

/* ---- Columns ---- */

/* "image.bytes" of Hugging Face: the column "image". */
static size_t parent_length(const struct pq_column *column)
{
	const char *dot = strrchr(column->name, '.');

	return dot && strcmp(dot, ".bytes") == 0 ? (size_t)(dot - column->name) : 0;
}

static const struct pq_column *find_paths(const struct pq_file *file,
					  const struct pq_column *images)
{
	const struct pq_column *column;
	size_t n = parent_length(images);
	char name[COLUMN_BYTES];

	if (n == 0)
		return NULL;
	snprintf(name, sizeof(name), "%.*s.path", (int)n, images->name);
	column = pq_file_find(file, name);
	return column && column->type == PQ_BYTES && column->repetition == 0 ? column : NULL;
}

static int refuse_columns(struct pq_file *file)
{
	char list[LIST_BYTES];

	pq_file_list(file, list, sizeof(list));
	return pq_refuse(file, "has no column of images (binary, or struct<bytes, path>); its columns "
			       "are: %s; a table of text or numbers is read by Python's datasets: "
			       "load_dataset('parquet', data_files=...)", list);
}

static int inspect_columns(struct pq_file *file, struct image_columns *out)
{
	int err = 0;

	for (size_t i = 0; i < file->columns.count && !err; i++) {
		const struct pq_column *column = &file->columns.items[i];

		if (column->type != PQ_BYTES || column->text || column->repetition)
			continue;
		if (out->count == IMAGES_MOST)
			return pq_refuse(file, "has more than %d columns of bytes; write it again with "
					       "fewer", IMAGES_MOST);
		err = pq_rows_inspect(file, column, &out->looks[out->count]);
		out->facts[out->count].known = out->looks[out->count].known;
		out->facts[out->count].empty = out->looks[out->count].rows &&
					       out->looks[out->count].nulls ==
						       out->looks[out->count].rows;
		out->items[out->count++] = column;
	}
	return err || out->count ? err : refuse_columns(file);
}

static void report_left_out(const struct pq_file *file, const struct image_columns *images)
{
	for (unsigned i = 0; i < images->count; i++)
		if (images->left_out[i])
			findings_add(file->scan->findings, FINDING_LEFT_OUT,
				     "'%.60s' is not shown: by the first bytes no row is an image, or "
				     "all are null; view=tree shows it", images->items[i]->name);
}

static int choose_images(struct pq_file *file, struct image_columns *images)
{
	if (!image_columns_choose(images->facts, images->count, images->left_out))
		return pq_refuse(file, "has no bytes in '%.60s' in any of its rows (null); write it "
				       "with them: ds.to_parquet of Python's datasets does",
				 images->items[0]->name);
	if (file->scan->rows->tree)
		memset(images->left_out, 0, sizeof(images->left_out));
	report_left_out(file, images);
	return 0;
}

static int read_classes(struct pq_file *file, struct pq_choice *choice)
{
	int err;

	if (!file->notes || !choice->labels ||
	    (choice->labels->type != PQ_INT32 && choice->labels->type != PQ_INT64))
		return 0;
	err = row_names_classes(file->notes, file->notes_size, choice->labels->name, &file->arena,
				&choice->class_names, &choice->class_count);
	if (err == -ENOMEM)
		return pq_no_memory(file);
	if (err)
		findings_add(file->scan->findings, FINDING_LEFT_OUT,
			     "what it has under the key 'huggingface' is no JSON with info.features: "
			     "its classes have no names");
	return 0;
}

/* "zstd, image.bytes (binary), labels: label (int64), 10 names" */
static void describe(struct pq_file *file, const struct pq_choice *choice, const char *images)
{
	char *detail = file->scan->detail;
	size_t room = sizeof(file->scan->detail);

	if (file->groups.count && choice->images)
		snprintf(detail, room, "%s, ",
			 pq_codec_name(pq_file_chunk(file, &file->groups.items[0],
						     choice->images)->codec));
	buffer_print(detail, room, "%s", images);
	if (choice->labels)
		buffer_print(detail, room, ", labels: %.30s (%s)", choice->labels->name,
			     pq_type_name(choice->labels));
	else
		buffer_print(detail, room, ", no labels");
	if (choice->class_count)
		buffer_print(detail, room, ", %zu names", choice->class_count);
}

/* ---- The file ---- */

static int add_column(struct pq_file *file, struct pq_choice *choice, const char *extension)
{
	size_t n = parent_length(choice->images);
	char title[COLUMN_BYTES];

	snprintf(title, sizeof(title), "%.*s", n ? (int)n : COLUMN_BYTES, choice->images->name);
	choice->title = title;
	choice->extension = extension;
	choice->paths = find_paths(file, choice->images);
	return pq_rows_add(file, choice);
}

/* One group a column. */
static int add_columns(struct pq_file *file, struct pq_choice *choice)
{
	struct image_columns images = { .count = 0 };
	char text[64] = "";
	int err = inspect_columns(file, &images);

	if (!err)
		err = choose_images(file, &images);
	for (unsigned i = 0; i < images.count && !err; i++) {
		if (images.left_out[i])
			continue;
		choice->images = images.items[i];
		buffer_print(text, sizeof(text), "%s%.30s (%s)", *text ? ", " : "",
			     choice->images->name, pq_type_name(choice->images));
		err = add_column(file, choice, images.looks[i].extension);
	}
	describe(file, choice, text);
	return err;
}

/* Rows take next to no room where all are of one value. */
static int check_rows(struct pq_file *file)
{
	uint64_t left = file->scan->length / ROW_LEAST + ROWS_FREE;

	for (size_t i = 0; i < file->groups.count; i++) {
		if (file->groups.items[i].rows > left)
			return pq_refuse(file, "has more rows than there is room for in a file of its "
					       "size: they are empty; write it without them");
		left -= file->groups.items[i].rows;
	}
	return 0;
}

static int scan_file(struct pq_file *file)
{
	char split[SPLIT_BYTES];
	struct pq_choice choice = { .split = split };
	int err = check_rows(file);

	split_of_path(file->scan->label, split);
	if (!err && !file->scan->rows->tree)
		err = pq_labels_choose(file, &choice.labels);
	if (!err)
		err = read_classes(file, &choice);
	return err ? err : add_columns(file, &choice);
}

static int parquet_scan(struct scan *scan, struct error *e)
{
	struct pq_file file;
	int err = pq_file_open(&file, scan, e);

	if (!err)
		err = scan_file(&file);
	pq_file_close(&file);
	return err;
}

const struct format format_parquet = {
	.name = "parquet",
	.rows = true,
	.probe = pq_file_probe,
	.scan = parquet_scan,
};
