/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packer/shard.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "packer/directory_counts.h"
#include "packer/output.h"
#include "packer/read_ring.h"
#include "packer/resume.h"
#include "packer/webdataset_items.h"

enum { ZEROS = 65536, REASON_BYTES = 256 };

struct shard_writing {
	const struct shard_job *job;
	const char *path;
	struct output *output;
	struct writer *writer;
	struct read_ring *reader;
	uint64_t written; /* bytes of contents in this shard */
	bool input_ended; /* no file can be read any more */
	VEC(const struct pack_scan_entry *) lost; /* left out, with other names */
};

/* Notes a problem with a source file: 0 if the run goes on. */
static int shard_report(const struct shard_writing *w, const struct plan_item *item,
			const char *reason, struct error *e)
{
	const struct pack_options *o = w->job->options;

	problems_add(&w->job->result->problems, item->source->path, "%s", reason);
	if (o->keep_going && !w->input_ended)
		return 0;
	return error_set(e, ERROR_SYSTEM, EIO,
			 "%s/%s: %s; %s was not made; --keep-going packs the rest", o->source,
			 item->source->path, reason, w->path);
}

/* A full disk, quota or file limit gets its own sentence. */
static int writer_failed(const struct shard_writing *w, int err, struct error *e)
{
	if (err == -ENOSPC || err == -EDQUOT || err == -EFBIG)
		return output_error(w->path, -err, w->written, e);
	return err;
}

static void clamp_time(const struct pack_options *o, struct pack_entry *entry)
{
	if (!o->has_epoch || entry->mtime < o->epoch)
		return;
	if (entry->mtime > o->epoch || entry->mtime_ns) {
		entry->mtime = o->epoch;
		entry->mtime_ns = 0;
	}
}

static struct pack_entry shard_entry_of(const struct pack_options *o,
					const struct plan_item *item)
{
	const struct pack_scan_entry *source = item->source;
	struct pack_entry entry = {
		.kind = (enum pack_kind)item->kind, .path = item->path,
		.target = source->target, .mode = source->mode,
		.uid = source->uid, .gid = source->gid,
		.mtime = source->mtime, .mtime_ns = source->mtime_ns,
		.label = item->label,
	};

	if (item->is_plain) {
		entry.mode = 0444;
		entry.uid = entry.gid = 0;
		entry.mtime_ns = 0;
	}
	if (item->kind == PACK_DIRECTORY) {
		entry.xattrs = source->xattrs;
		entry.xattr_count = source->xattr_count;
	}
	clamp_time(o, &entry);
	return entry;
}

static int begin_entry(struct shard_writing *w, const struct pack_entry *entry,
		       struct error *e)
{
	return writer_failed(w, w->job->writer->begin(w->writer, entry, e), e);
}

static int data(struct shard_writing *w, const void *bytes, size_t length,
		struct error *e)
{
	int err = writer_failed(w, w->job->writer->data(w->writer, bytes, length, e), e);

	w->written += length;
	output_advance(w->output, length);
	return err;
}

static int end_entry(struct shard_writing *w, struct error *e)
{
	return writer_failed(w, w->job->writer->end(w->writer, e), e);
}

/* Writes an entry without contents. */
static int shard_write_name(struct shard_writing *w, const struct plan_item *item,
			    struct error *e)
{
	struct pack_entry entry = shard_entry_of(w->job->options, item);
	int err = begin_entry(w, &entry, e);

	return err ? err : end_entry(w, e);
}

static int write_label(struct shard_writing *w, const struct plan_item *item,
		       struct error *e)
{
	struct pack_entry entry = shard_entry_of(w->job->options, item);
	char digits[16];
	int err;

	entry.size = (uint64_t)snprintf(digits, sizeof(digits), "%d", item->label);
	err = begin_entry(w, &entry, e);
	if (!err)
		err = data(w, digits, entry.size, e);
	return err ? err : end_entry(w, e);
}

static int write_zeros(struct shard_writing *w, uint64_t left, struct error *e)
{
	static const char zeros[ZEROS];
	int err = 0;

	while (left && !err) {
		size_t n = left < ZEROS ? (size_t)left : ZEROS;

		err = data(w, zeros, n, e);
		left -= n;
	}
	return err;
}

/* -EPIPE: nothing reads the input any more (input.h). */
static void note_fault(struct shard_writing *w, int err)
{
	w->job->result->damaged += err == -EBADMSG;
	w->input_ended |= err == -EPIPE && w->job->scan->input;
}

static const char *shard_reason(int err)
{
	return err == -EBADMSG ? "its bytes are damaged" : strerror(-err);
}

/* The fault of a piece as a phrase; NULL: none. */
static const char *fault_of(const struct read_ring_piece *piece, char *text, size_t size)
{
	if (piece->err)
		snprintf(text, size, "cannot be %s: %s", piece->where,
			 shard_reason(piece->err));
	else if (piece->changed)
		snprintf(text, size, "changed while it was packed");
	else
		return NULL;
	return text;
}

/* The next piece; progress counts the source's bytes. */
static const struct read_ring_piece *next_piece(struct shard_writing *w)
{
	const struct read_ring_piece *piece = read_ring_next(w->reader);

	note_fault(w, piece->err);
	w->job->progress->bytes += piece->last ? piece->item->source->size - piece->offset :
						 piece->wanted;
	return piece;
}

/* Skips all pieces of a file and leaves it out. */
static int skip_file(struct shard_writing *w, const struct read_ring_piece *piece,
		     struct error *e)
{
	const struct plan_item *item = piece->item;
	char reason[REASON_BYTES];
	int err = shard_report(w, item, fault_of(piece, reason, sizeof(reason)), e);

	w->job->result->files--;
	if (!err && item->source->linked && vec_push(&w->lost, item->source) < 0)
		err = error_no_memory(e, NULL);
	while (!err && !piece->last)
		piece = next_piece(w);
	return err;
}

/*
 * Writes a piece. Missing bytes become zeros, since the file's size is already written.
 */
static int write_piece(struct shard_writing *w, const struct read_ring_piece *piece,
		       bool *faulty, struct error *e)
{
	char reason[REASON_BYTES], more[REASON_BYTES + 64];
	const char *fault = fault_of(piece, reason, sizeof(reason));
	size_t length = piece->err ? 0 : piece->length;
	int err = 0;

	if (fault && length < piece->wanted) {
		snprintf(more, sizeof(more), "%s; zeros stand for it from byte %" PRIu64 " on",
			 fault, piece->offset + length);
		fault = more;
	}
	if (fault && !*faulty) {
		*faulty = true;
		err = shard_report(w, piece->item, fault, e);
	}
	if (!err)
		err = data(w, piece->bytes, length, e);
	return err ? err : write_zeros(w, piece->wanted - length, e);
}

static struct pack_entry file_entry(const struct shard_writing *w,
				    const struct read_ring_piece *piece)
{
	struct pack_entry entry = shard_entry_of(w->job->options, piece->item);

	/* a file in one piece has the size read, even if it has just changed */
	entry.size = piece->last ? piece->length : piece->item->source->size;
	if (piece->decoded)
		entry.path = piece->item->decoded;
	if (!piece->item->is_plain) {
		entry.xattrs = piece->xattrs;
		entry.xattr_count = piece->xattr_count;
	}
	return entry;
}

/* Begins a file with its first or only piece. */
static int shard_begin_file(struct shard_writing *w, const struct read_ring_piece *piece,
			    bool *faulty, struct error *e)
{
	struct pack_entry entry = file_entry(w, piece);
	char reason[REASON_BYTES];
	const char *fault = piece->last ? fault_of(piece, reason, sizeof(reason)) : NULL;
	int err = 0;

	if (piece->damage)
		err = shard_report(w, piece->item, piece->damage, e);
	if (fault && !err)
		err = shard_report(w, piece->item, fault, e);
	*faulty = fault;
	w->job->result->decoded += piece->decoded;
	return err ? err : begin_entry(w, &entry, e);
}

static int shard_write_file(struct shard_writing *w, struct error *e)
{
	const struct read_ring_piece *piece = next_piece(w);
	bool faulty = false, last = piece->last;
	int err;

	if (piece->err)
		return skip_file(w, piece, e);
	err = shard_begin_file(w, piece, &faulty, e);
	if (!err && last)
		err = data(w, piece->bytes, piece->length, e);
	else if (!err)
		err = write_piece(w, piece, &faulty, e);
	while (!err && !last) {
		piece = next_piece(w);
		last = piece->last;
		err = write_piece(w, piece, &faulty, e);
	}
	return err ? err : end_entry(w, e);
}

/* A link is left out if its file was. */
static int write_link(struct shard_writing *w, const struct plan_item *item,
		      struct error *e)
{
	for (size_t i = 0; i < w->lost.count; i++) {
		if (w->lost.items[i]->inode != item->source->inode ||
		    w->lost.items[i]->device != item->source->device)
			continue;
		w->job->result->hardlinks--;
		return shard_report(w, item,
				    "is another name of a file that was left out", e);
	}
	return shard_write_name(w, item, e);
}

static int shard_write_item(struct shard_writing *w, const struct plan_item *item,
			    struct error *e)
{
	struct pack_result *result = w->job->result;

	w->job->progress->files++;
	if (item->is_label) {
		result->labels++;
		return write_label(w, item, e);
	}
	switch ((enum pack_kind)item->kind) {
	case PACK_DIRECTORY:
		result->directories++;
		return shard_write_name(w, item, e);
	case PACK_SYMLINK:
		result->symlinks++;
		return shard_write_name(w, item, e);
	case PACK_HARDLINK:
		result->hardlinks++;
		return write_link(w, item, e);
	case PACK_FILE:
		break;
	}
	result->files++;
	return shard_write_file(w, e);
}

/* ---- Samples that lack a member ---- */

/* The reason why the first piece of a file cannot be read, as a phrase; NULL: it can. */
static const char *read_fault(struct shard_writing *w, const struct plan_item *item,
			      char *text, size_t size)
{
	static char buffer[READ_RING_PIECE];
	const char *where;
	ssize_t n = pack_scan_read(w->job->scan, item->source, buffer, sizeof(buffer), &where);

	if (n >= 0)
		return NULL;
	note_fault(w, (int)n);
	snprintf(text, size, "cannot be %s: %s; its sample is left out", where,
		 shard_reason((int)n));
	return text;
}

static size_t sample_length(const struct plan_item *items, size_t count)
{
	size_t n = 1;

	while (n < count && webdataset_items_same(&items[n - 1], &items[n]))
		n++;
	return n;
}

/* Skips a sample, with its pieces from the reader. */
static int skip_sample(struct shard_writing *w, const struct plan_item *items,
		       size_t count, const struct plan_item *bad, const char *reason,
		       struct error *e)
{
	int err = shard_report(w, bad, reason, e);

	for (size_t i = 0; i < count && !err; i++) {
		const struct read_ring_piece *piece = NULL;

		w->job->progress->files++;
		while (read_ring_has_contents(&items[i]) && !(piece && piece->last))
			piece = next_piece(w);
		if (piece && &items[i] != bad)
			err = shard_report(w, &items[i], "is left out with its sample",
					   e);
	}
	return err;
}

/*
 * A label is mostly written before its image, and must not stay alone. So with
 * --keep-going all files of a sample are checked before it begins. Returns the number of
 * items left out, 0 for a good sample, or a negative errno.
 */
static ssize_t skip_bad_sample(struct shard_writing *w, size_t first, struct error *e)
{
	const struct plan_item *items = w->job->items + first;
	size_t count;
	char text[REASON_BYTES];
	int err;

	if (!w->job->options->keep_going || w->job->options->layout != PACK_WEBDATASET ||
	    (first > 0 && webdataset_items_same(items - 1, items)))
		return 0;
	count = sample_length(items, w->job->count - first);
	for (size_t i = 0; i < count; i++) {
		const char *reason = read_ring_has_contents(&items[i]) ?
			read_fault(w, &items[i], text, sizeof(text)) : NULL;

		if (!reason)
			continue;
		err = skip_sample(w, items, count, &items[i], reason, e);
		return err ? err : (ssize_t)count;
	}
	return 0;
}

static int write_items(struct shard_writing *w, struct error *e)
{
	const struct shard_job *job = w->job;
	ssize_t skipped;
	int err = read_ring_start(&w->reader, job->scan, job->items, job->count,
				  job->decoders, job->threads);

	if (err)
		return error_set(e, ERROR_SYSTEM, -err, "no threads to read with: %s",
				 strerror(-err));
	for (size_t i = 0; i < job->count && !err; i += skipped > 0 ? (size_t)skipped : 1) {
		skipped = skip_bad_sample(w, i, e);
		if (skipped == 0)
			err = shard_write_item(w, &job->items[i], e);
		else if (skipped < 0)
			err = (int)skipped;
	}
	read_ring_stop(w->reader);
	job->result->bytes += w->written;
	return err;
}

static int write_with(struct shard_writing *w, const struct directory_counts *splits,
		      struct error *e)
{
	const struct shard_job *job = w->job;
	const struct writer_config config = {
		.compressor = job->compressor ? job->compressor : job->options->compressor,
		.level = job->options->level,
		.threads = job->threads, .hdf5_layout = job->options->hdf5_layout,
		.splits = splits->list.items, .split_count = splits->list.count,
		.replace = job->options->force, .entries = job->count,
		.newest = job->newest,
	};
	struct error unsaid;
	int err = job->writer->open(&w->writer, output_fd(w->output), w->path, &config, e);

	if (err)
		return writer_failed(w, err, e);
	err = write_items(w, e);
	if (err)
		job->writer->close(w->writer, false, &unsaid);
	else
		err = writer_failed(w, job->writer->close(w->writer, true, e), e);
	return err;
}

static int write_contents(struct shard_writing *w, struct error *e)
{
	const char *layout = w->job->options->hdf5_layout;
	struct directory_counts splits = { 0 };
	int err = 0;

	if (layout && strcmp(layout, "jsc") == 0)
		err = directory_counts_make(&splits, w->job->items, w->job->count);
	err = err ? error_no_memory(e, NULL) :
		    write_with(w, &splits, e);
	directory_counts_free(&splits);
	return err;
}

/* Files created since the listing are in no shard; an input may have changed as a whole. */
static int check_tree(const struct shard_writing *w, struct error *e)
{
	const struct shard_job *job = w->job;
	const struct pack_input *input = job->scan->input;

	if (input)
		return input->check(input->context, e);
	if (!job->last ||
	    !pack_scan_recheck(job->scan, job->directory, &job->result->problems) ||
	    job->options->keep_going)
		return 0;
	return error_set(e, ERROR_SYSTEM, EIO,
			 "%s: directories in it have changed since they were listed: %s "
			 "was not made; pack it when nobody writes there, or with --keep-going",
			 job->options->source, w->path);
}

/* Records the size and identity of the file. */
static int note_size(const struct shard_job *job, const struct output *output,
		     struct pack_shard *shard, struct error *e)
{
	struct stat st;

	if (fstat(output_fd(output), &st) < 0)
		return output_error(shard->path, errno, 0, e);
	shard->bytes = (uint64_t)st.st_size;
	shard->device = st.st_dev;
	shard->inode = st.st_ino;
	return job->plan ? resume_record_size(job->plan, job->number, shard->bytes, e) :
		0;
}

int shard_write(const struct shard_job *job, struct pack_shard *shard, struct error *e)
{
	struct shard_writing w = { .job = job, .path = shard->path, .lost = VEC_INIT };
	int err = output_begin(shard->path, job->options->force, &w.output, e);

	if (err)
		return err;
	err = write_contents(&w, e);
	vec_free(&w.lost);
	if (!err)
		err = check_tree(&w, e);
	if (!err)
		err = note_size(job, w.output, shard, e);
	if (err) {
		output_drop(w.output);
		return err;
	}
	job->progress->phase = PACK_SYNCING;
	err = output_commit(w.output, e);
	job->progress->phase = PACK_PACKING;
	return err;
}

int shard_check(const struct shard_job *job, struct error *e)
{
	const struct writer_config config = { .hdf5_layout = job->options->hdf5_layout };
	int err = 0;

	for (size_t i = 0; i < job->count && !err && job->writer->check; i++) {
		struct pack_entry entry = shard_entry_of(job->options, &job->items[i]);

		entry.size = read_ring_has_contents(&job->items[i]) ?
			job->items[i].source->size : 0;
		err = job->writer->check(&config, &entry, e);
	}
	return err;
}
