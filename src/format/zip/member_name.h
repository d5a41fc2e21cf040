/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * member_name.h: names of a zip's members in UTF-8. Private to format/zip/.
 */
#ifndef GRANARY_FORMAT_ZIP_MEMBER_NAME_H
#define GRANARY_FORMAT_ZIP_MEMBER_NAME_H

#include "base/vec.h"
#include "format/zip/zip_archive.h"
#include "os/charset.h"

/* Names that are alike in something, and the first of them. */
struct zip_name_count {
	uint64_t count;
	char example[104];
};

struct zip_names {
	const struct zip_archive *archive;
	struct charset *charset; /* of names_encoding=, or NULL */
	VEC(char) text;          /* the name at hand, NUL-terminated */
	struct zip_name_count unmarked, code_page, backslashes;
};

/* 0, or an error that was told. */
int zip_names_open(struct zip_names *names, const struct zip_archive *archive);

/* Tells how names were read that do not say it themselves. */
void zip_names_report(const struct zip_names *names);
void zip_names_close(struct zip_names *names);

/* Leaves the member's name in names->text: 0, or an error that was told. */
int zip_names_find(struct zip_names *names, const struct zip_member *member);

#endif
