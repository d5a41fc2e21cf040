/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/recordio/rec_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/checked.h"

#define MAGIC UINT32_C(0xced7230a)

enum { HEAD_BYTES = 8, MAGIC_BYTES = 4, ALIGNMENT = 4, KIND_SHIFT = 29 };

enum part_kind { PART_WHOLE, PART_FIRST, PART_MIDDLE, PART_LAST };

/* ---- Errors ---- */

int rec_no_memory(struct rec_file *file)
{
	return format_no_memory(file->scan->label, file->e);
}

int rec_refuse_record(struct rec_file *file, const struct rec_record *record,
		      const char *what)
{
	return rec_refuse(file, "is damaged: RecordIO's record %" PRIu64 " (at byte %" PRIu64
				") %s; copy the file again, or write it again", record->number,
			  file->scan->base + record->at, what);
}

/* The sentence for an error of the reader: storage, or a place behind the end. */
static int rec_refuse_read(struct rec_file *file, const struct rec_record *record)
{
	if (file->reader.err)
		return format_unreadable(file->scan->label, file->reader.err, file->e);
	return rec_refuse(file, "is truncated: RecordIO's record %" PRIu64 ", which begins at byte %"
				PRIu64 ", does not end before byte %" PRIu64 ", where the file "
				"ends; copy it again", record->number,
			  file->scan->base + record->at, file->scan->base + file->reader.length);
}

/* ---- Parts ---- */

int rec_file_probe(const unsigned char *head, size_t n)
{
	uint64_t kind = n < HEAD_BYTES ? PART_LAST : little_endian(head + 4, 4) >> KIND_SHIFT;

	return kind <= PART_FIRST && little_endian(head, MAGIC_BYTES) == MAGIC ? 90 : 0;
}

/* Says why a part of that kind and length cannot be there; NULL: it can. */
static const char *part_fault(const struct rec_file *file, unsigned kind, uint64_t length)
{
	bool first = file->ranges.count == 0;

	if (kind > PART_LAST || first != (kind == PART_WHOLE || kind == PART_FIRST))
		return first ? "begins with a part that is none of a record's first ones" :
			       "has a first part behind its first one";
	if (kind != PART_WHOLE && kind != PART_LAST && length % ALIGNMENT)
		return "has a part before its last whose length is no multiple of 4";
	if (file->ranges.count == REC_PARTS_MOST)
		return "has more than 4096 parts";
	return NULL;
}

/* Takes the data of a part whose head is at `record->end`. */
static int take_part(struct rec_file *file, struct rec_record *record, uint64_t length)
{
	struct rec_range range = { .at = record->end + HEAD_BYTES, .length = length };

	if (file->ranges.count) {
		file->ranges.items[file->ranges.count - 1].length += MAGIC_BYTES;
		record->length += MAGIC_BYTES;
	}
	record->length += length;
	record->end = range.at + (length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return vec_push(&file->ranges, range) < 0 ? rec_no_memory(file) : 0;
}

/* The next part of the record: 1 where more follow, 0 behind the last one, or an error. */
static int add_part(struct rec_file *file, struct rec_record *record)
{
	unsigned char head[HEAD_BYTES];
	uint64_t length;
	unsigned kind;
	const char *fault;
	int err = leap_reader_read(&file->reader, head, sizeof(head), record->end);

	if (err)
		return rec_refuse_read(file, record);
	kind = (unsigned)(little_endian(head + MAGIC_BYTES, 4) >> KIND_SHIFT);
	length = little_endian(head + MAGIC_BYTES, 4) & ((UINT32_C(1) << KIND_SHIFT) - 1);
	fault = little_endian(head, MAGIC_BYTES) != MAGIC ?
			"does not begin with the magic number of RecordIO" :
			part_fault(file, kind, length);
	if (fault)
		return rec_refuse_record(file, record, fault);
	err = take_part(file, record, length);
	if (!err && record->end > file->reader.length)
		err = rec_refuse_read(file, record);
	return err ? err : kind == PART_FIRST || kind == PART_MIDDLE;
}

/* ---- Records ---- */

int rec_file_open(struct rec_file *file, struct scan *scan, struct error *e)
{
	*file = (struct rec_file){ .scan = scan, .e = e };
	return leap_reader_open(&file->reader, scan->source, scan->base, scan->length) < 0 ?
		       rec_no_memory(file) : 0;
}

void rec_file_close(struct rec_file *file)
{
	leap_reader_close(&file->reader);
	vec_free(&file->ranges);
}

void rec_file_rewind(struct rec_file *file)
{
	file->next = file->next_at = 0;
}

void rec_file_advance(struct rec_file *file, const struct rec_record *record)
{
	if (record->end <= file->advanced)
		return;
	if (file->scan->advance)
		file->scan->advance(file->scan, record->end - file->advanced);
	file->advanced = record->end;
}

/* Is there no byte at the next record's place? A stream tells its length only there. */
static bool is_at_end(struct rec_file *file)
{
	unsigned char byte;

	return file->next_at >= file->reader.length ||
	       (leap_reader_read(&file->reader, &byte, 1, file->next_at) == -EBADMSG &&
		file->next_at >= file->reader.length);
}

int rec_file_next(struct rec_file *file, struct rec_record *out)
{
	int r = 1;

	*out = (struct rec_record){ .number = file->next, .at = file->next_at,
				    .end = file->next_at };
	if (is_at_end(file)) {
		if (out->at == file->reader.length || !out->number)
			return 0;
		out->number--;
		return rec_refuse(file, "is truncated: RecordIO's record %" PRIu64 ", its last, ends "
					"behind byte %" PRIu64 ", where the file ends; copy it "
					"again", out->number,
				  file->scan->base + file->reader.length);
	}
	file->ranges.count = 0;
	while (r > 0)
		r = add_part(file, out);
	if (r < 0)
		return r;
	out->ranges = file->ranges.items;
	out->range_count = file->ranges.count;
	file->next++;
	file->next_at = out->end;
	return 1;
}

int rec_record_read(struct rec_file *file, const struct rec_record *record, uint64_t at,
		    void *out, size_t n)
{
	unsigned char *to = out;
	int err = 0;

	for (size_t i = 0; i < record->range_count && n && !err; i++) {
		const struct rec_range *range = &record->ranges[i];
		size_t most;

		if (at >= range->length) {
			at -= range->length;
			continue;
		}
		most = range->length - at < n ? (size_t)(range->length - at) : n;
		err = leap_reader_read(&file->reader, to, most, range->at + at);
		to += most;
		n -= most;
		at = 0;
	}
	return err || n ? rec_refuse_read(file, record) : 0;
}
