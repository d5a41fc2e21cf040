/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree of all shards: first files with names, then samples, which the view names. */
#include "indexer/jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/size.h"
#include "build/findings.h"
#include "indexer/selections.h"
#include "indexer/stream_jobs.h"
#include "samples/wds_report.h"
#include "view/view.h"

static void default_attributes(const struct source_set *sources,
			       struct builder_defaults *out)
{
	const struct source_owner *owner = source_owner(sources->sources[0]);

	*out = (struct builder_defaults){ 0755, owner->uid, owner->gid, owner->mtime,
					  owner->mtime_ns };
}

static int describe_sources(const struct source_set *sources, bool unsaved,
			    struct builder_source *out, struct error *e)
{
	CLEANUP(cleanup_free) struct identity *ids =
		calloc(sources->count, sizeof(*ids));
	int err;

	if (!ids)
		return error_no_memory(e, NULL);
	err = unsaved ? source_set_identify_ends(sources, ids, e) :
			source_set_identify(sources, ids, e);
	for (uint32_t i = 0; i < sources->count && !err; i++)
		/* its file name: enough for a message, and the same in every directory */
		out[i] = (struct builder_source){
			ids[i], source_own_name(sources->sources[i]) };
	return err;
}

/* Counts the samples of all shards before the first gets its paths. */
static int measure_samples(struct indexer *indexer, struct view *view, struct job **jobs,
			   struct error *e)
{
	for (uint32_t i = 0; i < indexer->sources->count; i++) {
		if (view_measure(view, jobs[i]->scan.samples, jobs[i]->scan.label) < 0)
			return error_no_memory(e, NULL);
		splits_check(&indexer->strays, &jobs[i]->scan);
	}
	return view_seal(view, e);
}

static int regroup_jobs(struct indexer *indexer, struct job **jobs, struct error *e)
{
	struct regroup *regroup = indexer->regroup;
	uint32_t count = indexer->sources->count;
	int err = 0;

	for (uint32_t i = 0; i < count && !err; i++)
		err = regroup_collect(regroup, jobs[i]->scan.entries, jobs[i]->rows.split, e);
	if (!err)
		err = regroup_seal(regroup, e);
	for (uint32_t i = 0; i < count && !err; i++)
		err = regroup_apply(regroup, jobs[i]->scan.entries, e);
	return err;
}

/* Regroups files that have names by the maps; the view names samples only. */
static int regroup_files(struct indexer *indexer, const struct view *view,
			 struct job **jobs, struct error *e)
{
	const struct user_maps *maps = &indexer->maps;
	enum view_kind kind = indexer->config->view;

	if (maps->name_count == 0 || view_has_samples(view) ||
	    (kind != VIEW_AUTO && kind != VIEW_CLASS))
		return 0;
	indexer->regroup = regroup_new(maps->names, maps->name_count, maps->classes,
				       &indexer->findings);
	if (!indexer->regroup)
		return error_no_memory(e, NULL);
	return regroup_jobs(indexer, jobs, e);
}

static int name_samples(struct view *view, struct job *job)
{
	struct scan *scan = &job->scan;
	int err;

	/* a sample never takes the name of a stored file */
	entries_forbid_duplicates(scan->entries);
	err = view_apply(view, scan->samples, source_owner(scan->source), scan->entries);
	samples_free(scan->samples);
	scan->samples = NULL;
	return err;
}

/* The user may have wanted the files: a tar of shards is no dataset of samples. */
static void note_opened(const struct indexer *indexer, struct findings *findings)
{
	char text[SIZE_TEXT_BYTES];

	if (indexer->opened == 1)
		findings_add(findings, FINDING_USUAL,
			     "an archive inside, '%.100s', is shown as a directory; -o "
			     "nested=off shows it as a file", indexer->opened_first);
	else if (indexer->opened)
		findings_add(findings, FINDING_USUAL,
			     "%s archives inside, '%.100s' first, are shown as "
			     "directories; -o nested=off shows them as files",
			     count_text(indexer->opened, text), indexer->opened_first);
}

static void report(struct indexer *indexer, struct job **jobs, const struct view *view)
{
	struct findings *findings = &indexer->findings;

	for (uint32_t i = 0; i < indexer->sources->count; i++)
		findings_join(findings, &jobs[i]->found);
	for (size_t i = 0; i < indexer->nested.count; i++)
		findings_join(findings, &indexer->nested.items[i]->found);
	user_maps_add_notes(&indexer->maps, indexer->config,
			    indexer->blanks.other->format, view,
			    indexer->regroup && regroup_used(indexer->regroup), findings);
	note_opened(indexer, findings);
	splits_report(&indexer->strays, findings);
	repeated_keys_report(&indexer->clash, findings);
	blanks_report(&indexer->blanks, findings);
	if (!indexer->regroup || !regroup_used(indexer->regroup))
		wds_report(indexer->shards, indexer->sources->count, findings);
}

static int seal(struct indexer *indexer, struct builder *builder, struct job **jobs,
		const struct view *view, uint64_t left_out, struct image *image,
		struct error *e)
{
	const struct source_set *sources = indexer->sources;
	CLEANUP(cleanup_free) struct builder_source *described =
		calloc(sources->count, sizeof(*described));
	struct index_summary summary = { .left_out = left_out };
	int err;

	if (!described)
		return error_no_memory(e, NULL);
	snprintf(summary.format, sizeof(summary.format), "%s", indexer->blanks.other->format->name);
	snprintf(summary.options, sizeof(summary.options), "%s",
		 indexer->config->options ? indexer->config->options : "");
	snprintf(summary.detail, sizeof(summary.detail), "%s", indexer->blanks.other->scan.detail);
	view_describe(view, &summary);
	if (!view_has_samples(view) && !builder_has_directories(builder))
		snprintf(summary.labels, sizeof(summary.labels),
			 "none: there are no directories");
	if (indexer->regroup)
		regroup_describe(indexer->regroup, &summary);
	report(indexer, jobs, view);
	err = describe_sources(sources, indexer->config->unsaved, described, e);
	if (!err)
		err = builder_seal(builder, described, sources->count, &summary, image, e);
	if (!err && findings_publish(&indexer->findings, image) < 0)
		err = error_no_memory(e, NULL);
	return err;
}

/*
 * A split without labels gets a directory too, where other splits have class directories,
 * and where it holds samples with captions: keys often restart in each split.
 */
static int place_unlabelled(const struct indexer *indexer, struct job **jobs)
{
	uint32_t count = indexer->sources->count;
	bool taken = false;
	int err = 0;

	for (uint32_t i = 0; i < count; i++)
		taken |= jobs[i]->findings.taken;
	for (uint32_t i = 0; i < count && !err; i++) {
		const struct wds_findings *findings = &jobs[i]->findings;

		if (findings->samples && !findings->taken && findings->split &&
		    (taken || findings->paired))
			err = splits_add_directory(jobs[i]->scan.entries, findings->split);
	}
	return err;
}

/* Tells equal keys of shards apart, unless options define names or duplicates. */
static int part_shards(struct indexer *indexer)
{
	const struct indexer_config *config = indexer->config;
	uint32_t count = indexer->sources->count;

	if (count == 1 || config->duplicates != DUPLICATES_ERROR || config->name_count)
		return 0;
	return repeated_keys_rename(indexer->shards, count, &indexer->clash);
}

static int list_shards(struct indexer *indexer, struct job **jobs)
{
	uint32_t count = indexer->sources->count;

	indexer->shards = calloc(count, sizeof(*indexer->shards));
	for (uint32_t i = 0; i < count && indexer->shards; i++)
		indexer->shards[i] = (struct wds_shard){ &jobs[i]->scan, &jobs[i]->findings };
	return indexer->shards ? wds_splits_apply(indexer->shards, count) : -ENOMEM;
}

static int apply_jobs(struct indexer *indexer, struct builder *builder,
		      struct view *view, struct job **jobs, uint64_t *left_out,
		      struct error *e)
{
	int err = selections_apply(jobs, indexer->sources->count, e);

	if (!err && list_shards(indexer, jobs) < 0)
		err = error_no_memory(e, NULL);
	if (!err)
		err = measure_samples(indexer, view, jobs, e);

	/* before maps, for two splits may have equal names */
	if (!err && (place_unlabelled(indexer, jobs) < 0 || part_shards(indexer) < 0))
		err = error_no_memory(e, NULL);
	if (!err)
		err = regroup_files(indexer, view, jobs, e);
	if (err)
		return err;
	for (uint32_t i = 0; i < indexer->sources->count; i++) {
		struct scan *scan = &jobs[i]->scan;

		err = name_samples(view, jobs[i]);
		if (err)
			return error_no_memory(e, NULL);
		err = builder_apply(builder, scan->entries, scan->label, e);
		if (err)
			return err;
		*left_out += entries_left_out(scan->entries);
		entries_free(scan->entries); /* entries may take gigabytes */
		scan->entries = NULL;
	}
	return 0;
}

int indexer_assemble(struct indexer *indexer, struct job **jobs, struct image *image,
		     struct error *e)
{
	const struct view_config config =
		user_maps_view_config(&indexer->maps, indexer->config,
				      &indexer->findings);
	struct view *view = view_new(&config);
	struct builder_defaults defaults;
	struct builder *builder;
	CLEANUP(cleanup_free) struct stream_record *streams = NULL;
	uint64_t left_out = 0;
	int err = blanks_find(jobs, indexer->sources->count, &indexer->blanks, e);

	default_attributes(indexer->sources, &defaults);
	builder = builder_new(indexer->config->duplicates, &defaults, &indexer->findings);
	if (!err && (!builder || stream_jobs_record(indexer, &streams) < 0 ||
		     builder_set_streams(builder, streams,
					 (uint32_t)indexer->streams.count) < 0))
		err = error_no_memory(e, NULL);
	if (!err && view)
		err = apply_jobs(indexer, builder, view, jobs, &left_out, e);
	else if (!err)
		err = error_no_memory(e, NULL);
	if (!err)
		err = seal(indexer, builder, jobs, view, left_out, image, e);
	builder_free(builder);
	view_free(view);
	return err;
}
