/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bound.c: the bottleneck of a reader, in words. */
#include <stdio.h>

#include "base/size.h"
#include "stats/sample.h"

const char *bound_word(enum bound bound)
{
	static const char *const words[] = { [BOUND_LOADER] = "loader",
		[BOUND_STORAGE] = "storage", [BOUND_DECODE] = "decode",
		[BOUND_DAEMON] = "daemon" };

	return words[bound];
}

/* The most frequent kind of request, and a remedy. */
static const char *bound_remedy(enum counter most)
{
	switch ((int)most) {
	case COUNTER_fuse_ioctl:
		return "most are ioctls, one for each open() of Python's before 3.14, which the "
		       "shield would spare (as root: -o allow_other; the log says why there is none)";
	case COUNTER_fuse_open:
	case COUNTER_fuse_release:
		return "most are opens, which -o opens=hidden would spare";
	case COUNTER_fuse_read:
		return "most are reads of what the page cache does not hold yet, or no longer";
	default:
		return "most are about names and attributes, which the kernel keeps after the "
		       "first time as long as it has memory";
	}
}

static char *loader_sentence(const struct rates *r, char *out)
{
	char count[SIZE_TEXT_BYTES];

	if (r->requests <= 0)
		snprintf(out, BOUND_TEXT_BYTES,
			 "Bound by the loader itself: no request reaches the daemon; the kernel's "
			 "page cache answers all, or nobody reads.");
	else
		snprintf(out, BOUND_TEXT_BYTES,
			 "Bound by the loader itself: only %s requests a second reach the daemon, "
			 "and take %.0f %% of one reader's time.",
			 count_text((uint64_t)(r->requests + 0.5), count), 100 * r->waiting);
	return out;
}

static char *storage_sentence(const struct rates *r, char *out)
{
	char size[SIZE_TEXT_BYTES], count[SIZE_TEXT_BYTES];

	if (r->stuck)
		snprintf(out, BOUND_TEXT_BYTES,
			 "Bound by the storage: it does not answer; %s requests wait, and none came "
			 "to an end.", count_text(r->stuck, count));
	else
		snprintf(out, BOUND_TEXT_BYTES,
			 "Bound by the storage: %.1f readers wait for it, which gives %s a second "
			 "in %s reads.", r->storage, size_text((uint64_t)r->source_bytes, size),
			 count_text((uint64_t)(r->source_reads + 0.5), count));
	return out;
}

char *bound_sentence(const struct rates *r, char *out)
{
	char size[SIZE_TEXT_BYTES], count[SIZE_TEXT_BYTES];

	switch (r->bound) {
	case BOUND_LOADER:
		return loader_sentence(r, out);
	case BOUND_STORAGE:
		return storage_sentence(r, out);
	case BOUND_DECODE:
		snprintf(out, BOUND_TEXT_BYTES,
			 "Bound by decoding: %.1f readers wait for it, which makes %s a second; "
			 "more processors (-o threads=, cpus=) or a lighter codec help.",
			 r->decode, size_text((uint64_t)r->decoded_bytes, size));
		break;
	case BOUND_DAEMON:
		snprintf(out, BOUND_TEXT_BYTES,
			 "Bound by the daemon: %s requests a second reach it; %s.",
			 count_text((uint64_t)(r->requests + 0.5), count),
			 bound_remedy(r->most));
		break;
	}
	return out;
}
