/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/row_labels.h"

#include <string.h>

#include "build/findings.h"
#include "format/row_names.h"

int row_labels_choose(struct label_column_facts *facts, size_t n,
		      int (*inspect)(void *context, size_t column, bool *unfit), void *context,
		      struct label_column_choice *out)
{
	int err = 0;

	do {
		*out = label_column_choose(facts, n);
		if (out->taken >= 0 && !facts[out->taken].classes)
			err = inspect(context, (size_t)out->taken, &facts[out->taken].unfit);
	} while (!err && out->taken >= 0 && facts[out->taken].unfit);
	return err;
}

void row_labels_note_classes(const char *json, size_t n, struct label_column_facts *facts,
			     size_t count)
{
	struct row_class_columns classes = { .count = 0 };

	if (json)
		row_class_columns(json, n, &classes);
	for (size_t i = 0; i < count; i++)
		for (unsigned k = 0; k < classes.count && k < 2; k++)
			facts[i].classes |= facts[i].integers &&
					    strcmp(classes.names[k], facts[i].name) == 0;
}

void row_labels_report(const struct scan *scan, const char *word, const char *taken,
		       const char *other)
{
	if (taken)
		findings_add(scan->findings, FINDING_CHOSEN,
			     "the labels are taken from the %s '%.60s'; '%.60s' could be meant, "
			     "too: labels=%.60s takes it", word, taken, other, other);
	else
		findings_add(scan->findings, FINDING_CHOSEN,
			     "it may have classes in the %s '%.60s', and perhaps in others: none "
			     "is taken; labels=%.60s takes it", word, other, other);
}

void row_labels_report_split(const struct scan *scan, const char *item, const char *name)
{
	findings_add(scan->findings, FINDING_CHOSEN,
		     "'%.60s' may say the split of each %s, and is not used: %ss of all splits "
		     "lie together; labels=%.60s has a directory for each of its values", name,
		     item, item, name);
}

int row_labels_refuse_name(const struct scan *scan, struct error *e, const char *word,
			   const char *list)
{
	return format_refuse(scan, e, "has no %s '%.100s' for the labels, as labels= says; it has: "
				      "%s; name one of them with labels=NAME, or leave the option "
				      "away", word, scan->rows->labels, list);
}
