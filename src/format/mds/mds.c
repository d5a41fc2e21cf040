/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * MDS shards (MosaicML Streaming) and LitData chunks: the images in them, as samples with labels.
 *
 * A shard says itself which columns it has; index.json only names the shards
 * (source/shard_list.h). That of LitData says which columns its chunks have, and is a source of
 * the set. An image is where its bytes lie in the shard.
 */
#include "format/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "build/findings.h"
#include "format/mds/litdata_index.h"
#include "format/mds/mds_rows.h"
#include "labels/column_rules.h"
#include "names/column_titles.h"
#include "names/split_words.h"

enum { LIST_BYTES = 900, LITDATA_HEAD = 64 };

typedef int mds_open(struct mds_shard *shard, struct scan *scan, struct error *e);

/* For each column: how its first values look, and whether it is shown. */
struct shown_columns {
	struct mds_looks *looks;
	bool *shown;
};

static bool is_file(const struct mds_column *column)
{
	return column->kind == MDS_BYTES || column->kind == MDS_IMAGES ||
	       column->kind == MDS_PIXELS;
}

/* With view=tree: all but numbers. */
static bool can_be_file(const struct mds_column *column)
{
	return column->kind != MDS_INTEGER && column->kind != MDS_FLOAT;
}

static int refuse_columns(struct mds_shard *shard)
{
	char list[LIST_BYTES];

	mds_columns_list(&shard->columns, list, sizeof(list));
	if (shard->scan->rows->tree)
		return mds_refuse(shard, "has only columns of numbers, which are no files; its "
				  "columns are: %s; read it with the library that wrote it", list);
	return mds_refuse(shard, "has no column of images; its columns are: %s; -o view=tree shows each "
				 "value as a file", list);
}

/* Images; where there are none, arrays. */
static int choose_shown(struct mds_shard *shard, struct shown_columns *out)
{
	const struct mds_column *items = shard->columns.items.items;
	size_t n = shard->columns.items.count, images = 0, count = 0;
	bool tree = shard->scan->rows->tree;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		if (!is_file(&items[i]) && items[i].kind != MDS_ARRAY && !tree)
			continue;
		err = mds_rows_inspect(shard, &items[i], &out->looks[i]);
		images += is_file(&items[i]) && (out->looks[i].known || items[i].extension);
	}
	for (size_t i = 0; i < n && !err; i++) {
		out->shown[i] = tree ? can_be_file(&items[i]) :
				images ? is_file(&items[i]) && (out->looks[i].known ||
								items[i].extension) :
					 items[i].kind == MDS_ARRAY && out->looks[i].known;
		count += out->shown[i];
		if (!out->shown[i] && (is_file(&items[i]) || items[i].kind == MDS_ARRAY))
			findings_add(shard->scan->findings, FINDING_LEFT_OUT,
				     "'%.60s' (%.60s) is not shown; view=tree shows it",
				     items[i].name, items[i].encoding);
	}
	return err || count ? err : refuse_columns(shard);
}

/* The column of text that names files best, or NULL. */
static const struct mds_column *find_names(const struct mds_shard *shard)
{
	const struct mds_column *found = NULL;
	int best = -1;

	for (size_t i = 0; i < shard->columns.items.count; i++) {
		const struct mds_column *column = &shard->columns.items.items[i];

		if (column->kind == MDS_TEXT &&
		    title_is_better(TITLE_FILE, column->name, strlen(column->name), &best))
			found = column;
	}
	return found;
}

/* "image (jpeg), labels: label (int)" */
static void describe(struct mds_shard *shard, const struct mds_choice *choice, const char *shown)
{
	char *detail = shard->scan->detail;
	size_t room = sizeof(shard->scan->detail);

	snprintf(detail, room, "%s", shown);
	if (choice->labels)
		buffer_print(detail, room, ", labels: %.30s (%.10s)", choice->labels->name,
			     choice->labels->encoding);
	else
		buffer_print(detail, room, ", no labels");
}

/* One group for each column. */
static int add_columns(struct mds_shard *shard, const struct shown_columns *columns,
		       struct mds_choice *choice)
{
	char shown[64] = "";
	int err = 0;

	for (size_t i = 0; i < shard->columns.items.count && !err; i++) {
		choice->shown = &shard->columns.items.items[i];
		if (!columns->shown[i])
			continue;
		choice->extension = columns->looks[i].extension;
		buffer_print(shown, sizeof(shown), "%s%.30s (%.16s)", *shown ? ", " : "",
			     choice->shown->name, choice->shown->encoding);
		err = mds_rows_add(shard, choice);
	}
	describe(shard, choice, shown);
	return err;
}

static int scan_columns(struct mds_shard *shard, struct shown_columns *columns)
{
	char split[SPLIT_BYTES];
	struct mds_choice choice = { .split = split };
	int err;

	if (!columns->looks || !columns->shown)
		return mds_no_memory(shard);
	split_of_path(shard->scan->label, split);
	err = choose_shown(shard, columns);
	if (!err && !shard->scan->rows->tree)
		err = mds_labels_choose(shard, &choice.labels);
	choice.names = find_names(shard);
	return err ? err : add_columns(shard, columns, &choice);
}

static int scan_shard(struct scan *scan, mds_open *begin, struct error *e)
{
	struct shown_columns columns = { NULL, NULL };
	struct mds_shard shard;
	int err = begin(&shard, scan, e);

	if (!err) {
		columns.looks = calloc(shard.columns.items.count, sizeof(*columns.looks));
		columns.shown = calloc(shard.columns.items.count, sizeof(*columns.shown));
		err = scan_columns(&shard, &columns);
	}
	if (!err && scan->advance)
		scan->advance(scan, scan->length);
	free(columns.looks);
	free(columns.shown);
	mds_shard_close(&shard);
	return err;
}

static int mds_scan(struct scan *scan, struct error *e)
{
	return scan_shard(scan, mds_shard_open, e);
}

/* index.json begins so, as its keys are sorted. */
static bool is_litdata_index(const unsigned char *head, size_t n)
{
	static const char begin[] = "{\"chunks\": [{\"chunk_bytes\"";

	return n >= strlen(begin) && memcmp(head, begin, strlen(begin)) == 0;
}

static int litdata_probe(const unsigned char *head, size_t n)
{
	return is_litdata_index(head, n) ? 60 : litdata_chunk_probe(head, n);
}

/* A source of its own, without files, from which the scans of chunks take the layout. */
static int scan_index(struct scan *scan, struct error *e)
{
	struct mds_columns columns;
	int err = litdata_index_read(&columns, scan->source, e);

	if (!err)
		mds_columns_list(&columns, scan->detail, sizeof(scan->detail));
	mds_columns_free(&columns);
	if (!err && scan->advance)
		scan->advance(scan, scan->length);
	return err;
}

static int litdata_scan(struct scan *scan, struct error *e)
{
	unsigned char head[LITDATA_HEAD] = "";
	size_t n = scan->length < sizeof(head) ? (size_t)scan->length : sizeof(head);
	int err = source_pread(scan->source, head, n, scan->base);

	if (err)
		return format_unreadable(scan->label, err, e);
	return is_litdata_index(head, n) ? scan_index(scan, e) :
					   scan_shard(scan, litdata_chunk_open, e);
}

const struct format format_litdata = {
	.name = "litdata",
	.rows = true,
	.probe = litdata_probe,
	.scan = litdata_scan,
};

const struct format format_mds = {
	.name = "mds",
	.rows = true,
	.probe = mds_shard_probe,
	.scan = mds_scan,
};
