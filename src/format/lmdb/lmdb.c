/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * LMDB files: images and their labels, as the writers of datasets keep them, or each key
 * as a file.
 *
 * A walk reads branch and leaf pages, and of each value what is around its image. A
 * writer may be at work: extents have a guard that ends in an error once pages of the
 * snapshot may have been used again.
 */
#include "format/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/filename.h"
#include "base/text.h"
#include "build/findings.h"
#include "format/lmdb/lmdb_rows.h"
#include "format/row_labels.h"
#include "names/split_words.h"

enum { CLASS_BYTES = 256 };

struct lmdb_scan {
	struct lmdb_file file;
	struct lmdb_rows rows;
	char class_name[CLASS_BYTES]; /* of all images, or "" */
	struct text shown;	      /* for `granary info` */
	struct text names;	      /* of databases and items, for labels= */
	bool labels_found;	      /* what labels= names has the labels */
};

/* The name of a database's directory, or of its file, without an ending such as ".lmdb".
 */
static size_t database_name(const char *path, const char *ending, const char **out)
{
	size_t n, tail = strlen(ending);

	*out = filename_of(path);
	n = strlen(*out);
	if (strcmp(*out, "data.mdb") == 0)
		n = directory_name_of(path, out);
	return n > tail && memcmp(*out + n - tail, ending, tail) == 0 ? n - tail : n;
}

/*
 * "bedroom" of "bedroom_train_lmdb/data.mdb": LSUN has a database for each class and
 * split.
 * "": the name is no such one.
 */
static void find_class(const char *path, char out[CLASS_BYTES])
{
	const char *name, *end;
	size_t n = database_name(path, "_lmdb", &name);

	*out = '\0';
	end = strncmp(name + n, "_lmdb", 5) == 0 ? memrchr(name, '_', n) : NULL;
	if (end && end > name &&
	    split_is_lowercase_word(end + 1, (size_t)(name + n - end - 1)))
		snprintf(out, CLASS_BYTES, "%.*s", (int)(end - name), name);
}

/*
 * Several databases may have equal keys: each is a directory, unless its split, its class
 * or its labels keep them apart.
 */
static int begin_prefix(struct lmdb_scan *s, const struct lmdb_plan *plan,
			const char *split, struct text *prefix)
{
	bool samples =
		plan->shows == LMDB_SHOWS_IMAGES || plan->shows == LMDB_SHOWS_SAMPLES;
	const char *name;
	size_t n;

	if (s->file.scan->alone ||
	    (samples && (plan->labelled || *s->class_name || *split)))
		return text_append(prefix, "", 0);
	n = database_name(s->file.scan->label, ".lmdb", &name);
	return text_print(prefix, "%.*s/", (int)n, name);
}

/* "main: pickled pairs (.jpg), 600 with labels" */
static int note_shown(struct lmdb_scan *s, const struct lmdb_plan *plan)
{
	static const char *const words[] = {
		[LMDB_SHOWS_FILES] = "values as files",
		[LMDB_SHOWS_IMAGES] = "images",
		[LMDB_SHOWS_TEXTS] = "images with texts",
	};
	const char *what = plan->form ? plan->form->word : words[plan->shows];

	if (plan->db.entries == 0 || (plan->values == 0 && s->rows.shown == 0))
		return 0;
	return text_print(&s->shown, "%s%s%.40s%s%s", s->shown.count ? ", " : "; ",
			  *plan->name ? "'" : "", plan->name, *plan->name ? "': " : "",
			  what) < 0
		       ? lmdb_no_memory(&s->file)
		       : 0;
}

static int add_database(struct lmdb_scan *s, const struct lmdb_plan *plan, bool below,
			const char *split)
{
	const char *class_name = plan->labelled || !*s->class_name ? NULL : s->class_name;
	struct text prefix = {0};
	int err = begin_prefix(s, plan, split, &prefix);

	if (!err && below)
		err = text_print(&prefix, "%s/", plan->name);
	err = err ? lmdb_no_memory(&s->file)
		  : lmdb_rows_add(&s->rows, plan, prefix.items, split, class_name);
	vec_free(&prefix);
	return err ? err : note_shown(s, plan);
}

/* A database that is called as a split is one, and one with labels an array of its own;
   others are directories. */
static int add_named(struct lmdb_scan *s, struct lmdb_plan *plan, const char *split)
{
	bool is_split = split_is_word(plan->name, strlen(plan->name)) &&
			!s->file.scan->rows->tree;

	if (plan->labelled && !is_split)
		plan->array = plan->name;
	return add_database(s, plan, !is_split && !plan->labelled,
			    is_split ? plan->name : split);
}

static int note_names(struct lmdb_scan *s, const struct lmdb_plan *plan)
{
	const char *wanted = s->file.scan->rows->labels;
	const char *names[] = {plan->name, plan->label_name};

	s->labels_found |=
		wanted && plan->labelled && strcmp(plan->label_name, wanted) == 0;
	for (size_t i = 0; i < 2; i++)
		if (*names[i] && text_print(&s->names, "%s%.63s", s->names.count ? ", " : "",
					    names[i]) < 0)
			return lmdb_no_memory(&s->file);
	return 0;
}

/* labels=NAME that names nothing is no wish that can be met. */
static int check_labels(const struct lmdb_scan *s)
{
	const struct scan *scan = s->file.scan;

	if (!scan->rows->labels || scan->rows->tree || s->labels_found)
		return 0;
	return row_labels_refuse_name(scan, s->file.e, "item or database",
				      s->names.count ? s->names.items : "none with a name");
}

/*
 * Databases are columns, whose rows have equal keys: is one of them the labels of those
 * of images? Its number, or COLUMN_NONE.
 */
static int choose_labels(struct lmdb_scan *s, struct lmdb_plan *plans, size_t n)
{
	CLEANUP(cleanup_free)
	struct label_column_facts *facts = calloc(n + 1, sizeof(*facts));
	const char *wanted = s->file.scan->rows->labels;
	struct label_column_choice choice = {COLUMN_NONE, COLUMN_NONE};
	size_t images = 0;

	for (size_t i = 0; i < n && facts; i++) {
		images += plans[i].shows == LMDB_SHOWS_IMAGES;
		facts[i] = (struct label_column_facts){
			.name = plans[i].name,
			.can_label =
				plans[i].shows == LMDB_SHOWS_FILES && plans[i].values};
		if (wanted && facts[i].can_label && strcmp(plans[i].name, wanted) == 0)
			choice.taken = (int)i;
	}
	if (!facts || !images || s->file.scan->rows->tree)
		return COLUMN_NONE;
	s->labels_found |= choice.taken >= 0;
	if (choice.taken < 0)
		choice = label_column_choose(facts, n);
	if (choice.taken >= 0 && choice.other >= 0)
		findings_add(s->file.scan->findings, FINDING_CHOSEN,
			     "the labels are taken from the database '%.60s'; '%.60s' "
			     "could be "
			     "meant, too: labels=%.60s takes it",
			     plans[choice.taken].name, plans[choice.other].name,
			     plans[choice.other].name);
	return choice.taken;
}

/* Images get the labels of the database `taken`, which is not shown by itself. */
static void set_labels(struct lmdb_scan *s, const struct lmdb_plan *labels,
		       struct lmdb_plan *plan)
{
	s->rows.labels.name = plan->shows == LMDB_SHOWS_IMAGES ? labels->name : NULL;
	s->rows.labels.db = labels->db;
	if (plan->shows != LMDB_SHOWS_IMAGES)
		return;
	plan->labelled = true;
	snprintf(plan->label_name, sizeof(plan->label_name), "%s", labels->name);
}

static int add_all_named(struct lmdb_scan *s, const char *split)
{
	size_t n = s->rows.databases.count;
	CLEANUP(cleanup_free) struct lmdb_plan *plans = calloc(n + 1, sizeof(*plans));
	int labels, err = plans ? 0 : lmdb_no_memory(&s->file);

	for (size_t i = 0; i < n && !err; i++) {
		plans[i].name = s->rows.databases.items[i].name;
		plans[i].db = s->rows.databases.items[i].db;
		err = lmdb_plan_make(&s->file, &s->rows.window, &plans[i]);
		if (!err)
			err = note_names(s, &plans[i]);
	}
	if (err)
		return err;
	labels = choose_labels(s, plans, n);
	err = check_labels(s);
	for (size_t i = 0; i < n && !err; i++) {
		if ((int)i == labels)
			continue;
		if (labels >= 0)
			set_labels(s, &plans[labels], &plans[i]);
		err = add_named(s, &plans[i], split);
	}
	return err;
}

static int add_all(struct lmdb_scan *s)
{
	const char *split = s->file.scan->rows->split ? s->file.scan->rows->split : "";
	struct lmdb_plan plan = {.name = "", .db = s->file.main};
	int err = lmdb_plan_make(&s->file, &s->rows.window, &plan);

	if (!err)
		err = note_names(s, &plan);
	if (!err)
		err = add_database(s, &plan, false, split);
	if (!err)
		err = add_all_named(s, split);
	return err ? err : lmdb_check_snapshot(&s->file);
}

static void lmdb_describe(const struct lmdb_scan *s)
{
	struct scan *scan = s->file.scan;

	snprintf(scan->detail, sizeof(scan->detail),
		 "version %u, transaction %" PRIu64 "%.60s", s->file.version,
		 s->file.transaction, s->shown.items ? s->shown.items : "");
}

static int lmdb_scan_file(struct scan *scan, struct error *e)
{
	struct lmdb_scan s = {.class_name = ""};
	int err = lmdb_file_open(scan, &s.file, e);

	lmdb_rows_open(&s.rows, &s.file);
	if (!err && s.file.main.root == LMDB_NO_PAGE)
		err = error_set(
			e, ERROR_DATASET, EBADMSG,
			"'%s' is an LMDB database without entries; its writer may not "
			"have committed yet",
			scan->label);
	find_class(scan->label, s.class_name);
	if (!err)
		err = add_all(&s);
	if (!err)
		lmdb_describe(&s);
	vec_free(&s.shown);
	vec_free(&s.names);
	lmdb_rows_close(&s.rows);
	lmdb_file_close(&s.file);
	return err;
}

const struct format format_lmdb = {
	.name = "lmdb",
	.rows = true,
	.probe = lmdb_probe,
	.scan = lmdb_scan_file,
};
