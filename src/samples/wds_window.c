/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "samples/wds_window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/cleanup.h"
#include "format/limits.h"
#include "samples/wds_extents.h"

enum {
	DECODED_MOST = 16 << 20,  /* for its first bytes */
	DECODED_SMALL = 4096,     /* no more than its entry in the zip costs */
	DECODED_FREE = 256 << 20, /* of a source, see limit_sum */
};

static int wds_window_fetch(struct wds_window *window, uint64_t offset, size_t n)
{
	uint64_t size = source_size(window->source);
	uint64_t at = offset - offset % WDS_PAGE, end = offset + n;
	int err;

	end += (WDS_PAGE - end % WDS_PAGE) % WDS_PAGE;
	if (end > size)
		end = size;
	window->held = 0;
	err = source_pread(window->source, window->bytes, (size_t)(end - at), at);
	if (err)
		return err;
	window->at = at;
	window->held = (size_t)(end - at);
	return 0;
}

int wds_window_get(struct wds_window *window, uint64_t offset, size_t n,
		   const unsigned char **out)
{
	int err = 0;

	if (n > WDS_WINDOW - WDS_PAGE ||
	    !range_within(offset, n, source_size(window->source)))
		return -EIO;
	if (offset < window->at || !range_within(offset - window->at, n, window->held))
		err = wds_window_fetch(window, offset, n);
	*out = window->bytes + (offset - window->at);
	return err;
}

static int wds_window_copy(struct wds_window *window, uint64_t offset, uint64_t n,
			   unsigned char *out)
{
	while (n) {
		size_t piece = n < WDS_WINDOW - WDS_PAGE ? (size_t)n : WDS_WINDOW - WDS_PAGE;
		const unsigned char *bytes;
		int err = wds_window_get(window, offset, piece, &bytes);

		if (err)
			return err;
		memcpy(out, bytes, piece);
		out += piece;
		offset += piece;
		n -= piece;
	}
	return 0;
}

bool wds_window_may_decode(struct wds_window *window, const struct wds_member *member)
{
	return member->whole || member->size <= DECODED_SMALL ||
	       limit_sum(&window->decoded, member->size, source_size(window->source),
			 DECODED_FREE);
}

int wds_window_member(struct wds_window *window, const struct wds_member *member,
		      unsigned char *out)
{
	const struct volume_desc *volume;
	const struct entry *entry;
	int err = 0;

	if (member->whole)
		return wds_window_copy(window, member->offset, member->size, out);
	entry = entries_get(member->log, member->index);
	memset(out, 0, member->size);
	for (size_t i = 0; i < entry->extent_count && !err; i++) {
		const struct entry_extent *x = &entry->extents[i];

		if (!range_within(x->file_offset, x->length, member->size))
			return -EIO;
		volume = entries_volume(member->log, x->volume);
		if (volume->kind == VOLUME_CODED)
			err = wds_extent_decode(window->source, member->log, x,
						out + x->file_offset);
		else
			err = wds_window_copy(window, volume->base + x->offset, x->length,
					      out + x->file_offset);
	}
	return err;
}

int wds_window_head(struct wds_window *window, const struct wds_member *member, size_t n,
		    unsigned char *out)
{
	CLEANUP(cleanup_free) unsigned char *all = NULL;
	int err;

	if (member->whole)
		return wds_window_copy(window, member->offset, n, out);
	if (!member->coded || member->size > DECODED_MOST ||
	    !wds_window_may_decode(window, member))
		return -EBADMSG;
	all = malloc(member->size);
	err = all ? wds_window_member(window, member, all) : -ENOMEM;
	if (!err)
		memcpy(out, all, n);
	return err;
}
