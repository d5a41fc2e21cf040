/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * TFRecord files of tf.train.Example: the images in them, as samples with labels.
 *
 * Records are gone through in order, once to choose the features (the first 16) and once for
 * the samples. An image is where its bytes lie in the file, and is not read. Records that are
 * no Example can be shown as files of one record each.
 */
#include "format/format.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "build/findings.h"
#include "format/tfrecord/tf_columns.h"
#include "format/tfrecord/tf_labels.h"
#include "format/tfrecord/tf_rows.h"
#include "names/split_words.h"

enum { LIST_BYTES = 900 };

static const char *kind_name(enum tf_record_kind kind)
{
	return kind == TF_EXAMPLE ? "tf.train.Example" :
	       kind == TF_SEQUENCE_EXAMPLE ? "tf.train.SequenceExample" : "no tf.train.Example";
}

static bool has_images(const struct tf_columns *columns)
{
	for (size_t i = 0; i < columns->items.count && columns->kind == TF_EXAMPLE; i++)
		if (tf_column_is_image(&columns->items.items[i]))
			return true;
	return false;
}

/* Records without images, of which nobody has asked for files. */
static int refuse_records(struct tf_file *file, const struct tf_columns *columns)
{
	char list[LIST_BYTES];

	if (columns->kind != TF_EXAMPLE)
		return tf_refuse(file, "has records that are %s: no images are known in these; -o "
				       "view=tree shows each record as a file",
				 kind_name(columns->kind));
	tf_columns_list(columns, list, sizeof(list));
	return tf_refuse(file, "has no feature of encoded images in its first records; its features "
			       "are: %s; -o view=tree shows each record as a file", list);
}

static int add_records(struct tf_file *file, const struct tf_columns *columns, const char *split)
{
	if (!file->scan->rows->tree)
		return refuse_records(file, columns);
	snprintf(file->scan->detail, sizeof(file->scan->detail), "%s, records as files",
		 kind_name(columns->kind));
	return tf_rows_add_records(file, split);
}

/* "Example, image (bytes), labels: label (int64)" */
static void describe(struct tf_file *file, const struct tf_choice *choice, const char *images)
{
	char *detail = file->scan->detail;
	size_t room = sizeof(file->scan->detail);

	snprintf(detail, room, "Example, %s", images);
	if (choice->labels)
		buffer_print(detail, room, ", labels: %.30s (%s)", choice->labels->key,
			     tf_kind_name(choice->labels->kind));
	else
		buffer_print(detail, room, ", no labels");
}

/* One group for each feature of images. */
static int add_images(struct tf_file *file, const struct tf_columns *columns,
		      struct tf_choice *choice)
{
	char images[64] = "";
	int err = 0;

	for (size_t i = 0; i < columns->items.count && !err; i++) {
		const struct tf_column *column = &columns->items.items[i];

		if (!tf_column_is_image(column))
			continue;
		buffer_print(images, sizeof(images), "%s%.30s (bytes)", *images ? ", " : "",
			     column->key);
		choice->image = column;
		err = tf_rows_add(file, choice);
	}
	describe(file, choice, images);
	return err;
}

static int scan_columns(struct tf_file *file, const struct tf_columns *columns)
{
	char split[SPLIT_BYTES];
	struct tf_choice choice = { .split = split };
	int err;

	/* view=tree shows no labels */
	split_of_path(file->scan->label, split);
	if (!has_images(columns))
		return add_records(file, columns, split);
	err = file->scan->rows->tree ? 0 : tf_labels_choose(file, columns, &choice.labels);
	choice.names = tf_columns_find_names(columns);
	return err ? err : add_images(file, columns, &choice);
}

static int tfrecord_scan(struct scan *scan, struct error *e)
{
	struct tf_columns columns = { .kind = TF_EXAMPLE };
	struct tf_file file;
	int err = tf_file_open(&file, scan, e);

	if (!err)
		err = tf_columns_read(&file, &columns);
	if (!err)
		err = scan_columns(&file, &columns);
	tf_columns_free(&columns);
	tf_file_close(&file);
	return err;
}

const struct format format_tfrecord = {
	.name = "tfrecord",
	.in_order = true,
	.rows = true,
	.probe = tf_file_probe,
	.scan = tfrecord_scan,
};
