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
		const char *plain = wds_plain_suffix(labels);

		out[n++] = (struct wds_rule){ kind_of_suffix(plain), plain, NULL, labels };
		out[n++] = (struct wds_rule){ WDS_LABEL_JSON, "json", plain, labels };
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
		return broken(why, "is not a pickled int (numpy's is none: pickle int(label))");
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

/* What lies in a directory of that name has its class already: NULL. */
static const char *wnid_of(const struct wds_sample *sample)
{
	const char *at = sample->key, *end = at + sample->key_length, *name = end;

	while (name > at && name[-1] != '/')
		name--;
	if (!is_wnid(name, (size_t)(end - name)))
		return NULL;
	while (at < name) {
		size_t n = strcspn(at, "/");

		if (n >= WNID_BYTES && memcmp(at, name, WNID_BYTES) == 0)
			return NULL;
		at += n + 1;
	}
	return name;
}

bool wds_key_is_label(const struct wds_sample *sample)
{
	return wnid_of(sample) != NULL;
}

static void take_key(const struct wds_sample *sample, struct wds_label *label)
{
	const char *name = wnid_of(sample), *why;

	if (name)
		(void)set_name(label, name, WNID_BYTES, &why);
}

/* All of a member, in `small` (TEXT_MOST) or, if that is too little, in *large. */
static int read_member(struct wds_window *window, const struct wds_member *member,
		       char *small, char **large, const char **out)
{
	char *text = small;

	if (member->size > TEXT_MOST)
		text = *large = malloc(member->size);
	*out = text;
	return text ? wds_window_member(window, member, (unsigned char *)text) : -ENOMEM;
}

int wds_label_read(struct wds_window *window, const struct wds_rule *rule,
		   const struct wds_sample *sample, struct wds_label *out,
		   const char **why)
{
	const struct wds_member *member = wds_label_member(rule, sample);
	size_t most = rule->kind == WDS_LABEL_JSON ? JSON_MOST : TEXT_MOST;
	CLEANUP(cleanup_free) char *large = NULL;
	char small[TEXT_MOST];
	const char *text;
	int err;

	out->kind = WDS_NONE;
	if (rule->kind == WDS_LABEL_KEY)
		take_key(sample, out);
	if (!member)
		return 0;
	if (member->size > most)
		return broken(why, "is too long for a label");
	err = read_member(window, member, small, &large, &text);
	if (err)
		return err;
	if (rule->kind == WDS_LABEL_JSON)
		return parse_json(rule, text, member->size, out, why);
	if (rule->kind == WDS_LABEL_PICKLE)
		return parse_pickle(text, member->size, out, why);
	return parse_text(rule, text, member->size, out, why);
}

/* "category_id, name", as far as there is room: what has another name than the labels. */
static void list_items(json_t *root, char *out, size_t room)
{
	struct wds_label label;
	const char *name, *why;
	json_t *value;
	size_t n = 0;

	json_object_foreach(root, name, value) {
		if (strcmp(name, "label") == 0 || strcmp(name, "class") == 0 ||
		    take_json(value, &label, &why) != 0 || n + strlen(name) + 3 > room)
			continue;
		n += (size_t)snprintf(out + n, room - n, "%s%s", n ? ", " : "", name);
	}
}

int wds_label_items(struct wds_window *window, const struct wds_member *member, char *out,
		    size_t room)
{
	CLEANUP(cleanup_free) char *large = NULL;
	CLEANUP(drop_json) json_t *root = NULL;
	char small[TEXT_MOST];
	const char *text;
	int err;

	*out = '\0';
	if (member->size > JSON_MOST)
		return 0;
	err = read_member(window, member, small, &large, &text);
	if (err)
		return err;
	root = json_loadb(text, member->size, 0, NULL);
	list_items(root, out, room);
	return json_object_get(root, "label") || json_object_get(root, "class");
}
