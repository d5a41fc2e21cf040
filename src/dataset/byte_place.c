/* SPDX-License-Identifier: GPL-3.0-or-later */
/* byte_place.c: where a file's bytes are stored. */
#include <errno.h>
#include <stdio.h>

#include "base/invariant.h"
#include "codec/codec.h"
#include "dataset/assembly.h"
#include "index/array_tiles.h"
#include "source/parts.h"

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

/* Goes from a volume to the stream that it lies on. */
static int find_stream(const struct dataset *ds, struct volume_desc *volume)
{
	return index_volume(ds->index, volume->source & ~VOLUME_ON_STREAM, volume);
}

/* Of a source in parts the part; bytes that are not decoded end with it. */
static void find_in_part(const struct source *source, struct dataset_place *out)
{
	const struct source *part = source_part_at(source, &out->offset);
	uint64_t size = source_size(part);

	out->source = source_path(part);
	if (!out->chunked && out->offset < size && out->stored > size - out->offset)
		out->stored = out->length = size - out->offset;
}

/*
 * The place in the source of a byte of what a volume is stored in: behind streams the
 * chunk that holds it.
 */
static int find_in_source(const struct dataset *ds, struct volume_desc volume,
			  struct dataset_place *out)
{
	for (unsigned deep = 0; volume.source & VOLUME_ON_STREAM; deep++) {
		struct volume_chunk chunk;
		uint64_t number, plain;

		if (deep == VOLUME_STREAMS_DEEP || find_stream(ds, &volume) < 0 ||
		    index_chunk(ds->index, &volume, out->offset, &number, &chunk, &plain) < 0)
			return -EIO;
		out->offset = chunk.stored_at;
	}
	if (volume.source >= ds->sources.count)
		return -EIO;
	find_in_part(ds->sources.sources[volume.source], out);
	return 0;
}

/* The place of a byte of a volume, in what it is stored in. */
static int find_in_volume(const struct dataset *ds, struct volume_desc *volume,
			  uint64_t offset, struct dataset_place *out)
{
	if (volume->kind == VOLUME_RAW) {
		offset += volume->base;
		out->offset = offset;
		out->stored = out->length;
		if (!(volume->source & VOLUME_ON_STREAM))
			return 0;
		if (find_stream(ds, volume) < 0)
			return -EIO;
	}
	return volume->kind == VOLUME_ARRAY ?
		       find_tile(ds, volume, offset, out) :
		       byte_place_find_chunk(ds, volume, offset, out);
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
	err = find_in_volume(ds, &volume, piece.offset, out);
	return err || !out->stored ? err : find_in_source(ds, volume, out);
}
