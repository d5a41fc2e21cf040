/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "view/view_kit.h"

#include "told.h"

#include <ctype.h>

enum { PARTS = 7, CLASSES_MOST = 16, ITEM_BYTES = 400 };

const struct source_owner kit_owner = { 11, 22, 0751, 1234567, 89 };

/* The next item of a list, from the beginning again behind its end; "" of no list. */
static const char *next_item(const char *list, const char **at, char out[ITEM_BYTES])
{
	size_t n;

	*out = '\0';
	if (!list)
		return out;
	if (!*at)
		*at = list;
	n = strcspn(*at, ",");
	snprintf(out, ITEM_BYTES, "%.*s", (int)n, *at);
	*at = (*at)[n] ? *at + n + 1 : NULL;
	return out;
}

static void add_rows(struct samples *samples, unsigned rows, const char *labels,
		     const char *names)
{
	const char *label_at = NULL, *name_at = NULL;

	for (unsigned i = 0; i < rows; i++) {
		struct sample sample = { .body = { i, 1, 0 } };
		char label[ITEM_BYTES], name[ITEM_BYTES];

		next_item(labels, &label_at, label);
		if (isdigit((unsigned char)*label) || *label == '-')
			sample.label = strtoll(label, NULL, 10);
		else if (*label && *label != '@')
			sample.class_name = label;
		sample.name = *next_item(names, &name_at, name) ? name : NULL;
		assert_int_equal(samples_add(samples, &sample), 0);
	}
}

static size_t split_classes(char *list, const char **classes)
{
	size_t n = 0;
	char *word;

	while ((word = strsep(&list, ","))) {
		assert_in_range(n, 0, CLASSES_MOST - 1);
		classes[n++] = strcmp(word, "-") == 0 ? NULL : word;
	}
	return n;
}

static void add_group(struct samples *samples, char *text)
{
	char *part[PARTS] = { 0 };
	const char *classes[CLASSES_MOST];
	struct sample_group group;

	for (size_t i = 0; i < PARTS && text; i++)
		part[i] = strsep(&text, ":");
	assert_non_null(part[3]);
	group = (struct sample_group){ .split = part[0], .name = part[1],
				       .labels = *part[2] ? part[2] : NULL,
				       .extension = "jpg",
				       .rows = strtoul(part[3], NULL, 10),
				       .class_names = classes };
	if (part[4] && *part[4] == '@')
		group.class_name = part[4] + 1;
	group.labels_in_words = group.class_name != NULL;
	group.class_count = split_classes(part[6], classes);
	assert_int_equal(samples_begin(samples, &group), 0);
	add_rows(samples, (unsigned)group.rows, part[4], part[5]);
}

static struct samples *shard_of(char *script)
{
	struct samples *samples = samples_new();
	char *word;

	assert_non_null(samples);
	while ((word = strsep(&script, " ")))
		if (*word)
			add_group(samples, word);
	return samples;
}

struct run kit_run_with(const char *script, const struct view_config *config)
{
	struct findings *findings = calloc(1, sizeof(*findings));
	struct view_config with = *config;
	struct run run = { .findings = findings };
	char *copy = strdup(script), *rest = copy, *shard;

	assert_non_null(copy);
	assert_non_null(findings);
	with.findings = findings;
	run.view = view_new(&with);
	assert_non_null(run.view);
	while ((shard = strsep(&rest, "|"))) {
		assert_in_range(run.count, 0, SHARDS_MOST - 1);
		run.shards[run.count++] = shard_of(shard);
	}
	free(copy);
	for (size_t i = 0; i < run.count; i++)
		assert_int_equal(view_measure(run.view, run.shards[i], "the/file"), 0);
	run.err = view_seal(run.view, &run.why);
	for (size_t i = 0; i < run.count && !run.err; i++) {
		run.logs[i] = entries_new();
		assert_int_equal(view_apply(run.view, run.shards[i], &kit_owner, run.logs[i]),
				 0);
	}
	return run;
}

struct run kit_run(const char *script, enum view_kind kind)
{
	struct run run = kit_run_with(script, &(struct view_config){ .kind = kind });

	if (run.err)
		fail_msg("%s: %s", script, run.why.text);
	return run;
}

void kit_end(struct run *run)
{
	for (size_t i = 0; i < run->count; i++) {
		samples_free(run->shards[i]);
		entries_free(run->logs[i]);
	}
	view_free(run->view);
	free(told(run->findings));
	free(run->findings);
}

char *kit_paths(const struct run *run)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	for (size_t i = 0; i < run->count; i++) {
		if (i)
			fputs("| ", out);
		for (size_t k = 0; k < entries_count(run->logs[i]); k++)
			fprintf(out, "%s ", entries_get(run->logs[i], k)->path);
	}
	fclose(out);
	if (size)
		text[size - 1] = '\0';
	return text;
}
