/* SPDX-License-Identifier: GPL-3.0-or-later */
/* read.c: the read path: from a file's offset to bytes of its volumes. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/invariant.h"
#include "base/log.h"
#include "dataset/assembly.h"

enum { MESSAGES_A_PERIOD = 20, SILENT_SECONDS = 10, FILES_KNOWN = 64 };

/*
 * A reader repeats a failed read, and the kernel requests less and less before it gives
 * up: one line a file is enough. An entry has the file's number, counted from 1, in its
 * upper half and the second of its line in the lower one.
 */
static bool was_logged(uint32_t node)
{
	static _Atomic uint64_t said[FILES_KNOWN];
	_Atomic uint64_t *entry = &said[node % FILES_KNOWN];
	uint64_t last = atomic_load(entry), file = ((uint64_t)node + 1) << 32;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	do {
		uint32_t ago = (uint32_t)now.tv_sec - (uint32_t)last;

		if (last >> 32 << 32 == file && ago < SILENT_SECONDS)
			return true;
	} while (!atomic_compare_exchange_weak(entry, &last, file | (uint32_t)now.tv_sec));
	return false;
}

/* After a storage error the context has the place, set by source_read. */
static void set_fault(const struct dataset *ds, const struct tree_piece *piece,
		      uint64_t offset, int err, struct read_fault *fault)
{
	fault->err = err;
	fault->mismatch = false;
	fault->offset = offset;
	if (!fault->storage)
		fault->source = volume_locate(&ds->volumes, piece->volume, piece->offset,
					      &fault->at);
}

/* One line, unless too many were written lately, or no reader requested the file. */
static void log_fault(const struct dataset *ds, uint32_t node,
		      const struct read_context *context)
{
	const struct read_fault *fault = &context->fault;
	char path[1024];

	/* read-ahead is not logged: its line would suppress the one for the reader */
	if (context->hint == READ_AHEAD || was_logged(node) ||
	    !log_allowed(MESSAGES_A_PERIOD))
		return;
	tree_path(dataset_tree(ds), node, path, sizeof(path));
	if (fault->mismatch)
		log_error("%s: damaged: its checksum is not what it was when it was indexed "
			  "(%s at byte %llu); granary verify names all that is damaged",
			  path, fault->source, (unsigned long long)fault->at);
	else if (fault->err == -ESTALE && !fault->storage)
		log_error("%s: %s was written since it was indexed, and these bytes may be "
			  "others now; mount it again when its writer is done", path,
			  fault->source);
	else
		log_error("%s: byte %llu cannot be read (%s at byte %llu): %s", path,
			  (unsigned long long)fault->offset, fault->source,
			  (unsigned long long)fault->at, strerror(-fault->err));
}

/* The guard comes second: by then its page has been read along with the data. */
static int read_guarded(const struct dataset *ds, const struct tree_piece *piece,
			void *buffer, size_t length, struct read_context *context)
{
	int err = volume_pread(&ds->volumes, piece->volume, buffer, length, piece->offset,
			       context);

	return err ? err : volume_check(&ds->volumes, piece->volume, piece->start,
					piece->whole, context);
}

/*
 * Invalid bytes may have been wrong when their block was read ahead, and be right now.
 * Errors of the storage were retried already.
 */
static int read_extent(const struct dataset *ds, const struct tree_piece *piece,
		       void *buffer, size_t length, struct read_context *context)
{
	enum read_hint hint = context->hint;
	int err;

	context->fault.storage = false;
	err = read_guarded(ds, piece, buffer, length, context);
	if (!err || !ds->volumes.staging || context->fault.storage)
		return err;
	context->hint = READ_DIRECT;
	err = read_guarded(ds, piece, buffer, length, context);
	context->hint = hint;
	return err;
}

/* Reads one piece, or the part that fits: the number of bytes, or a negative errno. */
static ssize_t read_piece(const struct dataset *ds, uint32_t node, char *buffer,
			  size_t length, uint64_t offset, struct read_context *context)
{
	struct tree_piece piece = { .volume = UINT32_MAX };
	int err = tree_piece(dataset_tree(ds), node, offset, &piece);

	if (err == -ENXIO || err == -EINVAL)
		return err == -ENXIO ? 0 : err;
	context->fault.storage = false;
	if (!err && piece.length < length)
		length = (size_t)piece.length;
	if (!err && piece.hole)
		memset(buffer, 0, length);
	else if (!err)
		err = read_extent(ds, &piece, buffer, length, context);
	if (err) {
		set_fault(ds, &piece, offset, err, &context->fault);
		return -EIO;
	}
	return (ssize_t)length;
}

ssize_t dataset_read_plain(const struct dataset *ds, uint32_t node, void *buffer,
			   size_t length, uint64_t offset, struct read_context *context)
{
	size_t done = 0;

	HANDLE_CHECK(ds, HANDLE_DATASET);
	while (done < length) {
		ssize_t n = read_piece(ds, node, (char *)buffer + done, length - done,
				       offset + done, context);

		if (n < 0)
			return n;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

ssize_t dataset_read(const struct dataset *ds, uint32_t node, void *buffer,
		     size_t length, uint64_t offset, struct read_context *context)
{
	ssize_t n;

	HANDLE_CHECK(ds, HANDLE_DATASET);
	if (ds->compares)
		n = dataset_read_checked(ds, node, buffer, length, offset, context);
	else
		n = dataset_read_plain(ds, node, buffer, length, offset, context);
	if (n == -EIO)
		log_fault(ds, node, context);
	return n;
}
