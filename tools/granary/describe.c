/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "describe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
	char letter;
	const char *word;
} kinds[] = {
	[TREE_DIRECTORY] = { 'd', "directory" },
	[TREE_FILE] = { '-', "file" },
	[TREE_SYMLINK] = { 'l', "symlink" },
	[TREE_ALIAS] = { '?', "?" },
};

const char *describe_kind(enum tree_kind kind)
{
	return kinds[kind].word;
}

const char *describe_mode(const struct tree_stat *st, char out[MODE_TEXT_BYTES])
{
	out[0] = kinds[st->kind].letter;
	for (int bit = 0; bit < 9; bit++)
		out[1 + bit] = st->mode & (0400U >> bit) ? "rwxrwxrwx"[bit] : '-';
	out[10] = '\0';
	return out;
}

const char *describe_size(uint64_t bytes, char out[HUMAN_TEXT_BYTES])
{
	const char *unit = "KMGTPE";
	uint64_t tenths; /* of the unit, rounded up */

	if (bytes < 1024) {
		snprintf(out, HUMAN_TEXT_BYTES, "%" PRIu64, bytes);
		return out;
	}
	/* one unit at a time, so that nothing overflows; each bit counts for rounding */
	while (bytes > (UINT64_C(1023) << 10) && unit[1]) {
		bytes = (bytes >> 10) + ((bytes & 1023) != 0);
		unit++;
	}
	tenths = (bytes * 10 + 1023) >> 10;
	if (tenths < 100)
		snprintf(out, HUMAN_TEXT_BYTES, "%" PRIu64 ".%" PRIu64 "%c", tenths / 10,
			 tenths % 10, *unit);
	else
		snprintf(out, HUMAN_TEXT_BYTES, "%" PRIu64 "%c", (bytes + 1023) >> 10, *unit);
	return out;
}

void describe_json(struct json *json, const struct tree *tree, const char *path,
		   uint32_t node, const struct tree_stat *st)
{
	char target[TREE_TARGET_BYTES];

	json_text(json, "path", path);
	json_text(json, "kind", describe_kind(st->kind));
	json_uint(json, "size", st->size);
	json_uint(json, "mode", st->mode);
	json_uint(json, "uid", st->uid);
	json_uint(json, "gid", st->gid);
	json_uint(json, "links", st->links);
	json_int(json, "mtime", st->mtime);
	json_uint(json, "mtime_ns", st->mtime_ns);
	if (st->kind == TREE_SYMLINK && tree_readlink(tree, node, target) == 0)
		json_text(json, "target", target);
}
