#include "dataset/assembly.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/evidence.h"
#include "dataset/find.h"
#include "dataset/request.h"
#include "util/cleanup.h"
#include "util/log.h"

/* Names the command that makes the index that is missing. */
static int required(const struct dataset_config *config, char *const *sources, size_t n,
		    struct error *e)
{
	CLEANUP(cleanup_free) char *words =
		dataset_config_words(config, n > 1 || strchr(sources[0], '{') ? 2 : 1);
	char command[1024];
	int at;

	if (!words)
		return error_set(e, ERROR_SYSTEM, ENOMEM, "out of memory");
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

static int take_index(struct dataset *ds, const struct index_wish *wish)
{
	const char *path;
	int err = index_find(wish, &ds->index, &path);

	if (!err)
		ds->index_path = strdup(path);
	return err;
}

/* Nobody wrote an index that fits: has one made, and takes that. */
static int make_index(struct dataset *ds, const struct dataset_config *config,
		      char *const *sources, size_t n, const struct index_wish *wish,
		      struct error *e)
{
	int memory, err;

	if (dataset_index_is(config, "require"))
		return required(config, sources, n, e);
	err = request_index(config, wish, &memory, e);
	if (err)
		return err;
	if (memory < 0) {
		if (take_index(ds, wish) == 0)
			return 0;
		return error_set(e, ERROR_SYSTEM, ESTALE,
				 "%s: it is being changed: the index that was made for it "
				 "fits no longer", sources[0]);
	}
	if (!dataset_index_is(config, "off"))
		log_warn("the index of '%s' could not be saved, so every mount makes it anew; "
			 "name a place for it with -o index=PATH", sources[0]);
	err = index_open_fd(memory, "the index in memory", &ds->index, e);
	return err ? err : index_fits(wish, ds->index, e);
}

static int find_index(struct dataset *ds, const struct dataset_config *config,
		      char *const *sources, size_t n, struct error *e)
{
	struct index_wish wish;
	int err = index_wish_make(config, &ds->sources, &wish, e);

	if (err)
		return err;
	err = evidence_check(&wish, e);
	if (!err && take_index(ds, &wish) < 0) {
		err = make_index(ds, config, sources, n, &wish, e);
		ds->indexed = true;
	}
	index_wish_free(&wish);
	return err;
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
	if (volume_table_open(ds->index, &ds->sources, &ds->volumes) == 0 &&
	    dataset_begin_checking(ds) == 0)
		return 0;
	return error_set(e, ERROR_SYSTEM, ENOMEM, "out of memory");
}

static int assemble(struct dataset *ds, const struct dataset_config *config,
		    char *const *sources, size_t n, struct error *e)
{
	int err = source_set_open(sources, n, config->missing == MISSING_SKIP,
				  &ds->sources, e);

	if (!err)
		err = find_index(ds, config, sources, n, e);
	if (!err)
		err = open_volumes(ds, e);
	if (!err)
		err = find_root(ds, config->subdir, e);
	return err;
}

int dataset_open(const struct dataset_config *config, char *const *sources,
		 size_t source_count, struct dataset **out, struct error *e)
{
	struct dataset *ds = calloc(1, sizeof(*ds));
	int err;

	if (!ds)
		return error_set(e, ERROR_SYSTEM, ENOMEM, "out of memory");
	err = dataset_config_check(config, e);
	if (!err)
		err = assemble(ds, config, sources, source_count, e);
	if (err) {
		dataset_close(ds);
		return err;
	}
	*out = ds;
	return 0;
}

int dataset_over(const struct source_set *sources, struct index *index,
		 struct dataset **out, struct error *e)
{
	struct dataset *ds = calloc(1, sizeof(*ds));
	int err;

	if (!ds)
		return error_set(e, ERROR_SYSTEM, ENOMEM, "out of memory");
	*ds = (struct dataset){ .sources = *sources, .index = index, .borrows = true,
				.root = TREE_ROOT };
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
	volume_table_close(&ds->volumes);
	if (!ds->borrows) {
		index_close(ds->index);
		source_set_close(&ds->sources);
	}
	free((void *)(uintptr_t)ds->checked);
	free(ds->index_path);
	free(ds);
}

int dataset_check(const struct dataset *ds, struct error *e)
{
	struct error why;
	int err = index_check(ds->index, &why);

	if (err)
		error_set(e, ERROR_DATASET, EBADMSG,
			  "%.1000s: the index is damaged: %.900s; make it anew with: granary index "
			  "--force", ds->index_path ? ds->index_path : "in memory", why.text);
	return err;
}

const struct tree *dataset_tree(const struct dataset *ds)
{
	return index_tree(ds->index);
}

uint32_t dataset_root(const struct dataset *ds)
{
	return ds->root;
}

int dataset_info(const struct dataset *ds, struct dataset_info *out)
{
	*out = (struct dataset_info){
		.sources = ds->sources.count,
		.first_source = source_path(ds->sources.sources[0]),
		.first_place = source_place(ds->sources.sources[0]),
		.index_path = ds->index_path,
		.index_bytes = index_size(ds->index),
		.checksums = index_has_sums(ds->index),
	};
	for (uint32_t i = 0; i < ds->sources.count; i++)
		out->source_bytes += source_size(ds->sources.sources[i]);
	return index_summary(ds->index, &out->summary);
}
