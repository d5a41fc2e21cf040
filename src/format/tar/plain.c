/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/tar/plain.h"

#include <string.h>

#include "base/checked.h"
#include "format/tar/header.h"

enum { /* of a header block */
	REST = 500, /* of which nothing is known */
	REST_BYTES = 12,
};

/* Octal digits, then blanks or NULs as far as the field goes, and nothing else. */
static bool parse_field(const unsigned char *field, unsigned n, uint64_t *out)
{
	uint64_t value = 0;
	unsigned i = 0;

	for (; i < n && field[i] >= '0' && field[i] <= '7'; i++)
		value = value << 3 | (uint64_t)(field[i] - '0');
	*out = value;
	if (i == 0)
		return false;
	for (; i < n; i++)
		if (field[i] != ' ' && field[i] != '\0')
			return false;
	return true;
}

/* The sum of all bytes, eight at a time: 64 words of them fit in lanes of 16 bits. */
static uint64_t sum_bytes(const unsigned char *block)
{
	const uint64_t even = UINT64_C(0x00ff00ff00ff00ff);
	uint64_t lanes = 0, word;

	for (unsigned i = 0; i < TAR_BLOCK; i += sizeof(word)) {
		memcpy(&word, block + i, sizeof(word));
		lanes += (word & even) + (word >> 8 & even);
	}
	return (lanes & 0xffff) + (lanes >> 16 & 0xffff) + (lanes >> 32 & 0xffff) +
	       (lanes >> 48);
}

static bool checksum_fits(const unsigned char *block)
{
	uint64_t stored, sum = sum_bytes(block);

	if (!parse_field(block + TAR_CHECKSUM, TAR_ID_BYTES, &stored))
		return false;
	for (unsigned i = 0; i < TAR_ID_BYTES; i++)
		sum += ' ' - (uint64_t)block[TAR_CHECKSUM + i];
	return stored == sum;
}

static bool plain_is_zero(const unsigned char *bytes, unsigned n)
{
	unsigned char any = 0;

	for (unsigned i = 0; i < n; i++)
		any |= bytes[i];
	return !any;
}

/* ASCII up to a NUL, or to the field's end; its length, 0 if it is not plain. */
static unsigned text_length(const unsigned char *field, unsigned n)
{
	const unsigned char *nul = memchr(field, '\0', n);
	unsigned length = nul ? (unsigned)(nul - field) : n;
	unsigned char any = 0;

	for (unsigned i = 0; i < length; i++)
		any |= field[i];
	return any & 0x80 ? 0 : length;
}

/* POSIX has the front of a long path in a field of its own, GNU has other things there. */
static bool parse_path(const unsigned char *block, char *out)
{
	unsigned name = text_length(block + TAR_NAME, TAR_NAME_BYTES), front = 0;
	bool posix = memcmp(block + TAR_MAGIC, "ustar\0" "00", 8) == 0;

	if (name == 0 || (!posix && memcmp(block + TAR_MAGIC, "ustar  \0", 8) != 0))
		return false;
	if (block[TAR_PREFIX]) {
		front = text_length(block + TAR_PREFIX, TAR_PREFIX_BYTES);
		if (!posix || front == 0 || block[TAR_PREFIX + front - 1] == '/')
			return false;
		memcpy(out, block + TAR_PREFIX, front);
		out[front++] = '/';
	} else if (!plain_is_zero(block + TAR_PREFIX, TAR_PREFIX_BYTES)) {
		return false;
	}
	memcpy(out + front, block + TAR_NAME, name);
	out[front + name] = '\0';
	return (block[TAR_TYPE] == '5') == (out[front + name - 1] == '/');
}

bool tar_plain_parse(const unsigned char *block, struct tar_plain *out)
{
	uint64_t mode, uid, gid, mtime;

	out->directory = block[TAR_TYPE] == '5';
	if ((!out->directory && block[TAR_TYPE] != '0' && block[TAR_TYPE] != '\0') ||
	    block[TAR_LINK] || !plain_is_zero(block + REST, REST_BYTES) ||
	    !checksum_fits(block) ||
	    !parse_field(block + TAR_MODE, TAR_ID_BYTES, &mode) ||
	    !parse_field(block + TAR_UID, TAR_ID_BYTES, &uid) ||
	    !parse_field(block + TAR_GID, TAR_ID_BYTES, &gid) ||
	    !parse_field(block + TAR_SIZE, TAR_LONG_BYTES, &out->size) ||
	    !parse_field(block + TAR_MTIME, TAR_LONG_BYTES, &mtime) ||
	    !parse_path(block, out->path))
		return false;
	out->mode = (uint32_t)mode & 0777;
	out->uid = (uint32_t)uid;
	out->gid = (uint32_t)gid;
	out->mtime = (int64_t)mtime;
	return !out->directory || out->size == 0;
}

/* Whether all of it lies in the window, and if so where it ends. */
static bool plain_find_end(const struct tar_window *window, uint64_t header,
			   const struct tar_plain *plain, uint64_t *end)
{
	uint64_t padded;

	return tar_round_up(plain->size, &padded) &&
	       checked_add(header + TAR_BLOCK, padded, end) && *end <= window->length;
}

static int tar_plain_append(struct scan *scan, const struct tar_window *window, uint64_t header,
		     const struct tar_plain *plain)
{
	uint64_t data = window->base + header + TAR_BLOCK;
	struct entries *log = entries_last(scan->entries);
	struct entry_extent extent;
	struct entry entry = {
		.kind = plain->directory ? ENTRY_DIRECTORY : ENTRY_FILE,
		.path = plain->path, .mode = plain->mode, .uid = plain->uid,
		.gid = plain->gid, .mtime = plain->mtime, .size = plain->size,
	};
	int err;

	if (entry.size) {
		err = entries_raw_extent(log, scan->source_number,
					 source_size(window->source), data, entry.size,
					 &extent);
		if (err)
			return err;
		entry.extents = &extent;
		entry.extent_count = 1;
		format_offer_nested(scan, &entry, data);
	}
	return entries_add(log, &entry);
}

/* A guess offers nothing: who takes the offer could not be told that it was wrong. */
static bool may_go_on(const struct scan *scan, const struct tar_run *run,
		      const struct tar_plain *plain)
{
	return !run->cancelled || (!atomic_load_explicit(run->cancelled,
							 memory_order_relaxed) &&
				   !format_may_nest(scan, plain->path));
}

int tar_plain_run(struct scan *scan, struct tar_window *window, struct tar_run *run,
		  struct error *e)
{
	const unsigned char *block;
	struct tar_plain plain;
	uint64_t end;
	int err;

	while (run->end < run->stop && (block = tar_window_header(window, run->end)) &&
	       tar_plain_parse(block, &plain) &&
	       plain_find_end(window, run->end, &plain, &end) &&
	       may_go_on(scan, run, &plain)) {
		err = tar_plain_append(scan, window, run->end, &plain);
		if (err)
			return format_no_memory(scan->label, e);
		if (scan->advance)
			scan->advance(scan, end - run->end);
		run->last = run->end;
		run->data_end = run->end + TAR_BLOCK + plain.size;
		run->end = end;
		run->members++;
	}
	return 0;
}
