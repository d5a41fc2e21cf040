/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "samples/repeated_keys.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/filename.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "base/text.h"
#include "build/findings.h"
#include "samples/wds_samples.h"

enum { SHARD_BYTES = 80 }; /* of its name before others' */

/* A file that is shown as it is stored. */
struct repeated_keys_stored {
	const char *path;
	size_t shard;
};

struct repeated_keys {
	const struct wds_shard *shards;
	size_t n;
	VEC(struct repeated_keys_stored) files;
	struct idmap ids;
	size_t longest; /* bytes of a file's own name, of all that are renamed */
	struct repeated_keys_clash *clash;
};

/* Is it a shard, of which files can be renamed? */
static bool is_shard(const struct wds_shard *shard)
{
	const struct wds_findings *findings = shard->findings;
	struct entries *log = shard->scan->entries;
	bool flat = true;

	if (!findings->samples || entries_next(log))
		return false;
	for (size_t i = 0; i < entries_count(log); i++) {
		const struct entry *entry = entries_get(log, i);

		if (entry->kind != ENTRY_FILE && entry->kind != ENTRY_DIRECTORY)
			return false; /* a link's target would have to follow */
		flat &= !strchr(wds_plain_path(entry->path), '/') || wds_is_meta(entry->path);
	}
	return findings->taken || findings->paired || flat;
}

/*
 * Is there a number before the extension, as in img_7.jpg and img.7.jpg? Other names that
 * are in two shards may be meant to be one file.
 */
static bool counts(const char *path)
{
	const char *name = filename_of(path), *end = strrchr(name, '.');

	if (!end)
		end = name + strlen(name);
	for (const char *at = name + 1; at <= end; at++)
		if ((at == end || *at == '.') && isdigit((unsigned char)at[-1]))
			return true;
	return false;
}

/* Do both have samples beyond doubt? Then names of any kind are their keys. */
static bool are_samples(const struct wds_findings *a, const struct wds_findings *b)
{
	return (a->taken && b->taken) || (a->paired && b->paired);
}

static bool same_path(const void *context, uint32_t id, const void *key)
{
	const struct repeated_keys *restarts = context;

	return strcmp(restarts->files.items[id].path, key) == 0;
}

static int repeated_keys_add_file(struct repeated_keys *restarts, const char *path,
				  size_t shard)
{
	const struct repeated_keys_stored file = { path, shard };
	uint32_t hash = (uint32_t)hash_bytes(path, strlen(path), 0);
	struct idmap_slot *slot = idmap_find(&restarts->ids, hash, same_path, restarts, path);
	const struct repeated_keys_stored *other =
		slot ? &restarts->files.items[slot->id_plus_1 - 1] : NULL;

	if (other && other->shard != shard &&
	    (counts(path) || are_samples(restarts->shards[shard].findings,
					 restarts->shards[other->shard].findings))) {
		restarts->clash->first = restarts->shards[other->shard].scan->label;
		restarts->clash->second = restarts->shards[shard].scan->label;
		snprintf(restarts->clash->path, sizeof(restarts->clash->path), "%s", path);
	}
	if (other)
		return 0;
	if (restarts->files.count >= UINT32_MAX - 1 || vec_push(&restarts->files, file) < 0)
		return -ENOMEM;
	return idmap_insert(&restarts->ids, hash, (uint32_t)restarts->files.count - 1);
}

/* Looks at the shards until two have a file of one path. */
static int repeated_keys_collect(struct repeated_keys *restarts, const bool *are_shards)
{
	int err = 0;

	for (size_t s = 0; s < restarts->n; s++) {
		struct entries *log = restarts->shards[s].scan->entries;

		for (size_t i = 0; are_shards[s] && i < entries_count(log); i++) {
			const struct entry *entry = entries_get(log, i);

			if (entry->kind == ENTRY_FILE)
				err = repeated_keys_add_file(restarts,
							     wds_plain_path(entry->path),
							     s);
			if (err || restarts->clash->first)
				return err;
		}
	}
	return 0;
}

/* Names of shards */

/* By its own name, with its directory's before it, or by its number. */
enum naming { BY_NAME, BY_DIRECTORY, BY_NUMBER };

static bool name_shard(const struct repeated_keys *restarts, size_t i, enum naming naming,
		       char out[SHARD_BYTES])
{
	const char *label = restarts->shards[i].scan->label, *name = filename_of(label);
	const char *directory = "", *dot = strrchr(name, '.');
	bool known = dot && (strcasecmp(dot, ".tar") == 0 || strcasecmp(dot, ".zip") == 0);
	size_t n = known ? (size_t)(dot - name) : strlen(name);
	size_t directory_n = naming == BY_DIRECTORY ? directory_name_of(label,
									&directory) : 0;

	if (naming == BY_NUMBER)
		return snprintf(out, SHARD_BYTES, "%zu", i) > 0;
	return n + directory_n + 2 < SHARD_BYTES && n > 0 &&
	       n + directory_n + 2 + restarts->longest <= NAME_MAX &&
	       snprintf(out, SHARD_BYTES, "%.*s%s%.*s", (int)directory_n, directory,
			directory_n ? "-" : "", (int)n, name) > 0;
}

static int repeated_keys_compare_names(const void *left, const void *right)
{
	return strcmp(left, right);
}

/* Names that differ, in the simplest way: SHARD_BYTES for each; NULL: no memory. */
static char *repeated_keys_name_shards(const struct repeated_keys *restarts)
{
	size_t n = restarts->n;
	char *names = calloc(n, SHARD_BYTES);
	CLEANUP(cleanup_free) char *sorted = calloc(n, SHARD_BYTES);
	bool differ = false;

	for (enum naming naming = BY_NAME; names && sorted && !differ; naming++) {
		differ = true;
		for (size_t i = 0; i < n && differ; i++)
			differ = name_shard(restarts, i, naming, names + i * SHARD_BYTES);
		memcpy(sorted, names, n * SHARD_BYTES);
		qsort(sorted, n, SHARD_BYTES, repeated_keys_compare_names);
		for (size_t i = 1; i < n && differ; i++)
			differ = strcmp(sorted + i * SHARD_BYTES,
					sorted + (i - 1) * SHARD_BYTES) != 0;
	}
	if (differ)
		return names;
	free(names);
	return NULL;
}

struct repeated_keys_place {
	const char *shard;
	struct text path;
};

/* `d/0.jpg` becomes `d/SHARD-0.jpg`. */
static int repeated_keys_place_entry(void *context, struct entry *entry)
{
	struct repeated_keys_place *place = context;
	const char *name = filename_of(entry->path);

	if (entry->kind != ENTRY_FILE)
		return 0;
	text_cut(&place->path, 0);
	if (text_print(&place->path, "%.*s%s-%s", (int)(name - entry->path), entry->path,
		       place->shard, name) < 0)
		return -ENOMEM;
	entry->path = place->path.items;
	return 0;
}

static size_t longest_name(const struct wds_shard *shard)
{
	struct entries *log = shard->scan->entries;
	size_t longest = 0;

	for (size_t i = 0; i < entries_count(log); i++) {
		size_t n = strlen(filename_of(entries_get(log, i)->path));

		longest = n > longest ? n : longest;
	}
	return longest;
}

static void measure(struct repeated_keys *restarts, const bool *are_shards)
{
	for (size_t i = 0; i < restarts->n; i++) {
		size_t n = are_shards[i] ? longest_name(&restarts->shards[i]) : 0;

		restarts->longest = n > restarts->longest ? n : restarts->longest;
	}
}

static int rename_all(const struct repeated_keys *restarts, const bool *are_shards)
{
	CLEANUP(cleanup_free) char *names = repeated_keys_name_shards(restarts);
	struct repeated_keys_place place = { .shard = NULL };
	int err = names ? 0 : -ENOMEM;

	for (size_t i = 0; i < restarts->n && !err; i++) {
		if (!are_shards[i])
			continue;
		place.shard = names + i * SHARD_BYTES;
		err = entries_rewrite(restarts->shards[i].scan->entries,
				      repeated_keys_place_entry, &place);
	}
	vec_free(&place.path);
	return err;
}

int repeated_keys_rename(const struct wds_shard *shards, size_t n,
			 struct repeated_keys_clash *clash)
{
	struct repeated_keys restarts = { .shards = shards, .n = n, .clash = clash };
	CLEANUP(cleanup_free) bool *are_shards = calloc(n + 1, sizeof(*are_shards));
	int err = are_shards ? 0 : -ENOMEM;

	*clash = (struct repeated_keys_clash){ .first = NULL };
	for (size_t i = 0; i < n && !err; i++)
		are_shards[i] = is_shard(&shards[i]);
	if (!err)
		err = repeated_keys_collect(&restarts, are_shards);
	if (!err && clash->first) {
		measure(&restarts, are_shards);
		err = rename_all(&restarts, are_shards);
	}
	vec_free(&restarts.files);
	idmap_free(&restarts.ids);
	return err;
}

void repeated_keys_report(const struct repeated_keys_clash *clash,
			  struct findings *findings)
{
	if (!clash->first)
		return;
	findings_add(findings, FINDING_CHOSEN,
		     "'%s' is in '%s' and in '%s': files of shards that are shown as "
		     "they are stored have their shard's name before their own",
		     clash->path, filename_of(clash->first), filename_of(clash->second));
}
