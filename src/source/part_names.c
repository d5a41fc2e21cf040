/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source/part_names.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/filename.h"

static const struct part_rule part_rules[] = {
#define PART_RULE(separator, kinds, extension, last, writers) \
	{ separator, kinds, extension, last },
#include "source/part_names.def"
#undef PART_RULE
};

enum {
	RULES = sizeof(part_rules) / sizeof(*part_rules),
	COUNT_MOST = 8, /* digits or letters */
	GAP_MOST = 100, /* numbers that may be missing between two */
};

/* Extensions that are as long as a count may be. */
static const char *const extensions[] = {
	"br", "bz", "gz", "lz", "xz", "sz", "zz", "db", "rec", "lzo", "zst", "zstd", "tar", "tgz",
	"tbz", "txz", "zip", "rar", "idx", "txt", "csv", "bin", "tmp", "bak", "log", "sha",
	"sig", "asc", "new", "old",
};

static bool is_extension(const char *word)
{
	for (size_t i = 0; i < sizeof(extensions) / sizeof(*extensions); i++)
		if (strcmp(word, extensions[i]) == 0)
			return true;
	return false;
}

static bool is_digits(const char *text)
{
	return text[strspn(text, "0123456789")] == '\0';
}

static bool is_letters(const char *text)
{
	return text[strspn(text, "abcdefghijklmnopqrstuvwxyz")] == '\0';
}

static bool is_count(const struct part_rule *rule, const char *text)
{
	size_t n = strlen(text);

	if (n == 0 || n > COUNT_MOST)
		return false;
	return ((rule->kinds & PART_DIGITS) && is_digits(text)) ||
	       ((rule->kinds & PART_LETTERS) && is_letters(text) &&
		(n > 1 || !rule->extension));
}

/* Does the name end in an extension, which begins with a letter? */
static bool has_extension(const char *name, size_t n)
{
	while (n-- > 0 && name[n] != '.')
		if (name[n] == '-' || name[n] == '_')
			return false;
	return n > 0 && n != SIZE_MAX &&
	       ((name[n + 1] >= 'a' && name[n + 1] <= 'z') || name[n + 1] == '7');
}

static const char *last_occurrence(const char *text, const char *wanted)
{
	const char *found = NULL;

	for (const char *at = strstr(text, wanted); at; at = strstr(at + 1, wanted))
		found = at;
	return found;
}

static bool rule_fits(const struct part_rule *rule, const char *path, const char *name,
		      struct part_name *out)
{
	const char *at = last_occurrence(name, rule->separator);
	const char *last = rule->last ? last_occurrence(name, rule->last) : NULL;

	*out = (struct part_name){ .rule = rule, .path = path };
	if (last && last > name && last[strlen(rule->last)] == '\0') {
		out->stem = (size_t)(last - path);
		out->count = last + strlen(rule->last);
		return true;
	}
	if (!at || at == name || !is_count(rule, at + strlen(rule->separator)))
		return false;
	out->stem = (size_t)(at - path);
	out->count = at + strlen(rule->separator);
	out->doubtful = rule->extension && is_extension(out->count);
	return !rule->extension || has_extension(name, (size_t)(at - name));
}

bool part_name_parse(const char *path, struct part_name *out)
{
	for (size_t i = 0; i < RULES; i++)
		if (rule_fits(&part_rules[i], path, filename_of(path), out))
			return true;
	return false;
}

bool part_name_is_sibling(const struct part_name *a, const struct part_name *b)
{
	return a->rule == b->rule && a->stem == b->stem &&
	       memcmp(a->path, b->path, a->stem) == 0 &&
	       (!*a->count || !*b->count || is_digits(a->count) == is_digits(b->count));
}

/* The rule's last is behind all numbers; a longer number is a larger one. */
int part_name_compare(const struct part_name *a, const struct part_name *b)
{
	size_t n = strlen(a->count), m = strlen(b->count);

	if (n == m)
		return strcmp(a->count, b->count);
	if (n == 0 || m == 0)
		return n == 0 ? 1 : -1;
	return n < m ? -1 : 1;
}

static unsigned base_of(const char *count)
{
	return is_digits(count) ? 10 : 26;
}

static unsigned digit_of(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : c - 'a');
}

static uint64_t value_of(const char *count)
{
	uint64_t value = 0;

	for (const char *at = count; *at; at++)
		value = value * base_of(count) + digit_of(*at);
	return value;
}

/* The next number: "aa" after "a9"; it gets longer after the last of its length. */
static void count_on(const char *count, char out[COUNT_MOST + 2])
{
	bool digits = is_digits(count);
	char zero = digits ? '0' : 'a', most = digits ? '9' : 'z';
	size_t n = strlen(count), i = n;

	memcpy(out + 1, count, n + 1);
	while (i > 0 && out[i] == most)
		out[i--] = zero;
	if (i > 0) {
		out[i]++;
		memmove(out, out + 1, n + 1);
	} else {
		*out = digits ? '1' : 'a';
	}
}

/*
 * split(1) keeps the order of its names where their length does not do: "9000" comes after
 * "89", and "zaaa" after "yz".
 */
static bool is_widened(const char *a, const char *b)
{
	char most = is_digits(a) ? '9' : 'z', zero = is_digits(a) ? '0' : 'a';
	size_t n = strlen(a), k = 0;

	if (strlen(b) != n + 2)
		return false;
	while (a[k] == most)
		k++;
	if (a[k] != most - 1)
		return false;
	for (size_t i = k + 1; i < n; i++)
		if (a[i] != most)
			return false;
	for (size_t i = 0; i < n + 2; i++)
		if (b[i] != (i <= k ? most : zero))
			return false;
	return true;
}

bool part_name_is_next(const struct part_name *a, const struct part_name *b)
{
	char next[COUNT_MOST + 2];

	if (!*a->count || !part_name_is_sibling(a, b))
		return false;
	if (!*b->count)
		return true;
	count_on(a->count, next);
	return strcmp(next, b->count) == 0 || is_widened(a->count, b->count);
}

bool part_name_is_gap(const struct part_name *a, const struct part_name *b)
{
	uint64_t x, y;

	if (!*a->count || !*b->count || a->doubtful || b->doubtful ||
	    part_name_compare(a, b) >= 0)
		return false;
	x = value_of(a->count);
	y = value_of(b->count);
	return y > x && y - x <= GAP_MOST && strlen(b->count) <= strlen(a->count) + 1;
}

bool part_name_is_first(const struct part_name *name)
{
	return value_of(name->count) <= (is_digits(name->count) ? 1 : 0);
}

char *part_name_next(const struct part_name *name)
{
	char next[COUNT_MOST + 2], *path;
	size_t n = (size_t)(name->count - name->path);

	count_on(name->count, next);
	return asprintf(&path, "%.*s%s", (int)n, name->path, next) < 0 ? NULL : path;
}
