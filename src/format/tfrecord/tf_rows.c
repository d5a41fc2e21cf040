/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/tfrecord/tf_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/filename.h"
#include "build/findings.h"
#include "build/samples.h"
#include "format/tfrecord/tf_labels.h"

enum { NAME_BYTES = 511, EXTENSION_BYTES = 8 };

struct row_walk {
	struct tf_file *file;
	const struct tf_choice *choice;
	uint64_t missing, several; /* records without an image, or with more than one */

	/* of the record at hand: */
	uint64_t at, length, count;
	struct tf_label label;
	bool unfit;
	char why[TF_WHY_BYTES];
	char name[NAME_BYTES + EXTENSION_BYTES + 1]; /* "": none */
};

/* ---- A record's features ---- */

static bool is_of(const struct tf_feature *feature, const struct tf_column *column)
{
	return column && strcmp(feature->key, column->key) == 0;
}

/*
 * The part that is kept of a path of n bytes: its name, and the directory before it where
 * the path is those two, as in "n01440764/n01440764_18.JPEG".
 */
static const char *kept_of(const char *path)
{
	const char *name = filename_of(path), *directory;
	size_t n = directory_name_of(path, &directory);

	return n && directory == path && *path != '.' ? path : name;
}

static int take_name(struct row_walk *walk, const struct tf_feature *feature)
{
	char path[NAME_BYTES + 1];
	const char *kept, *extension = walk->choice->image->extension;
	size_t n = (size_t)feature->length;
	int err;

	if (feature->kind != TF_BYTES || feature->length > NAME_BYTES)
		return 0;
	err = n ? leap_reader_read(&walk->file->reader, path, n, feature->at) : 0;
	if (err || memchr(path, '\0', n))
		return err;
	path[n] = '\0';
	kept = kept_of(path);
	if (!*filename_of(kept) || strcmp(kept, ".") == 0 || strcmp(kept, "..") == 0)
		return 0;
	snprintf(walk->name, sizeof(walk->name), "%s%s%s", kept,
		 filename_has_suffix(kept) ? "" : ".", filename_has_suffix(kept) ? "" : extension);
	return 0;
}

static int take_feature(void *context, const struct tf_feature *feature)
{
	struct row_walk *walk = context;
	int err = 0;

	if (is_of(feature, walk->choice->image) && feature->kind == TF_BYTES) {
		walk->at = feature->at;
		walk->length = feature->length;
		walk->count = feature->count;
	}
	if (is_of(feature, walk->choice->labels)) {
		err = tf_label_read(walk->file, feature, &walk->label, walk->why);
		walk->unfit = err == -EDOM;
	}
	if (!walk->unfit && !err && is_of(feature, walk->choice->names))
		err = take_name(walk, feature);
	return walk->unfit ? 0 : err;
}

/* ---- Samples ---- */

static int extent_of(struct row_walk *walk, const struct tf_record *record, uint64_t at,
		     uint64_t length, struct sample_bytes *out)
{
	struct scan *scan = walk->file->scan;
	struct entry_extent extent = { 0 };
	int err = length ? entries_raw_extent(scan->entries, scan->source_number,
					      scan->base + walk->file->reader.length,
					      scan->base + at, length, &extent) : 0;

	*out = (struct sample_bytes){ extent.offset, length, extent.volume };
	return err ? tf_refuse_read(walk->file, record, err) : 0;
}

static int add_sample(struct row_walk *walk, const struct tf_record *record,
		      struct sample *sample)
{
	if (samples_add(walk->file->scan->samples, sample) < 0)
		return tf_no_memory(walk->file);
	tf_file_advance(walk->file, record);
	return 0;
}

static int refuse_label(struct row_walk *walk, const struct tf_record *record)
{
	return tf_refuse(walk->file, "has %s in '%.100s', record %" PRIu64 "; choose another feature "
				     "with labels=NAME, or -o view=tree, which shows no classes",
			 walk->why, walk->choice->labels->key, record->number);
}

static int add_image(struct row_walk *walk, const struct tf_record *record)
{
	struct sample sample = { .name = *walk->name ? walk->name : NULL,
				 .body.volume = SAMPLE_MISSING,
				 .label = walk->label.none ? SAMPLE_UNLABELLED :
							     walk->label.number };
	int err = 0;

	if (walk->unfit)
		return refuse_label(walk, record);
	if (!walk->label.none && walk->label.in_words)
		sample.class_name = walk->label.text;
	if (walk->count)
		err = extent_of(walk, record, walk->at, walk->length, &sample.body);
	walk->missing += walk->count == 0;
	walk->several += walk->count > 1;
	return err ? err : add_sample(walk, record, &sample);
}

static int visit_record(struct row_walk *walk, const struct tf_record *record)
{
	int r;

	walk->count = walk->length = 0;
	walk->label = (struct tf_label){ .none = true };
	walk->unfit = false;
	*walk->name = '\0';
	r = tf_example_visit(walk->file, record, take_feature, walk);
	if (r > 0)
		return tf_refuse_record(walk->file, record,
					"is no tf.train.Example, as the first ones are");
	return r ? r : add_image(walk, record);
}

static int tf_rows_begin(struct row_walk *walk)
{
	const struct tf_choice *choice = walk->choice;
	const struct sample_group group = {
		.split = choice->split, .name = choice->image->key,
		.labels = choice->labels ? choice->labels->key : NULL,
		.extension = choice->image->extension,
	};

	tf_file_rewind(walk->file);
	return samples_begin(walk->file->scan->samples, &group) < 0 ? tf_no_memory(walk->file) : 0;
}

static void report_rows(const struct row_walk *walk)
{
	struct findings *findings = walk->file->scan->findings;
	const char *key = walk->choice->image->key;
	uint64_t records = walk->file->next;

	if (walk->missing)
		findings_add(findings, FINDING_LEFT_OUT,
			     "%" PRIu64 " of %" PRIu64 " records have nothing in '%.60s': they are "
			     "left out", walk->missing, records, key);
	if (walk->several)
		findings_add(findings, FINDING_LEFT_OUT,
			     "%" PRIu64 " of %" PRIu64 " records have several values in '%.60s': "
			     "the first is shown", walk->several, records, key);
}

int tf_rows_add(struct tf_file *file, const struct tf_choice *choice)
{
	struct row_walk walk = { .file = file, .choice = choice };
	struct tf_record record;
	int r = tf_rows_begin(&walk);

	while (!r && (r = tf_file_next(file, &record)) > 0)
		r = visit_record(&walk, &record);
	if (!r)
		report_rows(&walk);
	return r;
}

int tf_rows_add_records(struct tf_file *file, const char *split)
{
	const struct tf_column whole = { .key = "records", .extension = "tfrecord" };
	const struct tf_choice choice = { .image = &whole, .split = split };
	struct row_walk walk = { .file = file, .choice = &choice };
	struct sample sample = { .label = SAMPLE_UNLABELLED };
	struct tf_record record;
	int r = tf_rows_begin(&walk);

	while (!r && (r = tf_file_next(file, &record)) > 0) {
		r = extent_of(&walk, &record, record.at, record.length + TF_FRAME_BYTES,
			      &sample.body);
		if (!r)
			r = add_sample(&walk, &record, &sample);
	}
	return r;
}
