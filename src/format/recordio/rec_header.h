/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rec_header.h: the header before each image in MXNet's RecordIO files. Private to
 * format/recordio/.
 *
 * Layout: u32 flag, f32 label, u64 id, u64 id2. Where flag is not 0, it is the number of f32
 * labels that follow, in place of the one. Behind them is the image as it was packed, or
 * nothing. Facts: mxnet, python/mxnet/recordio.py (IRHeader, pack) and
 * src/io/image_recordio.h.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_RECORDIO_REC_HEADER_H
#define GRANARY_FORMAT_RECORDIO_REC_HEADER_H

#include <stdbool.h>

#include "format/recordio/rec_file.h"
#include "labels/label_text.h"

struct rec_header {
	uint64_t labels;    /* how many; 1 where flag is 0 */
	uint64_t id;
	uint64_t image;     /* where the image begins in the record's data: it may be empty */
	float label;        /* the one in the place asked for; NaN where there is none */
	float first, second;
	struct one_hot hot; /* all of them */
};

/*
 * The header of a record, with the label in the place `label`, from 0. 0; 1 where the record is
 * too short for one; or an error that was told.
 */
int rec_header_read(struct rec_file *file, const struct rec_record *record, uint64_t label,
		    struct rec_header *out);

/* Does a header without an image say how many images and identities there are? InsightFace. */
bool rec_header_counts(const struct rec_header *header);

#endif
