/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/parquet/pq_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "build/findings.h"
#include "build/samples.h"

enum { ROWS_SNIFFED = 16, PATH_MOST = 4096 };

/* ---- What a column holds ---- */

static int sniff(struct pq_cursor *cursor, const struct pq_value *value, const char **extension)
{
	unsigned char head[SAMPLES_SNIFF_BYTES];
	uint64_t length = value->prefix_length + value->place.length;
	size_t n = length < sizeof(head) ? (size_t)length : sizeof(head);
	int err = pq_cursor_read(cursor, value, head, n);

	if (!err)
		*extension = samples_detect_type(head, n);
	return err;
}

static int inspect_group(struct pq_cursor *cursor, const struct pq_group *group,
			 const char **extensions, unsigned *sniffed, struct pq_looks *out)
{
	struct pq_value value;
	int err = pq_cursor_begin(cursor, group);

	for (uint64_t row = 0; row < group->rows && !err && *sniffed < ROWS_SNIFFED; row++) {
		err = pq_cursor_next(cursor, &value);
		out->rows++;
		out->nulls += value.null;
		if (!err && !value.null && value.prefix_length + value.place.length)
			err = sniff(cursor, &value, &extensions[(*sniffed)++]);
	}
	return err;
}

int pq_rows_inspect(struct pq_file *file, const struct pq_column *column, struct pq_looks *out)
{
	const char *extensions[ROWS_SNIFFED];
	unsigned sniffed = 0;
	struct pq_cursor cursor;
	int err = pq_cursor_open(&cursor, file, column);

	*out = (struct pq_looks){ .rows = 0 };
	for (size_t i = 0; i < file->groups.count && !err && sniffed < ROWS_SNIFFED; i++)
		err = inspect_group(&cursor, &file->groups.items[i], extensions, &sniffed, out);
	pq_cursor_close(&cursor);
	out->extension = samples_common_extension(extensions, sniffed);
	out->known = strcmp(out->extension, SAMPLES_UNKNOWN) != 0;
	return err;
}

/* ---- Rows ---- */

struct row_pass {
	struct pq_file *file;
	const struct pq_choice *choice;
	struct pq_cursor images, paths, labels;
	struct row_names names;
	struct pq_label label;
	uint64_t row, without_bytes;
};

static int set_label(struct row_pass *pass, struct sample *sample)
{
	char why[PQ_WHY_BYTES];
	struct pq_value value;
	int err;

	if (!pass->choice->labels)
		return 0;
	err = pq_cursor_next(&pass->labels, &value);
	if (!err)
		err = pq_label_read(&pass->labels, &value, &pass->label, why);
	if (err == -EDOM)
		return pq_refuse(pass->file, "has %s, in '%.100s', row %" PRIu64 "; choose another "
					     "column with labels=NAME, or -o view=tree, which shows no "
					     "classes", why, pass->choice->labels->name, pass->row);
	sample->label = pass->label.none ? SAMPLE_UNLABELLED : pass->label.number;
	if (!pass->label.none && pass->label.in_words)
		sample->class_name = pass->label.text;
	return err;
}

static int set_name(struct row_pass *pass, struct sample *sample)
{
	char path[PATH_MOST];
	struct pq_value value;
	uint64_t n;
	int err;

	if (!pass->choice->paths)
		return 0;
	err = pq_cursor_next(&pass->paths, &value);
	n = value.prefix_length + value.place.length;
	if (err || value.null || n > sizeof(path))
		return err;
	err = pq_cursor_read(&pass->paths, &value, path, (size_t)n);
	if (!err)
		sample->name = row_names_make(&pass->names, pass->file->scan->samples, path,
					      (size_t)n, pass->row, pass->choice->extension);
	return err;
}

/* The beginning that a value shares with the one before lies in the index. */
static int set_bytes(struct row_pass *pass, const struct pq_value *value, struct sample *sample)
{
	struct entry_extent extent = { 0 };
	int err = pq_cursor_extent(&pass->images, value, &extent);

	sample->body = (struct sample_bytes){ extent.offset, extent.length, extent.volume };
	if (err || value->prefix_length == 0)
		return err;
	err = entries_literal_extent(pass->file->scan->entries, value->prefix,
				     value->prefix_length, &extent);
	sample->head = (struct sample_bytes){ extent.offset, value->prefix_length, extent.volume };
	return err ? pq_no_memory(pass->file) : 0;
}

static int add_row(struct row_pass *pass)
{
	struct scan *scan = pass->file->scan;
	struct sample sample = { .body.volume = SAMPLE_MISSING };
	struct pq_value value;
	int err = pq_cursor_next(&pass->images, &value);

	if (!err)
		err = set_label(pass, &sample);
	if (!err)
		err = set_name(pass, &sample);
	if (!err && !value.null)
		err = set_bytes(pass, &value, &sample);
	if (err)
		return err;
	pass->without_bytes += value.null;
	if (samples_add(scan->samples, &sample) < 0 ||
	    (sample.name && row_names_note(&pass->names, sample.name, pass->row) < 0))
		return pq_no_memory(pass->file);
	pass->row++;
	return 0;
}

static int begin_group(struct row_pass *pass, const struct pq_group *group)
{
	int err = pq_cursor_begin(&pass->images, group);

	if (!err && pass->choice->paths)
		err = pq_cursor_begin(&pass->paths, group);
	if (!err && pass->choice->labels)
		err = pq_cursor_begin(&pass->labels, group);
	return err;
}

static int add_group(struct row_pass *pass, const struct pq_group *group)
{
	struct scan *scan = pass->file->scan;
	uint64_t bytes = pq_file_chunk(pass->file, group, pass->choice->images)->length;
	int err = begin_group(pass, group);

	for (uint64_t i = 0; i < group->rows && !err; i++) {
		err = add_row(pass);
		if (!err && scan->advance)
			scan->advance(scan, i + 1 == group->rows ? bytes : 0);
	}
	return err;
}

static int open_pass(struct row_pass *pass, struct pq_file *file, const struct pq_choice *choice)
{
	const struct sample_group group = {
		.split = choice->split, .name = choice->title,
		.labels = choice->labels ? choice->labels->name : NULL,
		.extension = choice->extension, .class_names = choice->class_names,
		.class_count = choice->class_count, .rows = 0,
	};
	int err;

	*pass = (struct row_pass){ .file = file, .choice = choice };
	row_names_begin(&pass->names);
	err = pq_cursor_open(&pass->images, file, choice->images);
	if (!err && choice->paths)
		err = pq_cursor_open(&pass->paths, file, choice->paths);
	if (!err && choice->labels)
		err = pq_cursor_open(&pass->labels, file, choice->labels);
	if (!err && samples_begin(file->scan->samples, &group) < 0)
		err = pq_no_memory(file);
	return err;
}

static void report_rows(const struct row_pass *pass)
{
	struct findings *findings = pass->file->scan->findings;
	const char *column = pass->choice->title;

	if (pass->without_bytes)
		findings_add(findings, FINDING_LEFT_OUT,
			     "%" PRIu64 " of %" PRIu64 " rows hold no bytes in '%.60s' (null): they are "
			     "left out", pass->without_bytes, pass->row, column);
	if (pass->names.again)
		findings_add(findings, FINDING_CHOSEN,
			     "%" PRIu64 " of %" PRIu64 " names in '%.60s' came before: the row's number "
			     "is put before them", pass->names.again, pass->row, column);
}

int pq_rows_add(struct pq_file *file, const struct pq_choice *choice)
{
	struct row_pass pass;
	int err = open_pass(&pass, file, choice);

	for (size_t i = 0; i < file->groups.count && !err; i++)
		err = add_group(&pass, &file->groups.items[i]);
	if (!err)
		report_rows(&pass);
	row_names_end(&pass.names);
	pq_cursor_close(&pass.images);
	pq_cursor_close(&pass.paths);
	pq_cursor_close(&pass.labels);
	return err;
}
