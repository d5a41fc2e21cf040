/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/unrecognised.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "config.h"
#include "format/format.h"
#include "format/embedded.h"
#include "format/peek.h"
#include "format/signature.h"

enum {
	ZEROS_CHECKED = 16 * 1024 * 1024, /* before a file is called empty */
	BYTES_QUOTED = 16,
	WHAT_BYTES = 160,
	REMEDY_BYTES = 1280,
};

/* "tar archive (...), squashfs image, ": what is read, for messages */
static const char descriptions[] =
#define FORMAT(name, word, description, library) IF_##library(description ", ")
#include "format/formats.def"
#undef FORMAT
	;

enum { DESCRIPTIONS_LENGTH = sizeof(descriptions) - sizeof(", ") };

/* Writes `remedy` with the label in place of its %s. */
static void fill_remedy(const char *remedy, const char *label, char *text,
			size_t room)
{
	const char *hole = strstr(remedy, "%s");

	if (hole)
		snprintf(text, room, "%.*s%s%s", (int)(hole - remedy), remedy, label,
			 hole + 2);
	else
		snprintf(text, room, "%s", remedy);
}

static int refuse_as(const char *label, const char *what, const char *remedy,
		     struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "'%s' is %s, not a packed dataset that this version reads "
			 "(%.*s); %s",
			 label, what, DESCRIPTIONS_LENGTH, descriptions, remedy);
}

/* "a gzip-compressed file" and "an ORC file": "a gzip-compressed ORC file". */
static void name_both(const struct signature *outer, const char *inner, char *what)
{
	size_t length = strlen(outer->what);

	if (length > strlen("file") && strcmp(outer->what + length - 4, "file") == 0)
		length -= strlen("file");
	if (strncmp(inner, "a ", 2) == 0 || strncmp(inner, "an ", 3) == 0)
		inner = strchr(inner, ' ') + 1;
	snprintf(what, WHAT_BYTES, "%.*s%s", (int)length, outer->what, inner);
}

/* A compressed file, of which the `n` bytes at `head` are what is in it. */
static int refuse_stream(const char *label, const struct signature *outer,
			 const unsigned char *head, size_t n, struct error *e)
{
	const struct format *format = n ? format_probe(head, n) : NULL;
	const struct signature *inner = n && !format ? signature_find(head, n) : NULL;
	const char *kind = format ? format_word(format) : inner ? inner->what : NULL;
	const char *next = format ? "mount '%s'" : inner ? inner->remedy : NULL;
	char what[WHAT_BYTES], remedy[REMEDY_BYTES];

	fill_remedy(outer->remedy, label, remedy, sizeof(remedy));
	if (!kind || !next)
		return refuse_as(label, outer->what, remedy, e);
	name_both(outer, kind, what);
	if (!strstr(next, "%s"))
		return refuse_as(label, what, next, e);
	buffer_print(remedy, sizeof(remedy), ", then ");
	fill_remedy(next, "unpacked", remedy + strlen(remedy), sizeof(remedy) - strlen(remedy));
	return refuse_as(label, what, remedy, e);
}

static int refuse_known(const struct source *source, uint64_t base, uint64_t length,
			const char *label, const struct signature *found, struct error *e)
{
	CLEANUP(cleanup_free) unsigned char *inner = NULL;
	char remedy[REMEDY_BYTES];

	if (!found->stream) {
		fill_remedy(found->remedy, label, remedy, sizeof(remedy));
		return refuse_as(label, found->what, remedy, e);
	}
	inner = malloc(FORMAT_HEAD_BYTES);
	if (!inner)
		return format_no_memory(label, e);
	return refuse_stream(label, found, inner,
			     peek(source, base, length, inner, FORMAT_HEAD_BYTES), e);
}

static int unrecognised_refuse(const char *label, const unsigned char *head, size_t n,
			       struct error *e)
{
	char hex[3 * BYTES_QUOTED + 1] = "";
	size_t quoted = n < BYTES_QUOTED ? n : BYTES_QUOTED;

	for (size_t i = 0; i < quoted; i++)
		buffer_print(hex, sizeof(hex), " %02x", head[i]);
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "'%s' is of no kind that is known here, its first bytes "
			 "are%s; this version reads: %.*s",
			 label, hex, DESCRIPTIONS_LENGTH, descriptions);
}

static int refuse_zeros(const char *label, uint64_t length, bool whole,
			struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "'%s' holds only zero bytes (%s%llu bytes): it is an empty "
			 "tar archive, or a file that was never written; pack or "
			 "copy it again",
			 label, whole ? "all of its " : "at least in its first ",
			 (unsigned long long)length);
}

/* Leaves in *zeros how many bytes of the window are zero from its start on. */
static int count_zeros(const struct source *source, uint64_t base, uint64_t length,
		       unsigned char *buffer, uint64_t *zeros)
{
	uint64_t at = 0;

	while (at < length && at < ZEROS_CHECKED) {
		uint64_t left = length - at;
		size_t n = left < FORMAT_HEAD_BYTES ? (size_t)left : FORMAT_HEAD_BYTES;
		int err = source_pread(source, buffer, n, base + at);

		if (err)
			return err;
		if (!all_zero(buffer, n))
			break;
		at += n;
	}
	*zeros = at;
	return 0;
}

static int refuse_zero_head(const struct source *source, uint64_t base,
			    uint64_t length, const char *label,
			    unsigned char *buffer, struct error *e)
{
	uint64_t zeros;
	int err = count_zeros(source, base, length, buffer, &zeros);

	if (err)
		return format_unreadable(label, err, e);
	if (zeros == length || zeros >= ZEROS_CHECKED)
		return refuse_zeros(label, zeros, zeros == length, e);
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "'%s' begins with %llu zero bytes, so it is no packed "
			 "dataset, or one whose beginning is lost; copy it again",
			 label, (unsigned long long)zeros);
}

int format_unrecognised(const struct source *source, uint64_t base, uint64_t length,
		  const char *label, unsigned char *head, size_t n, struct error *e)
{
	const struct signature *found = signature_find(head, n);
	int err = embedded_refuse(source, base, length, label, head, n, found != NULL, e);

	if (err)
		return err;
	if (all_zero(head, n))
		return refuse_zero_head(source, base, length, label, head, e);
	if (found)
		return refuse_known(source, base, length, label, found, e);
	return unrecognised_refuse(label, head, n, e);
}
