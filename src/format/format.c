/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/format.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "format/unrecognised.h"
#include "names/packed_suffixes.h"

/* Bytes of a tar without a member. More zeros are rather a file that was never written. */
enum { BLANK_LEAST = 512, BLANK_MOST = 128 * 512 };

#define FORMAT(name, word, description, library) extern const struct format name;
#include "format/formats.def"
#undef FORMAT

static const struct format *const formats[] = {
#define FORMAT(name, word, description, library) &name,
#include "format/formats.def"
#undef FORMAT
};

/* The words of the formats, in the same order. */
static const char *const words[] = {
#define FORMAT(name, word, description, library) word,
#include "format/formats.def"
#undef FORMAT
};

enum { FORMATS = sizeof(formats) / sizeof(*formats) };

const struct format *format_probe(const unsigned char *head, size_t n)
{
	const struct format *best = NULL;
	int best_score = 0;

	for (size_t i = 0; i < FORMATS; i++) {
		int score = formats[i]->probe(head, n);

		if (score > best_score) {
			best = formats[i];
			best_score = score;
		}
	}
	return best;
}

/* The same for the bytes at a file's end. */
static const struct format *format_probe_end(const unsigned char *tail, size_t n)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (formats[i]->probe_end && formats[i]->probe_end(tail, n) > 0)
			return formats[i];
	return NULL;
}

bool format_may_nest(const struct scan *scan, const char *path)
{
	return scan->offer && packed_suffix_length(path, strlen(path)) > 0 &&
	       (scan->opens_npz || !packed_suffix_is_npz(path, strlen(path)));
}

void format_offer_nested(struct scan *scan, struct entry *entry, uint64_t offset)
{
	if (entry->size == 0 || !format_may_nest(scan, entry->path))
		return;
	entry->nested = scan->offer(scan, entry->path, offset, entry->size);
	if (entry->nested)
		entry->kind = ENTRY_NESTED;
}

const struct format *format_by_name(const char *name)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

const char *format_word(const struct format *format)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (formats[i] == format)
			return words[i];
	return format->name;
}

int format_scan(const struct format *format, struct scan *scan, struct error *e)
{
	if (!format->needs)
		return format->scan(scan, e);
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "'%s' cannot be read (%s): this granaryfs was built without %s",
			 scan->label, format_word(format), format->needs);
}

int format_no_memory(const char *label, struct error *e)
{
	return error_set(e, ERROR_SYSTEM, ENOMEM,
			 "there is not enough memory to index '%s'; free some and "
			 "try again",
			 label);
}

int format_unreadable(const char *label, int err, struct error *e)
{
	errno = -err;
	return error_set(e, ERROR_SYSTEM, -err,
			 "cannot read '%s': %m; check the storage, or copy the file "
			 "again",
			 label);
}

int format_refuse(const struct scan *scan, struct error *e, const char *format, ...)
{
	char what[1536];
	va_list values;

	va_start(values, format);
	vsnprintf(what, sizeof(what), format, values);
	va_end(values);
	return error_set(e, ERROR_DATASET, EBADMSG, "'%s' %s", scan->label, what);
}

static int find_by_end(const struct source *source, uint64_t base, uint64_t length,
		       const struct format **out)
{
	size_t n = length < FORMAT_TAIL_BYTES ? (size_t)length : FORMAT_TAIL_BYTES;
	CLEANUP(cleanup_free) unsigned char *tail = malloc(FORMAT_TAIL_BYTES);
	int err = tail ? source_pread(source, tail, n, base + length - n) : -ENOMEM;

	*out = err ? NULL : format_probe_end(tail, n);
	return err;
}

int format_of_window(const struct source *source, uint64_t base, uint64_t length,
		     const char *label, const struct format **out,
		     struct error *e)
{
	size_t n = length < FORMAT_HEAD_BYTES ? (size_t)length : FORMAT_HEAD_BYTES;
	CLEANUP(cleanup_free) unsigned char *head = NULL;
	int err;

	if (length == 0)
		return error_set(e, ERROR_DATASET, EBADMSG,
				 "'%s' is empty (0 bytes); pack or copy it again",
				 label);
	head = malloc(FORMAT_HEAD_BYTES);
	if (!head)
		return format_unreadable(label, -ENOMEM, e);
	err = source_pread(source, head, n, base);
	if (err)
		return format_unreadable(label, err, e);
	*out = format_probe(head, n);
	if (*out)
		return 0;
	err = find_by_end(source, base, length, out);
	if (err || *out)
		return err ? format_unreadable(label, err, e) : 0;
	return format_unrecognised(source, base, length, label, head, n, e);
}

int format_is_blank_tar(const struct source *source, uint64_t base, uint64_t length)
{
	unsigned char bytes[BLANK_MOST];
	int err;

	if (length < BLANK_LEAST || length > BLANK_MOST)
		return 0;
	err = source_pread(source, bytes, (size_t)length, base);
	return err ? err : all_zero(bytes, (size_t)length);
}
