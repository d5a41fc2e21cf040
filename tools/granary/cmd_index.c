/*
 * cmd_index.c: granary index SOURCE...
 *
 * Also what granaryfs runs when a dataset has no index yet: then --for-mount
 * names the descriptor that takes the index if it cannot be saved, and --sources the
 * one that lists the open sources (dataset/handover.h).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dataset/find.h"
#include "dataset/handover.h"
#include "granary.h"
#include "indexer/indexer.h"
#include "progress.h"
#include "util/child.h"
#include "util/json.h"
#include "util/log.h"
#include "util/size.h"
#include "volume/volume.h"

static int build(const struct request *request, const struct index_wish *wish,
		 struct image *image, struct error *e)
{
	struct indexer_progress counters = { 0 };
	const struct indexer_config config = {
		.duplicates = (enum duplicates)request->config.duplicates,
		.nested = request->config.nested == NESTED_AUTO,
		.view = request->config.view == DATASET_VIEW_TREE ? VIEW_TREE : VIEW_AUTO,
		.base = request->config.base,
		.options = wish->shape,
	};
	struct progress *progress = progress_start(&counters);
	int err = indexer_run(wish->sources, &config, &counters, image, e);

	progress_stop(progress);
	return err;
}

/* Whoever may read every packed file may read the index. */
static struct image_access access_of(const struct source_set *sources)
{
	const struct source_owner *first = source_owner(sources->sources[0]);
	struct image_access access = { 0777, first->uid, first->gid };

	for (uint32_t i = 0; i < sources->count; i++) {
		const struct source_owner *owner = source_owner(sources->sources[i]);

		if (owner->uid != first->uid)
			access.uid = (uid_t)-1;
		access.mode &= owner->gid == access.gid ? owner->mode : owner->mode & 0707;
	}
	return access;
}

/* The first place that can be written: its path, or NULL and the last error. */
static const char *publish(const struct index_wish *wish, const struct image *image,
			   struct error *e)
{
	const struct image_access access = access_of(wish->sources);

	error_set(e, ERROR_SYSTEM, EROFS, "there is no place for an index");
	for (unsigned i = 0; i < wish->places.count; i++) {
		const char *path = wish->places.paths[i];

		if (i > 0 && locate_make_folder(path) < 0)
			continue;
		if (wish->places.named && image_may_replace(path, e) < 0)
			return NULL;
		if (image_publish(image, path, &access, e) == 0)
			return path;
		log_debug("%s", e->text);
	}
	return NULL;
}

/* For granaryfs: saved if it can be, in memory otherwise. */
static int hand_over(const struct index_wish *wish, const struct image *image,
		     const char *number, struct error *e)
{
	struct index *index;
	const char *path;

	/* a place that makes the file somebody else's (root squash) is no place */
	if (publish(wish, image, e) && index_find(wish, &index, &path) == 0) {
		index_close(index);
		return 0;
	}
	if (wish->places.named)
		return -EROFS; /* the user chose the place, and hears of it */
	return image_write(image, (int)strtol(number, NULL, 10), "the index in memory", e);
}

static void say_done(const struct request *request, const char *path, bool built)
{
	struct error e;
	struct index *index;
	struct index_summary summary;
	struct json json = { .out = stdout };
	char files[SIZE_TEXT_BYTES], bytes[SIZE_TEXT_BYTES];

	if (index_open(path, &index, &e) < 0)
		return;
	if (request->json) {
		json_open(&json, NULL, '{');
		json_text(&json, "index", path);
		json_bool(&json, "built", built);
		json_uint(&json, "bytes", index_size(index));
		json_close(&json, '}');
		putchar('\n');
	} else if (index_summary(index, &summary) == 0)
		printf("%s %s: %s files, %s\n", path, built ? "written" : "is up to date",
		       count_text(summary.files, files),
		       size_text(index_size(index), bytes));
	index_close(index);
}

static int make(const struct request *request, const struct index_wish *wish)
{
	struct image image = { 0 };
	struct error e = { 0 };
	const char *path = NULL;
	int err = build(request, wish, &image, &e);

	if (!err && request->given['m']) {
		err = hand_over(wish, &image, request->value['m'], &e);
	} else if (!err) {
		path = publish(wish, &image, &e);
		err = path ? 0 : -EROFS;
	}
	image_free(&image);
	if (err)
		return report_error(&e);
	if (path)
		say_done(request, path, true);
	return 0;
}

/*
 * A library may crash on a damaged file: then this process is the one that lives
 * to say so. For a mount, that is granaryfs.
 */
static int make_apart(const struct request *request, const struct index_wish *wish)
{
	struct error e;
	pid_t child;
	int status;

	if (child_fork(&child, &e) < 0)
		return report_error(&e);
	if (child == 0) {
		status = make(request, wish);
		_exit(status ? status : finish_output());
	}
	if (child_wait(child, &status, &e) < 0 ||
	    child_indexer_died(status, source_path(wish->sources->sources[0]),
			       wish->sources->count - 1, &e) < 0)
		return report_error(&e);
	return WEXITSTATUS(status);
}

static void say_sound(const struct request *request, const char *path)
{
	struct json json = { .out = stdout };

	if (!request->json) {
		printf("%s is sound\n", path);
		return;
	}
	json_open(&json, NULL, '{');
	json_text(&json, "index", path);
	json_bool(&json, "sound", true);
	json_close(&json, '}');
	putchar('\n');
}

/* What is right in itself may still be beyond this version. */
static int check_volumes(const struct index *index, struct error *e)
{
	for (uint32_t i = 0; i < index_volume_count(index); i++) {
		struct volume_desc desc;

		if (index_volume(index, i, &desc) < 0 || !volume_is_known(&desc))
			return error_set(e, ERROR_DATASET, ENOTSUP,
					 "its volume %u asks for what this version does not "
					 "know", i);
	}
	return 0;
}

static int check(const struct request *request, const struct index_wish *wish)
{
	struct index *index;
	struct error e = { 0 };
	const char *path;
	int status = 0;

	if (index_find(wish, &index, &path) < 0) {
		log_error("%s has no index that fits; make one with the same command "
			  "without --check", source_path(wish->sources->sources[0]));
		return ERROR_DATASET;
	}
	if (index_check(index, &e) < 0 || check_volumes(index, &e) < 0) {
		log_error("%s: %s; make it anew with: granary index --force", path, e.text);
		status = ERROR_DATASET;
	} else {
		say_sound(request, path);
	}
	index_close(index);
	return status;
}

static int act(const struct request *request, const struct index_wish *wish)
{
	struct index *index;
	const char *path;

	if (request->given['c'])
		return check(request, wish);
	if (!request->given['f'] && !request->given['m'] &&
	    index_find(wish, &index, &path) == 0) {
		index_close(index);
		say_done(request, path, false);
		return 0;
	}
	return request->given['m'] ? make(request, wish) : make_apart(request, wish);
}

/* The sources, and the index that is wished for. */
static int open_sources(const struct request *request, struct source_set *sources,
			struct index_wish *wish, struct error *e)
{
	int err;

	if (request->given['S'])
		return handover_read(request->value['S'], &request->config, sources, wish, e);
	err = source_set_open(request->arguments, request->argument_count,
			      request->config.missing == MISSING_SKIP, sources, e);
	if (err)
		return err;
	err = index_wish_make(&request->config, sources, wish, e);
	if (err)
		source_set_close(sources);
	return err;
}

static int run(struct request *request)
{
	struct source_set sources;
	struct index_wish wish;
	struct error e = { 0 };
	int status;

	signal(SIGXFSZ, SIG_IGN); /* a limit is an error like a full disk */
	/* it may run for another user than its parent, whose terminal it writes to */
	if (request->given['m'])
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (request->given['c'] && request->given['f'])
		return report_usage(request->command, "--check makes no index, and --force "
				    "does: choose one");
	if (dataset_index_is(&request->config, "off") && !request->given['m'])
		return report_usage(request->command, "index=off leaves nothing to do");
	if (request->given['O']) {
		free(request->config.index);
		request->config.index = strdup(request->value['O']);
	}
	if (dataset_config_check(&request->config, &e) < 0 ||
	    open_sources(request, &sources, &wish, &e) < 0)
		return report_error(&e);
	status = act(request, &wish);
	if (!status)
		status = finish_output();
	index_wish_free(&wish);
	source_set_close(&sources);
	return status;
}

static const struct option longs[] = {
	{ "output", required_argument, NULL, 'O' },
	{ "check", no_argument, NULL, 'c' },
	{ "force", no_argument, NULL, 'f' },
	{ "for-mount", required_argument, NULL, 'm' },
	{ "sources", required_argument, NULL, 'S' },
	{ NULL, 0, NULL, 0 },
};

const struct command command_index = {
	.name = "index",
	.usage = "[-o OPTIONS] [--output PATH] [--check | --force] [--json] SOURCE...",
	.summary = "Makes or refreshes the index of a packed dataset",
	.help = "    --output PATH                   where to write it\n"
		"    --check                         is there one that fits and is sound?\n"
		"    --force                         make it even if there is one\n",
	.shorts = "", .longs = longs, .takes_dataset = true, .run = run,
};
