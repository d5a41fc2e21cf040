/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "indexer/stream_jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "build/findings.h"

enum { SIGNATURE_BYTES = 64 };

/* Opens the stream in a window of the job's source, and lists it. */
static int list_stream(struct job *job, const struct stream_kind *kind, uint64_t base,
		       uint64_t length, struct decoded **out, uint32_t *number)
{
	struct indexer *indexer = job->indexer;
	struct listed_stream listed = { .source = job->scan.source_number };
	int err = decoded_open(kind, job->scan.source, base, length, job->scan.label,
			       &listed.decoded);

	if (err)
		return err;
	lock_acquire(&indexer->lock);
	*number = VOLUME_ON_STREAM | (uint32_t)indexer->streams.count;
	err = vec_push(&indexer->streams, listed);
	lock_release(&indexer->lock);
	*out = listed.decoded;
	if (err)
		decoded_close(listed.decoded);
	return err;
}

/* Decodes the head of a stream: its length, or a negative errno. */
static ssize_t read_stream_head(struct decoded *stream, unsigned char *head)
{
	const struct source *source = decoded_source(stream);
	size_t n = FORMAT_HEAD_BYTES;
	int err = source_pread(source, head, n, 0);

	if (err == -ENODATA) { /* it is shorter, and its size is known now */
		n = (size_t)source_size(source);
		err = n ? source_pread(source, head, n, 0) : 0;
	}
	return err ? err : (ssize_t)n;
}

/* The job goes on in the stream, whose head has been decoded. */
static void move_job(struct job *job, struct decoded *stream, uint32_t number)
{
	job->streams++;
	job->stream = stream;
	job->scan.source = decoded_source(stream);
	job->scan.source_number = number;
	job->scan.base = 0;
	job->scan.length = source_size(job->scan.source);
	job->scan.alone = false; /* a stream is read in order */
}

static int too_deep(const struct job *job, struct error *e)
{
	const char *path = source_path(job->shard->scan.source);

	return error_set(e, ERROR_DATASET, EBADMSG,
			 "'%s' holds compressed files more than %d deep, which are not read at "
			 "random; take one layer off, and mount what is inside: bsdtar %s'%s' "
			 "(package libarchive-tools)", job->scan.label, VOLUME_STREAMS_DEEP,
			 job->shard->stream ? "-cf unpacked.tar @" : "-xf ", path);
}

static int lacks_library(const struct job *job, const struct stream_kind *kind,
			 struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "'%s' cannot be read (%s): this granaryfs was built without %s",
			 job->scan.label, stream_kind_name(kind), stream_kind_needs(kind));
}

/* Formats that read the end, or follow pointers, need the whole size. */
static int prepare_scan(struct job *job, struct error *e)
{
	int err = job->format->in_order ? 0 : decoded_finish(job->stream, e);

	job->scan.length = source_size(job->scan.source);
	return err;
}

int stream_job_enter(struct job *job, const unsigned char *head, size_t n, struct error *e)
{
	const struct stream_kind *kind = stream_kind_find(head, n);
	CLEANUP(cleanup_free) unsigned char *inner = kind ? malloc(FORMAT_HEAD_BYTES) : NULL;
	struct decoded *stream = NULL;
	uint32_t number = 0;
	ssize_t got;

	if (!kind)
		return 0;
	if (stream_kind_needs(kind))
		return lacks_library(job, kind, e);
	if (job->streams == VOLUME_STREAMS_DEEP)
		return too_deep(job, e);
	if (!inner || list_stream(job, kind, job->scan.base, job->scan.length, &stream,
				  &number) < 0)
		return format_no_memory(job->scan.label, e);
	got = read_stream_head(stream, inner);
	if (got < 0)
		return decoded_fault(stream, e) ? (int)got :
						  format_unreadable(job->scan.label, (int)got, e);
	move_job(job, stream, number);
	job->format = format_probe(inner, (size_t)got);
	return job->format ? prepare_scan(job, e) :
			     stream_job_enter(job, inner, (size_t)got, e);
}

const struct source *stream_job_open_member(struct scan *scan, bool deflate, uint64_t base,
					    uint64_t length, uint32_t *number)
{
	unsigned char head[SIGNATURE_BYTES];
	size_t n = length < sizeof(head) ? (size_t)length : sizeof(head);
	struct job *job = scan->indexer;
	const struct stream_kind *kind = stream_kind_deflate();
	struct decoded *stream;

	if (!deflate && source_pread(scan->source, head, n, base) < 0)
		return NULL;
	if (!deflate)
		kind = stream_kind_find(head, n);
	if (!kind || stream_kind_needs(kind) || job->streams == VOLUME_STREAMS_DEEP ||
	    list_stream(job, kind, base, length, &stream, number) < 0)
		return NULL;
	return decoded_source(stream);
}

int stream_job_open_labels(struct job *job, struct error *e)
{
	const struct source *source = job->scan.labels_in;
	uint64_t size = source ? source_size(source) : 0;
	CLEANUP(cleanup_free) unsigned char *head = malloc(FORMAT_HEAD_BYTES);
	size_t n = size < FORMAT_HEAD_BYTES ? (size_t)size : FORMAT_HEAD_BYTES;
	const struct stream_kind *kind;
	int err;

	if (!head)
		return format_no_memory(job->scan.label, e);
	/* an error here is one of the scan, too, which has the words */
	kind = n && source_pread(source, head, n, 0) == 0 ? stream_kind_find(head, n) : NULL;
	if (!kind || stream_kind_needs(kind))
		return 0;
	if (decoded_open(kind, source, 0, size, source_path(source), &job->labels) < 0)
		return format_no_memory(job->scan.label, e);
	err = decoded_finish(job->labels, e);
	if (!err)
		job->scan.labels_in = decoded_source(job->labels);
	return err;
}

static void report_ignored(struct job *job)
{
	uint64_t ignored = decoded_ignored(job->stream);

	if (ignored)
		findings_add(&job->found, FINDING_LEFT_OUT,
			     "%llu bytes behind the end of its compressed data are ignored",
			     (unsigned long long)ignored);
}

int stream_job_end(struct job *job, int err, struct error *e)
{
	if (!job->stream)
		return err;
	if (err)
		return decoded_fault(job->stream, e) ? decoded_fault(job->stream, e) : err;
	err = decoded_finish(job->stream, e);
	if (err)
		return err;
	report_ignored(job);
	return 0;
}

void stream_job_describe(struct job *job)
{
	char before[sizeof(job->scan.detail)];
	size_t n;

	if (!job->stream)
		return;
	memcpy(before, job->scan.detail, sizeof(before));
	decoded_describe(job->stream, job->scan.detail, sizeof(job->scan.detail));
	n = strlen(job->scan.detail);
	if (*before && n + 2 + strlen(before) < sizeof(job->scan.detail)) {
		memcpy(job->scan.detail + n, "; ", 2);
		memcpy(job->scan.detail + n + 2, before, strlen(before) + 1);
	}
}

uint64_t stream_job_passed(struct job *job)
{
	uint64_t before = job->passed;

	if (job->depth || !job->stream)
		return 0; /* the shard's stream counts */
	job->passed = decoded_position(job->stream);
	return job->passed - before;
}

int stream_jobs_record(const struct indexer *indexer, struct stream_record **out)
{
	size_t count = indexer->streams.count;

	*out = calloc(count + 1, sizeof(**out));
	for (size_t i = 0; i < count && *out; i++) {
		const struct listed_stream *listed = &indexer->streams.items[i];

		decoded_record(listed->decoded, &(*out)[i]);
		(*out)[i].source = listed->source;
	}
	return *out ? 0 : -ENOMEM;
}

void stream_jobs_free(struct indexer *indexer)
{
	/* an inner stream is behind its outer one */
	for (size_t i = indexer->streams.count; i-- > 0;)
		decoded_close(indexer->streams.items[i].decoded);
	vec_free(&indexer->streams);
}
