/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rec_rows.h: the records of a RecordIO file, as samples. Private to format/recordio/.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_RECORDIO_REC_ROWS_H
#define GRANARY_FORMAT_RECORDIO_REC_ROWS_H

#include "format/recordio/rec_file.h"

/*
 * Appends a group of samples: the images behind MXNet's headers, which mostly have that
 * extension. Describes them in scan->detail. 0, or an error that was told.
 */
int rec_rows_add(struct rec_file *file, const char *split, const char *extension);

/* The same of whole records, with their heads, so that each is a RecordIO file. */
int rec_rows_add_records(struct rec_file *file, const char *split);

#endif
