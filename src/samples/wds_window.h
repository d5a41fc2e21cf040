/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wds_window.h: small pieces of a shard, read in whole pages.
 *
 * Labels lie beside the headers that have just been read. Who asks for whole pages, and
 * keeps the last ones, finds them in the page cache, and storage is not asked again.
 *
 * Threads: one window belongs to one thread.
 */
#ifndef GRANARY_SAMPLES_WDS_WINDOW_H
#define GRANARY_SAMPLES_WDS_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "samples/wds_samples.h"
#include "source/source.h"

/* What the name of a .json's item says; most samples have the same. */
struct wds_key {
	char name[40];
	bool split, rival; /* it may say the split, or be another label */
	bool sure;         /* words there are splits */
};

enum {
	WDS_KEYS = 32,
	WDS_PAGE = 4096,
	WDS_WINDOW = 4 * WDS_PAGE, /* what it holds at once */
};

struct wds_window {
	const struct source *source;
	uint64_t decoded; /* wds_window_may_decode */
	uint64_t at;
	size_t held;
	unsigned char bytes[WDS_WINDOW];
	struct wds_key keys[WDS_KEYS]; /* that were asked for, each in its slot */
};

/*
 * `n` bytes (WDS_WINDOW - WDS_PAGE at most) of the source, valid until the next call: 0,
 * or a negative errno.
 */
int wds_window_get(struct wds_window *window, uint64_t offset, size_t n,
		   const unsigned char **out);

/*
 * May this member be decoded, with those before it? A few bytes of a zip can be many of
 * blanks: the sum is bounded by the size of the source (format/limits.h).
 */
bool wds_window_may_decode(struct wds_window *window, const struct wds_member *member);

/*
 * All of a member that has `size` bytes, holes included, into `out`: 0, or an errno. -EBADMSG:
 * it is compressed, and cannot be decoded.
 */
int wds_window_member(struct wds_window *window, const struct wds_member *member,
		      unsigned char *out);

/* Its first bytes; -EBADMSG also where they are in pieces, or too many to decode. */
int wds_window_head(struct wds_window *window, const struct wds_member *member, size_t n,
		    unsigned char *out);

#endif
