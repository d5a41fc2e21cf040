/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_index.c: granary index SOURCE..., granary index --renew DIRECTORY...
 *
 * granaryfs runs this command for a dataset without an index. Then --for-mount names the
 * descriptor for an index that cannot be saved, --all-findings has those told that are usual,
 * too, for the mount does not tell them there; --sources is the descriptor that lists the open
 * sources (place/handover.h), and main.c has used --caller. With --unpack it makes no index,
 * but the files of -o spool= (unpack_sources.h).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adopt.h"
#include "sandbox_child.h"
#include "place/stale_index.h"
#include "place/find.h"
#include "place/handover.h"
#include "granary.h"
#include "make_index.h"
#include "renew.h"
#include "unpack_sources.h"
#include "base/json.h"
#include "base/log.h"
#include "volume/volume.h"

enum { LETTER_CHECKSUMS = 's', LETTER_RENEW = 'r', LETTER_FINDINGS = 'F' };

static void report_sound(const struct request *request, const struct index *index,
			 const char *path)
{
	struct json json = { .out = stdout };

	if (!request->json) {
		printf("%s is sound, %s checksums of the files\n", path,
		       index_has_sums(index) ? "with" : "without");
		return;
	}
	json_open(&json, NULL, '{');
	json_text(&json, "index", path);
	json_bool(&json, "sound", true);
	json_bool(&json, "checksums", index_has_sums(index));
	json_close(&json, '}');
	putchar('\n');
}

/* A sound index may have volumes that only a later version knows. */
static int index_check_volumes(const struct index *index, struct error *e)
{
	for (uint32_t i = 0; i < index_volume_count(index); i++) {
		struct volume_desc desc;

		if (index_volume(index, i, &desc) < 0 || !volume_is_known(&desc))
			return error_set(e, ERROR_DATASET, ENOTSUP,
					 "its volume %u is of a kind that this version "
					 "does not know", i);
	}
	return 0;
}

/* The context of the child that checks. */
struct checking {
	const struct request *request;
	struct index *index;
	const char *path;
};

static int check_all(void *context)
{
	const struct checking *c = context;
	struct error e = { 0 }, bad;

	if (index_check(c->index, &e) == 0 && index_check_volumes(c->index, &e) == 0) {
		report_sound(c->request, c->index, c->path);
		return 0;
	}
	error_set(&bad, ERROR_DATASET, EBADMSG,
		  "%.1000s: %.900s; make it anew with: granary index --force", c->path, e.text);
	return report_error(&bad);
}

static int check(const struct request *request, const struct index_wish *wish)
{
	struct checking c = { .request = request };
	struct error e = { 0 };
	int status;

	if (index_find(wish, &c.index, &c.path) < 0) {
		error_set(&e, ERROR_DATASET, ENOENT,
			  "%s has no index %sthat fits; make one with the same command "
			  "without --check", source_path(wish->sources->sources[0]),
			  wish->checksums ? "with checksums of files and blocks " : "");
		return report_error(&e);
	}
	status = sandbox_child_run(&(struct sandbox_child){ .request = request,
							    .sources = wish->sources,
						    .work = check_all, .context = &c });
	index_close(c.index);
	return status;
}

static int adopt_or_report(struct index_wish *wish)
{
	struct index_wish any = *wish;
	struct index *index;
	const char *path;

	any.checksums = any.blocks = false;
	any.quiet = true;
	if (index_find(&any, &index, &path) == 0)
		index_close(index);
	else if (!adopt_find(wish))
		log_warn("'%s' has no index that could be adopted; one is made",
			 source_path(wish->sources->sources[0]));
	return 0;
}

/*
 * An outdated index with checksums is replaced by one with checksums, unless the packed
 * file is damaged: a new index would call the damage sound.
 */
static int check_stale_index(const struct request *request, struct index_wish *wish,
			     struct error *e)
{
	struct error why;
	const char *path;

	if (stale_index_check(wish, e) < 0)
		return -EBADMSG;
	if (request->given[LETTER_ADOPT])
		return adopt_or_report(wish);
	if (wish->checksums || !stale_index_would_be_replaced(wish, &path, &why))
		return 0;
	log_warn("%s: %s; it had checksums of the files, and they are made anew, of what is "
		 "there now", path, why.text);
	wish->checksums = wish->blocks = wish->quiet = true;
	return 0;
}

static int act(const struct request *request, struct index_wish *wish)
{
	struct error e = { 0 };
	struct index *index;
	const char *path;

	if (request->given['c'])
		return check(request, wish);
	if (!request->given['f'] && !request->given['m']) {
		if (check_stale_index(request, wish, &e) < 0)
			return report_error(&e);
		if (index_find(wish, &index, &path) == 0) {
			index_close(index);
			print_index_report(request, path, INDEX_FOUND);
			return 0;
		}
	}
	return make_index(request, wish);
}

/* Opens the sources, and describes the index that they need. */
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

/* Why the options contradict each other; NULL: they do not. */
static const char *find_contradiction(const struct request *request)
{
	const bool *given = request->given;

	if (given['c'] && given['f'])
		return "--check makes no index, and --force does: choose one";
	if (given[LETTER_ADOPT] && (given['c'] || given['f']))
		return "--adopt compares an index with the packed files, and makes it: leave "
		       "--check and --force away";
	if (given[LETTER_RENEW] && (given['c'] || given['f'] || given[LETTER_CHECKSUMS] ||
				    given['O'] || given['o']))
		return
			"--renew takes directories, and finds the rest in their indexes: "
		       "leave options other than --adopt away";
	if (dataset_index_is(&request->config, "off") && !given['m'])
		return "index=off leaves nothing to do";
	return NULL;
}

static int run(struct request *request)
{
	const char *contradiction = find_contradiction(request);
	struct source_set sources;
	struct index_wish wish;
	struct error e = { 0 };
	int status;

	if (contradiction)
		return report_usage(request->command, contradiction);
	if (request->given[LETTER_FINDINGS])
		log_open("granary", LOG_LEVEL_INFO);
	signal(SIGXFSZ, SIG_IGN); /* a size limit is an error like a full disk */
	if (request->given[LETTER_RENEW])
		return renew(request);
	if (request->given['O']) {
		free(request->config.index);
		request->config.index = strdup(request->value['O']);
	}
	if (dataset_config_check(&request->config, &e) < 0 ||
	    open_sources(request, &sources, &wish, &e) < 0)
		return report_error(&e);
	wish.checksums = wish.blocks = request->given[LETTER_CHECKSUMS];
	status = request->given['U'] ? unpack_sources(request, &wish) : act(request, &wish);
	if (!status)
		status = finish_output();
	free(wish.unpack_to);
	index_wish_free(&wish);
	source_set_close(&sources);
	return status;
}

static const struct option longs[] = {
	{ "output", required_argument, NULL, 'O' },
	{ "check", no_argument, NULL, 'c' },
	{ "force", no_argument, NULL, 'f' },
	{ "adopt", no_argument, NULL, LETTER_ADOPT },
	{ "checksums", no_argument, NULL, LETTER_CHECKSUMS },
	{ "renew", no_argument, NULL, LETTER_RENEW },
	{ "for-mount", required_argument, NULL, 'm' },
	{ "sources", required_argument, NULL, 'S' },
	{ "unpack", no_argument, NULL, 'U' },
	{ "caller", required_argument, NULL, 'C' },
	{ "all-findings", no_argument, NULL, LETTER_FINDINGS },
	{ NULL, 0, NULL, 0 },
};

const struct command command_index = {
	.name = "index",
	.usage = "[-o OPTIONS] [--output PATH] [--checksums] [--check | --force | --adopt] [-q] [--json] SOURCE... | --renew [--adopt] [-q] [--json] DIRECTORY...",
	.summary = "Makes or refreshes the index of a packed dataset",
	.help = "    --output PATH                   where to write it\n"
		"    --checksums                     with a checksum of each file, which is read\n"
		"    --check                         is there one that fits and is sound?\n"
		"    --force                         make it even if there is one\n"
		"    --adopt                         the packed files are copies: is it theirs?\n"
		"    --renew                         all indexes of 0.1 below these directories; with --adopt\n"
		"                                    also those renamed with their packed files\n",
	.shorts = "", .longs = longs, .takes_dataset = true,
	.takes_quiet = true, .no_spool = true, .run = run,
};
