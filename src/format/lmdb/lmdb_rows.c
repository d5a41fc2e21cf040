/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/lmdb/lmdb_rows.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/filename.h"
#include "build/findings.h"
#include "format/limits.h"
#include "names/image_suffixes.h"

enum { CAFFE_DIGITS = 8, DATABASES_MOST = 10000 };

void lmdb_rows_open(struct lmdb_rows *rows, struct lmdb_file *file)
{
	const struct scan *scan = file->scan;

	*rows = (struct lmdb_rows){
		.file = file,
		.prefix = "",
		.window = {.source = scan->source,
			   .base = scan->base,
			   .length = scan->length},
		.pixels = {.file = file},
	};
}

void lmdb_rows_close(struct lmdb_rows *rows)
{
	lmdb_pixels_close(&rows->pixels);
	vec_free(&rows->path);
	for (size_t i = 0; i < rows->databases.count; i++)
		free(rows->databases.items[i].name);
	vec_free(&rows->databases);
}

/* ---- Paths ---- */

static int rows_charge(struct lmdb_rows *rows, int err)
{
	if (!err &&
	    !limit_paths(&rows->path_bytes, rows->path.count, rows->file->scan->length))
		return error_set(
			rows->file->e, ERROR_DATASET, EBADMSG,
			"'%s' is damaged, or a bomb: its keys need more memory than a "
			"file of its size may take; write it again",
			rows->file->scan->label);
	return err ? lmdb_no_memory(rows->file) : 0;
}

/* Where the key begins behind the prefix, and the number of a duplicate behind it. */
static int rows_set_path(struct lmdb_rows *rows, const struct lmdb_item *item)
{
	int err;

	text_cut(&rows->path, 0);
	err = text_append(&rows->path, rows->prefix, strlen(rows->prefix));
	if (!err)
		err = lmdb_key_append(rows->plan, item, &rows->path);
	if (!err && item->is_duplicate)
		err = text_print(&rows->path, "/%" PRIu64, item->number);
	return err;
}

/* "00000000_n01440764/x.JPEG", as Caffe's convert_imageset has them. */
static size_t caffe_prefix(const struct lmdb_item *item)
{
	size_t n = 0;

	while (n < item->key_size && isdigit(item->key[n]))
		n++;
	return n >= CAFFE_DIGITS && n + 1 < item->key_size && item->key[n] == '_' ? n + 1
										  : 0;
}

/* A key of digits alone is filled up, so that names sort as numbers do; unless it was, by
   its writer. */
static int rows_fill_up(struct lmdb_rows *rows, const struct lmdb_item *item)
{
	static const char zeros[] = "00000000000000000000";
	size_t n = strlen(rows->prefix), length = rows->path.count - n;
	const char *number;
	int err;

	if (!lmdb_key_number(item, "", &number) || length != item->key_size ||
	    length >= rows->digits || (*number == '0' && length > 1))
		return 0;
	text_cut(&rows->path, n);
	err = text_append(&rows->path, zeros, rows->digits - length);
	return err ? err : text_append(&rows->path, number, length);
}

/* The path of a sample, with the extension of what it is. */
static int rows_set_name(struct lmdb_rows *rows, const struct lmdb_item *item,
			 const char *extension, bool pixels)
{
	struct lmdb_item named = *item;
	const char *suffix;
	int err;

	if (rows->plan->form) {
		size_t skipped = caffe_prefix(item);

		named.key += skipped;
		named.key_size -= skipped;
	}
	err = rows_set_path(rows, &named);
	if (!err)
		err = rows_fill_up(rows, &named);
	if (err)
		return err;
	suffix = suffix_of(rows->path.items);
	if (name_has_image_suffix(rows->path.items, SUFFIX_IMAGE | SUFFIX_VAGUE)) {
		if (!pixels)
			return 0;
		text_cut(&rows->path, (size_t)(suffix - rows->path.items));
	} else if (*suffix && strcmp(suffix + 1, extension) == 0) {
		return 0;
	}
	err = text_append(&rows->path, ".", 1);
	return err ? err : text_append(&rows->path, extension, strlen(extension));
}

/* ---- Files ---- */

static int rows_add_file(struct lmdb_rows *rows, const struct lmdb_item *item)
{
	struct scan *scan = rows->file->scan;
	const struct source_owner *owner = source_owner(scan->source);
	struct entry_extent extent;
	struct entry entry = {
		.kind = ENTRY_FILE,
		.path = rows->path.items,
		.mode = owner->mode & 0666,
		.uid = owner->uid,
		.gid = owner->gid,
		.mtime = owner->mtime,
		.mtime_ns = owner->mtime_ns,
		.size = item->size,
		.extents = &extent,
		.extent_count = item->size > 0,
	};
	int err = lmdb_extent(rows->file, item->at, item->size, &extent);

	if (err)
		return err;
	rows->shown++;
	return entries_add(scan->entries, &entry) < 0 ? lmdb_no_memory(rows->file) : 0;
}

/* "image-000000001" and "label-000000001" are 000000001.jpg and 000000001.txt. */
static int rows_add_text(struct lmdb_rows *rows, const struct lmdb_item *item)
{
	const char *number, *extension = rows->plan->extension;
	size_t n = lmdb_key_number(item, "image-", &number);
	int err;

	if (!n) {
		n = lmdb_key_number(item, "label-", &number);
		extension = "txt";
	}
	if (!n)
		return 0;
	text_cut(&rows->path, 0);
	err = text_print(&rows->path, "%s%.*s.%s", rows->prefix, (int)n, number,
			 extension);
	err = rows_charge(rows, err);
	return err ? err : rows_add_file(rows, item);
}

/* ---- Samples ---- */

static int rows_skip(struct lmdb_rows *rows, const struct lmdb_item *item)
{
	entries_leave_out(rows->file->scan->entries);
	if (rows->odd++ == 0 && rows_set_path(rows, item) == 0)
		snprintf(rows->odd_example, sizeof(rows->odd_example), "%.60s",
			 rows->path.items);
	return 0;
}

/* The image of a value: 0; 1: it has none; or an error. */
static int rows_decode(struct lmdb_rows *rows, const struct lmdb_item *item,
		       struct lmdb_sample *out)
{
	int err;

	*out = (struct lmdb_sample){0};
	if (rows->plan->form) {
		err = rows->plan->form->decode(&rows->window, item->at, item->size,
					       rows->file->scan->rows->labels, out);
		if (err == -ENODATA)
			return 1;
		return err ? lmdb_value_unreadable(rows->file, err) : 0;
	}
	out->at = item->at;
	out->size = item->size;
	err = rows->labels.name
		      ? lmdb_labels_find(&rows->labels, &rows->window, item, out)
		      : 0;
	if (err)
		return err;
	/* what is in the leaf has been read; a large value is taken to be like the others
	 */
	return item->value && !samples_detect_type(item->value, (size_t)item->size) ? 1
										    : 0;
}

static int rows_add_body(struct lmdb_rows *rows, const struct lmdb_sample *image,
			 struct sample *sample)
{
	struct entry_extent extent;
	int err;

	if (image->channels)
		return lmdb_pixels_add(&rows->pixels, image, sample);
	err = lmdb_extent(rows->file, image->at, image->size, &extent);
	sample->body = (struct sample_bytes){extent.offset, extent.length, extent.volume};
	if (!err && samples_add(rows->file->scan->samples, sample) < 0)
		err = lmdb_no_memory(rows->file);
	return err;
}

static int rows_add_sample(struct lmdb_rows *rows, const struct lmdb_item *item)
{
	const char *extension = rows->plan->extension;
	struct lmdb_sample image;
	struct sample sample = {.label = SAMPLE_UNLABELLED};
	int err = rows_decode(rows, item, &image);

	if (err)
		return err < 0 ? err : rows_skip(rows, item);
	if (image.channels)
		extension = image.channels == 3 ? "ppm" : "pgm";
	err = rows_charge(rows, rows_set_name(rows, item, extension, image.channels > 0));
	if (err)
		return err;
	sample.name = rows->path.items;
	if (rows->plan->labelled && image.labelled)
		sample.label = image.label;
	if (rows->plan->labelled && *image.text)
		sample.class_name = image.text;
	err = rows_add_body(rows, &image, &sample);
	if (err == -ENOSPC) {
		rows->crowded++;
		return rows_skip(rows, item);
	}
	rows->shown++;
	return err;
}

/* ---- One database ---- */

/* A named database, of which the main one has the name, with a NUL in version 2. */
static int rows_note_database(struct lmdb_rows *rows, const struct lmdb_item *item)
{
	struct lmdb_named named = {.db = item->db};
	size_t n = item->key_size;

	if (rows->plan->name[0])
		return lmdb_damaged(rows->file, 0, "a database within a named one");
	if (rows->databases.count == DATABASES_MOST)
		return error_set(rows->file->e, ERROR_DATASET, EBADMSG,
				 "'%s' has more than %d named databases; split it",
				 rows->file->scan->label, DATABASES_MOST);
	if (n && item->key[n - 1] == '\0')
		n--;
	named.name = strndup((const char *)item->key, n);
	if (!named.name || vec_push(&rows->databases, named) < 0) {
		free(named.name);
		return lmdb_no_memory(rows->file);
	}
	return 0;
}

static int rows_add_item(struct lmdb_rows *rows, const struct lmdb_item *item)
{
	struct scan *scan = rows->file->scan;
	enum lmdb_shows shows = rows->plan->shows;
	int err;

	if (item->is_database)
		return rows_note_database(rows, item);
	if (scan->advance)
		scan->advance(scan, item->size);
	if (shows == LMDB_SHOWS_TEXTS)
		return rows_add_text(rows, item);
	if (shows != LMDB_SHOWS_FILES)
		return lmdb_key_is_special(item) ? 0 : rows_add_sample(rows, item);
	err = rows_charge(rows, rows_set_path(rows, item));
	return err ? err : rows_add_file(rows, item);
}

static int rows_walk(struct lmdb_rows *rows)
{
	struct lmdb_cursor cursor;
	struct lmdb_item item;
	int more;

	more = lmdb_labels_begin(&rows->labels, rows->file);
	lmdb_cursor_open(&cursor, rows->file, &rows->plan->db, true);
	while (more >= 0 && (more = lmdb_cursor_next(&cursor, &item)) > 0)
		more = rows_add_item(rows, &item);
	lmdb_cursor_close(&cursor);
	lmdb_labels_end(&rows->labels);
	return more < 0 ? more : lmdb_pixels_flush(&rows->pixels);
}

static int rows_begin_group(struct lmdb_rows *rows, const char *split,
			    const char *class_name)
{
	const struct lmdb_plan *plan = rows->plan;
	const struct sample_group group = {
		.split = split,
		.name = class_name ? class_name : plan->array,
		.labels = class_name	      ? "the names of databases"
			  : !plan->labelled   ? NULL
			  : *plan->label_name ? plan->label_name
					      : plan->form->labels,
		.labels_in_words = !*plan->label_name,
		.class_name = class_name,
		.extension = plan->extension,
	};

	return samples_begin(rows->file->scan->samples, &group) < 0
		       ? lmdb_no_memory(rows->file)
		       : 0;
}

static void rows_report(const struct lmdb_rows *rows)
{
	struct findings *findings = rows->file->scan->findings;

	if (rows->odd)
		findings_add(findings, FINDING_LEFT_OUT,
			     "%" PRIu64 " of %" PRIu64
			     " values%s%.60s%s are not like the others "
			     "('%s', for one), and are not shown; view=tree shows all",
			     rows->odd, rows->odd + rows->shown,
			     *rows->plan->name ? " of '" : "", rows->plan->name,
			     *rows->plan->name ? "'" : "", rows->odd_example);
	if (rows->crowded)
		findings_add(findings, FINDING_LEFT_OUT,
			     "%" PRIu64
			     " of these are images in planes, of more than 4096 "
			     "sizes in turn",
			     rows->crowded);
}

int lmdb_rows_add(struct lmdb_rows *rows, const struct lmdb_plan *plan,
		  const char *prefix, const char *split, const char *class_name)
{
	bool samples =
		plan->shows == LMDB_SHOWS_IMAGES || plan->shows == LMDB_SHOWS_SAMPLES;
	int err = 0;

	rows->plan = plan;
	rows->prefix = prefix;
	rows->shown = rows->odd = rows->crowded = 0;
	rows->digits = (unsigned)snprintf(NULL, 0, "%" PRIu64,
					  plan->db.entries ? plan->db.entries - 1 : 0);
	if (samples)
		err = rows_begin_group(rows, split, class_name);
	if (!err)
		err = rows_walk(rows);
	if (!err)
		rows_report(rows);
	return err;
}
