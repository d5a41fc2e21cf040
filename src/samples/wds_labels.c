/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "samples/wds_labels.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/pickle.h"
#include "base/pyjson.h"
#include "base/utf8.h"
#include "labels/label_text.h"
#include "maps/maps_texts.h"
#include "names/label_words.h"

enum {
	TEXT_MOST = 4096,        /* bytes of a label, blanks included */
	JSON_MOST = 16 * 1024 * 1024,
	ESCAPED_MOST = 6 * WDS_CLASS_BYTES, /* of a class's name in JSON: \u0041 */
	WNID_BYTES = 9,          /* "n01440764" */
};

#define INTEGERS_END 9223372036854775808.0 /* 2^63 */

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

/* Reading labels */

static int broken(const char **why, const char *what)
{
	*why = what;
	return -EBADMSG;
}

/* A class becomes a directory. */
static int wds_labels_set_name(struct wds_label *label, const char *text, size_t n,
			       const char **why)
{
	const char *fault = map_class_fault(text, n);

	if (fault)
		return broken(why, fault);
	memcpy(label->name, text, n);
	label->name[n] = '\0';
	label->kind = WDS_NAME;
	return 0;
}

/*
 * Reads as Python's int(): digits, a sign before them, single underscores between them.
 * Writes them without what changes nothing: "+007" is "7". NULL, or why it is none.
 */
static const char *plain_integer(const char *text, size_t n, char out[WDS_CLASS_BYTES])
{
	bool negative = n && *text == '-', digit = false;
	size_t used = 0;

	for (size_t i = n && (*text == '-' || *text == '+'); i < n; i++) {
		bool joins = text[i] == '_' && digit;

		digit = isdigit((unsigned char)text[i]);
		if (!digit && !joins)
			return "is not a number";
		if (joins || (!used && text[i] == '0'))
			continue;
		if (!used && negative)
			out[used++] = '-';
		if (used == WDS_CLASS_BYTES - 1)
			return "is a number with too many digits for a class";
		out[used++] = text[i];
	}
	if (!digit)
		return "is not a number";
	if (!used)
		out[used++] = '0';
	out[used] = '\0';
	return NULL;
}

/* A class beyond 64 bits is called by its digits. */
static int set_integer(struct wds_label *label, const char *text, size_t n,
		       const char **why)
{
	const char *fault = plain_integer(text, n, label->name);

	if (fault)
		return broken(why, fault);
	errno = 0;
	label->number = strtoll(label->name, NULL, 10);
	label->kind = errno ? WDS_NAME : WDS_NUMBER;
	return 0;
}

/* Editors put the mark of UTF-8 before a text; some end its line, too. */
static void wds_labels_trim(const char **text, size_t *n)
{
	if (*n >= 3 && memcmp(*text, "\xef\xbb\xbf", 3) == 0) {
		*text += 3;
		*n -= 3;
	}
	while (*n && isspace((unsigned char)(*text)[*n - 1]))
		--*n;
	while (*n && isspace((unsigned char)**text)) {
		++*text;
		--*n;
	}
}

static int parse_text(const struct wds_rule *rule, const char *text, size_t n,
		      struct wds_label *label, const char **why)
{
	wds_labels_trim(&text, &n);
	if (n == 0)
		return broken(why, "is empty");
	if (set_integer(label, text, n, why) == 0)
		return 0;
	/* 3.0 is what some libraries make of 3 */
	if (label_text_read(text, n, &label->number) == LABEL_TEXT_NUMBER) {
		label->kind = WDS_NUMBER;
		return 0;
	}
	if (rule->kind == WDS_LABEL_NUMBER)
		return -EBADMSG;
	if (memchr(text, '\n', n) || memchr(text, '\r', n))
		return broken(why, "has several lines");
	return wds_labels_set_name(label, text, n, why);
}

/* 3.0 is what some libraries make of 3. */
static int set_real(struct wds_label *label, const struct pyjson_value *value,
		    const char **why)
{
	double real;

	if (pyjson_real(value, &real) < 0)
		return -ENOMEM;
	if (!isfinite(real))
		return broken(why, "holds a label that is NaN or infinite");
	if (real < -INTEGERS_END || real >= INTEGERS_END || real != (double)(int64_t)real)
		return broken(why, "holds a label that is no whole number of 64 bits");
	label->number = (int64_t)real;
	label->kind = WDS_NUMBER;
	return 0;
}

static int set_string(struct wds_label *label, const struct pyjson_value *value,
		      const char **why)
{
	char text[ESCAPED_MOST];
	ptrdiff_t n;

	label->kind = WDS_NAME; /* which it is, even one that no directory can have */
	if (value->size > sizeof(text))
		return broken(why, "has a name of more than 255 bytes");
	n = utf8_name(text, pyjson_string(value, text));
	if (n < 0)
		return broken(why, "holds half of a character (a lone surrogate), which no "
				   "file's name can");
	/* "007" is a name: as a number it would have another one */
	if (!plain_integer(text, (size_t)n, label->name) &&
	    strlen(label->name) == (size_t)n && memcmp(label->name, text, (size_t)n) == 0)
		return set_integer(label, text, (size_t)n, why);
	return wds_labels_set_name(label, text, (size_t)n, why);
}

static int read_json_label(const struct pyjson_value *value, struct wds_label *label,
			   const char **why)
{
	switch (value->kind) {
	case PYJSON_INTEGER:
		return set_integer(label, value->text, value->size, why);
	case PYJSON_REAL:
		return set_real(label, value, why);
	case PYJSON_FALSE:
	case PYJSON_TRUE: /* which Python counts among the integers */
		label->number = value->kind == PYJSON_TRUE;
		label->kind = WDS_NUMBER;
		return 0;
	case PYJSON_STRING:
		return set_string(label, value, why);
	case PYJSON_NULL:
		return broken(why, "holds null for a label");
	case PYJSON_ARRAY:
		if (label_text_read(value->text, value->size, &label->number) != LABEL_TEXT_HOT)
			return broken(why, "holds a list for a label, which is not one-hot");
		label->kind = WDS_NUMBER;
		return 0;
	case PYJSON_OBJECT:
	default:
		return broken(why, "holds an object for a label");
	}
}

/* The item that is the label. Where null is one, another one may say more. */
static bool find_json(const struct pyjson_value *root, const struct wds_rule *rule,
		      struct pyjson_value *out)
{
	struct pyjson_value class;
	bool found;

	if (rule->item)
		return pyjson_find(root, rule->item, strlen(rule->item), out);
	found = pyjson_find(root, "label", 5, out);
	if (found && out->kind != PYJSON_NULL)
		return true;
	if (pyjson_find(root, "class", 5, &class)) {
		*out = class;
		return true;
	}
	if (root->kind <= PYJSON_REAL) {
		*out = *root;
		return true;
	}
	return found;
}

/* NULL: a key that is too long to say anything. */
static const struct wds_key *look_up_key(struct wds_window *window,
					 const struct pyjson_value *key)
{
	size_t n = key->size - 2;
	struct wds_key *slot = &window->keys[(n * 7 + (unsigned char)key->text[1]) % WDS_KEYS];

	if (n == 0 || n >= sizeof(slot->name))
		return NULL;
	if (strncmp(slot->name, key->text + 1, n) == 0 && !slot->name[n])
		return slot;
	snprintf(slot->name, sizeof(slot->name), "%.*s", (int)n, key->text + 1);
	slot->split = name_may_say_split(slot->name);
	slot->sure = name_is_split_column(slot->name);
	slot->rival = strcmp(slot->name, "label") != 0 && name_may_be_rival(slot->name);
	return slot;
}

/* An item such as "split": "train", or "is_train": true. */
static void note_split(const struct wds_key *key, const struct pyjson_value *item,
		       struct wds_split *out)
{
	bool text = item->kind == PYJSON_STRING;
	int n = (int)item->size - 2 * text;
	char word[SPLIT_BYTES];

	if (!key->split || item->size - 2 * (size_t)text >= SPLIT_BYTES || out->sure)
		return;
	snprintf(word, sizeof(word), "%.*s", n, item->text + text);
	out->sure = text && !strchr(word, '\\') && split_names_directory(word) &&
		    (key->sure || split_is_word(word, strlen(word)));
	if (out->sure)
		snprintf(out->text, sizeof(out->text), "%s", word);
	else
		snprintf(out->text, sizeof(out->text), "%.15s: %.*s", key->name,
			 (int)item->size, item->text);
}

/* What else a .json says, where the label is another item; of nested ones, "meta": {"split":
   "train"}, the split. */
static void find_others(struct wds_window *window, const struct pyjson_value *root,
			const struct pyjson_value *taken, bool nested, struct wds_label *out)
{
	struct pyjson_walk walk = pyjson_items(root);
	struct pyjson_value key, item;

	while (walk.keys && pyjson_next(&walk, &key, &item)) {
		const struct wds_key *says;

		if (item.kind == PYJSON_OBJECT && !nested)
			find_others(window, &item, taken, true, out);
		if (item.kind == PYJSON_NULL || item.kind >= PYJSON_ARRAY ||
		    item.text == taken->text || !(says = look_up_key(window, &key)))
			continue;
		note_split(says, &item, &out->split);
		if (nested || *out->rival || item.kind == PYJSON_REAL || !says->rival)
			continue;
		memcpy(out->rival, says->name, sizeof(out->rival));
		out->rival_hash = item.kind == PYJSON_STRING ?
			(uint32_t)hash_bytes(item.text, item.size, 0) | 1 : 0;
	}
}

static int parse_json(struct wds_window *window, const struct wds_rule *rule,
		      const char *text, size_t n, struct wds_label *label, const char **why)
{
	CLEANUP(pyjson_end) struct pyjson json;
	struct pyjson_fault fault;
	struct pyjson_value value;
	int err = pyjson_begin(&json, text, n, &fault);

	if (err == -EBADMSG) {
		snprintf(label->name, sizeof(label->name), "is not JSON (line %zu: %s)",
			 fault.line, fault.what);
		return broken(why, label->name);
	}
	if (err)
		return err;
	if (!find_json(&json.root, rule, &value))
		value = (struct pyjson_value){ .text = NULL };
	find_others(window, &json.root, &value, false, label);
	return value.text ? read_json_label(&value, label, why) : 0;
}

static int parse_pickle(const char *text, size_t n, struct wds_label *label,
			const char **why)
{
	int err = pickle_int(text, n, &label->number);

	if (err == -ENOMEM)
		return err;
	if (err)
		return broken(why, "is not a pickled int; pickle int(label)");
	label->kind = WDS_NUMBER;
	return 0;
}

static bool is_wnid(const char *text, size_t n)
{
	return n >= WNID_BYTES && name_is_wnid(text, WNID_BYTES) &&
	       (n == WNID_BYTES || !isalnum((unsigned char)text[WNID_BYTES]));
}

/* A sample in a directory of that name has its class already: NULL. */
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

static void wds_labels_read_key(const struct wds_sample *sample, struct wds_label *label)
{
	const char *name = wnid_of(sample), *why;

	if (name)
		(void)wds_labels_set_name(label, name, WNID_BYTES, &why);
}

/* A few bytes of a tar can be millions of zeros: nobody should have to read these. */
static bool has_holes(const struct wds_member *member)
{
	const struct entry *entry = entries_get(member->log, member->index);
	uint64_t stored = 0;

	for (size_t i = 0; !member->whole && i < entry->extent_count; i++)
		stored += entry->extents[i].length;
	return !member->whole && stored < member->size;
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
	out->split = (struct wds_split){ .source = WDS_SPLIT_OF_JSON };
	out->rival[0] = '\0';
	out->rival_hash = 0;
	if (rule->kind == WDS_LABEL_KEY)
		wds_labels_read_key(sample, out);
	if (!member)
		return 0;
	if (member->size > most)
		return broken(why, "is too long for a label");
	if (rule->kind == WDS_LABEL_JSON && has_holes(member))
		return broken(why, "has holes, and JSON has no zero bytes");
	if (!wds_window_may_decode(window, member))
		return broken(why, "is too long, with the labels before it");
	err = read_member(window, member, small, &large, &text);
	if (err == -EBADMSG)
		return broken(why, "cannot be decoded");
	if (err)
		return err;
	if (rule->kind == WDS_LABEL_JSON)
		return parse_json(window, rule, text, member->size, out, why);
	if (rule->kind == WDS_LABEL_PICKLE)
		return parse_pickle(text, member->size, out, why);
	return parse_text(rule, text, member->size, out, why);
}

/* Names that an option can have need no escapes. */
static void wds_labels_visit_items(const struct pyjson_value *root, wds_visit_item *visit,
				   void *context)
{
	struct pyjson_walk walk = pyjson_items(root);
	struct pyjson_value key, item;
	struct wds_label label;
	const char *why;

	while (walk.keys && pyjson_next(&walk, &key, &item)) {
		if (pyjson_equals(&key, "label", 5) || pyjson_equals(&key, "class", 5) ||
		    read_json_label(&item, &label, &why) != 0)
			continue;
		visit(context, key.text + 1, key.size - 2, &label);
	}
}

int wds_label_items(struct wds_window *window, const struct wds_member *member,
		    wds_visit_item *visit, void *context)
{
	CLEANUP(cleanup_free) char *large = NULL;
	CLEANUP(pyjson_end) struct pyjson json = { .copy = NULL };
	struct pyjson_fault fault;
	char small[TEXT_MOST];
	const char *text;
	int err;

	if (member->size > JSON_MOST || has_holes(member) ||
	    !wds_window_may_decode(window, member))
		return 0;
	err = read_member(window, member, small, &large, &text);
	if (!err)
		err = pyjson_begin(&json, text, member->size, &fault);
	if (!err)
		wds_labels_visit_items(&json.root, visit, context);
	return err == -EBADMSG ? 0 : err;
}
