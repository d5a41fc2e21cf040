/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/mds/mds_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/filename.h"
#include "build/findings.h"
#include "format/mds/mds_picture.h"
#include "format/row_names.h"

enum { SAMPLES_LOOKED = 16 };

int mds_rows_inspect(struct mds_shard *shard, const struct mds_column *column,
		     struct mds_looks *out)
{
	const char *extensions[SAMPLES_LOOKED];
	struct mds_picture picture;
	unsigned looked = 0;
	int err = 0;

	for (uint32_t i = 0; i < shard->samples && looked < SAMPLES_LOOKED && !err; i++) {
		err = mds_shard_sample(shard, i);
		if (!err)
			err = mds_picture_read(shard, column, i, &picture);
		if (!err && !picture.none && picture.head_length + picture.body.length)
			extensions[looked++] = picture.extension;
	}
	out->extension = samples_common_extension(extensions, looked);
	out->known = strcmp(out->extension, SAMPLES_UNKNOWN) != 0;
	if (column->extension && !out->known)
		out->extension = column->extension;
	return err;
}

/* ---- Samples ---- */

struct mds_walk {
	struct mds_shard *shard;
	const struct mds_choice *choice;
	struct row_names names;
	struct mds_label label;
	char text[MDS_TEXT_BYTES + 1];

	/* The last header, which the next image may have as well. */
	char head[MDS_HEAD_BYTES];
	struct sample_bytes head_bytes;

	uint64_t none, several;
};

static int set_label(struct mds_walk *walk, uint32_t number, struct sample *sample)
{
	const struct mds_column *labels = walk->choice->labels;
	char why[MDS_WHY_BYTES];
	int err = labels ? mds_label_read(walk->shard, labels, &walk->label, why) : 0;

	if (err == -EDOM)
		return mds_refuse(walk->shard, "has %s, in '%.100s', sample %" PRIu32 "; choose another "
					       "column with labels=NAME, or -o view=tree, which shows "
					       "no classes", why, labels->name, number);
	if (err || !labels)
		return err;
	sample->label = walk->label.none ? SAMPLE_UNLABELLED : walk->label.number;
	if (!walk->label.none && walk->label.in_words)
		sample->class_name = walk->label.text;
	return 0;
}

/* A file whose header is made, or whose value is none, has another type than its name says. */
static int length_without_suffix(const struct mds_walk *walk, int n)
{
	enum mds_kind kind = walk->choice->shown->kind;

	if (kind == MDS_BYTES || kind == MDS_IMAGES || !filename_has_suffix(walk->text))
		return n;
	return (int)(strrchr(walk->text, '.') - walk->text);
}

static int set_name(struct mds_walk *walk, uint32_t number, struct sample *sample)
{
	int n = walk->choice->names ?
			mds_text_read(walk->shard, walk->choice->names, walk->text) : -EDOM;

	if (n > 0)
		n = length_without_suffix(walk, n);
	if (n > 0)
		sample->name = row_names_make(&walk->names, walk->shard->scan->samples, walk->text,
					      (size_t)n, number, walk->choice->extension);
	return n == -EDOM || n > 0 ? 0 : n;
}

static int set_head(struct mds_walk *walk, const struct mds_picture *picture,
		    struct sample *sample)
{
	struct entry_extent extent;

	if (picture->head_length == 0)
		return 0;
	if (walk->head_bytes.length != picture->head_length ||
	    memcmp(walk->head, picture->head, picture->head_length) != 0) {
		if (entries_literal_extent(walk->shard->scan->entries, picture->head,
					   picture->head_length, &extent) < 0)
			return mds_no_memory(walk->shard);
		memcpy(walk->head, picture->head, picture->head_length);
		walk->head_bytes = (struct sample_bytes){ extent.offset, picture->head_length,
							  extent.volume };
	}
	sample->head = walk->head_bytes;
	return 0;
}

static int set_body(struct mds_walk *walk, const struct mds_value *body, struct sample *sample)
{
	struct scan *scan = walk->shard->scan;
	struct entry_extent extent = { 0 };
	int err = body->length ? entries_raw_extent(scan->entries, scan->source_number,
						    scan->base + scan->length,
						    scan->base + body->at, body->length,
						    &extent) : 0;

	sample->body = (struct sample_bytes){ extent.offset, body->length, extent.volume };
	return err ? mds_refuse_read(walk->shard, err) : 0;
}

static int set_bytes(struct mds_walk *walk, uint32_t number, struct sample *sample)
{
	struct mds_picture picture;
	int err = mds_picture_read(walk->shard, walk->choice->shown, number, &picture);

	if (err)
		return err;
	walk->none += picture.none;
	walk->several += picture.several;
	if (picture.none)
		return 0;
	err = set_head(walk, &picture, sample);
	return err ? err : set_body(walk, &picture.body, sample);
}

static int add_sample(struct mds_walk *walk, uint32_t number)
{
	struct scan *scan = walk->shard->scan;
	struct sample sample = { .body.volume = SAMPLE_MISSING };
	int err = mds_shard_sample(walk->shard, number);

	if (!err)
		err = set_label(walk, number, &sample);
	if (!err)
		err = set_name(walk, number, &sample);
	if (!err)
		err = set_bytes(walk, number, &sample);
	if (err)
		return err;
	if (samples_add(scan->samples, &sample) < 0 ||
	    (sample.name && row_names_note(&walk->names, sample.name, number) < 0))
		return mds_no_memory(walk->shard);
	if (scan->advance)
		scan->advance(scan, 0);
	return 0;
}

static void report_rows(const struct mds_walk *walk)
{
	struct findings *findings = walk->shard->scan->findings;
	const char *name = walk->choice->shown->name;
	uint32_t samples = walk->shard->samples;

	if (walk->none)
		findings_add(findings, FINDING_LEFT_OUT,
			     "%" PRIu64 " of %" PRIu32 " samples have no image, or one of another mode "
			     "than RGB and L, in '%.60s': they are left out", walk->none, samples,
			     name);
	if (walk->several)
		findings_add(findings, FINDING_LEFT_OUT,
			     "%" PRIu64 " of %" PRIu32 " samples have several images in '%.60s': the "
			     "first is shown", walk->several, samples, name);
	if (walk->names.again)
		findings_add(findings, FINDING_CHOSEN,
			     "%" PRIu64 " of %" PRIu32 " names in '%.60s' came before: the sample's "
			     "number is put before them", walk->names.again, samples,
			     walk->choice->names->name);
}

int mds_rows_add(struct mds_shard *shard, const struct mds_choice *choice)
{
	const struct sample_group group = {
		.split = choice->split, .name = choice->shown->name,
		.labels = choice->labels ? choice->labels->name : NULL,
		.extension = choice->extension,
	};
	struct mds_walk walk = { .shard = shard, .choice = choice };
	int err = samples_begin(shard->scan->samples, &group) < 0 ? mds_no_memory(shard) : 0;

	row_names_begin(&walk.names);
	for (uint32_t i = 0; i < shard->samples && !err; i++)
		err = add_sample(&walk, i);
	if (!err)
		report_rows(&walk);
	row_names_end(&walk.names);
	return err;
}
