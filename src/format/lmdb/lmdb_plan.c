/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/lmdb/lmdb_plan.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "build/findings.h"

enum {
	VALUES_SNIFFED = 16,
	ITEMS_SNIFFED = 64, /* those that are passed included */
	FORMS_MOST = 4,
};

/* The result of one form for the first values. */
struct form_count {
	const char *extensions[VALUES_SNIFFED];
	unsigned samples, labelled, lists;
	struct lmdb_sample first;
};

struct sniff {
	struct lmdb_file *file;
	struct value_window *window;
	unsigned values;
	const char *types[VALUES_SNIFFED]; /* of whole values */
	unsigned known;
	bool texts; /* the first key is "image-N" */
	struct form_count forms[FORMS_MOST];
};

int lmdb_value_unreadable(const struct lmdb_file *file, int err)
{
	return err == -ENOMEM ? lmdb_no_memory(file)
			      : format_unreadable(file->scan->label, err, file->e);
}

bool lmdb_key_is_special(const struct lmdb_item *item)
{
	static const char *const special[] = {
		"__keys__", "__len__",	   "__version__", "length",
		"len",	    "num-samples", "num_samples", "nSamples",
	};

	for (size_t i = 0; i < sizeof(special) / sizeof(*special); i++)
		if (item->key_size == strlen(special[i]) &&
		    memcmp(item->key, special[i], item->key_size) == 0)
			return true;
	return false;
}

size_t lmdb_key_number(const struct lmdb_item *item, const char *begin, const char **out)
{
	size_t n = strlen(begin);

	if (item->key_size <= n || memcmp(item->key, begin, n) != 0)
		return 0;
	for (size_t i = n; i < item->key_size; i++)
		if (!isdigit(item->key[i]))
			return 0;
	*out = (const char *)item->key + n;
	return item->key_size - n;
}

int lmdb_key_append(const struct lmdb_plan *plan, const struct lmdb_item *item,
		    struct text *out)
{
	size_t n = item->key_size;
	int err = 0;

	if (plan->db.flags & LMDB_INTEGER_KEYS && (n == 4 || n == 8))
		return text_print(out, "%" PRIu64, little_endian(item->key, (unsigned)n));
	if (n && !memchr(item->key, '\0', n))
		return text_append(out, (const char *)item->key, n);
	err = text_print(out, "0x");
	for (size_t i = 0; i < n && !err; i++)
		err = text_print(out, "%02x", item->key[i]);
	return err;
}

/* ---- The first values ---- */

static bool is_image(const struct lmdb_sample *sample, const char *type, uint64_t size)
{
	return sample->channels || type || (sample->labelled && sample->size > size / 2);
}

static int sniff_form(struct sniff *s, size_t form, const struct lmdb_item *item)
{
	struct lmdb_sample sample = {0};
	struct form_count *count = &s->forms[form];
	const char *type = NULL;
	int err = lmdb_forms[form].decode(s->window, item->at, item->size,
					  s->file->scan->rows->labels, &sample);

	if (!err && !sample.channels)
		err = lmdb_detect_type(s->window, sample.at, sample.size, &type);
	if (err)
		return err == -ENODATA ? 0 : err;
	if (!is_image(&sample, type, item->size))
		return 0;
	if (count->samples == 0)
		count->first = sample;
	count->extensions[count->samples++] = sample.channels == 3 ? "ppm"
					      : sample.channels	   ? "pgm"
								   : type;
	count->labelled += sample.labelled;
	count->lists += sample.label_list;
	return 0;
}

static int sniff_value(struct sniff *s, const struct lmdb_item *item)
{
	const char *number, *type;
	int err = lmdb_detect_type(s->window, item->at, item->size, &type);

	s->texts |=
		type && s->values == 0 && lmdb_key_number(item, "image-", &number) > 0;
	s->types[s->values++] = type;
	s->known += type != NULL;
	for (size_t i = 0; i < lmdb_form_count && !err; i++)
		err = sniff_form(s, i, item);
	return err ? lmdb_value_unreadable(s->file, err) : 0;
}

static int sniff_database(struct sniff *s, const struct lmdb_db *db)
{
	struct lmdb_cursor cursor;
	struct lmdb_item item;
	unsigned items = 0;
	int more = 1;

	lmdb_cursor_open(&cursor, s->file, db, false);
	while (more >= 0 && s->values < VALUES_SNIFFED && items++ < ITEMS_SNIFFED &&
	       (more = lmdb_cursor_next(&cursor, &item)) > 0)
		if (!item.is_database && item.size > 0 && !lmdb_key_is_special(&item))
			more = sniff_value(s, &item);
	lmdb_cursor_close(&cursor);
	return more < 0 ? more : 0;
}

/* Of a dict or a tuple whose items could be labels, too. */
static void report_rival(const struct sniff *s, const struct lmdb_sample *first)
{
	if (*first->rival && *first->label_name)
		findings_add(s->file->scan->findings, FINDING_CHOSEN,
			     "the labels are taken from the item '%.60s'; '%.60s' could "
			     "be meant, "
			     "too: labels=%.60s takes it",
			     first->label_name, first->rival, first->rival);
	else if (*first->rival)
		findings_add(s->file->scan->findings, FINDING_CHOSEN,
			     "it may have labels in the item '%.60s', and perhaps in "
			     "others: none "
			     "is taken; labels=%.60s takes it",
			     first->rival, first->rival);
	else if (first->label_chosen)
		findings_add(
			s->file->scan->findings, FINDING_CHOSEN,
			"several items beside the image could be the label: the first "
			"number is taken, or else the first text; a dict with the items "
			"'image' and 'label' would say which");
}

static void plan_choose(const struct sniff *s, struct lmdb_plan *plan)
{
	const struct form_count *best = NULL;

	plan->values = s->values;
	if (2 * s->known > s->values || s->texts) {
		plan->shows = s->texts ? LMDB_SHOWS_TEXTS : LMDB_SHOWS_IMAGES;
		plan->extension = s->texts
					  ? s->types[0]
					  : samples_common_extension(s->types, s->values);
		return;
	}
	for (size_t i = 0; i < lmdb_form_count; i++) {
		if (2 * s->forms[i].samples <= s->values ||
		    (best && s->forms[i].samples <= best->samples))
			continue;
		best = &s->forms[i];
		plan->shows = LMDB_SHOWS_SAMPLES;
		plan->form = &lmdb_forms[i];
		plan->labelled = best->labelled > 0 && best->lists == 0;
		plan->extension =
			samples_common_extension(best->extensions, best->samples);
	}
	if (!best)
		return;
	memcpy(plan->label_name, best->first.label_name, sizeof(plan->label_name));
	if (best->lists)
		findings_add(
			s->file->scan->findings, FINDING_CHOSEN,
			"its labels are rows of numbers, and not each is one-hot: no "
			"label is taken; pack the number of a class instead");
	else
		report_rival(s, &best->first);
}

int lmdb_plan_make(struct lmdb_file *file, struct value_window *window,
		   struct lmdb_plan *plan)
{
	struct sniff s = {.file = file, .window = window};
	int err = 0;

	plan->array = "data";
	plan->shows = LMDB_SHOWS_FILES;
	if (!file->scan->rows->tree)
		err = sniff_database(&s, &plan->db);
	if (!err && s.values)
		plan_choose(&s, plan);
	return err;
}
