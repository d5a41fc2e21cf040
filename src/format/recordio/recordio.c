/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * RecordIO files of MXNet: the images in them, as samples with labels.
 *
 * Records are gone through in order. An image is where its bytes lie in the file, and is not
 * read. Records that are no images can be shown as files of one record each.
 */
#include "format/format.h"

#include <string.h>

#include "format/recordio/rec_header.h"
#include "format/recordio/rec_rows.h"
#include "names/split_words.h"

enum { RECORDS_LOOKED = 16 };

/* The extension of the image in a record; NULL: none that is known. *empty: there is no image. */
static int detect_image(struct rec_file *file, const struct rec_record *record,
			const char **extension, bool *empty)
{
	unsigned char bytes[SAMPLES_SNIFF_BYTES];
	struct rec_header header;
	int err = rec_header_read(file, record, 0, &header);
	size_t n;

	*extension = NULL;
	*empty = err == 0 && header.image == record->length;
	if (err || *empty)
		return err < 0 ? err : 0;
	n = record->length - header.image < sizeof(bytes) ?
		    (size_t)(record->length - header.image) : sizeof(bytes);
	err = rec_record_read(file, record, header.image, bytes, n);
	if (!err)
		*extension = samples_detect_type(bytes, n);
	return err;
}

/* The extension of the images in the first records; SAMPLES_UNKNOWN: they hold no images. */
static int inspect_records(struct rec_file *file, const char **out)
{
	const char *extensions[RECORDS_LOOKED];
	struct rec_record record;
	size_t n = 0;
	bool empty;
	int r;

	rec_file_rewind(file);
	while (n < RECORDS_LOOKED && (r = rec_file_next(file, &record)) > 0) {
		r = detect_image(file, &record, &extensions[n], &empty);
		if (r < 0)
			break;
		n += !empty;
	}
	*out = samples_common_extension(extensions, n);
	return n == RECORDS_LOOKED ? 0 : r;
}

static int recordio_scan(struct scan *scan, struct error *e)
{
	char split[SPLIT_BYTES];
	const char *extension;
	struct rec_file file;
	int err = rec_file_open(&file, scan, e);

	split_of_path(scan->label, split);
	if (!err)
		err = inspect_records(&file, &extension);
	if (err)
		;
	else if (strcmp(extension, SAMPLES_UNKNOWN) != 0)
		err = rec_rows_add(&file, split, extension);
	else if (scan->rows->tree)
		err = rec_rows_add_records(&file, split);
	else
		err = rec_refuse(&file, "is a RecordIO file, and has no images behind MXNet's headers in "
					"its first records; -o view=tree shows each record as a file");
	rec_file_close(&file);
	return err;
}

const struct format format_recordio = {
	.name = "recordio",
	.in_order = true,
	.rows = true,
	.probe = rec_file_probe,
	.scan = recordio_scan,
};
