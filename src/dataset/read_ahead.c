/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dataset/read_ahead.h"

#include "base/invariant.h"
#include "dataset/assembly.h"

enum { PIECES_MOST = 16, GAP_MOST = 64 << 10 };

void dataset_stream_sources(struct dataset *ds)
{
	enum source_hint hint = ds->indexed ? HINT_STREAM_OWN : HINT_STREAM;

	HANDLE_CHECK(ds, HANDLE_DATASET);
	for (uint32_t i = 0; i < ds->sources.count; i++)
		source_hint(ds->sources.sources[i], hint, 0, 0);
	ds->volumes.staging = true;
}

void dataset_limit_cache(struct dataset *ds, uint64_t bytes)
{
	HANDLE_CHECK(ds, HANDLE_DATASET);
	cache_set_budget(ds->volumes.cache, bytes);
}

uint64_t dataset_cache_bytes(const struct dataset *ds)
{
	HANDLE_CHECK(ds, HANDLE_DATASET);
	return cache_bytes(ds->volumes.cache);
}

/* Extends a stored span by a piece that follows it. False: the piece does not follow. */
static bool read_ahead_extend(struct volume_span *stored, const struct volume_span *span)
{
	if (span->source != stored->source || span->start < stored->start ||
	    span->start > stored->end + GAP_MOST)
		return false;
	if (span->end > stored->end)
		stored->end = span->end;
	return true;
}

bool dataset_stored(const struct dataset *ds, uint32_t node, uint64_t offset,
		    uint64_t length, struct volume_span *out, bool *as_is)
{
	uint64_t end = offset + length;
	bool any = false;

	HANDLE_CHECK(ds, HANDLE_DATASET);
	if (as_is)
		*as_is = false;
	for (int i = 0; i < PIECES_MOST && offset < end; i++) {
		struct tree_piece piece;
		struct volume_span span;

		if (tree_piece(dataset_tree(ds), node, offset, &piece) < 0)
			break;
		if (piece.length > end - offset)
			piece.length = end - offset;
		offset += piece.length;
		if (piece.hole || !volume_span(&ds->volumes, piece.volume, piece.offset,
					       piece.length, &span))
			continue;
		if (!any)
			*out = (struct volume_span){ span.source, span.start, span.end };
		else if (!read_ahead_extend(out, &span))
			break;
		if (as_is)
			*as_is = !any && volume_is_plain(&ds->volumes, piece.volume) &&
				 span.end - span.start == length;
		any = true;
	}
	return any;
}

bool dataset_is_decoded(const struct dataset *ds, uint32_t node)
{
	struct tree_piece piece;
	struct volume_span span;
	uint64_t offset = 0;

	HANDLE_CHECK(ds, HANDLE_DATASET);
	for (int i = 0; i < PIECES_MOST; i++, offset += piece.length) {
		if (tree_piece(dataset_tree(ds), node, offset, &piece) < 0)
			return false;
		if (!piece.hole && volume_span(&ds->volumes, piece.volume, piece.offset, 1,
					       &span))
			return volume_is_decoded(&ds->volumes, piece.volume, piece.offset,
						 piece.length);
	}
	return false;
}

void dataset_use_blocks(struct dataset *ds, const struct volume_span *blocks, uint32_t count)
{
	HANDLE_CHECK(ds, HANDLE_DATASET);
	volume_use_blocks(&ds->volumes, blocks, count);
}

bool dataset_find_block(const struct dataset *ds, uint32_t source, uint64_t offset,
			uint32_t *out)
{
	HANDLE_CHECK(ds, HANDLE_DATASET);
	return volume_find_block(&ds->volumes, source, offset, out);
}

int dataset_stage(const struct dataset *ds, uint32_t block, struct cache_pin **out)
{
	HANDLE_CHECK(ds, HANDLE_DATASET);
	return volume_stage(&ds->volumes, block, out);
}

int dataset_stage_aligned(const struct dataset *ds, uint32_t source, uint64_t number,
			  struct cache_pin **out)
{
	HANDLE_CHECK(ds, HANDLE_DATASET);
	return volume_stage_aligned(&ds->volumes, source, number, out);
}

void dataset_unstage(const struct dataset *ds, struct cache_pin *pin, bool used)
{
	HANDLE_CHECK(ds, HANDLE_DATASET);
	if (used)
		cache_put_used(ds->volumes.cache, pin);
	else
		cache_put(ds->volumes.cache, pin);
}
