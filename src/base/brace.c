/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Brace expansion as in bash. A text is a chain of parts: plain text, a sequence, or
 * choices, each of which is a chain again. The words of a chain are the product of those
 * of its parts, the words of choices the sum.
 *
 * Valid braces follow bash's rule: between the opening brace and the closing one there
 * must be a `,` or a `..` at the same level, so `{a}b,c}` means `a}b` and `c`. Shell
 * quotes and `$` have no meaning.
 */
#include "base/brace.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/vec.h"

struct slice {
	const char *text;
	size_t n;
};

struct sequence {
	intmax_t first, last, step;
	int width;    /* zero-padded to this; 0: not padded */
	bool letters;
};

struct brace_part;

struct chain {
	struct brace_part *first, *last;
	uint64_t words;
	uint64_t longest; /* bytes of its longest word */
	uint64_t before;  /* of choices: the words of the earlier ones */
};

struct brace_part {
	struct brace_part *next;
	enum { PART_TEXT, PART_SEQUENCE, PART_CHOICES } kind;
	uint64_t words;
	uint64_t longest;
	union {
		struct slice text;
		struct sequence sequence;
		struct {
			struct chain *items;
			size_t count;
		} choices;
	};
};

struct brace {
	struct arena arena;
	struct chain chain;
};

/* ---- Finding braces ---- */

static bool starts_step(struct slice s, size_t i)
{
	return i + 1 < s.n && s.text[i] == '.' && s.text[i + 1] == '.';
}

/* bash ignores `{}` at the start of a word: find and xargs use it. */
static bool is_plain_pair(struct slice s, size_t i)
{
	return s.text[i] == '{' && i == 0 && s.n > 1 && s.text[1] == '}';
}

/*
 * The first `wanted` from `i` that is neither escaped nor in an inner pair of braces, or
 * s.n. A closing brace must have a separator before it.
 */
static size_t find_char(struct slice s, size_t i, char wanted)
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
	for (size_t i = find_char(s, 0, '{'); i < s.n; i = find_char(s, i + 1, '{')) {
		*open = i;
		*close = find_char(s, i + 1, '}');
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

/* ---- Sequences ---- */

static bool starts_number(const char *text)
{
	if (*text == '+' || *text == '-')
		text++;
	return isdigit((unsigned char)*text);
}

/* Parses one end of a sequence; *end is the rest. */
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

/* Parses `1..10`, `001..100..5`, `a..e`: false if it is no sequence. */
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

/* Prints a number as "%0*d", or a letter; returns its length, as snprintf does. */
static size_t print_item(const struct sequence *s, intmax_t value, char *to, size_t room)
{
	int n = s->letters ? snprintf(to, room, "%c", (int)value) :
			     snprintf(to, room, "%0*" PRIdMAX, s->width, value);

	return n < 0 ? 0 : (size_t)n;
}

static uintmax_t step_of(const struct sequence *s)
{
	return (uintmax_t)(s->step < 0 ? -s->step : s->step);
}

/* 0: the number does not fit. */
static uint64_t count_sequence(const struct sequence *s)
{
	uintmax_t first = (uintmax_t)s->first, last = (uintmax_t)s->last;

	return (s->first < s->last ? last - first : first - last) / step_of(s) + 1;
}

static uint64_t longest_of(const struct sequence *s)
{
	size_t first = print_item(s, s->first, NULL, 0);
	size_t last = print_item(s, s->last, NULL, 0);

	return first > last ? first : last;
}

static size_t brace_write_item(const struct sequence *s, uint64_t i, char *to,
			       size_t room)
{
	uintmax_t way = step_of(s) * i, first = (uintmax_t)s->first;

	return print_item(s, (intmax_t)(s->first < s->last ? first + way : first - way), to,
			  room);
}

/* ---- Parsing ---- */

static void free_brace(struct brace **brace)
{
	brace_free(*brace);
}

static int brace_append(struct brace *brace, struct chain *chain,
			const struct brace_part *part)
{
	struct brace_part *copy;

	if (part->words == 0 || part->words > BRACE_MAX_WORDS / chain->words ||
	    part->longest > BRACE_MAX_WORD - chain->longest)
		return -E2BIG;
	copy = arena_alloc(&brace->arena, sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	*copy = *part;
	if (chain->last)
		chain->last->next = copy;
	else
		chain->first = copy;
	chain->last = copy;
	chain->words *= part->words;
	chain->longest += part->longest;
	return 0;
}

static int append_text(struct brace *brace, struct chain *chain, struct slice s)
{
	const struct brace_part part = {.kind = PART_TEXT,
					.words = 1,
					.longest = s.n,
					.text = s};

	return s.n ? brace_append(brace, chain, &part) : 0;
}

static size_t count_choices(struct slice s)
{
	size_t count = 1;

	for (size_t at = find_char(s, 0, ','); at < s.n; at = find_char(s, at + 1, ','))
		count++;
	return count;
}

static int parse_chain(struct brace *brace, struct slice s, unsigned depth,
		       struct chain *out);

/* Appends the choices `a,b{c,d}`, each of which may have braces. */
static int append_choices(struct brace *brace, struct chain *chain, struct slice s,
			  unsigned depth)
{
	struct brace_part part = {.kind = PART_CHOICES,
				  .choices.count = count_choices(s)};
	struct chain *items = arena_alloc(&brace->arena,
					  part.choices.count * sizeof(*items));

	if (!items)
		return -ENOMEM;
	part.choices.items = items;
	for (size_t i = 0; i < part.choices.count; i++) {
		size_t end = find_char(s, 0, ',');
		int err = parse_chain(brace, (struct slice){ s.text, end }, depth, &items[i]);

		if (err)
			return err;
		items[i].before = part.words;
		part.words += items[i].words;
		if (items[i].longest > part.longest)
			part.longest = items[i].longest;
		if (end < s.n)
			s = (struct slice){ s.text + end + 1, s.n - end - 1 };
	}
	return brace_append(brace, chain, &part);
}

/* Appends `s`, which begins and ends with a brace. */
static int append_pair(struct brace *brace, struct chain *chain, struct slice s,
		       unsigned depth)
{
	struct slice inner = { s.text + 1, s.n - 2 };
	struct brace_part part = { .kind = PART_SEQUENCE };
	const char *text;

	if (has_separator(inner))
		return append_choices(brace, chain, inner, depth + 1);
	text = arena_copy(&brace->arena, inner.text, inner.n);
	if (!text)
		return -ENOMEM;
	if (!parse_sequence(text, &part.sequence))
		return append_text(brace, chain, s);
	part.words = count_sequence(&part.sequence);
	part.longest = longest_of(&part.sequence);
	return brace_append(brace, chain, &part);
}

static int parse_chain(struct brace *brace, struct slice s, unsigned depth,
		       struct chain *out)
{
	size_t open, close;
	int err = depth > BRACE_MAX_DEPTH ? -E2BIG : 0;

	*out = (struct chain){ .words = 1 };
	while (!err && find_pair(s, &open, &close)) {
		err = append_text(brace, out, (struct slice){ s.text, open });
		if (!err)
			err = append_pair(brace, out,
					  (struct slice){ s.text + open, close - open + 1 },
					  depth);
		s = (struct slice){ s.text + close + 1, s.n - close - 1 };
	}
	return err ? err : append_text(brace, out, s);
}

static int brace_explain(const char *pattern, int err, struct error *e)
{
	if (err == -E2BIG)
		return error_set(e, ERROR_USAGE, E2BIG,
				 "the pattern '%.200s' stands for more than %d files, or for names "
				 "of more than %d bytes; check its braces",
				 pattern, BRACE_MAX_WORDS, BRACE_MAX_WORD);
	return error_set(e, ERROR_SYSTEM, -err,
			 "there is not enough memory to expand the pattern '%.200s'; split it",
			 pattern);
}

int brace_parse(const char *pattern, struct brace **out, struct error *e)
{
	CLEANUP(free_brace) struct brace *brace = calloc(1, sizeof(*brace));
	size_t n = strlen(pattern);
	const char *text = brace ? arena_copy(&brace->arena, pattern, n) : NULL;
	int err = text ? 0 : -ENOMEM;

	if (n > BRACE_MAX_BYTES)
		err = -E2BIG;
	if (!err)
		err = parse_chain(brace, (struct slice){ text, n }, 0, &brace->chain);
	if (err)
		return brace_explain(pattern, err, e);
	*out = brace;
	brace = NULL;
	return 0;
}

/* ---- Words ---- */

static char *write_chain(const struct chain *chain, uint64_t i, char *to, char *end);

/* The last choice that has at most `i` words before it. */
static const struct chain *find_choice(const struct brace_part *part, uint64_t i)
{
	const struct chain *choices = part->choices.items;

	return &choices[vec_find_last(&part->choices, choices[middle].before <= i)];
}

static char *write_part(const struct brace_part *part, uint64_t i, char *to, char *end)
{
	const struct chain *choice;

	switch (part->kind) {
	case PART_TEXT:
		memcpy(to, part->text.text, part->text.n);
		return to + part->text.n;
	case PART_SEQUENCE:
		return to + brace_write_item(&part->sequence, i, to, (size_t)(end - to));
	case PART_CHOICES:
	default:
		choice = find_choice(part, i);
		return write_chain(choice, i - choice->before, to, end);
	}
}

static char *write_chain(const struct chain *chain, uint64_t i, char *to, char *end)
{
	uint64_t words = chain->words;

	for (const struct brace_part *part = chain->first; part; part = part->next) {
		words /= part->words;
		to = write_part(part, i / words, to, end);
		i %= words;
	}
	return to;
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

uint64_t brace_count(const struct brace *brace)
{
	return brace->chain.words;
}

char *brace_word(const struct brace *brace, uint64_t i)
{
	size_t room = brace->chain.longest + 1;
	char *word = malloc(room);

	if (!word)
		return NULL;
	*write_chain(&brace->chain, i, word, word + room) = '\0';
	remove_escapes(word);
	return word;
}

void brace_free(struct brace *brace)
{
	if (!brace)
		return;
	arena_free(&brace->arena);
	free(brace);
}
