/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/filename.h"
#include "base/invariant.h"
#include "os/processors.h"
#include "os/steps.h"
#include "source/local_file.h"
#include "source/parts.h"
#include "source/source_kind.h"
#include "stats/stats.h"
#include "trace/trace.h"

/* The first kind that owns a name opens it; the last kind owns all names. */
static const struct source_ops *const kinds[] = { &local_file_ops };

void *source_new(const struct source_ops *ops, size_t size, const char *path,
		 struct error *e)
{
	struct source *source = calloc(1, size);

	if (source)
		source->path = strdup(path);
	if (source && source->path) {
		source->magic = HANDLE_SOURCE;
		source->ops = ops;
		return source;
	}
	free(source);
	error_set(e, ERROR_SYSTEM, ENOMEM,
		  "there is not enough memory to open '%s'; free some and try again",
		  path);
	return NULL;
}

int source_open(const char *path, struct source **out, struct error *e)
{
	return source_open_below(path, 0, out, e);
}

int source_open_below(const char *path, size_t directory, struct source **out,
		      struct error *e)
{
	size_t i = 0;
	int err;

	steps_record(path);
	while (i + 1 < sizeof(kinds) / sizeof(*kinds) && !kinds[i]->owns(path))
		i++;
	err = kinds[i]->open(path, directory, out, e);
	if (!err)
		(*out)->listed = directory > 0;
	return err;
}

bool source_is_listed(const struct source *source)
{
	HANDLE_CHECK(source, HANDLE_SOURCE);
	return source->listed;
}

void source_close(struct source *source)
{
	if (!source)
		return;
	HANDLE_CHECK(source, HANDLE_SOURCE);
	if (source->ops->close)
		source->ops->close(source);
	free(source->place);
	free(source->path);
	source->magic = HANDLE_DEAD;
	free(source);
}

static void trace_source_read(const struct source *source, uint64_t begin, uint64_t took,
			      uint64_t offset, size_t length, int err, bool demand)
{
	trace_add(&(struct trace_event){
		.kind = TRACE_STORAGE, .begin = begin, .took = took,
		.subject = (uint64_t)(uintptr_t)source, .offset = offset, .size = length,
		.result = err ? err : (int64_t)length, .storage = demand,
	});
}

int source_read(const struct source *source, void *buffer, size_t length, uint64_t offset,
		struct read_context *context)
{
	uint64_t begin, took, from = offset;
	long sleeps;
	int err;

	HANDLE_CHECK(source, HANDLE_SOURCE);
	if (!range_within(offset, length, source->info.size))
		return -EIO;
	sleeps = context->demand ? processors_thread_sleeps() : 0;
	begin = stats_clock();
	err = source->ops->pread(source, buffer, length, &offset,
				 context->hint == READ_SHARED);
	took = stats_add_duration(HISTOGRAM_source_read, begin, context->demand);
	if (trace_is_on())
		trace_source_read(source, begin, took, from, length, err, context->demand);
	context->storage_reads++;
	if (context->demand && processors_thread_sleeps() != sleeps)
		context->storage_ns += took;
	stats_add(COUNTER_source_reads, 1);
	if (!err) {
		stats_add(COUNTER_source_read_bytes, length);
		return 0;
	}
	context->fault.storage = true;
	context->fault.source = source_part_at(source, &offset)->path;
	context->fault.at = offset;
	return err;
}

void source_hint(const struct source *source, enum source_hint hint, uint64_t offset,
		 uint64_t length)
{
	HANDLE_CHECK(source, HANDLE_SOURCE);
	if (source->ops->hint)
		source->ops->hint(source, hint, offset, length);
}

int source_identity(const struct source *source, unsigned samples, struct identity *out)
{
	int err;

	HANDLE_CHECK(source, HANDLE_SOURCE);
	steps_record(source->path);
	err = source->ops->identify ? source->ops->identify(source, out) :
				      source_identify_ends(source, out);
	if (!err && samples)
		out->samples = source_samples(source, samples);
	return err;
}

uint64_t source_samples(const struct source *source, unsigned samples)
{
	HANDLE_CHECK(source, HANDLE_SOURCE);
	steps_record(source->path);
	return source->ops->sample ? source->ops->sample(source, samples) :
				     source_sample_pages(source, samples);
}

uint64_t source_next_data(const struct source *source, uint64_t offset)
{
	HANDLE_CHECK(source, HANDLE_SOURCE);
	return source->ops->next_data ? source->ops->next_data(source, offset) : offset;
}

int source_hand_over(const struct source *source, struct error *e)
{
	HANDLE_CHECK(source, HANDLE_SOURCE);
	if (source->ops->hand_over)
		return source->ops->hand_over(source);
	if (source_part_count(source) > 1)
		return error_set(e, ERROR_DATASET, EBADMSG,
				 "'%s' is cut into %u parts, which an image of its format is not "
				 "read from; join them: cat, with all parts in their order, >joined",
				 source->path, source_part_count(source));
	return error_set(e, ERROR_SYSTEM, ENOTSUP,
			 "'%s' is no local file, which it has to be to be indexed; copy it "
			 "to this machine", source->path);
}

const char *source_path(const struct source *source)
{
	HANDLE_CHECK(source, HANDLE_SOURCE);
	return source->path;
}

const char *source_place(const struct source *source)
{
	HANDLE_CHECK(source, HANDLE_SOURCE);
	return source->place ? source->place : source->path;
}

const char *source_own_name(const struct source *source)
{
	HANDLE_CHECK(source, HANDLE_SOURCE);
	/* a device name may lead to another device after the next boot */
	return filename_of(source->info.device ? source->path : source_place(source));
}

uint64_t source_size(const struct source *source)
{
	HANDLE_CHECK(source, HANDLE_SOURCE);
	return source->info.size;
}

const struct source_owner *source_owner(const struct source *source)
{
	HANDLE_CHECK(source, HANDLE_SOURCE);
	return &source->info.owner;
}

const struct source_info *source_info(const struct source *source)
{
	HANDLE_CHECK(source, HANDLE_SOURCE);
	return &source->info;
}
