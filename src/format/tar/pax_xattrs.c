/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Extended attributes in pax headers. GNU tar and star write SCHILY.xattr.NAME with the
 * value as it is, GNU tar with = and % in the name as %3D and %25. libarchive writes
 * LIBARCHIVE.xattr.NAME with the value in base 64, and beside it the other, both with
 * more of the name encoded in this way.
 */
#include "format/tar/walk_members.h"

#include <stdlib.h>
#include <string.h>

#include "format/limits.h"

#define SCHILY "SCHILY.xattr."
#define LIBARCHIVE "LIBARCHIVE.xattr."

static int pax_xattrs_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* In place; with `all`, every %XX, and else what GNU tar encodes. False for a NUL. */
static bool decode_name(char *name, bool all)
{
	char *to = name;

	while (*name) {
		int high = name[0] == '%' ? pax_xattrs_hex_digit(name[1]) : -1;
		int low = high < 0 ? -1 : pax_xattrs_hex_digit(name[2]);
		int byte = low < 0 ? -1 : high << 4 | low;

		if (byte >= 0 && (all || byte == '=' || byte == '%')) {
			if (byte == 0)
				return false;
			*to++ = (char)byte;
			name += 3;
		} else {
			*to++ = *name++;
		}
	}
	*to = '\0';
	return true;
}

static int base64_digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *found = c ? strchr(digits, c) : NULL;

	return found ? (int)(found - digits) : -1;
}

/* Padding may be there or not. False where other characters are. */
static bool decode_base64(const char *text, size_t n, char *out, size_t *size)
{
	uint32_t bits = 0;
	unsigned held = 0;

	*size = 0;
	while (n > 0 && text[n - 1] == '=')
		n--;
	for (size_t i = 0; i < n; i++) {
		int digit = base64_digit(text[i]);

		if (digit < 0)
			return false;
		bits = bits << 6 | (uint32_t)digit;
		held += 6;
		if (held >= 8) {
			held -= 8;
			out[(*size)++] = (char)(bits >> held);
		}
	}
	return true;
}

static bool has_xattr(const struct tar_walk *walk, const char *name)
{
	for (size_t i = 0; i < walk->xattrs.count; i++)
		if (strcmp(walk->xattrs.items[i].name, name) == 0)
			return true;
	return false;
}

/* Is it shown at all? Leaves what is behind the namespace in *encoded. */
static bool pax_xattrs_is_shown(const struct tar_record *record, const char *namespace,
				const char **encoded)
{
	size_t n = strlen(namespace);

	*encoded = record->key + n;
	return strncmp(record->key, namespace, n) == 0 &&
	       strncmp(*encoded, "user.", 5) == 0 && (*encoded)[5];
}

static bool within_limits(const struct tar_walk *walk, const struct entry_xattr *xattr)
{
	size_t total = xattr->size;

	for (size_t i = 0; i < walk->xattrs.count; i++)
		total += walk->xattrs.items[i].size;
	return walk->xattrs.count < LIMIT_XATTRS &&
	       strlen(xattr->name) <= LIMIT_XATTR_NAME_BYTES &&
	       xattr->size <= LIMIT_XATTR_VALUE_BYTES && total <= LIMIT_XATTR_TOTAL_BYTES;
}

/* `text`, in which it lies, belongs to the walk from now on. */
static int pax_xattrs_store(struct tar_walk *walk, char *text,
			    const struct entry_xattr *xattr)
{
	if (vec_push(&walk->decoded, text) < 0) {
		free(text);
		return tar_walk_no_memory(walk);
	}
	return vec_push(&walk->xattrs, *xattr) < 0 ? tar_walk_no_memory(walk) : 0;
}

/* Name and value are decoded into memory of their own, which `name` begins. */
static int parse_xattr(struct tar_walk *walk, const struct tar_record *record,
		       const char *encoded, bool base64)
{
	size_t n = strlen(encoded) + 1, size = record->size;
	char *text = malloc(n + record->size), *value = text + n;
	struct entry_xattr xattr = { .name = text, .value = value };
	bool usable;

	if (!text)
		return tar_walk_no_memory(walk);
	memcpy(text, encoded, n);
	/* libarchive's own of the same name has been taken before */
	usable = !decode_name(text, true) || !has_xattr(walk, text);
	memcpy(text, encoded, n);
	memcpy(value, record->value, size);
	usable = usable && decode_name(text, base64) && !has_xattr(walk, text) &&
		 (!base64 || decode_base64(record->value, record->size, value, &size));
	xattr.size = size;
	if (usable && within_limits(walk, &xattr))
		return pax_xattrs_store(walk, text, &xattr);
	free(text);
	if (usable)
		tar_walk_warn(walk, "extended attributes beyond the limits are left out");
	return 0;
}

/*
 * The last record of a name is the valid one. What holds for all members does so where
 * the member's own records do not name it; an empty value there takes it back, and is
 * else a value.
 */
static int parse_xattr_records(struct tar_walk *walk, const char *namespace, bool global)
{
	const struct tar_records *own = &walk->member.records, *all = &walk->global;
	const struct tar_records *records = global ? all : own;
	bool base64 = strcmp(namespace, LIBARCHIVE) == 0;

	for (size_t i = records->items.count; i > 0; i--) {
		const struct tar_record *record = &records->items.items[i - 1];
		const char *encoded;
		int err;

		if (!pax_xattrs_is_shown(record, namespace, &encoded) ||
		    ((global || record->size == 0) &&
		     tar_records_find(global ? own : all, record->key)))
			continue;
		err = parse_xattr(walk, record, encoded, base64);
		if (err)
			return err;
	}
	return 0;
}

int tar_collect_xattrs(struct tar_walk *walk)
{
	static const char *const namespaces[] = { LIBARCHIVE, SCHILY };
	int err = 0;

	for (size_t i = 0; i < walk->decoded.count; i++)
		free(walk->decoded.items[i]);
	walk->decoded.count = 0;
	walk->xattrs.count = 0;
	for (size_t i = 0; !err && i < 2; i++) {
		err = parse_xattr_records(walk, namespaces[i], false);
		if (!err)
			err = parse_xattr_records(walk, namespaces[i], true);
	}
	return err;
}
