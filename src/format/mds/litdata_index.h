/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * litdata_index.h: the columns of LitData's chunks, as its index.json says. Private to
 * format/mds/.
 *
 * An item is a tree of dicts and lists, whose leaves are columns here: data_spec has the tree
 * (torch.utils._pytree), data_format how each leaf is stored. Facts:
 * litdata/streaming/writer.py and serializers.py of Lightning-AI/litData.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_MDS_LITDATA_INDEX_H
#define GRANARY_FORMAT_MDS_LITDATA_INDEX_H

#include "format/mds/mds_columns.h"
#include "source/source.h"

/* Reads the columns: 0, or an error that was told. To be freed by mds_columns_free in any case. */
int litdata_index_read(struct mds_columns *columns, const struct source *index,
		       struct error *e);

#endif
