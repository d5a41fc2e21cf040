/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/recordio/rec_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ieee.h"
#include "build/findings.h"
#include "build/samples.h"
#include "format/recordio/rec_header.h"

enum { PLACE_DIGITS_MOST = 9, HOT_NONE = -1, HOT_SINGLE = -2 };

/* How the labels of records are read. */
enum label_reading {
	READ_NONE,  /* they are no labels */
	READ_HOT,   /* one number, or the place of the 1 of several */
	READ_PLACE, /* the number in one place of several */
};

/* The labels of one record. */
struct rec_row {
	struct sample_bytes body;
	float label;  /* in the place asked for */
	int32_t hot;  /* of several the place of the 1, or HOT_NONE; else HOT_SINGLE */
};

/* The first record whose labels cannot be read so. */
struct rec_misfit {
	bool found;
	uint64_t record;
	const char *why;
};

struct rec_rows {
	struct rec_file *file;
	uint64_t place;             /* the label asked for, of several */
	VEC(struct rec_row) items;  /* one for each record */
	struct rec_misfit hot, at_place;
	bool several;               /* some record has several labels */
	bool counted;               /* InsightFace's record of numbers was there: */
	uint64_t said_images, said_identities;
	uint64_t images, empty;     /* records with an image, and without one */
	enum label_reading reading;
};

/* ---- Labels ---- */

static void add_misfit(struct rec_misfit *misfit, const struct rec_record *record,
		       const char *why)
{
	if (!misfit->found)
		*misfit = (struct rec_misfit){ true, record->number, why };
}

/* NaN is no label, and no misfit. */
static bool is_number(float label)
{
	int64_t number;

	return label != label || ieee_whole((double)label, &number);
}

static void add_labels(struct rec_rows *rows, const struct rec_record *record,
		       const struct rec_header *header, struct rec_row *row)
{
	const struct one_hot *hot = &header->hot;

	row->label = header->label;
	if (header->labels > 1) {
		rows->several = true;
		row->hot = one_hot_is(hot) ? (int32_t)hot->label : HOT_NONE;
		if (hot->odd)
			add_misfit(&rows->hot, record, "labels that are not one-hot");
	} else if (!is_number(header->first)) {
		add_misfit(&rows->hot, record, "a label that is no whole number");
	}
	if (header->labels <= rows->place)
		add_misfit(&rows->at_place, record, "no label in that place");
	else if (!is_number(header->label))
		add_misfit(&rows->at_place, record, "a label that is no whole number");
}

/* labels=N: a place among several labels. */
static int read_place(struct rec_rows *rows)
{
	const char *name = rows->file->scan->rows->labels;
	size_t n = name ? strlen(name) : 0;

	if (!name || rows->file->scan->rows->tree)
		return 0;
	if (n == 0 || n > PLACE_DIGITS_MOST || strspn(name, "0123456789") != n)
		return rec_refuse(rows->file, "has no labels that are called '%.100s': they have "
					      "no names in RecordIO; labels=0 takes the first "
					      "one of each record", name);
	rows->place = strtoull(name, NULL, 10);
	return 0;
}

static int refuse_labels(struct rec_rows *rows)
{
	return rec_refuse(rows->file, "has %s in its record %" PRIu64 "; choose another place with "
				      "labels=NAME, or -o view=tree, which shows no classes",
			  rows->at_place.why, rows->at_place.record);
}

static int choose_reading(struct rec_rows *rows)
{
	const struct row_options *options = rows->file->scan->rows;
	struct findings *findings = rows->file->scan->findings;

	if (options->tree)
		return 0;
	if (options->labels) {
		rows->reading = READ_PLACE;
		return rows->at_place.found ? refuse_labels(rows) : 0;
	}
	if (rows->counted && rows->several && !rows->at_place.found) {
		rows->reading = READ_PLACE;
		findings_add(findings, FINDING_USUAL,
			     "records have several labels, of which the first is the class, as "
			     "InsightFace's loader has it");
	} else if (!rows->hot.found) {
		rows->reading = READ_HOT;
	} else {
		findings_add(findings, FINDING_CHOSEN,
			     "no labels are taken, since record %" PRIu64 " has %s%s",
			     rows->hot.record, rows->hot.why,
			     rows->at_place.found ? "" : "; labels=0 takes the first of each");
	}
	return 0;
}

static int64_t label_of(const struct rec_rows *rows, const struct rec_row *row)
{
	int64_t number;

	if (rows->reading == READ_HOT && row->hot != HOT_SINGLE)
		return row->hot == HOT_NONE ? SAMPLE_UNLABELLED : row->hot;
	return ieee_whole((double)row->label, &number) ? number : SAMPLE_UNLABELLED;
}

/* ---- Bytes ---- */

static int refuse_extent(struct rec_rows *rows, const struct rec_record *record, int err)
{
	return err == -ENOMEM ? rec_no_memory(rows->file) :
				rec_refuse_record(rows->file, record, "has bytes out of reach");
}

static int range_extent(struct rec_rows *rows, uint64_t at, uint64_t length,
			struct entry_extent *out)
{
	struct scan *scan = rows->file->scan;

	return entries_raw_extent(scan->entries, scan->source_number,
				  scan->base + rows->file->reader.length, scan->base + at,
				  length, out);
}

/* A range of several: a chunk of no codec, since those lie one behind the other. */
static int add_chunk(struct rec_rows *rows, const struct rec_range *range, uint64_t skip,
		     struct sample_bytes *body)
{
	static const uint32_t none[VOLUME_CODECS];
	struct scan *scan = rows->file->scan;
	const struct entry_chunk chunk = {
		.source = scan->source_number, .codecs = none,
		.source_size = scan->base + rows->file->reader.length,
		.stored_at = scan->base + range->at + skip,
		.stored_length = range->length - skip, .plain = range->length - skip,
	};
	struct entry_extent extent;
	int err = entries_coded_extent(scan->entries, &chunk, &extent);

	if (!err && body->length && (extent.volume != body->volume ||
				     extent.offset != body->offset + body->length))
		err = -EFBIG;
	if (!err && !body->length)
		*body = (struct sample_bytes){ extent.offset, 0, extent.volume };
	body->length += chunk.plain;
	return err;
}

/* The record's data from `skip` on, which are not empty. */
static int add_data(struct rec_rows *rows, const struct rec_record *record, uint64_t skip,
		    struct sample_bytes *body)
{
	const struct rec_range *ranges = record->ranges;
	size_t i = 0, n = record->range_count;
	struct entry_extent extent;
	int err = 0;

	*body = (struct sample_bytes){ 0 };
	while (skip >= ranges[i].length)
		skip -= ranges[i++].length;
	if (i + 1 == n) {
		err = range_extent(rows, ranges[i].at + skip, ranges[i].length - skip, &extent);
		*body = (struct sample_bytes){ extent.offset, extent.length, extent.volume };
		return err ? refuse_extent(rows, record, err) : 0;
	}
	for (; i < n && !err; i++, skip = 0)
		if (ranges[i].length > skip)
			err = add_chunk(rows, &ranges[i], skip, body);
	return err ? refuse_extent(rows, record, err) : 0;
}

/* ---- Records ---- */

/* A record that has a header, and no image: InsightFace's numbers, or an identity's. */
static void add_empty(struct rec_rows *rows, const struct rec_header *header,
		      struct rec_row *row)
{
	row->body.volume = SAMPLE_MISSING;
	rows->empty++;
	if (rows->counted || !rec_header_counts(header))
		return;
	rows->counted = true;
	rows->said_images = (uint64_t)header->first - 1;
	rows->said_identities = (uint64_t)header->second - (uint64_t)header->first;
}

static int add_record(struct rec_rows *rows, const struct rec_record *record)
{
	struct rec_row row = { .hot = HOT_SINGLE, .label = NAN };
	struct rec_header header;
	int err = rec_header_read(rows->file, record, rows->place, &header);

	if (err > 0)
		return rec_refuse_record(rows->file, record, "is too short for the header that "
							     "MXNet has before images");
	if (!err && header.image == record->length) {
		add_empty(rows, &header, &row);
	} else if (!err) {
		rows->images++;
		add_labels(rows, record, &header, &row);
		err = add_data(rows, record, header.image, &row.body);
	}
	if (!err && vec_push(&rows->items, row) < 0)
		err = rec_no_memory(rows->file);
	rec_file_advance(rows->file, record);
	return err;
}

static int read_rows(struct rec_rows *rows)
{
	struct rec_record record;
	int r = read_place(rows);

	rec_file_rewind(rows->file);
	while (!r && (r = rec_file_next(rows->file, &record)) > 0)
		r = add_record(rows, &record);
	return r ? r : choose_reading(rows);
}

static int begin_group(struct rec_file *file, const char *split, const char *name,
		       const char *extension, const char *labels)
{
	const struct sample_group group = {
		.split = split, .name = name, .labels = labels, .extension = extension,
	};

	return samples_begin(file->scan->samples, &group) < 0 ? rec_no_memory(file) : 0;
}

/* Files whose labels are read in different ways are of no common classes: the view compares. */
static const char *labels_name(const struct rec_rows *rows)
{
	const char *place = rows->file->scan->rows->labels;

	if (rows->reading == READ_NONE)
		return NULL;
	if (place)
		return place;
	return rows->reading == READ_HOT && rows->several ? "one-hot label" : "label";
}

static int add_samples(struct rec_rows *rows, const char *split, const char *extension)
{
	int err = begin_group(rows->file, split, "images", extension, labels_name(rows));

	for (size_t i = 0; i < rows->items.count && !err; i++) {
		const struct rec_row *row = &rows->items.items[i];
		const struct sample sample = { .body = row->body,
					       .label = label_of(rows, row) };

		if (samples_add(rows->file->scan->samples, &sample) < 0)
			err = rec_no_memory(rows->file);
	}
	return err;
}

/* ---- What is told ---- */

static void report_rows(const struct rec_rows *rows)
{
	struct findings *findings = rows->file->scan->findings;

	if (!rows->counted && rows->empty)
		findings_add(findings, FINDING_LEFT_OUT,
			     "%" PRIu64 " of %zu records have a header and no image: they are left "
			     "out", rows->empty, rows->items.count);
	if (rows->counted && (rows->said_images != rows->images ||
			      rows->said_identities + 1 != rows->empty))
		findings_add(findings, FINDING_LEFT_OUT,
			     "its record of numbers says that there are %" PRIu64 " images and %"
			     PRIu64 " identities, and there are %" PRIu64 " images and %" PRIu64
			     " other records: it may be of another file, or this one incomplete",
			     rows->said_images, rows->said_identities, rows->images,
			     rows->empty - 1);
}

/* "images (jpg), one-hot labels" */
static void describe(const struct rec_rows *rows, const char *extension)
{
	struct scan *scan = rows->file->scan;
	char labels[32];

	snprintf(labels, sizeof(labels), "label %" PRIu64 " of several", rows->place);
	snprintf(scan->detail, sizeof(scan->detail), "%simages (%s), %s",
		 rows->counted ? "InsightFace, " : "", extension,
		 rows->reading == READ_NONE ? "no labels" :
		 !rows->several ? "one label each" :
		 rows->reading == READ_HOT ? "one-hot labels" : labels);
}

/* ---- Public ---- */

int rec_rows_add(struct rec_file *file, const char *split, const char *extension)
{
	struct rec_rows rows = { .file = file };
	int err = read_rows(&rows);

	if (!err)
		err = add_samples(&rows, split, extension);
	if (!err) {
		report_rows(&rows);
		describe(&rows, extension);
	}
	vec_free(&rows.items);
	return err;
}

int rec_rows_add_records(struct rec_file *file, const char *split)
{
	struct rec_rows rows = { .file = file };
	struct sample sample = { .label = SAMPLE_UNLABELLED };
	struct entry_extent extent;
	struct rec_record record;
	int r = begin_group(file, split, "records", "rec", NULL);

	rec_file_rewind(file);
	while (!r && (r = rec_file_next(file, &record)) > 0) {
		r = range_extent(&rows, record.at, record.end - record.at, &extent);
		if (r)
			return refuse_extent(&rows, &record, r);
		sample.body = (struct sample_bytes){ extent.offset, extent.length, extent.volume };
		if (samples_add(file->scan->samples, &sample) < 0)
			r = rec_no_memory(file);
		rec_file_advance(file, &record);
	}
	snprintf(file->scan->detail, sizeof(file->scan->detail), "records as files");
	return r;
}
