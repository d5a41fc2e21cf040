/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "checksums.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "dataset/survey.h"
#include "index/block_sums.h"
#include "index/checksum.h"
#include "os/lock.h"
#include "os/sealed.h"
#include "progress.h"

struct sums {
	const struct dataset *dataset;
	const struct index *index;
	uint64_t *sums;        /* by node */
	struct block_sums *blocks;
	struct lock lock;
	struct error *e; /* lock: the first fault */
	int err;         /* lock */
};

/*
 * Why a file cannot be read, as part of a sentence, "checksum mismatch (a.tar at byte
 * 512)"; returns `out`.
 */
enum { FAULT_TEXT_BYTES = 5000 };
static char *fault_text(const struct read_fault *fault, char *out)
{
	snprintf(out, FAULT_TEXT_BYTES, "%s (%s at byte %llu)",
		 fault->mismatch ? "checksum mismatch" :
		 fault->storage ? strerror(-fault->err) :
		 fault->err == -EBADMSG ? "its stored bytes make no sense" :
					  "the index leads nowhere",
		 fault->source, (unsigned long long)fault->at);
	return out;
}

static void sums_fail(struct sums *s, const struct survey_file *file)
{
	char path[1024], why[FAULT_TEXT_BYTES];

	LOCK_GUARD(&s->lock);
	if (s->err)
		return;
	tree_path(dataset_tree(s->dataset), file->node, path, sizeof(path));
	s->err = error_set(s->e, file->fault->storage ? ERROR_SYSTEM : ERROR_DAMAGED,
			   -file->fault->err,
			   "%s: %s; a file that cannot be read has no checksum: "
			   "granary verify names all such files", path,
			   fault_text(file->fault, why));
}

/* One worker reads a file, so no other thread writes these sums. */
static void add_block_sums(void *context, unsigned worker, uint32_t node, uint64_t offset,
			   const void *bytes, size_t length)
{
	struct sums *s = context;
	uint64_t *sums = block_sums_of_file(s->index, s->blocks, node);

	for (size_t at = 0, n; sums && at < length; at += n) {
		n = length - at < BLOCK_BYTES ? length - at : BLOCK_BYTES;
		sums[(offset + at) / BLOCK_BYTES] = sum_of((const char *)bytes + at, n);
	}
}

static bool add_sum(void *context, unsigned worker, const struct survey_file *file)
{
	struct sums *s = context;

	if (file->fault && file->fault->err == -EOPNOTSUPP)
		return true; /* listed only: no read gives bytes to compare */
	if (file->fault)
		sums_fail(s, file);
	else if (file->size)
		s->sums[file->node] = file->sum;
	return !file->fault;
}

void checksums_update_progress(struct progress *p, const void *context)
{
	const struct survey_progress *counters = context;

	atomic_store(&p->bytes, atomic_load(&counters->bytes));
	atomic_store(&p->bytes_total, atomic_load(&counters->all_bytes));
	atomic_store(&p->count, atomic_load(&counters->files));
	atomic_store(&p->count_total, atomic_load(&counters->all_files));
}

static int sums_read_all(const struct source_set *sources, struct index *index,
			 struct sums *s, bool quiet, struct error *e)
{
	static const struct survey_ops ops = { add_block_sums, add_sum };
	struct survey_progress counters = { 0 };
	const struct survey_config config = { .ops = &ops, .context = s,
					      .progress = &counters };
	struct progress progress = { .subject = "checksums", .unit = "files",
				     .look = checksums_update_progress,
				     .context = &counters };
	struct dataset *dataset;
	int err = block_sums_allocate(index, s->blocks);

	if (err)
		return error_set(e, ERROR_SYSTEM, -err, "the index in memory: %s",
				 strerror(-err));
	err = dataset_from_index(sources, index, &dataset, e);
	if (err)
		return err;
	s->dataset = dataset;
	s->index = index;
	progress_start(&progress, quiet);
	err = survey_run(dataset, &config);
	progress_stop(&progress);
	dataset_close(dataset);
	if (err)
		return error_set(e, ERROR_SYSTEM, -err, "the files cannot be read: %s",
				 strerror(-err));
	return s->err;
}

int checksums_open(const struct image *image, struct index **out, struct error *e)
{
	CLEANUP(cleanup_close) int fd = memfd_create("granary index",
						     MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int err;

	if (fd < 0)
		return error_set(e, ERROR_SYSTEM, errno, "memfd_create: %s", strerror(errno));
	err = image_write(image, fd, "the index in memory", e);
	if (err)
		return err;
	err = sealed_make(fd);
	if (err)
		return error_set(e, ERROR_SYSTEM, -err, "memfd: %s", strerror(-err));
	return index_open_memory(steal_fd(&fd), geteuid(), "the index in memory", out, e);
}

int checksums_add(const struct source_set *sources, struct index *index,
		  struct image *image, bool quiet, struct error *e)
{
	CLEANUP(cleanup_free) uint64_t *sums = calloc(image_nodes(image), sizeof(*sums));
	CLEANUP(block_sums_free) struct block_sums blocks = { 0 };
	struct sums s = { .sums = sums, .blocks = &blocks, .lock = LOCK_INIT, .e = e };
	struct index *memory = NULL;
	int err = 0;

	if (!sums)
		return error_no_memory(e, NULL);
	if (!index)
		err = checksums_open(image, &memory, e);
	if (!err)
		err = sums_read_all(sources, index ? index : memory, &s, quiet, e);
	index_close(memory);
	if (!err && image_set_sums(image, sums, &blocks) < 0)
		err = error_no_memory(e, NULL);
	return err;
}
