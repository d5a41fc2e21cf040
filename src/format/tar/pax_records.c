/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/tar/pax_records.h"

#include <errno.h>
#include <string.h>

#include "format/limits.h"

enum {
	NS_DIGITS = 100000000, /* what the first digit behind the point counts */
	GLOBAL_MOST = 2 * LIMIT_XATTRS,
};

void tar_records_clear(struct tar_records *records)
{
	for (size_t i = 0; i < records->texts.count; i++)
		free(records->texts.items[i]);
	records->texts.count = 0;
	records->items.count = 0;
}

void tar_records_free(struct tar_records *records)
{
	tar_records_clear(records);
	vec_free(&records->texts);
	vec_free(&records->items);
}

/* "LENGTH KEY=VALUE\n", of which LENGTH counts all. 0 at the end of the text. */
static int pax_records_parse_record(char **at, const char *end, struct tar_record *out)
{
	char *text = *at, *equals;
	size_t length = 0;

	if (text == end || !*text)
		return 0; /* some pad with NULs */
	for (; *text >= '0' && *text <= '9' && length <= (size_t)(end - *at); text++)
		length = length * 10 + (size_t)(*text - '0');
	if (text == *at || *text != ' ' || length > (size_t)(end - *at) ||
	    length < (size_t)(text - *at) + 4 || (*at)[length - 1] != '\n')
		return -EBADMSG;
	out->key = ++text;
	*at += length;
	equals = memchr(text, '=', (size_t)(*at - text));
	if (!equals || equals == text)
		return -EBADMSG;
	*equals = '\0';
	(*at)[-1] = '\0';
	out->value = equals + 1;
	out->size = (size_t)(*at - 1 - out->value);
	return 1;
}

int tar_records_add(struct tar_records *records, char *text, size_t n)
{
	struct tar_record record = { .header = (unsigned)records->texts.count };
	char *at = text;
	int r;

	if (vec_push(&records->texts, text) < 0) {
		free(text);
		return -ENOMEM;
	}
	while ((r = pax_records_parse_record(&at, text + n, &record)) > 0)
		if (vec_push(&records->items, record) < 0)
			return -ENOMEM;
	return r;
}

/* Of several headers before one member the first counts, and in it the last record. */
const struct tar_record *tar_records_find(const struct tar_records *records,
					  const char *key)
{
	const struct tar_record *found = NULL;

	for (size_t i = 0; i < records->items.count; i++) {
		const struct tar_record *record = &records->items.items[i];

		if (strcmp(record->key, key) != 0)
			continue;
		if (found && record->header != found->header)
			break;
		found = record;
	}
	return found;
}

static bool matters(const char *key)
{
	static const char *const keys[] = { "path", "linkpath", "size", "uid", "gid", "mtime" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return strncmp(key, "SCHILY.xattr.user.", 18) == 0 ||
	       strncmp(key, "LIBARCHIVE.xattr.user.", 22) == 0;
}

/* Each of them has a text of its own. */
static void pax_records_remove(struct tar_records *global, const char *key)
{
	for (size_t i = 0; i < global->items.count; i++) {
		if (strcmp(global->items.items[i].key, key) != 0)
			continue;
		free(global->texts.items[i]);
		global->items.count--;
		global->texts.count--;
		memmove(global->items.items + i, global->items.items + i + 1,
			(global->items.count - i) * sizeof(*global->items.items));
		memmove(global->texts.items + i, global->texts.items + i + 1,
			(global->texts.count - i) * sizeof(*global->texts.items));
		return;
	}
}

static int pax_records_remember(struct tar_records *global,
				const struct tar_record *record)
{
	size_t key = strlen(record->key) + 1;
	struct tar_record copy = { .size = record->size };
	char *text;

	if (global->items.count == GLOBAL_MOST || record->size > LIMIT_PATH_BYTES)
		return -E2BIG;
	text = malloc(key + record->size + 1);
	if (!text)
		return -ENOMEM;
	memcpy(text, record->key, key);
	memcpy(text + key, record->value, record->size + 1);
	copy.key = text;
	copy.value = text + key;
	if (vec_push(&global->texts, text) < 0) {
		free(text);
		return -ENOMEM;
	}
	return vec_push(&global->items, copy);
}

int tar_records_merge(struct tar_records *global, const struct tar_records *header)
{
	for (size_t i = 0; i < header->items.count; i++) {
		const struct tar_record *record = &header->items.items[i];
		int err;

		if (!matters(record->key))
			continue;
		pax_records_remove(global, record->key);
		err = record->size ? pax_records_remember(global, record) : 0;
		if (err)
			return err;
	}
	return 0;
}

/* Digits as far as they go; what does not fit is the largest number. */
static const char *parse_digits(const char *text, int64_t *out)
{
	bool fits = true;

	*out = 0;
	for (; *text >= '0' && *text <= '9'; text++) {
		fits = fits && !__builtin_mul_overflow(*out, 10, out) &&
		       !__builtin_add_overflow(*out, *text - '0', out);
		if (!fits)
			*out = INT64_MAX;
	}
	return text;
}

/* "-12.5" is half a second before -12: 13 seconds back and half of one on. */
bool tar_record_time(const struct tar_record *record, int64_t *seconds, uint32_t *ns)
{
	bool minus = record->value[0] == '-';
	const char *begin = record->value + minus, *text = parse_digits(begin, seconds);
	uint32_t digit = NS_DIGITS;
	bool any = text > begin;

	*ns = 0;
	if (*text == '.')
		for (text++; *text >= '0' && *text <= '9'; text++, digit /= 10, any = true)
			*ns += digit * (uint32_t)(*text - '0');
	if (minus) {
		*seconds = *ns ? -*seconds - 1 : -*seconds;
		*ns = *ns ? 10 * NS_DIGITS - *ns : 0;
	}
	return any && *text == '\0';
}

bool tar_record_number(const struct tar_record *record, int64_t *out)
{
	bool minus = record->value[0] == '-';
	const char *begin = record->value + minus, *text = parse_digits(begin, out);
	bool any = text > begin;

	if (minus)
		*out = -*out;
	if (*text == '.')
		while (*++text >= '0' && *text <= '9')
			;
	return any && *text == '\0';
}
