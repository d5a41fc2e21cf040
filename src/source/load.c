/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "os/memory.h"
#include "os/sealed.h"
#include "os/steps.h"
#include "os/whole.h"
#include "source/source.h"

enum {
	PIECE_BYTES = 1 << 20,
	LOOK_BYTES = 16 << 20,  /* the memory is read again so often */
	LARGE_BYTES = 64 << 20, /* a smaller file may be all holes, and costs little */
	PROBES = 64,            /* of a larger one; at least half must hit data */
};

/*
 * An index has no holes, except those that cp(1) makes of zeros. Random places are
 * probed: an owner who knew them could make a sparse file look full with a few bytes.
 */
static bool load_has_data(const struct source *source)
{
	uint64_t places[PROBES], size = source_size(source);
	unsigned hits = 0;

	if (getrandom(places, sizeof(places), 0) != sizeof(places))
		return false;
	for (unsigned i = 0; i < PROBES; i++)
		hits += source_next_data(source, places[i] % size) == places[i] % size;
	return hits >= PROBES / 2;
}

/*
 * Many mounts may load at once, and each saw the same free memory at first. So the memory
 * is read again meanwhile, and a load ends with an error while a quarter is still left.
 */
static int load_copy(const struct source *source, int fd, uint64_t reserve)
{
	CLEANUP(cleanup_free) char *piece = malloc(PIECE_BYTES);
	uint64_t size = source_size(source);
	int err = piece ? 0 : -ENOMEM;

	for (uint64_t at = 0; at < size && !err; at += PIECE_BYTES) {
		uint64_t left = size - at;
		size_t length = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;

		if (reserve && at % LOOK_BYTES == 0 && left + reserve > memory_available())
			return -ENOMEM;
		steps_record(source_path(source));
		err = source_pread(source, piece, length, at);
		if (!err)
			err = write_whole(fd, piece, length);
	}
	return err;
}

/*
 * Small files need no check and no reserve. For a large file on FUSE the owner decides on
 * size and holes, and the reader may be root.
 */
static int load_check_size(const struct source *source, uint64_t *reserve,
			   struct error *e)
{
	uint64_t size = source_size(source), memory;

	*reserve = 0;
	if (size <= LARGE_BYTES)
		return 0;
	if (!load_has_data(source))
		return error_set(e, ERROR_DATASET, EBADMSG,
				 "%s: it is a hole, almost all of it", source_path(source));
	memory = memory_available();
	*reserve = memory / 4;
	if (size > memory / 2)
		return error_set(e, ERROR_SYSTEM, ENOMEM,
				 "%s: it has %llu MiB, more than half of the memory that is "
				 "available; raise the job's limit of memory",
				 source_path(source), (unsigned long long)size >> 20);
	return 0;
}

int source_load(const struct source *source, int *memory, struct error *e)
{
	CLEANUP(cleanup_close) int fd = -1;
	uint64_t reserve;
	int err = load_check_size(source, &reserve, e);

	if (err)
		return err;
	fd = memfd_create("granaryfs", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	err = fd < 0 ? -errno : load_copy(source, fd, reserve);
	if (!err)
		err = sealed_make(fd);
	if (err == -ENOMEM)
		return error_set(e, ERROR_SYSTEM, ENOMEM,
				 "%s: memory was taken by others while it was read; try again "
				 "later, or raise the job's limit of memory", source_path(source));
	if (err)
		return error_set(e, ERROR_SYSTEM, -err, "%s: cannot be read into memory: %s",
				 source_path(source), strerror(-err));
	*memory = steal_fd(&fd);
	return 0;
}
