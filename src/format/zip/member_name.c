/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * member_name.c: the name of a member, in UTF-8.
 *
 * A record says that its name is UTF-8 by a flag, or has the name once more, in UTF-8, in
 * an extra field. Without either the standard means code page 437, and writers mean
 * whatever their system had: names_encoding= says what.
 */
#include "format/zip/member_name.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/utf8.h"
#include "build/findings.h"
#include "codec/codec.h"

enum { EXTRA_UNICODE_PATH = 0x7075, UNICODE_PATH_HEAD = 5, EXAMPLE_MOST = 100 };

/* Characters 0x80 to 0xff of code page 437. */
static const uint16_t cp437[128] = {
	0x00c7, 0x00fc, 0x00e9, 0x00e2, 0x00e4, 0x00e0, 0x00e5, 0x00e7,
	0x00ea, 0x00eb, 0x00e8, 0x00ef, 0x00ee, 0x00ec, 0x00c4, 0x00c5,
	0x00c9, 0x00e6, 0x00c6, 0x00f4, 0x00f6, 0x00f2, 0x00fb, 0x00f9,
	0x00ff, 0x00d6, 0x00dc, 0x00a2, 0x00a3, 0x00a5, 0x20a7, 0x0192,
	0x00e1, 0x00ed, 0x00f3, 0x00fa, 0x00f1, 0x00d1, 0x00aa, 0x00ba,
	0x00bf, 0x2310, 0x00ac, 0x00bd, 0x00bc, 0x00a1, 0x00ab, 0x00bb,
	0x2591, 0x2592, 0x2593, 0x2502, 0x2524, 0x2561, 0x2562, 0x2556,
	0x2555, 0x2563, 0x2551, 0x2557, 0x255d, 0x255c, 0x255b, 0x2510,
	0x2514, 0x2534, 0x252c, 0x251c, 0x2500, 0x253c, 0x255e, 0x255f,
	0x255a, 0x2554, 0x2569, 0x2566, 0x2560, 0x2550, 0x256c, 0x2567,
	0x2568, 0x2564, 0x2565, 0x2559, 0x2558, 0x2552, 0x2553, 0x256b,
	0x256a, 0x2518, 0x250c, 0x2588, 0x2584, 0x258c, 0x2590, 0x2580,
	0x03b1, 0x00df, 0x0393, 0x03c0, 0x03a3, 0x03c3, 0x00b5, 0x03c4,
	0x03a6, 0x0398, 0x03a9, 0x03b4, 0x221e, 0x03c6, 0x03b5, 0x2229,
	0x2261, 0x00b1, 0x2265, 0x2264, 0x2320, 0x2321, 0x00f7, 0x2248,
	0x00b0, 0x2219, 0x00b7, 0x221a, 0x207f, 0x00b2, 0x25a0, 0x00a0,
};

static bool is_ascii(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (text[i] & 0x80)
			return false;
	return true;
}

static bool is_utf8(const char *text, size_t n)
{
	for (size_t i = 0; i < n;) {
		uint32_t character;
		unsigned length = utf8_decode(text + i, n - i, &character);

		if (length == 0)
			return false;
		i += length;
	}
	return true;
}

int zip_names_open(struct zip_names *names, const struct zip_archive *archive)
{
	const struct format_options *options = archive->scan->options;

	*names = (struct zip_names){ .archive = archive };
	if (!options || !options->names_encoding)
		return 0;
	names->charset = charset_open(options->names_encoding);
	if (names->charset)
		return 0;
	return error_set(archive->e, ERROR_SYSTEM, errno,
			 "'%s': its names cannot be converted from %s: %s",
			 archive->scan->label, options->names_encoding, strerror(errno));
}

static void tell_count(const struct zip_names *names, enum finding_kind kind,
		       const struct zip_name_count *found,
		       const char *what)
{
	if (found->count)
		findings_add(
			names->archive->scan->findings, kind,
			"%llu names %s ('%s', for one); if that is wrong, name their "
			"encoding: -o names_encoding=GBK, for example",
			(unsigned long long)found->count, what, found->example);
}

void zip_names_report(const struct zip_names *names)
{
	tell_count(names, FINDING_USUAL, &names->unmarked,
		   "are not marked as UTF-8, and are taken for it, which they fit");
	tell_count(
		names, FINDING_CHOSEN, &names->code_page,
		"are not UTF-8, and are read as code page 437, as the standard has it");
	if (names->backslashes.count)
		findings_add(
			names->archive->scan->findings, FINDING_CHOSEN,
			"%llu names have a backslash ('%s', for one), which is a part of "
			"the name here, and no directory",
			(unsigned long long)names->backslashes.count,
			names->backslashes.example);
}

void zip_names_close(struct zip_names *names)
{
	charset_close(names->charset);
	vec_free(&names->text);
}

static void count_name(struct zip_names *names, struct zip_name_count *found)
{
	if (found->count++ == 0)
		snprintf(found->example, sizeof(found->example), "%.*s", EXAMPLE_MOST,
			 names->text.items);
}

static int set_text(struct zip_names *names, const char *text, size_t n)
{
	if (vec_reserve(&names->text, n + 1) < 0)
		return zip_no_memory(names->archive);
	memcpy(names->text.items, text, n);
	names->text.count = n;
	return 0;
}

static int set_code_page(struct zip_names *names, const struct zip_member *member)
{
	char *to;

	if (vec_reserve(&names->text, member->name_length * UTF8_MOST + 1) < 0)
		return zip_no_memory(names->archive);
	to = names->text.items;
	for (size_t i = 0; i < member->name_length; i++) {
		unsigned char byte = (unsigned char)member->name[i];

		to += utf8_encode(to, byte < 0x80 ? byte : cp437[byte - 0x80]);
	}
	names->text.count = (size_t)(to - names->text.items);
	return 0;
}

static int set_converted(struct zip_names *names, const struct zip_member *member)
{
	const struct scan *scan = names->archive->scan;
	size_t room = member->name_length * CHARSET_GROWTH + 1;
	ssize_t n;

	if (vec_reserve(&names->text, room) < 0)
		return zip_no_memory(names->archive);
	n = charset_to_utf8(names->charset, member->name, member->name_length,
			    names->text.items, room - 1);
	if (n >= 0) {
		names->text.count = (size_t)n;
		return 0;
	}
	return error_set(
		names->archive->e, ERROR_DATASET, EBADMSG,
		"'%s': the name of a member (record at byte %llu) is no text in %s; "
		"name another encoding with -o names_encoding=, or leave the option "
		"out",
		scan->label, (unsigned long long)(scan->base + member->at),
		scan->options->names_encoding);
}

/* The name in UTF-8 of the extra field, if it belongs to this name (4.6.9). */
static const char *unicode_path(const struct zip_member *member, size_t *n)
{
	size_t size;
	const unsigned char *field = zip_extra_field(member, EXTRA_UNICODE_PATH, &size);

	if (!field || size <= UNICODE_PATH_HEAD || field[0] != 1 ||
	    little_endian(field + 1, 4) !=
		    codec_crc32.sum(0, member->name, member->name_length))
		return NULL;
	*n = size - UNICODE_PATH_HEAD;
	field += UNICODE_PATH_HEAD;
	return is_utf8((const char *)field, *n) ? (const char *)field : NULL;
}

/* A name that neither says what it is nor is ASCII. */
static int set_unmarked(struct zip_names *names, const struct zip_member *member,
			struct zip_name_count **guess)
{
	if (names->charset)
		return set_converted(names, member);
	if (is_utf8(member->name, member->name_length)) {
		*guess = &names->unmarked;
		return set_text(names, member->name, member->name_length);
	}
	*guess = &names->code_page;
	return set_code_page(names, member);
}

int zip_names_find(struct zip_names *names, const struct zip_member *member)
{
	struct zip_name_count *guess = NULL;
	size_t n = 0;
	const char *path = unicode_path(member, &n);
	int err;

	if (path)
		err = set_text(names, path, n);
	else if ((member->flags & ZIP_UTF8) ||
		 is_ascii(member->name, member->name_length))
		err = set_text(names, member->name, member->name_length);
	else
		err = set_unmarked(names, member, &guess);
	if (err)
		return err;
	names->text.items[names->text.count] = '\0';
	if (guess)
		count_name(names, guess);
	if (memchr(names->text.items, '\\', names->text.count))
		count_name(names, &names->backslashes);
	return 0;
}
