/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/tfrecord/tf_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/crc32c.h"

enum { BLOCK_BYTES = 256 * 1024 };

/* ---- Errors ---- */

int tf_no_memory(struct tf_file *file)
{
	return format_no_memory(file->scan->label, file->e);
}

int tf_refuse_record(struct tf_file *file, const struct tf_record *record, const char *what)
{
	return tf_refuse(file, "is damaged: TFRecord %" PRIu64 " (at byte %" PRIu64 ") %s; copy "
			       "the file again, or write it again", record->number,
			 file->scan->base + record->at, what);
}

int tf_refuse_read(struct tf_file *file, const struct tf_record *record, int err)
{
	if (file->reader.err)
		return format_unreadable(file->scan->label, file->reader.err, file->e);
	if (err == -ENOMEM)
		return tf_no_memory(file);
	return tf_refuse(file, "is truncated: TFRecord %" PRIu64 ", which begins at byte %" PRIu64
			       ", does not end before byte %" PRIu64 ", where the file ends; "
			       "copy it again", record->number, file->scan->base + record->at,
			 file->scan->base + file->reader.length);
}

/* ---- Frames ---- */

static uint32_t masked_crc(uint32_t crc)
{
	return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static bool head_fits(const unsigned char *head)
{
	return masked_crc(crc32c(0, head, 8)) == little_endian(head + 8, 4);
}

/* Data that are one message of one field, as those of a tf.train.Example are. */
static bool begins_example(const unsigned char *data, size_t n, uint64_t length)
{
	uint64_t value = 0;
	size_t i = 1;

	if (n == 0 || data[0] != 0x0a)
		return false;
	for (unsigned shift = 0; i < n && shift < 63; shift += 7) {
		value |= (uint64_t)(data[i] & 127) << shift;
		if (!(data[i++] & 128))
			return length > i && value == length - i;
	}
	return false;
}

/* Without a checksum that fits the scan says what is wrong. */
int tf_file_probe(const unsigned char *head, size_t n)
{
	if (n < TF_HEAD_BYTES)
		return 0;
	if (head_fits(head))
		return 90;
	return begins_example(head + TF_HEAD_BYTES, n - TF_HEAD_BYTES, little_endian(head, 8)) ?
		       30 : 0;
}

/* ---- Records ---- */

int tf_file_open(struct tf_file *file, struct scan *scan, struct error *e)
{
	*file = (struct tf_file){ .scan = scan, .e = e };
	if (scan->compares) {
		file->block = malloc(BLOCK_BYTES);
		if (!file->block)
			return tf_no_memory(file);
	}
	return leap_reader_open(&file->reader, scan->source, scan->base, scan->length) < 0 ?
		       tf_no_memory(file) : 0;
}

void tf_file_close(struct tf_file *file)
{
	leap_reader_close(&file->reader);
	free(file->block);
	file->block = NULL;
}

void tf_file_rewind(struct tf_file *file)
{
	file->next = file->next_at = 0;
}

void tf_file_advance(struct tf_file *file, const struct tf_record *record)
{
	uint64_t end = record->data + record->length + TF_FRAME_BYTES - TF_HEAD_BYTES;

	if (end <= file->advanced)
		return;
	if (file->scan->advance)
		file->scan->advance(file->scan, end - file->advanced);
	file->advanced = end;
}

/* The checksum of the data, which no read of a mount compares. */
static int compare_data(struct tf_file *file, const struct tf_record *record)
{
	uint64_t done = 0;
	uint32_t crc = 0;
	unsigned char sum[4];
	int err = 0;

	while (done < record->length && !err) {
		uint64_t left = record->length - done;
		size_t n = left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;

		err = leap_reader_read(&file->reader, file->block, n, record->data + done);
		if (!err)
			crc = crc32c(crc, file->block, n);
		done += n;
	}
	if (!err)
		err = leap_reader_read(&file->reader, sum, sizeof(sum),
				       record->data + record->length);
	if (err)
		return tf_refuse_read(file, record, err);
	if (masked_crc(crc) != little_endian(sum, sizeof(sum)))
		return tf_refuse_record(file, record, "has data that its checksum does not fit");
	return 0;
}

/* Behind the last record: 0, or an error where that one is cut off, or was only begun. */
static int check_end(struct tf_file *file, struct tf_record *record)
{
	if (record->at > file->reader.length && record->number) {
		record->number--;
		return tf_refuse(file, "is truncated: TFRecord %" PRIu64 ", its last, ends behind "
				       "byte %" PRIu64 ", where the file ends; copy it again",
				 record->number, file->scan->base + file->reader.length);
	}
	if (record->at < file->reader.length)
		return tf_refuse_read(file, record, -EBADMSG);
	return 0;
}

int tf_file_next(struct tf_file *file, struct tf_record *out)
{
	unsigned char head[TF_HEAD_BYTES];
	uint64_t framed;
	int err;

	*out = (struct tf_record){ .number = file->next, .at = file->next_at };
	err = leap_reader_read(&file->reader, head, sizeof(head), out->at);
	if (err == -EBADMSG)
		return check_end(file, out);
	if (err)
		return tf_refuse_read(file, out, err);
	if (!head_fits(head))
		return tf_refuse_record(file, out, "has a length that its checksum does not fit");
	out->data = out->at + TF_HEAD_BYTES;
	out->length = little_endian(head, 8);
	if (!checked_add(out->length, TF_FRAME_BYTES, &framed) ||
	    !range_within(out->at, framed, file->reader.length))
		return tf_refuse_read(file, out, -EBADMSG);
	file->next++;
	file->next_at = out->at + framed;
	err = file->block ? compare_data(file, out) : 0;
	return err ? err : 1;
}
