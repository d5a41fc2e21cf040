/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dataset/assembly.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/log.h"
#include "index/block_sums.h"
#include "place/opening.h"
#include "place/run_indexer.h"

/* The error names the command that makes the missing index. */
static int required(const struct dataset_config *config, char *const *sources, size_t n,
		    struct error *e)
{
	CLEANUP(cleanup_free) char *words =
		dataset_config_words(config, n > 1 || strchr(sources[0], '{') ? 2 : 1);
	char command[1024];
	int at;

	if (!words)
		return error_no_memory(e, NULL);
	at = snprintf(command, sizeof(command), "granary index%s%s%s",
		      *words ? " -o '" : "", words, *words ? "'" : "");
	for (size_t i = 0; i < n && at < (int)sizeof(command); i++)
		at += snprintf(command + at, sizeof(command) - (size_t)at, " '%s'",
			       sources[i]);
	if (at >= (int)sizeof(command))
		snprintf(command, sizeof(command), "granary index, with the same sources "
			 "and options");
	return error_set(e, ERROR_DATASET, ENOENT,
			 "%s has no index that fits, and index=require forbids to make one "
			 "now; make it with: %s", sources[0], command);
}

/* Opens the new index, from its place or from memory. */
static int load_made_index(struct opening *o, int memory, struct error *e)
{
	int err;

	if (memory < 0) {
		err = opening_find_index(o, e);
		if (err || o->index)
			return err;
		return error_set(e, ERROR_SYSTEM, ESTALE,
				 "%s: it is being changed: the index that was made for it "
				 "fits no longer", o->arguments[0]);
	}
	if (!dataset_index_is(o->config, "off") && !o->unnamed)
		log_warn("the index of '%s' could not be saved, so every mount makes it anew; "
			 "name a place for it with -o index=PATH", o->arguments[0]);
	err = index_open_memory(memory, geteuid(), "the index in memory", &o->index, e);
	return err ? err : index_fits(&o->wish, index_card(o->index), NULL, e);
}

/* No index fits: has one made, and opens it. */
static int make_index(struct opening *o, struct error *e)
{
	int memory, err;

	if (dataset_index_is(o->config, "require"))
		return required(o->config, o->arguments, o->argument_count, e);
	o->wish.quiet = true; /* the reasons against other indexes are in the log */
	err = run_indexer_process(o->config, o->rights, &o->wish, &memory, e);
	return err ? err : load_made_index(o, memory, e);
}

/* Moves sources and index into the dataset. */
static int open_files(struct dataset *ds, struct opening *o, struct error *e)
{
	int err = opening_begin(o, e);

	if (!err && !o->index && o->config->spool)
		err = opening_unpack(o, e);
	ds->indexed = !err && !o->index;
	if (ds->indexed)
		err = make_index(o, e);
	if (err)
		return err;
	ds->sources = o->sources;
	ds->index = o->index;
	ds->index_path = o->index_path;
	o->sources = (struct source_set){ 0 };
	o->index = NULL;
	o->index_path = NULL;
	return 0;
}

static int find_root(struct dataset *ds, const char *subdir, struct error *e)
{
	struct tree_stat st;
	int err;

	ds->root = TREE_ROOT;
	if (!subdir)
		return 0;
	err = tree_walk(index_tree(ds->index), TREE_ROOT, subdir, &ds->root);
	if (!err)
		err = tree_stat(index_tree(ds->index), ds->root, &st);
	if (err)
		return error_set(e, ERROR_DATASET, -err,
				 "-o subdir=%s: there is no such directory in %s", subdir,
				 source_path(ds->sources.sources[0]));
	if (st.kind != TREE_DIRECTORY)
		return error_set(e, ERROR_DATASET, ENOTDIR,
				 "-o subdir=%s: that is no directory in %s", subdir,
				 source_path(ds->sources.sources[0]));
	return 0;
}

static int open_volumes(struct dataset *ds, struct error *e)
{
	const char *needs;

	if (volume_table_open(ds->index, &ds->sources, &ds->volumes) < 0)
		return error_no_memory(e, NULL);
	needs = volume_table_needs(&ds->volumes);
	return !needs ? 0 :
			error_set(e, ERROR_DATASET, ENOTSUP,
				  "'%s' cannot be read: this granaryfs was built without %s",
				  source_path(ds->sources.sources[0]), needs);
}

static int dataset_assemble(struct dataset *ds, struct opening *o, struct error *e)
{
	int err = open_files(ds, o, e);

	if (!err)
		err = open_volumes(ds, e);
	if (err)
		return err;
	ds->compares = o->config->checksums == CHECKSUMS_ON && index_has_sums(ds->index);
	return find_root(ds, o->config->subdir, e);
}

int dataset_open_as(const struct rights *rights, const struct dataset_config *config,
		    char *const *sources, size_t source_count, struct dataset **out,
		    struct error *e)
{
	struct opening opening = { .config = config, .rights = rights, .arguments = sources,
				   .argument_count = source_count };
	struct dataset *ds = calloc(1, sizeof(*ds));
	int err;

	if (!ds)
		return error_no_memory(e, NULL);
	ds->magic = HANDLE_DATASET;
	err = dataset_config_check(config, e);
	if (!err)
		err = dataset_assemble(ds, &opening, e);
	opening_end(&opening);
	if (err) {
		dataset_close(ds);
		return err;
	}
	*out = ds;
	return 0;
}

int dataset_open(const struct dataset_config *config, char *const *sources,
		 size_t source_count, struct dataset **out, struct error *e)
{
	return dataset_open_as(NULL, config, sources, source_count, out, e);
}

int dataset_from_index(const struct source_set *sources, struct index *index,
		       struct dataset **out, struct error *e)
{
	struct dataset *ds = calloc(1, sizeof(*ds));
	int err;

	if (!ds)
		return error_no_memory(e, NULL);
	*ds = (struct dataset){ .magic = HANDLE_DATASET, .sources = *sources,
				.index = index, .borrows = true,
				.root = TREE_ROOT };
	ds->compares = index_has_sums(index);
	err = open_volumes(ds, e);
	if (err) {
		dataset_close(ds);
		return err;
	}
	*out = ds;
	return 0;
}

void dataset_close(struct dataset *ds)
{
	if (!ds)
		return;
	HANDLE_CHECK(ds, HANDLE_DATASET);
	volume_table_close(&ds->volumes);
	if (!ds->borrows) {
		index_close(ds->index);
		source_set_close(&ds->sources);
	}
	free(ds->index_path);
	ds->magic = HANDLE_DEAD;
	free(ds);
}

int dataset_check(const struct dataset *ds, struct error *e)
{
	struct error why;
	int err = index_check(ds->index, &why);

	HANDLE_CHECK(ds, HANDLE_DATASET);
	if (err)
		error_set(e, ERROR_DATASET, EBADMSG,
			  "%.1000s: the index is damaged: %.900s; make it anew with: granary index "
			  "--force", ds->index_path ? ds->index_path : "in memory", why.text);
	return err;
}

const struct source_set *dataset_sources(const struct dataset *ds)
{
	HANDLE_CHECK(ds, HANDLE_DATASET);
	return &ds->sources;
}

const struct tree *dataset_tree(const struct dataset *ds)
{
	HANDLE_CHECK(ds, HANDLE_DATASET);
	return index_tree(ds->index);
}

uint32_t dataset_root(const struct dataset *ds)
{
	HANDLE_CHECK(ds, HANDLE_DATASET);
	return ds->root;
}

static enum dataset_compared how_compared(const struct dataset *ds)
{
	if (!index_has_sums(ds->index))
		return COMPARED_NONE;
	if (!ds->compares)
		return COMPARED_OFF;
	return block_sums_exist(ds->index) ? COMPARED_BLOCKS : COMPARED_FILES;
}

int dataset_info(const struct dataset *ds, struct dataset_info *out)
{
	HANDLE_CHECK(ds, HANDLE_DATASET);
	*out = (struct dataset_info){
		.sources = ds->sources.count,
		.first_source = source_path(ds->sources.sources[0]),
		.first_place = source_place(ds->sources.sources[0]),
		.index_path = ds->index_path,
		.index_bytes = index_size(ds->index),
		.checksums = index_has_sums(ds->index),
		.indexed = ds->indexed,
		.compared = how_compared(ds),
	};
	for (uint32_t i = 0; i < ds->sources.count; i++)
		out->source_bytes += source_size(ds->sources.sources[i]);
	return index_summary(ds->index, &out->summary);
}

void dataset_for_each_note(const struct dataset *ds,
			   void (*visit)(const char *line, void *context), void *context)
{
	HANDLE_CHECK(ds, HANDLE_DATASET);
	index_for_each_note(ds->index, visit, context);
}
