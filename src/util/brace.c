/*
 * Brace expansion in bash's manner: a text is a prefix, the first valid brace
 * expression and the rest; its words are prefix x choices x words of the rest.
 *
 * What counts as valid is bash's rule, odd corners included: after the opening
 * brace there must be a `,` or a `..` at the same level before the closing one,
 * so that `{a}b,c}` means `a}b` and `c`. Shell quotes and `$` mean nothing here.
 */
#include "util/brace.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/checked.h"
#include "util/cleanup.h"

enum {
	PATTERN_MAX_BYTES = 64 * 1024,
	TOTAL_MAX_BYTES = 256 * 1024 * 1024, /* of all words of one list */
};

struct slice {
	const char *text;
	size_t n;
};

struct list {
	VEC(char *) words;
	uint64_t bytes;
};

static void free_list(struct list *list)
{
	for (size_t i = 0; i < list->words.count; i++)
		free(list->words.items[i]);
	vec_free(&list->words);
	list->bytes = 0;
}

static int room_for(const struct list *list, uint64_t words, uint64_t bytes)
{
	uint64_t total;

	if (!checked_add(list->words.count, words, &total) ||
	    total > BRACE_MAX_WORDS)
		return -E2BIG;
	if (!checked_add(list->bytes, bytes, &total) || total > TOTAL_MAX_BYTES)
		return -E2BIG;
	return 0;
}

/* Appends the word that `a` and `b` make together. */
static int add_word(struct list *list, struct slice a, struct slice b)
{
	CLEANUP(cleanup_free) char *word = NULL;
	int err = room_for(list, 1, a.n + b.n + 1);

	if (err)
		return err;
	word = malloc(a.n + b.n + 1);
	if (!word)
		return -ENOMEM;
	memcpy(word, a.text, a.n);
	memcpy(word + a.n, b.text, b.n);
	word[a.n + b.n] = '\0';
	if (vec_push(&list->words, word) < 0)
		return -ENOMEM;
	word = NULL;
	list->bytes += a.n + b.n + 1;
	return 0;
}

/* Replaces `left` by every word of it with every word of `right` behind it. */
static int multiply(struct list *left, const struct list *right)
{
	CLEANUP(free_list) struct list product = { VEC_INIT, 0 };
	uint64_t count;
	struct list old;
	int err;

	if (!checked_mul(left->words.count, right->words.count, &count))
		return -E2BIG;
	err = room_for(&product, count, count);
	for (size_t i = 0; !err && i < left->words.count; i++) {
		const char *a = left->words.items[i];
		size_t n = strlen(a);

		for (size_t j = 0; !err && j < right->words.count; j++) {
			const char *b = right->words.items[j];

			err = add_word(&product, (struct slice){ a, n },
				       (struct slice){ b, strlen(b) });
		}
	}
	if (err)
		return err;
	old = *left;
	*left = product;
	product = old;
	return 0;
}

static bool starts_step(struct slice s, size_t i)
{
	return i + 1 < s.n && s.text[i] == '.' && s.text[i + 1] == '.';
}

/* bash passes over `{}` at the start of a word: find and xargs use it. */
static bool is_plain_pair(struct slice s, size_t i)
{
	return s.text[i] == '{' && i == 0 && s.n > 1 && s.text[1] == '}';
}

/*
 * The first `wanted` from `i` on that is neither escaped nor inside an inner
 * pair of braces, or s.n. A closing brace must have a separator before it.
 */
static size_t find(struct slice s, size_t i, char wanted)
{
	bool separated = wanted != '}';
	size_t level = 0;

	for (; i < s.n; i++) {
		char c = s.text[i];

		if (c == '\\') {
			i++;
			continue;
		}
		if (c == wanted && level == 0 && separated) {
			if (is_plain_pair(s, i))
				continue;
			return i;
		}
		if (c == '{')
			level++;
		else if (c == '}' && level)
			level--;
		else if (level == 0 && c == ',')
			separated = true;
		else if (level == 0 && starts_step(s, i) &&
			 !(i + 2 < s.n && s.text[i + 2] == '}'))
			separated = true;
	}
	return s.n;
}

/* Sets *open and *close to the first valid pair, or returns false. */
static bool find_pair(struct slice s, size_t *open, size_t *close)
{
	for (size_t i = find(s, 0, '{'); i < s.n; i = find(s, i + 1, '{')) {
		*open = i;
		*close = find(s, i + 1, '}');
		if (*close < s.n)
			return true;
	}
	return false;
}

static bool has_separator(struct slice s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.text[i] == '\\')
			i++;
		else if (s.text[i] == ',')
			return true;
	}
	return false;
}

struct sequence {
	intmax_t first, last, step;
	int width;    /* zero-padded to this, if not 0 */
	bool letters;
};

static bool starts_number(const char *text)
{
	if (*text == '+' || *text == '-')
		text++;
	return isdigit((unsigned char)*text);
}

/* One end of a sequence; *end is left behind it. */
static bool parse_end(const char *text, const char **end, intmax_t *value,
		      bool *letter)
{
	char *behind;

	*letter = isalpha((unsigned char)text[0]) != 0;
	if (*letter) {
		*value = (unsigned char)text[0];
		*end = text + 1;
		return true;
	}
	if (!starts_number(text))
		return false;
	errno = 0;
	*value = strtoimax(text, &behind, 10);
	*end = behind;
	return errno == 0;
}

static bool is_padded(const char *text, size_t n)
{
	if (n > 2 && text[0] == '-')
		return text[1] == '0';
	return n > 1 && text[0] == '0';
}

static bool parse_step(const char *text, intmax_t *step)
{
	char *behind;

	*step = 1;
	if (*text == '\0')
		return true;
	if (strncmp(text, "..", 2) != 0 || text[2] == '\0')
		return false;
	errno = 0;
	*step = strtoimax(text + 2, &behind, 10);
	if (*step == 0)
		*step = 1;
	return errno == 0 && *behind == '\0' && *step != INTMAX_MIN;
}

/* `1..10`, `001..100..5`, `a..e`: false if it is no such thing. */
static bool parse_sequence(const char *text, struct sequence *out)
{
	const char *dots = strstr(text, ".."), *end, *second;
	bool left, right;
	size_t n, m;

	if (!dots || !parse_end(text, &end, &out->first, &left) || end != dots)
		return false;
	second = dots + 2;
	if (!parse_end(second, &end, &out->last, &right) || left != right)
		return false;
	if (!parse_step(end, &out->step))
		return false;
	n = (size_t)(dots - text);
	m = (size_t)(end - second);
	out->letters = left;
	out->width = 0;
	if (!left && (is_padded(text, n) || is_padded(second, m)))
		out->width = (int)(n > m ? n : m);
	return true;
}

static int add_item(struct list *out, const struct sequence *s, intmax_t value)
{
	size_t room = (size_t)s->width + 32; /* the longest number has 20 */
	CLEANUP(cleanup_free) char *text = malloc(room);
	int n;

	if (!text)
		return -ENOMEM;
	if (s->letters)
		n = snprintf(text, room, "%c", (int)value);
	else
		n = snprintf(text, room, "%0*" PRIdMAX, s->width, value);
	return add_word(out, (struct slice){ text, (size_t)n },
			(struct slice){ "", 0 });
}

static int add_sequence(struct list *out, const struct sequence *s)
{
	uintmax_t step = (uintmax_t)(s->step < 0 ? -s->step : s->step);
	uintmax_t span = s->first < s->last ?
				 (uintmax_t)s->last - (uintmax_t)s->first :
				 (uintmax_t)s->first - (uintmax_t)s->last;
	uintmax_t count = span / step + 1;
	uintmax_t value = (uintmax_t)s->first;
	uint64_t width = s->width ? (uint64_t)s->width : 1;
	uint64_t bytes;
	int err;

	if (count == 0 || !checked_mul(count, width, &bytes))
		return -E2BIG;
	err = room_for(out, count, bytes);
	for (; !err && count > 0; count--) {
		err = add_item(out, s, (intmax_t)value);
		value += s->first < s->last ? step : -step;
	}
	return err;
}

static int expand(struct slice s, struct list *out);

/* `a,b{c,d}`: each part may hold braces of its own. */
static int expand_choices(struct slice s, struct list *out)
{
	size_t start = 0, end;
	int err;

	do {
		end = find((struct slice){ s.text + start, s.n - start }, 0, ',');
		err = expand((struct slice){ s.text + start, end }, out);
		if (err)
			return err;
		start += end + 1;
	} while (start <= s.n);
	return 0;
}

/* What is between the braces s.text[0] and s.text[s.n - 1]. */
static int expand_pair(struct slice s, struct list *out)
{
	struct slice inner = { s.text + 1, s.n - 2 };
	CLEANUP(cleanup_free) char *text = NULL;
	struct sequence sequence;

	if (has_separator(inner))
		return expand_choices(inner, out);
	text = strndup(inner.text, inner.n);
	if (!text)
		return -ENOMEM;
	if (parse_sequence(text, &sequence))
		return add_sequence(out, &sequence);
	return add_word(out, s, (struct slice){ "", 0 });
}

/* Appends the words of `s`, escapes still in them. */
static int expand(struct slice s, struct list *out)
{
	CLEANUP(free_list) struct list words = { VEC_INIT, 0 };
	CLEANUP(free_list) struct list choices = { VEC_INIT, 0 };
	CLEANUP(free_list) struct list rest = { VEC_INIT, 0 };
	size_t open, close;
	int err;

	if (!find_pair(s, &open, &close))
		return add_word(out, s, (struct slice){ "", 0 });
	err = add_word(&words, (struct slice){ s.text, open },
		       (struct slice){ "", 0 });
	if (!err)
		err = expand_pair((struct slice){ s.text + open, close - open + 1 },
				  &choices);
	if (!err)
		err = multiply(&words, &choices);
	if (!err)
		err = expand((struct slice){ s.text + close + 1, s.n - close - 1 },
			     &rest);
	if (!err)
		err = multiply(&words, &rest);
	for (size_t i = 0; !err && i < words.words.count; i++) {
		const char *word = words.words.items[i];

		err = add_word(out, (struct slice){ word, strlen(word) },
			       (struct slice){ "", 0 });
	}
	return err;
}

static void remove_escapes(char *word)
{
	char *to = word;

	for (const char *from = word; *from; from++) {
		if (*from == '\\' && from[1])
			from++;
		*to++ = *from;
	}
	*to = '\0';
}

static int explain(const char *pattern, int err, struct error *e)
{
	if (err == -E2BIG)
		return error_set(e, ERROR_USAGE, E2BIG,
				 "the pattern '%.200s' stands for more than %d "
				 "files, or for names too long to hold; check "
				 "its braces",
				 pattern, BRACE_MAX_WORDS);
	return error_set(e, ERROR_SYSTEM, -err,
			 "there is not enough memory to expand the pattern "
			 "'%.200s'; split it",
			 pattern);
}

int brace_expand(const char *pattern, struct brace_words *out, struct error *e)
{
	CLEANUP(free_list) struct list list = { VEC_INIT, 0 };
	size_t n = strlen(pattern);
	int err = n > PATTERN_MAX_BYTES ? -E2BIG : 0;

	if (!err)
		err = expand((struct slice){ pattern, n }, &list);
	if (!err && out->words.count + list.words.count > BRACE_MAX_WORDS)
		err = -E2BIG;
	if (!err)
		err = vec_reserve(&out->words, list.words.count);
	if (err)
		return explain(pattern, err, e);
	for (size_t i = 0; i < list.words.count; i++) {
		remove_escapes(list.words.items[i]);
		out->words.items[out->words.count++] = list.words.items[i];
	}
	list.words.count = 0; /* they are out's now */
	return 0;
}

void brace_free(struct brace_words *words)
{
	for (size_t i = 0; i < words->words.count; i++)
		free(words->words.items[i]);
	vec_free(&words->words);
}
