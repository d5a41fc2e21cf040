#include "format/format.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/signature.h"
#include "util/cleanup.h"

enum {
	ZEROS_LOOKED_AT = 16 * 1024 * 1024, /* before a file is called empty */
	BYTES_QUOTED = 16,
};

#define FORMAT(name, word, description) extern const struct format name;
#include "format/formats.def"
#undef FORMAT

static const struct format *const formats[] = {
#define FORMAT(name, word, description) &name,
#include "format/formats.def"
#undef FORMAT
};

/* "tar archive (...), squashfs image, ": what is read, for messages */
static const char descriptions[] =
#define FORMAT(name, word, description) description ", "
#include "format/formats.def"
#undef FORMAT
	;

enum { DESCRIPTIONS_LENGTH = sizeof(descriptions) - sizeof(", ") };

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

const struct format *format_by_name(const char *name)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

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

static int refuse_known(const char *label, const struct signature *found,
			struct error *e)
{
	char remedy[1024];

	fill_remedy(found->remedy ? found->remedy : "pack the dataset as one of these",
		    label, remedy, sizeof(remedy));
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "'%s' is %s, not a packed dataset that this version reads "
			 "(%.*s); %s",
			 label, found->what, DESCRIPTIONS_LENGTH, descriptions, remedy);
}

static int refuse_unknown(const char *label, const unsigned char *head, size_t n,
			  struct error *e)
{
	char hex[3 * BYTES_QUOTED + 1] = "";
	size_t quoted = n < BYTES_QUOTED ? n : BYTES_QUOTED;

	for (size_t i = 0; i < quoted; i++)
		snprintf(hex + 3 * i, 4, " %02x", head[i]);
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

static bool all_zero(const unsigned char *bytes, size_t n)
{
	return n == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0);
}

/* Leaves in *zeros how many bytes of the window are zero from its start on. */
static int count_zeros(const struct source *source, uint64_t base, uint64_t length,
		       unsigned char *buffer, uint64_t *zeros)
{
	uint64_t at = 0;

	while (at < length && at < ZEROS_LOOKED_AT) {
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
	if (zeros == length || zeros >= ZEROS_LOOKED_AT)
		return refuse_zeros(label, zeros, zeros == length, e);
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "'%s' begins with %llu zero bytes, so it is no packed "
			 "dataset, or one whose beginning is lost; copy it again",
			 label, (unsigned long long)zeros);
}

int format_of_window(const struct source *source, uint64_t base, uint64_t length,
		     const char *label, const struct format **out,
		     struct error *e)
{
	size_t n = length < FORMAT_HEAD_BYTES ? (size_t)length : FORMAT_HEAD_BYTES;
	CLEANUP(cleanup_free) unsigned char *head = NULL;
	const struct signature *found;
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
	if (all_zero(head, n))
		return refuse_zero_head(source, base, length, label, head, e);
	found = signature_find(head, n);
	if (found)
		return refuse_known(label, found, e);
	return refuse_unknown(label, head, n, e);
}
