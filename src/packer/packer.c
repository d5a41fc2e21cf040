/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"
#include "packer/packer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "os/processors.h"
#include "packer/measure.h"
#include "packer/out_directory.h"
#include "packer/out_format.h"
#include "packer/out_name.h"
#include "packer/output.h"
#include "packer/pixels.h"
#include "packer/read_ring.h"
#include "packer/resume.h"
#include "packer/scan.h"
#include "packer/shard.h"
#include "packer/writer.h"

enum { THREADS_MOST = 16 };

/* The usual size of a WebDataset shard. */
static const uint64_t usual_shard = 1 << 30;

struct packer_run {
	const struct pack_options *options;
	struct pack_progress *progress;
	struct pack_result *result;
	const struct out_format *format;
	struct out_name name;
	struct stat directory;    /* where the packed files are made */
	struct pack_scan scan;
	struct decoders *decoders; /* or NULL */
	struct plan plan;
	char *plan_path;
	uint64_t digest;
	int64_t newest;        /* time of all entries */
	char *classes;         /* text of classes.txt, or NULL */
	size_t classes_size;
	bool noted;            /* the plan's file is written */
};

/* Rejects options that exclude each other. */
static int check_options(const struct packer_run *run, struct error *e)
{
	const struct pack_options *o = run->options;
	uint64_t named = out_name_count(&run->name);
	const char *needs = run->format->writer->needs;
	const char *fixed = run->format->compressor;

	if (!needs && o->decode)
		needs = pixels_need();
	if (needs)
		return error_set(e, ERROR_USAGE, ENOTSUP, "%s cannot be made: this granaryfs "
				 "was built without %s", o->out, needs);
	if (fixed && o->compressor && strcmp(o->compressor, fixed) != 0)
		return error_set(e, ERROR_USAGE, EINVAL, "%s: the name of a tar says how it is "
				 "compressed: name it .tar, .tar.gz, .tar.zst or .tar.xz", o->out);
	if (o->hdf5_layout && run->format->writer != &hdf5_writer)
		return error_set(e, ERROR_USAGE, EINVAL,
				 "%s: --hdf5-layout is for HDF5 files (.h5)", o->out);
	if (o->keep_going && o->hdf5_layout && strcmp(o->hdf5_layout, "jsc") == 0)
		return error_set(e, ERROR_USAGE, EINVAL,
				 "--keep-going may leave files out, and the layout jsc has as "
				 "many rows as were counted before; give one of them");
	if (o->shards && o->shard_size)
		return error_set(e, ERROR_USAGE, EINVAL,
				 "--shards and --shard-size both say how many shards there are; "
				 "give one of them");
	if (named == 1 && (o->shards > 1 || o->shard_size || o->multiple_of > 1))
		return error_set(e, ERROR_USAGE, EINVAL,
				 "%s is one file; for shards write a pattern, such as "
				 "data-%%06d.tar", o->out);
	if (named > 1 && (o->shard_size || (o->shards && o->shards != named) ||
			  (o->multiple_of && named % o->multiple_of)))
		return error_set(e, ERROR_USAGE, EINVAL,
				 "%s names %zu shards, and the options ask for another number; "
				 "write %%06d instead of the braces", o->out, (size_t)named);
	return 0;
}

static int packer_find_directory(struct packer_run *run, struct error *e)
{
	CLEANUP(cleanup_free) char *path = out_name_sibling(&run->name, "");

	if (!path)
		return error_no_memory(e, NULL);
	if (stat(*path ? path : ".", &run->directory) < 0)
		return error_set(e, ERROR_SYSTEM, errno,
				 "%s: the directory for the packed file: %s; make it first", path,
				 strerror(errno));
	return 0;
}

/* The output and leftovers of it are not packed. */
static bool is_output(const void *context, const struct stat *directory, const char *name)
{
	const struct packer_run *run = context;

	if (directory->st_ino != run->directory.st_ino ||
	    directory->st_dev != run->directory.st_dev)
		return false;
	return out_name_owns(&run->name, name) ||
	       (run->options->layout == PACK_WEBDATASET && strcmp(name, "classes.txt") == 0);
}

static unsigned packer_thread_count(const struct packer_run *run)
{
	unsigned n = 2 * processors_count();

	if (run->options->threads)
		return run->options->threads;
	return n < THREADS_MOST ? n : THREADS_MOST;
}

/* Without --keep-going the first problem is the error. */
static int stop_at_problem(const struct packer_run *run, struct error *e)
{
	const struct problem *first = run->result->problems.items.items;

	if (run->options->keep_going || !problems_count(&run->result->problems))
		return 0;
	problems_sort(&run->result->problems);
	if (!run->result->problems.items.count)
		return error_no_memory(e, NULL);
	return error_set(e, ERROR_SYSTEM, EIO,
			 "%s/%s: %s; nothing was packed; --keep-going packs the rest",
			 run->options->source, first->path, first->reason);
}

static int list_tree(struct packer_run *run, struct error *e)
{
	const struct pack_scan_config config = {
		.directory = run->options->source,
		.threads = packer_thread_count(run),
		.skip = is_output,
		.context = run,
		.problems = &run->result->problems,
		.found = &run->progress->found,
	};
	int err = run->options->input ? pack_scan_list(run->options->input, &run->scan, e) :
					pack_scan_run(&config, &run->scan, e);

	run->result->special = run->scan.special;
	return err ? err : stop_at_problem(run, e);
}

/* An empty HDF5 file cannot be mounted. */
static int packer_check_contents(const struct packer_run *run, struct error *e)
{
	const struct shard_job all = { .options = run->options, .items = run->plan.items,
				       .count = run->plan.count,
				       .writer = run->format->writer };

	if (run->format->writer != &hdf5_writer)
		return 0;
	for (size_t i = 0; i < run->plan.count; i++) {
		if (run->plan.items[i].kind != PACK_DIRECTORY)
			return shard_check(&all, e);
	}
	return error_set(e, ERROR_DATASET, ENOENT, "%s: there is no file in it, and an HDF5 file "
			 "has to hold one; a tar or a squashfs image need not",
			 run->options->source);
}

static int make_plan(struct packer_run *run, struct error *e)
{
	const struct pack_options *o = run->options;
	uint64_t named = out_name_count(&run->name);
	struct plan_config config = {
		.layout = o->layout, .shuffle = o->shuffle, .seed = o->seed,
		.shards = named ? named : o->shards, .shard_size = o->shard_size,
		.multiple_of = o->multiple_of, .decode = o->decode,
		.split_classes = o->hdf5_layout && strcmp(o->hdf5_layout, "jsc") == 0,
	};
	int err;

	if (!config.shards && !config.shard_size)
		config.shard_size = usual_shard;
	if (o->decode && named != 1 &&
	    measure_images(&run->scan, run->decoders, packer_thread_count(run)) < 0)
		return error_set(e, ERROR_SYSTEM, ENOMEM, "no threads to read with");
	err = plan_make(&run->scan, &config, &run->plan, e);
	run->result->no_class = run->plan.no_class;
	run->result->no_name = run->plan.no_name;
	run->result->classes = run->plan.classes.count;
	run->result->splits = o->layout == PACK_WEBDATASET && plan_is_of_splits(&run->plan);
	if (!err && o->layout == PACK_WEBDATASET && !run->plan.count)
		err = error_set(e, ERROR_DATASET, ENOENT,
				"%s: there are no samples; --layout webdataset wants "
				"directories, one a class, and files named NAME.EXTENSION in them", o->source);
	if (err)
		return err;
	run->result->imbalance = plan_imbalance(&run->plan);
	for (size_t i = 0; i < run->plan.count; i++)
		run->progress->all_bytes += read_ring_has_contents(&run->plan.items[i]) ?
						    run->plan.items[i].source->size : 0;
	run->progress->all_files = run->plan.count;
	run->progress->all_shards = run->plan.shard_count;
	return 0;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
	return hash_digest(hash, text, strlen(text) + 1);
}

/* A digest of the plan and of all options that decide on bytes. */
static uint64_t digest_of(const struct packer_run *run)
{
	const struct pack_options *o = run->options;
	uint64_t hash = mix_text(plan_digest(&run->plan), PACKAGE_VERSION);
	char numbers[96];

	hash = mix_text(hash, run->format->writer->name);
	hash = mix_text(hash, o->compressor ? o->compressor : "");
	hash = mix_text(hash, o->hdf5_layout ? o->hdf5_layout : "");
	snprintf(numbers, sizeof(numbers), "%d %d %d %lld %" PRIx64, o->level, o->decode,
		 o->has_epoch, (long long)o->epoch, o->input ? o->input->identity : 0);
	return mix_text(hash, numbers);
}

/* The paths of all shards; *there: how many exist already. */
static int packer_name_shards(struct packer_run *run, size_t *there)
{
	*there = 0;
	for (size_t i = 0; i < run->plan.shard_count; i++) {
		struct pack_shard shard = { .path = out_name_path(&run->name, i),
					    .members = run->plan.shards[i].count };

		if (!shard.path || vec_push(&run->result->shards, shard) < 0) {
			free(shard.path);
			return -ENOMEM;
		}
		*there += out_directory_has(shard.path);
	}
	run->result->source = out_name_pattern(&run->name, run->plan.shard_count);
	return run->result->source ? 0 : -ENOMEM;
}

/* The path of surplus shard `i`, left by a longer set, or NULL. */
static char *surplus_shard(const struct packer_run *run, size_t i)
{
	char *path = run->name.numbered ?
		out_name_path(&run->name, run->plan.shard_count + i) : NULL;

	if (path && out_directory_has(path))
		return path;
	free(path);
	return NULL;
}

/* A packed file that is being read must not be replaced. */
static int check_old(const struct packer_run *run, const char *path, struct error *e)
{
	const struct pack_input *input = run->options->input;
	struct stat st;

	if (!input || out_directory_stat(path, &st) < 0 ||
	    !input->uses(input->context, st.st_dev, st.st_ino))
		return 0;
	return error_set(e, ERROR_USAGE, EINVAL,
			 "%s: it is a packed file of the dataset that is read, and is not "
			 "replaced; name another file", path);
}

static int check_all_old(const struct packer_run *run, struct error *e)
{
	char *path;
	int err = 0;

	for (size_t i = 0; i < run->result->shards.count && !err; i++)
		err = check_old(run, run->result->shards.items[i].path, e);
	for (size_t i = 0; !err && (path = surplus_shard(run, i)); i++) {
		err = check_old(run, path, e);
		free(path);
	}
	return err;
}

/* Before a set is replaced: old and new shards must not lie side by side. */
static int remove_old(const struct packer_run *run, struct error *e)
{
	char *path;

	if (run->plan.shard_count == 1 && !run->name.numbered)
		return 0; /* the rename replaces it */
	out_directory_unlink(run->plan_path);
	for (size_t i = 0; i < run->result->shards.count; i++) {
		int err;

		path = run->result->shards.items[i].path;
		err = out_directory_unlink(path);
		if (err && err != -ENOENT)
			return error_set(e, ERROR_SYSTEM, -err,
					 "%s: it cannot be replaced: %s", path, strerror(-err));
	}
	for (size_t i = 0; (path = surplus_shard(run, i)); i++) {
		int err = out_directory_unlink(path);

		free(path);
		if (err)
			break;
	}
	return 0;
}

/* Keeps the existing shards if they belong to this plan. */
static int resume(struct packer_run *run, size_t there, struct error *e)
{
	enum resume_found found = resume_compare_plan(run->plan_path, run->digest);
	const char *first = run->result->shards.items[0].path;

	if (found == RESUME_OTHER && there)
		return error_set(e, ERROR_SYSTEM, ESTALE,
				 "%s: the set was begun with other options, or the source tree "
				 "has changed since; --force makes it anew", first);
	if (found == RESUME_NOTHING && there && there < run->result->shards.count)
		return error_set(e, ERROR_SYSTEM, ESTALE,
				 "%s: there are %zu of %zu shards, but not the plan that they were "
				 "made by (%s); --force makes all anew", first, there,
				 run->result->shards.count, run->plan_path);
	run->noted = found == RESUME_SAME;
	return resume_mark(run->plan_path, run->result->shards.items, run->result->shards.count,
			   strcmp(run->format->suffix, ".tar") == 0, e);
}

/* The classes, one a line, in the order of their numbers. */
static int render_classes(struct packer_run *run)
{
	FILE *out = open_memstream(&run->classes, &run->classes_size);

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < run->plan.classes.count; i++)
		fprintf(out, "%s\n", run->plan.classes.items[i]);
	return fclose(out) == 0 ? 0 : -ENOMEM;
}

/* Is the file's content equal to the text? A missing file counts as equal. */
static bool packer_contains(const char *path, const char *text, size_t size)
{
	int fd = out_directory_open(path, O_RDONLY | O_NONBLOCK);
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	bool same = true;

	if (!in)
		return fd == -ENOENT;
	for (size_t i = 0; i < size && same; i++)
		same = getc(in) == (unsigned char)text[i];
	same &= getc(in) == EOF;
	fclose(in);
	return same;
}

/* Two sets in one directory share classes.txt, so it must be right for both. */
static int packer_check_classes(struct packer_run *run, struct error *e)
{
	CLEANUP(cleanup_free) char *path = out_name_sibling(&run->name, "classes.txt");

	if (!path || render_classes(run) < 0)
		return error_no_memory(e, NULL);
	if (run->options->force || packer_contains(path, run->classes, run->classes_size))
		return 0;
	return error_set(e, ERROR_SYSTEM, EEXIST,
			 "%s: is there already, with other classes; --force replaces it, or name "
			 "another directory", path);
}

static int write_classes(const struct packer_run *run, struct error *e)
{
	CLEANUP(cleanup_free) char *path = out_name_sibling(&run->name, "classes.txt");

	if (!path)
		return error_no_memory(e, NULL);
	return output_write(path, run->classes, run->classes_size, e);
}

static int check_destination(struct packer_run *run, struct error *e)
{
	CLEANUP(cleanup_free) char *surplus = NULL;
	size_t there;

	run->plan_path = resume_path(&run->name);
	run->digest = digest_of(run);
	if (!run->plan_path || packer_name_shards(run, &there) < 0)
		return error_no_memory(e, NULL);
	if (run->options->force) {
		int err = check_all_old(run, e);

		return err ? err : remove_old(run, e);
	}
	surplus = surplus_shard(run, 0);
	if (surplus)
		return error_set(e, ERROR_SYSTEM, EEXIST,
				 "%s: is there, and this set will have %zu shards only; --force "
				 "replaces the whole set", surplus, run->plan.shard_count);
	if (run->options->resume)
		return resume(run, there, e);
	if (!there)
		return 0;
	return error_set(e, ERROR_SYSTEM, EEXIST,
			 run->plan.shard_count > 1 ?
				 "%s: %zu shards of this name are there already; --force replaces "
				 "the set, --resume makes those that are missing" :
				 "%s: is there already; --force replaces it",
			 run->options->out, there);
}

static int64_t newest_time(const struct packer_run *run)
{
	int64_t newest = 0;

	for (size_t i = 0; i < run->plan.count; i++) {
		int64_t time = run->plan.items[i].source->mtime;

		newest = time > newest ? time : newest;
	}
	return run->options->has_epoch && newest > run->options->epoch ? run->options->epoch :
									 newest;
}

/* Times that do not fit the 32 bits of a squashfs image. */
static uint64_t count_clamped(const struct packer_run *run)
{
	uint64_t n = 0;

	for (size_t i = 0; run->format->writer == &squashfs_writer &&
			   i < run->plan.count; i++) {
		int64_t time = run->plan.items[i].source->mtime;

		if (run->options->has_epoch && time > run->options->epoch)
			time = run->options->epoch;
		n += time < 0 || time > UINT32_MAX;
	}
	return n;
}

static bool any_kept(const struct packer_run *run)
{
	for (size_t i = 0; i < run->result->shards.count; i++) {
		if (run->result->shards.items[i].kept)
			return true;
	}
	return false;
}

static size_t last_to_make(const struct packer_run *run)
{
	size_t i = run->result->shards.count;

	while (i > 0 && run->result->shards.items[i - 1].kept)
		i--;
	return i - 1;
}

static int pack_shard(struct packer_run *run, size_t i, struct error *e)
{
	const struct pack_options *o = run->options;
	const struct plan_shard *part = &run->plan.shards[i];
	struct pack_shard *shard = &run->result->shards.items[i];
	const struct shard_job job = {
		.options = o, .progress = run->progress, .result = run->result,
		.writer = run->format->writer, .compressor = run->format->compressor,
		.scan = &run->scan,
		.items = run->plan.items + part->first, .count = part->count,
		.decoders = run->decoders, .threads = packer_thread_count(run),
		.newest = run->newest, .number = i,
		.plan = run->plan.shard_count > 1 ? run->plan_path : NULL,
		.last = i == last_to_make(run), .directory = &run->directory,
	};

	/* the plan is written before the first shard */
	if (run->plan.shard_count > 1 && !run->noted) {
		int err;

		if (!any_kept(run))
			output_remove_unless(run->plan_path, shard->path);
		err = resume_record_plan(run->plan_path, run->digest, e);
		if (err)
			return err;
		run->noted = true;
	}
	return shard_write(&job, shard, e);
}

static int pack_shards(struct packer_run *run, struct error *e)
{
	int err = 0;

	run->progress->phase = PACK_PACKING;
	for (size_t i = 0; i < run->plan.shard_count && !err; i++) {
		if (!run->result->shards.items[i].kept)
			err = pack_shard(run, i, e);
		run->progress->shards += !err;
	}
	return err;
}

/* The plan is of no use to a complete set, or without any shard. */
static void remove_plan(const struct packer_run *run, bool complete)
{
	for (size_t i = 0; i < run->result->shards.count && !complete; i++) {
		if (out_directory_has(run->result->shards.items[i].path))
			return;
	}
	if (run->noted)
		out_directory_unlink(run->plan_path);
}

static int run_all(struct packer_run *run, struct error *e)
{
	int err = out_name_parse(run->options->out, &run->name, e);

	if (!err)
		err = out_format_find(&run->name, run->options->out, &run->format, e);
	if (!err)
		err = check_options(run, e);
	if (!err)
		err = packer_find_directory(run, e);
	if (!err)
		err = list_tree(run, e);
	if (!err)
		err = make_plan(run, e);
	if (!err && run->options->layout == PACK_WEBDATASET)
		err = packer_check_classes(run, e);
	if (!err)
		err = packer_check_contents(run, e);
	if (!err)
		err = check_destination(run, e);
	if (err)
		return err;
	run->newest = newest_time(run);
	run->result->clamped = count_clamped(run);
	err = pack_shards(run, e);
	if (!err && run->options->layout == PACK_WEBDATASET)
		err = write_classes(run, e);
	if (!err && run->options->force)
		out_name_remove_indexes(&run->name);
	remove_plan(run, !err);
	output_remove_unless(NULL, NULL);
	return err;
}

int packer_run(const struct pack_options *options, struct pack_progress *progress,
	       struct pack_result *out, struct error *e)
{
	struct pack_progress unseen = { 0 };
	struct packer_run run = {.options = options,
				 .progress = progress ? progress : &unseen,
				 .result = out,
				 .scan = {.root = -1}};
	int err = 0;

	*out = (struct pack_result){ .shards = VEC_INIT, .problems = PROBLEMS_INIT };
	if (options->decode)
		err = decoders_start(&run.decoders, packer_thread_count(&run), e);
	output_catch_signals(true);
	if (!err)
		err = run_all(&run, e);
	decoders_stop(run.decoders);
	output_catch_signals(false);
	problems_sort(&out->problems);
	plan_free(&run.plan);
	pack_scan_free(&run.scan);
	out_name_free(&run.name);
	free(run.plan_path);
	free(run.classes);
	out_directory_close_all();
	return err;
}

void pack_result_free(struct pack_result *result)
{
	for (size_t i = 0; i < result->shards.count; i++)
		free(result->shards.items[i].path);
	vec_free(&result->shards);
	free(result->source);
	problems_free(&result->problems);
}
