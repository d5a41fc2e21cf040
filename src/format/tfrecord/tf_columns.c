/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/tfrecord/tf_columns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/filename.h"
#include "base/text.h"
#include "build/samples.h"
#include "names/column_titles.h"

enum { TEXT_BYTES = 255 };

/* ---- Features of the first records ---- */

struct column_walk {
	struct tf_file *file;
	struct tf_columns *columns;
};

/* The column of a feature, which is added if it is new; NULL: no memory. */
static struct tf_column *find_or_add(struct tf_columns *columns, const struct tf_feature *feature)
{
	struct tf_column column = { .kind = feature->kind, .text = true };

	for (size_t i = 0; i < columns->items.count; i++)
		if (strcmp(columns->items.items[i].key, feature->key) == 0)
			return &columns->items.items[i];
	column.key = arena_copy(&columns->arena, feature->key, strlen(feature->key));
	if (!column.key || vec_push(&columns->items, column) < 0)
		return NULL;
	return &columns->items.items[columns->items.count - 1];
}

static bool is_name(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 127)
			return false;
	return true;
}

/* The kind of a feature's first bytes. */
static int inspect_bytes(struct tf_file *file, const struct tf_feature *feature,
			 struct tf_column *column)
{
	char bytes[TEXT_BYTES];
	size_t n = feature->length < sizeof(bytes) ? (size_t)feature->length : sizeof(bytes);
	size_t head = n < SAMPLES_SNIFF_BYTES ? n : SAMPLES_SNIFF_BYTES;
	int err = n ? leap_reader_read(&file->reader, bytes, n, feature->at) : 0;

	if (err || n == 0)
		return err;
	column->extensions[column->sniffed++] = samples_detect_type(bytes, head);
	column->text &= feature->length <= sizeof(bytes) && is_name(bytes, n);
	return 0;
}

static int add_feature(void *context, const struct tf_feature *feature)
{
	struct column_walk *walk = context;
	struct tf_column *column;

	if (feature->kind == TF_NONE || walk->columns->items.count == TF_COLUMNS_MOST)
		return 0;
	column = find_or_add(walk->columns, feature);
	if (!column)
		return -ENOMEM;
	column->odd |= column->kind != feature->kind;
	column->several |= feature->count > 1;
	column->records++;
	if (feature->kind == TF_BYTES && feature->count && column->sniffed < TF_RECORDS_LOOKED)
		return inspect_bytes(walk->file, feature, column);
	return 0;
}

static int by_key(const void *left, const void *right)
{
	const struct tf_column *a = left, *b = right;

	return strcmp(a->key, b->key);
}

static void tf_columns_sort(struct tf_columns *columns)
{
	if (columns->items.count)
		qsort(columns->items.items, columns->items.count,
		      sizeof(*columns->items.items), by_key);
	for (size_t i = 0; i < columns->items.count; i++) {
		struct tf_column *column = &columns->items.items[i];

		column->extension = samples_common_extension(column->extensions,
							     column->sniffed);
	}
}

int tf_columns_read(struct tf_file *file, struct tf_columns *out)
{
	struct column_walk walk = { .file = file, .columns = out };
	struct tf_record record;
	int r = 1;

	*out = (struct tf_columns){ .kind = TF_EXAMPLE };
	tf_file_rewind(file);
	while (out->records < TF_RECORDS_LOOKED && (r = tf_file_next(file, &record)) > 0) {
		r = tf_example_visit(file, &record, add_feature, &walk);
		if (r < 0)
			return r;
		if (r > (int)out->kind)
			out->kind = (enum tf_record_kind)r;
		out->records++;
	}
	tf_columns_sort(out);
	return r < 0 ? r : 0;
}

void tf_columns_free(struct tf_columns *columns)
{
	vec_free(&columns->items);
	arena_free(&columns->arena);
}

/* ---- What they are ---- */

const struct tf_column *tf_columns_find(const struct tf_columns *columns, const char *key)
{
	for (size_t i = 0; i < columns->items.count; i++)
		if (strcmp(columns->items.items[i].key, key) == 0)
			return &columns->items.items[i];
	return NULL;
}

const char *tf_key_word(const char *key)
{
	return filename_of(key);
}

bool tf_column_is_image(const struct tf_column *column)
{
	return column->kind == TF_BYTES && !column->odd &&
	       strcmp(column->extension, SAMPLES_UNKNOWN) != 0;
}

const struct tf_column *tf_columns_find_names(const struct tf_columns *columns)
{
	const struct tf_column *found = NULL;
	int best = -1;

	for (size_t i = 0; i < columns->items.count; i++) {
		const struct tf_column *column = &columns->items.items[i];
		const char *word = tf_key_word(column->key);
		int rank = title_rank(TITLE_FILE, word, strlen(word));

		if (column->kind != TF_BYTES || column->odd || column->several ||
		    !column->text || rank < 0 || (found && rank >= best))
			continue;
		found = column;
		best = rank;
	}
	return found;
}

const char *tf_kind_name(enum tf_kind kind)
{
	static const char *const names[] = { "none", "bytes", "float", "int64" };

	return names[kind];
}

void tf_columns_list(const struct tf_columns *columns, char *text, size_t room)
{
	*text = '\0';
	for (size_t i = 0; i < columns->items.count; i++)
		buffer_print(text, room, "%s%.100s (%s)", *text ? ", " : "",
			     columns->items.items[i].key,
			     tf_kind_name(columns->items.items[i].kind));
	if (!*text)
		snprintf(text, room, "none");
}
