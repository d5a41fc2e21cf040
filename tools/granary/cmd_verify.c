/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_verify.c: granary verify SOURCE...
 *
 * Reads everything. An index that exists is used even if the packed files seem to have
 * changed since: its checksums tell which files are damaged. An index is made only where
 * none has checksums and none fits.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compare_original.h"
#include "sandbox_child.h"
#include "checksums.h"
#include "place/stale_index.h"
#include "place/find.h"
#include "dataset/survey.h"
#include "mismatches.h"
#include "format/format.h"
#include "granary.h"
#include "manifest.h"
#include "original.h"
#include "open_existing.h"
#include "progress.h"
#include "rescan.h"
#include "source/parts.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/size.h"

enum { LETTER_AGAINST = 'A', LETTER_MANIFEST = 'M', LETTER_WRITE = 'W' };

struct verify {
	struct request *request;
	struct source_set sources;
	struct index_wish wish;
	struct index *index;        /* NULL: request->dataset has its own */
	const char *index_path;
	bool open;                  /* sources and wish */
	const struct dataset *dataset;
	bool *resized;              /* by source: its size has changed */
	bool any_resized;
	bool *missing;              /* by source: it does not exist; NULL: all exist */
	struct json json;
	struct mismatches findings;
	struct compare_original *comparison;    /* NULL: not wanted, as for the next */
	struct manifest *manifest;
	int original, listed;       /* descriptors to compare with, or errors */
	struct manifest_place place;
	struct survey_progress counters;
	_Atomic uint64_t unread;    /* files whose packed file has another size */
	_Atomic uint64_t undecodable; /* files that are listed only: CODEC_UNREADABLE */
	_Atomic uint64_t damaged;   /* files */
};

/* ---- The packed files ---- */

static void add_source(struct verify *v, enum problem problem, uint32_t i,
		       const char *detail)
{
	mismatches_add(&v->findings,
		       &(struct mismatch){ .problem = problem, .detail = detail,
					  .path = source_path(v->sources.sources[i]) });
}

static void add_resized(struct verify *v, uint32_t i, uint64_t is, uint64_t was)
{
	char detail[160];

	snprintf(detail, sizeof(detail),
		 is < was ? "is cut off: it has %llu bytes, and had %llu when it was indexed" :
			    "has %llu bytes, and had %llu when it was indexed",
		 (unsigned long long)is, (unsigned long long)was);
	add_source(v, is < was ? PROBLEM_CUT_OFF : PROBLEM_CHANGED, i, detail);
	v->resized[i] = v->any_resized = true;
}

static void add_missing(struct verify *v)
{
	for (uint32_t i = 0; v->missing && i < v->sources.count; i++) {
		if (v->missing[i])
			add_source(v, PROBLEM_READ, i, "does not exist");
	}
}

static int compare_sources(struct verify *v, struct error *e)
{
	v->resized = calloc(v->sources.count, sizeof(*v->resized));
	if (!v->resized)
		return error_no_memory(e, NULL);
	for (uint32_t i = 0; v->index && i < v->sources.count; i++) {
		const struct identity *is = &v->wish.identities[i];
		const struct card_source *was = card_source(index_card(v->index), i);

		if (v->missing && v->missing[i])
			v->resized[i] = v->any_resized = true;
		else if (was && is->size != was->identity.size)
			add_resized(v, i, is->size, was->identity.size);
		else if (stale_index_shows_damage(&v->wish, index_card(v->index), i))
			add_source(v, PROBLEM_CHANGED, i,
				   "its first or last bytes are not what they were when it was "
				   "indexed, though its time of change is");
	}
	return rescan(v->request, &v->wish, v->index, v->resized, &v->findings, e);
}

/* Loads an index with checksums that fits its files no longer. False: there is none. */
static bool find_evidence(struct verify *v, const char **path)
{
	struct index_file *file;
	struct error why;
	/* one that is named is the caller's word: of a copy it is, too */
	int err = stale_index_find(&v->wish, v->wish.places.named, &file, path, &why);

	if (err)
		return false;
	log_warn("%s: %s; the files are compared with its checksums", *path,
		 why.text);
	err = index_file_load(file, &v->index, &why);
	index_file_close(file);
	if (err)
		log_warn("%s; it is not used", why.text);
	return !err;
}

/* Opens the dataset with an index that exists: 0, or -ENOENT if none can be used. */
static int find_index(struct verify *v, struct error *e)
{
	const char *path;
	struct dataset *dataset;
	int err;

	v->wish.quiet = true;
	if (!find_evidence(v, &path) && index_find(&v->wish, &v->index, &path) < 0)
		return -ENOENT;
	v->index_path = path;
	err = dataset_from_index(&v->sources, v->index, &dataset, e);
	if (!err)
		v->request->dataset = dataset; /* closed with the request */
	return err;
}

static int verify_open_sources(struct verify *v, struct error *e)
{
	const struct request *request = v->request;
	int err = source_set_open(request->arguments, request->argument_count,
				  request->config.missing == MISSING_SKIP, &v->sources, e);
	struct error unsaid;

	/* verify the sources that exist */
	if (err == -ENOENT &&
	    open_existing(request->arguments, request->argument_count, &v->sources,
			  &v->missing, &unsaid) == 0)
		err = 0;
	if (err)
		return err;
	err = index_wish_make(&request->config, &v->sources, &v->wish, e);
	if (err)
		source_set_close(&v->sources);
	v->open = !err;
	return err;
}

/* Opens the files that exist, and indexes them in memory. */
static int open_some(struct verify *v)
{
	struct dataset_config *config = &v->request->config;

	config->missing = MISSING_SKIP;
	free(config->index);
	config->index = strdup("off");
	return request_open(v->request, ONLY_SOURCES);
}

/* A packed file that begins correctly, but cannot be indexed, is damaged. */
static bool all_begin_well(const struct source_set *sources)
{
	CLEANUP(cleanup_free) unsigned char *head = malloc(FORMAT_HEAD_BYTES);

	for (uint32_t i = 0; i < sources->count; i++) {
		const struct source *source = sources->sources[i];
		uint64_t size = source_size(source);
		size_t n = size < FORMAT_HEAD_BYTES ? (size_t)size : FORMAT_HEAD_BYTES;

		if (!head || source_pread(source, head, n, 0) < 0 || !format_probe(head, n))
			return false;
	}
	return true;
}

static int verify_open_dataset(struct verify *v)
{
	struct error e = { 0 };
	int err, status = 0;

	if (dataset_config_check(&v->request->config, &e) < 0 ||
	    verify_open_sources(v, &e) < 0)
		return report_error(&e);
	err = find_index(v, &e);
	if (err == -ENOENT)
		status = v->missing ? open_some(v) : request_open(v->request, ONLY_SOURCES);
	else if (err)
		status = report_error(&e);
	if (status == ERROR_DATASET && all_begin_well(&v->sources))
		status = ERROR_DAMAGED;
	v->dataset = v->request->dataset;
	return status;
}

/* ---- Files ---- */

static bool ends_before(const struct source *source, uint64_t at)
{
	struct stat st;

	return fstat(source_hand_over(source, NULL), &st) == 0 && S_ISREG(st.st_mode) &&
	       (uint64_t)st.st_size <= at;
}

static bool is_cut_off(const struct verify *v, const struct read_fault *fault)
{
	const struct source_set *sources = dataset_sources(v->dataset);

	for (uint32_t i = 0; i < sources->count; i++) {
		const struct source *part = source_part_by_path(sources->sources[i], fault->source);
		if (part)
			return ends_before(part, fault->at);
	}
	return false;
}

static enum problem problem_of(const struct verify *v, const struct read_fault *fault)
{

	if (fault->mismatch)
		return PROBLEM_CHECKSUM;
	if (fault->storage)
		return is_cut_off(v, fault) ? PROBLEM_CUT_OFF : PROBLEM_READ;
	return fault->err == -EBADMSG ? PROBLEM_UNDECODED : PROBLEM_INDEX;
}

static void add_fault(struct verify *v, uint32_t node, const struct read_fault *fault)
{
	char path[4096];
	struct mismatch finding = { .problem = problem_of(v, fault),
				    .source = fault->source,
				   .offset = fault->at };

	finding.detail = finding.problem == PROBLEM_CHECKSUM ?
				 "damaged: its checksum is not what it was when it was indexed" :
			 finding.problem == PROBLEM_CUT_OFF ?
				 "the packed file has become shorter, and ends before it" :
			 finding.problem == PROBLEM_READ ? strerror(-fault->err) :
			 finding.problem == PROBLEM_UNDECODED ?
				 "damaged: what is stored of it makes no sense" :
				 "the index leads nowhere";
	finding.path = tree_path(dataset_tree(v->dataset), node, path, sizeof(path));
	mismatches_add(&v->findings, &finding);
}

static void verify_check_bytes(void *context, unsigned worker, uint32_t node,
			       uint64_t offset, const void *bytes, size_t length)
{
	struct verify *v = context;

	if (v->comparison)
		compare_original_bytes(v->comparison, worker, node, offset, bytes,
				       length);
	if (v->manifest)
		manifest_bytes(v->manifest, worker, offset, bytes, length);
}

static bool verify_end_file(void *context, unsigned worker,
			    const struct survey_file *file)
{
	struct verify *v = context;

	if (v->comparison)
		compare_original_file(v->comparison, worker, file->node);
	if (!file->fault) {
		if (v->manifest)
			manifest_file(v->manifest, worker, file->node, file->size);
		return true;
	}
	/* a packed file of another size is one finding, not one for each of its files */
	if (v->any_resized && !file->fault->storage && file->fault->err == -EIO) {
		v->unread++;
		return true;
	}
	if (file->fault->err == -EOPNOTSUPP) {
		v->undecodable++;
		return true;
	}
	v->damaged++;
	add_fault(v, file->node, file->fault);
	return true;
}

static int verify_read_all(struct verify *v, struct error *e)
{
	static const struct survey_ops ops = { verify_check_bytes, verify_end_file };
	const struct survey_config config = { .ops = &ops, .context = v,
					      .progress = &v->counters };
	struct progress progress = { .subject = "verifying", .unit = "files",
				     .look = checksums_update_progress,
				     .context = &v->counters };
	int err;

	progress_start(&progress, v->request->quiet);
	err = survey_run(v->request->dataset, &config);
	progress_stop(&progress);
	return err ? error_set(e, ERROR_SYSTEM, -err, "the files cannot be read: %s",
			       strerror(-err)) : 0;
}

/* ---- The original and the manifest ---- */

static int open_manifest(struct verify *v, struct error *e)
{
	const struct request *request = v->request;

	if (!request->given[LETTER_MANIFEST] && !request->given[LETTER_WRITE])
		return 0;
	v->manifest = manifest_new(dataset_tree(v->dataset), &v->findings);
	if (!v->manifest)
		return error_no_memory(e, NULL);
	if (request->given[LETTER_MANIFEST])
		return manifest_read(v->manifest, v->listed, request->value[LETTER_MANIFEST],
				     e);
	return 0;
}

static int open_comparison(struct verify *v, struct error *e)
{
	const char *directory = v->request->value[LETTER_AGAINST];
	int err;

	if (!v->request->given[LETTER_AGAINST])
		return 0;
	if (v->original < 0)
		return error_set(e, ERROR_SYSTEM, -v->original, "--against %s: %s", directory,
				 strerror(-v->original));
	err = compare_original_open(directory, v->dataset, &v->findings, &v->comparison,
				    e);
	return err ? err : compare_original_names(v->comparison, e);
}

/* A damaged dataset gets no manifest, which would call the damage sound. */
static int write_manifest(struct verify *v, struct error *e)
{
	const char *path = v->request->value[LETTER_WRITE];

	if (!v->request->given[LETTER_WRITE])
		return 0;
	if (mismatches_count(&v->findings) == 0)
		return manifest_write(v->manifest, path, e);
	log_error("%s: the manifest is not written, for the dataset is not sound", path);
	return 0;
}

/* ---- The result ---- */

static const char *verdict(const struct verify *v)
{
	uint64_t count = mismatches_count(&v->findings);

	if (count == 0)
		return "sound";
	return count == mismatches_unreadable(&v->findings) ? "unreadable" : "damaged";
}

static void print_verify_json(struct verify *v)
{
	struct json *json = &v->json;

	json_close(json, ']');
	json_uint(json, "sources", v->sources.count);
	json_uint(json, "files", atomic_load(&v->counters.files));
	json_uint(json, "bytes", atomic_load(&v->counters.bytes));
	json_uint(json, "unread", v->unread);
	json_uint(json, "undecodable", v->undecodable);
	json_bool(json, "checksums", dataset_has_sums(v->dataset));
	if (v->manifest)
		json_uint(json, "unlisted", manifest_unlisted(v->manifest));
	if (v->comparison)
		json_uint(json, "special", compare_original_special(v->comparison));
	json_text(json, "verdict", verdict(v));
	json_close(json, '}');
	putchar('\n');
}

static void print_verify_text(const struct verify *v)
{
	char sources[SIZE_TEXT_BYTES], files[SIZE_TEXT_BYTES], bytes[SIZE_TEXT_BYTES];
	char damaged[SIZE_TEXT_BYTES];
	uint64_t count = mismatches_count(&v->findings);

	printf("%s packed file%s, %s files, %s: ", count_text(v->sources.count, sources),
	       v->sources.count == 1 ? "" : "s",
	       count_text(atomic_load(&v->counters.files), files),
	       size_text(atomic_load(&v->counters.bytes), bytes));
	if (count == 0)
		printf("sound%s\n", dataset_has_sums(v->dataset) ? "" :
		       ", as far as can be told without checksums");
	else
		printf("%s; %s named above\n", verdict(v), count_text(count, damaged));
	if (v->unread)
		printf("%s files were not read, for their packed file has another size, or is "
		       "not there\n",
		       count_text(v->unread, files));
	if (v->undecodable)
		printf("%s files are listed only: granary info says why\n",
		       count_text(v->undecodable, files));
	if (v->comparison && compare_original_special(v->comparison))
		printf("%s devices, pipes and sockets of the original cannot be in a dataset\n",
		       count_text(compare_original_special(v->comparison), files));
	if (v->manifest && v->request->given[LETTER_MANIFEST] && manifest_unlisted(v->manifest))
		printf("%s files are not in the manifest\n",
		       count_text(manifest_unlisted(v->manifest), files));
	if (!dataset_has_sums(v->dataset))
		puts("The index has no checksums: a byte that has changed is not seen where "
		     "files are stored as they are, nor always where they are compressed. To "
		     "store checksums: granary index --checksums");
}

static int verify_conclude(struct verify *v)
{
	uint64_t count = mismatches_count(&v->findings);
	int status;

	if (v->request->json)
		print_verify_json(v);
	else
		print_verify_text(v);
	status = finish_output();
	if (count == 0 || status)
		return status;
	return count == mismatches_unreadable(&v->findings) ? ERROR_SYSTEM :
		ERROR_DAMAGED;
}

/* Closes the JSON that has begun, so that it can be parsed. */
static int verify_fail(struct verify *v, const struct error *e)
{
	if (v->request->json) {
		json_close(&v->json, ']');
		json_text(&v->json, "error", e->text);
		json_close(&v->json, '}');
		putchar('\n');
		finish_output();
	}
	return report_error(e);
}

static int check_index(const struct verify *v, struct error *e)
{
	if (!v->index || index_check(v->index, e) == 0)
		return 0;
	error_prefix(e, "%s", v->index_path);
	e->status = ERROR_DAMAGED;
	return -EBADMSG;
}

/* In the child. */
static int verify(void *context)
{
	struct verify *v = context;
	struct error e = { 0 };
	int err = check_index(v, &e);

	if (err)
		return report_error(&e);
	if (v->request->json) {
		json_open(&v->json, NULL, '{');
		json_open(&v->json, "findings", '[');
		v->findings.json = &v->json;
	}
	add_missing(v);
	if (v->index || !v->missing)
		err = compare_sources(v, &e);
	if (!err)
		err = open_manifest(v, &e);
	if (!err)
		err = open_comparison(v, &e);
	if (!err)
		err = verify_read_all(v, &e);
	if (!err)
		err = write_manifest(v, &e);
	err = err ? verify_fail(v, &e) : verify_conclude(v);
	compare_original_close(v->comparison);
	manifest_free(v->manifest);
	return err;
}

/* ---- The parent's answers to the child ---- */

static int verify_serve(void *context, const struct broker_request *question,
			struct broker_reply *answer)
{
	struct verify *v = context;

	if (question->kind >= MANIFEST_KINDS)
		return manifest_serve(&v->place, question, answer);
	return v->original < 0 ? -ENOENT : original_serve(v->original, question, answer);
}

static int open_or_error(const struct request *request, int letter, int flags)
{
	int fd;

	if (!request->given[letter])
		return -ENOENT;
	fd = open(request->value[letter], flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int verify_in_sandbox(struct verify *v)
{
	const struct request *request = v->request;
	int status;

	v->original = open_or_error(request, LETTER_AGAINST, O_RDONLY | O_DIRECTORY);
	v->listed = open_or_error(request, LETTER_MANIFEST, O_RDONLY);
	v->place = (struct manifest_place){ .fd = -1, .path = request->value[LETTER_WRITE] };
	status = sandbox_child_run(&(struct sandbox_child){.request = request,
						   .work = verify,
						   .sources = dataset_sources(v->dataset),
						   .context = v,
						   .serve = verify_serve,
						   .server = v,
						   .channels = 1});
	manifest_remove_temporary(&v->place);
	if (v->original >= 0)
		close(v->original);
	if (v->listed >= 0)
		close(v->listed);
	return status;
}

static int check_usage(const struct request *request)
{
	if (request->config.subdir)
		return report_usage(request->command,
				    "verify reads all of a dataset: leave subdir= away");
	if (request->given[LETTER_MANIFEST] && request->given[LETTER_WRITE])
		return report_usage(request->command, "--checksums compares with a manifest, "
				    "and --write-checksums makes one: choose one");
	if (manifest_needs() &&
	    (request->given[LETTER_MANIFEST] || request->given[LETTER_WRITE])) {
		log_error("SHA-256 cannot be computed: this granaryfs was built without %s",
			  manifest_needs());
		return ERROR_USAGE;
	}
	return 0;
}

static int run(struct request *request)
{
	struct verify v = { .request = request, .json = { .out = stdout },
			    .findings = { .lock = LOCK_INIT } };
	int status = check_usage(request);

	if (!status)
		status = verify_open_dataset(&v);
	if (!status)
		status = verify_in_sandbox(&v);
	free(v.resized);
	free(v.missing);
	dataset_close(request->dataset);
	request->dataset = NULL;
	index_close(v.index);
	if (v.open) {
		index_wish_free(&v.wish);
		source_set_close(&v.sources);
	}
	return status;
}

static const struct option longs[] = {
	{ "against", required_argument, NULL, LETTER_AGAINST },
	{ "checksums", required_argument, NULL, LETTER_MANIFEST },
	{ "write-checksums", required_argument, NULL, LETTER_WRITE },
	{ NULL, 0, NULL, 0 },
};

const struct command command_verify = {
	.name = "verify",
	.usage = "[-q] [-o OPTIONS] [--against DIR] [--checksums FILE | --write-checksums FILE] "
		 "[--json] SOURCE...",
	.summary = "Reads everything, and names each damaged file",
	.help = "    --against DIR                   compare with the directory it was packed from\n"
		"    --checksums FILE                compare with a manifest, as of sha256sum\n"
		"    --write-checksums FILE          make such a manifest\n",
	.shorts = "", .longs = longs,
	.takes_dataset = true, .takes_quiet = true, .no_spool = true, .run = run,
};
