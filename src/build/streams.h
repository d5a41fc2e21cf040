/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * streams.h: compressed streams that extents may lie on, as the index records them.
 *
 * In the volumes of a log the source VOLUME_ON_STREAM | i is record i. Only streams that
 * some file lies on get into the index.
 */
#ifndef GRANARY_BUILD_STREAMS_H
#define GRANARY_BUILD_STREAMS_H

#include <stddef.h>
#include <stdint.h>

#include "index/volume_desc.h"

struct builder;

struct stream_record {
	uint32_t source;  /* the stream's own, or VOLUME_ON_STREAM and a lower record */
	uint32_t codec;   /* a CODEC_STEP */
	uint64_t length;  /* decoded bytes */
	uint64_t count;   /* of chunks, and of points */
	const struct volume_chunk *chunks;
	const struct volume_point *points; /* their windows: offsets in these bytes */
	const uint8_t *windows;
	size_t window_bytes;
};

/* Before builder_apply. The records must outlive the builder. 0 or -ENOMEM. */
int builder_set_streams(struct builder *builder, const struct stream_record *records,
			uint32_t count);

#endif
