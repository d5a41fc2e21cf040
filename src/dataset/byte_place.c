/* SPDX-License-Identifier: GPL-3.0-or-later */
/* byte_place.c: where a file's bytes are stored. */
#include <errno.h>
#include <stdio.h>

#include "base/invariant.h"
#include "codec/codec.h"
#include "dataset/assembly.h"
#include "index/array_tiles.h"

static void name_codecs(const struct volume_desc *volume, uint32_t mask,
			struct dataset_place *out)
{
	uint32_t skipped = codec_chain_skipped(volume->codecs, mask);
	size_t n = 0;

	for (int i = 0; i < VOLUME_CODECS && volume->codecs[i]; i++) {
		const struct codec *codec = codec_find(volume->codecs[i]);

		if (!(skipped >> i & 1) && n < sizeof(out->codecs))
			n += (size_t)snprintf(out->codecs + n, sizeof(out->codecs) - n, "%s%s",
					      n ? "+" : "", codec ? codec->name : "?");
	}
}

/* The chunk that holds the byte at `offset` of a coded volume. */
static int byte_place_find_chunk(const struct dataset *ds,
				 const struct volume_desc *volume, uint64_t offset,
				 struct dataset_place *out)
{
	struct volume_chunk chunk;
	uint64_t number, plain, rest;

	if (index_chunk(ds->index, volume, offset, &number, &chunk, &plain) < 0)
		return -EIO;
	out->chunked = true;
	out->offset = chunk.stored_at;
	out->stored = chunk.stored_length;
	out->inside = offset - chunk.start;
	rest = plain - out->inside;
	if (rest < out->length)
		out->length = rest;
	name_codecs(volume, chunk.skipped, out);
	return out->length ? 0 : -EIO;
}

/* The tile that holds the byte at `offset` of an array. */
static int find_tile(const struct dataset *ds, const struct volume_desc *volume,
		     uint64_t offset, struct dataset_place *out)
{
	struct array_measure measure;
	struct volume_array array;
	struct volume_chunk tile;
	struct array_spot spot;
	uint64_t number, rest;

	if (offset >= volume->length ||
	    index_array(ds->index, volume, &array, &measure) < 0)
		return -EIO;
	array_find(&array, &measure, offset / array.item, &spot);
	if (index_tile(ds->index, volume, spot.tile, &number, &tile) < 0)
		return -EIO;
	rest = spot.run * array.item - offset % array.item;
	if (rest < out->length)
		out->length = rest;
	if (tile.stored_length == 0) {
		out->source = NULL;
		out->offset = 0;
		return 0;
	}
	name_codecs(volume, tile.skipped, out);
	out->chunked = out->codecs[0] || !spot.straight;
	out->offset = tile.stored_at;
	out->stored = tile.stored_length;
	out->inside = spot.inside * array.item + offset % array.item;
	if (out->chunked)
		return 0;
	out->offset += out->inside;
	out->stored = out->length;
	out->inside = 0;
	return 0;
}

int dataset_place(const struct dataset *ds, uint32_t node, uint64_t offset,
		  struct dataset_place *out)
{
	struct volume_desc volume;
	struct tree_piece piece;
	int err = tree_piece(dataset_tree(ds), node, offset, &piece);

	HANDLE_CHECK(ds, HANDLE_DATASET);
	if (err)
		return err;
	*out = (struct dataset_place){ .hole = piece.hole, .length = piece.length };
	if (piece.hole)
		return 0;
	if (index_volume(ds->index, piece.volume, &volume) < 0)
		return -EIO;
	out->offset = piece.offset;
	if (volume.kind == VOLUME_LITERAL)
		return 0;
	if (volume.source >= ds->sources.count)
		return -EIO;
	out->source = source_path(ds->sources.sources[volume.source]);
	if (volume.kind == VOLUME_CODED)
		return byte_place_find_chunk(ds, &volume, piece.offset, out);
	if (volume.kind == VOLUME_ARRAY)
		return find_tile(ds, &volume, piece.offset, out);
	out->offset += volume.base;
	out->stored = out->length;
	return 0;
}
