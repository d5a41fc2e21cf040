#include "indexer/wds_labels.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "indexer/pickle.h"
#include "util/cleanup.h"

enum {
	TEXT_MOST = 4096,        /* bytes of a label, blanks included */
	JSON_MOST = 1024 * 1024,
	WNID_BYTES = 9,          /* "n01440764" */
};

#define WHOLE_LIMIT 9007199254740992.0 /* 2^53: up to there a double holds every integer */

static enum wds_label_kind kind_of_suffix(const char *suffix)
{
	const char *extension = wds_extension(suffix);

	if (strcasecmp(extension, "json") == 0)
		return WDS_LABEL_JSON;
	return strcasecmp(extension, "pyd") == 0 ? WDS_LABEL_PICKLE : WDS_LABEL_TEXT;
}

size_t wds_rules(const char *labels, struct wds_rule *out)
{
	size_t n = 0;

	if (labels) {
		out[n++] = (struct wds_rule){ kind_of_suffix(labels), labels, NULL, labels };
		out[n++] = (struct wds_rule){ WDS_LABEL_JSON, "json", labels, labels };
		return n;
	}
	out[n++] = (struct wds_rule){ WDS_LABEL_NUMBER, "cls", NULL, ".cls" };
	out[n++] = (struct wds_rule){ WDS_LABEL_JSON, "json", NULL, ".json" };
	out[n++] = (struct wds_rule){ WDS_LABEL_PICKLE, "output.pyd", NULL, "output.pyd" };
	out[n++] = (struct wds_rule){ WDS_LABEL_KEY, NULL, NULL, "wnids in the names" };
	return n;
}

const struct wds_member *wds_label_member(const struct wds_rule *rule,
					  const struct wds_sample *sample)
{
	return rule->suffix ? wds_sample_find(sample, rule->suffix) : NULL;
}

/* What a label says */

static int broken(const char **why, const char *what)
{
	*why = what;
	return -EBADMSG;
}

/* A class becomes a directory. */
static int set_name(struct wds_label *label, const char *text, size_t n, const char **why)
{
	if (n == 0)
		return broken(why, "is empty");
	if (n >= WDS_CLASS_BYTES)
		return broken(why, "is too long for a class");
	for (size_t i = 0; i < n; i++)
		if (text[i] == '/' || (unsigned char)text[i] < ' ')
			return broken(why, "cannot be the name of a directory");
	if (text[0] == '.' && (n == 1 || (n == 2 && text[1] == '.')))
		return broken(why, "cannot be the name of a directory");
	memcpy(label->name, text, n);
	label->name[n] = '\0';
	label->kind = WDS_NAME;
	return 0;
}

/* Decimal digits, and perhaps a sign: all of it, and within 64 bits. */
static bool set_number(struct wds_label *label, const char *text, size_t n)
{
	char copy[24], *end;
	size_t sign = n && (*text == '-' || *text == '+');

	if (n == sign || n >= sizeof(copy) || !isdigit((unsigned char)text[sign]))
		return false;
	memcpy(copy, text, n);
	copy[n] = '\0';
	errno = 0;
	label->number = strtoll(copy, &end, 10);
	if (errno || *end)
		return false;
	label->kind = WDS_NUMBER;
	return true;
}

static int parse_text(const struct wds_rule *rule, const char *text, size_t n,
		      struct wds_label *label, const char **why)
{
	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	while (n && isspace((unsigned char)*text)) {
		text++;
		n--;
	}
	if (n == 0)
		return broken(why, "is empty");
	if (set_number(label, text, n))
		return 0;
	if (rule->kind == WDS_LABEL_NUMBER)
		return broken(why, "is not a number");
	return set_name(label, text, n, why);
}

/* A whole number; 3.0 is what some libraries make of 3. */
static bool take_json_number(const json_t *value, struct wds_label *label)
{
	double real = json_real_value(value);

	if (json_is_integer(value))
		label->number = json_integer_value(value);
	else if (json_is_real(value) && real > -WHOLE_LIMIT && real < WHOLE_LIMIT &&
		 real == (double)(int64_t)real)
		label->number = (int64_t)real;
	else
		return false;
	label->kind = WDS_NUMBER;
	return true;
}

static int take_json(const json_t *value, struct wds_label *label, const char **why)
{
	const char *text = json_string_value(value);
	size_t n = json_string_length(value);

	if (take_json_number(value, label))
		return 0;
	if (!text)
		return broken(why, "holds a label that is neither a whole number nor a text");
	/* "007" is a name: as a number it would have another one */
	if ((*text != '0' || n == 1) && *text != '+' && set_number(label, text, n))
		return 0;
	label->kind = WDS_NAME; /* which it is, even one that no directory can have */
	return set_name(label, text, n, why);
}

static void drop_json(json_t **value)
{
	json_decref(*value);
}

static int parse_json(const struct wds_rule *rule, const char *text, size_t n,
		      struct wds_label *label, const char **why)
{
	CLEANUP(drop_json) json_t *root = json_loadb(text, n, JSON_DECODE_ANY, NULL);
	const json_t *value;

	if (!root)
		return broken(why, "is not JSON");
	value = json_object_get(root, rule->item ? rule->item : "label");
	if (!value && !rule->item)
		value = json_object_get(root, "class");
	if (!value && !rule->item && json_is_number(root))
		value = root;
	return value ? take_json(value, label, why) : 0;
}

static int parse_pickle(const char *text, size_t n, struct wds_label *label,
			const char **why)
{
	int err = pickle_int(text, n, &label->number);

	if (err == -ENOMEM)
		return err;
	if (err)
		return broken(why, "is not a pickled number");
	label->kind = WDS_NUMBER;
	return 0;
}

static bool is_wnid(const char *text, size_t n)
{
	if (n < WNID_BYTES || text[0] != 'n')
		return false;
	for (size_t i = 1; i < WNID_BYTES; i++)
		if (!isdigit((unsigned char)text[i]))
			return false;
	return n == WNID_BYTES || !isalnum((unsigned char)text[WNID_BYTES]);
}

/* What lies in a directory of that name has its class already. */
static void take_key(const struct wds_sample *sample, struct wds_label *label)
{
	const char *at = sample->key, *end = at + sample->key_length, *name = end;
	const char *why;

	while (name > at && name[-1] != '/')
		name--;
	if (!is_wnid(name, (size_t)(end - name)))
		return;
	for (; at < name; at++) {
		size_t n = strcspn(at, "/");

		if (n >= WNID_BYTES && memcmp(at, name, WNID_BYTES) == 0)
			return;
		at += n;
	}
	(void)set_name(label, name, WNID_BYTES, &why);
}

int wds_label_read(struct wds_window *window, const struct wds_rule *rule,
		   const struct wds_sample *sample, struct wds_label *out,
		   const char **why)
{
	const struct wds_member *member = wds_label_member(rule, sample);
	size_t most = rule->kind == WDS_LABEL_JSON ? JSON_MOST : TEXT_MOST;
	CLEANUP(cleanup_free) char *large = NULL;
	char small[TEXT_MOST], *text = small;
	int err;

	out->kind = WDS_NONE;
	if (rule->kind == WDS_LABEL_KEY)
		take_key(sample, out);
	if (!member)
		return 0;
	if (member->size > most)
		return broken(why, "is too long for a label");
	if (member->size > sizeof(small))
		text = large = malloc(member->size);
	if (!text)
		return -ENOMEM;
	err = wds_window_member(window, member, (unsigned char *)text);
	if (err)
		return err;
	if (rule->kind == WDS_LABEL_JSON)
		return parse_json(rule, text, member->size, out, why);
	if (rule->kind == WDS_LABEL_PICKLE)
		return parse_pickle(text, member->size, out, why);
	return parse_text(rule, text, member->size, out, why);
}
