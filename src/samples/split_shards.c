/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "samples/split_shards.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/filename.h"
#include "base/text.h"
#include "build/findings.h"
#include "names/split_words.h"
#include "samples/wds_samples.h"

bool splits_are_several(const struct source_set *sources)
{
	char first[SPLIT_BYTES] = "", other[SPLIT_BYTES];

	for (size_t i = 0; i < sources->count; i++) {
		const char *path = source_path(sources->sources[i]);

		if (!*first)
			split_of_path(path, first);
		else if (split_of_path(path, other) && strcmp(first, other) != 0)
			return true;
	}
	return false;
}

struct split_shards_place {
	const char *split;
	struct text path;
};

static int split_shards_place_entry(void *context, struct entry *entry)
{
	struct split_shards_place *place = context;
	const char *path = wds_plain_path(entry->path);

	if (split_is_word(path, strcspn(path, "/")))
		return 0;
	text_cut(&place->path, 0);
	if (text_print(&place->path, "%s/%s", place->split, path) < 0)
		return -ENOMEM;
	entry->path = place->path.items;
	return 0;
}

int splits_add_directory(struct entries *entries, const char *split)
{
	struct split_shards_place place = { .split = split };
	int err = 0;

	for (; entries && !err; entries = entries_next(entries))
		err = entries_rewrite(entries, split_shards_place_entry, &place);
	vec_free(&place.path);
	return err;
}

/* Has it samples that are in no split, of which the file itself may say some? */
static bool has_unsplit(const struct samples *samples)
{
	for (size_t i = 0; i < samples_group_count(samples); i++) {
		const struct sample_group *group = samples_group(samples, i);

		if (group->rows && !*group->split)
			return true;
	}
	return false;
}

void splits_check(struct unsplit_files *strays, const struct scan *scan)
{
	if (scan->rows->split && !strays->with) {
		strays->with = scan->label;
		strays->split = scan->rows->split;
	}
	if (scan->rows->split || !has_unsplit(scan->samples))
		return;
	if (strays->count++ == 0)
		strays->first = scan->label;
}

void splits_report(const struct unsplit_files *strays, struct findings *findings)
{
	if (!strays->with || strays->count == 0)
		return;
	findings_add(findings, FINDING_CHOSEN,
		     "the name of '%s' says no split, as that of '%s' says '%s': its "
		     "classes lie beside the splits' directories, and ImageFolder takes "
		     "all of these for classes (%zu such files); mount it apart, or put "
		     "its split into its name", filename_of(strays->first),
		     filename_of(strays->with), strays->split, strays->count);
}
