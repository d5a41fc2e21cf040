/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * regroup_check.c: where files go, and whether a name says one file only.
 *
 * Where a map says "0", and train/0.jpg and test/0.jpg are there, one of the two would
 * have its label by chance. What lies in its class's directory already is moved by no
 * name: copies of it are no fault, but a file elsewhere that would be moved beside it is.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/filename.h"
#include "base/hash.h"
#include "names/image_suffixes.h"
#include "regroup/regroup_parts.h"

bool regroup_same_kind(const char *a, const char *b)
{
	bool image = name_has_image_suffix(a, SUFFIX_LOADED);

	return image == name_has_image_suffix(b, SUFFIX_LOADED) &&
	       (image || strcasecmp(suffix_of(a), suffix_of(b)) == 0);
}

/*
 * The class's directory that the file at `path` is moved into; NULL: it stays. 0 or
 * -ENOMEM.
 */
static int find_class_directory(struct regroup *r, const char *path, const char **out)
{
	const struct name_map_item *item = NULL;
	struct regroup_match match;
	const char *name;

	*out = NULL;
	for (size_t i = 0; i < r->map_count && !item; i++)
		if (regroup_find(&r->maps[i], path, &match) && regroup_is_meant(&match, path))
			item = match.item;
	if (!item)
		return 0;
	name = item->class_name;
	if (!name)
		name = regroup_classes_name(r->classes, item->label);
	name = map_texts_intern(&r->used, name, strlen(name));
	if (!name)
		return -ENOMEM;
	if (!map_has_directory(path, name, strlen(name)))
		*out = name;
	return 0;
}

static int refuse_namesakes(const struct regroup_match *match,
			    const struct regroup_claim *a, const struct regroup_claim *b,
			    struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "%s: its name '%.200s' is that of '%.300s' and of '%.300s', and "
			 "one of them would get the other's label; say which is meant by its "
			 "path, '%.300s', in place of the name alone", match->map->path,
			 filename_of(match->item->key), a->path, b->path, a->path);
}

/* Of a key there is one claim for each kind of file. */
static int add_claim(struct regroup *r, const struct regroup_match *match,
		     struct regroup_claim *claim, struct error *e)
{
	for (uint32_t at = match->key->claim; at; at = r->claims.items[at - 1].next) {
		struct regroup_claim *before = &r->claims.items[at - 1];

		if (!regroup_same_kind(before->path, claim->path))
			continue;
		if (before->place != claim->place && (before->moves || claim->moves))
			return refuse_namesakes(match, before, claim, e);
		return 0;
	}
	claim->next = match->key->claim;
	if (r->claims.count >= UINT32_MAX - 1 || vec_push(&r->claims, *claim) < 0)
		return -ENOMEM;
	match->key->claim = (uint32_t)r->claims.count;
	return 0;
}

/* A link to a file of the same name is that file. */
static int make_claim(struct regroup *r, const struct regroup_file *file,
		      const struct regroup_match *match, struct regroup_claim *out)
{
	struct regroup_match there;
	bool follows = file->end && regroup_find(match->map, file->end, &there) &&
		       there.key == match->key;
	const char *directory = follows ? file->end_directory : file->directory, *path;

	*out = (struct regroup_claim){ .path = follows ? file->end : file->path,
				       .moves = directory != NULL };
	path = regroup_new_path(r, out->path, directory);
	if (!path)
		return -ENOMEM;
	out->place = hash_bytes(path, (size_t)(filename_of(path) - path), 0);
	return 0;
}

static int check_file(struct regroup *r, struct regroup_file *file, struct error *e)
{
	bool named = false, moves = false;
	int err = find_class_directory(r, file->path, &file->directory);

	if (!err && file->end)
		err = find_class_directory(r, file->end, &file->end_directory);
	for (size_t i = 0; i < r->map_count && !err; i++) {
		struct regroup_claim claim;
		struct regroup_match match;

		if (!regroup_find(&r->maps[i], file->path, &match))
			continue;
		named = true;
		r->maps[i].elsewhere += regroup_is_in_other_directory(&match, file->path);
		if (!regroup_is_meant(&match, file->path))
			continue;
		err = make_claim(r, file, &match, &claim);
		if (!err)
			err = add_claim(r, &match, &claim, e);
		moves |= !err && claim.moves;
	}
	r->moved += file->directory != NULL;
	return err ? err : regroup_count(r, file->path, named, moves);
}

/* The path that a file gets, and the one that it had, as hashes. */
struct regroup_name {
	uint64_t is, was;
	const struct regroup_file *file;
};

static int regroup_by_name(const void *left, const void *right)
{
	const struct regroup_name *a = left, *b = right;

	if (a->is != b->is)
		return a->is < b->is ? -1 : 1;
	return (a->was > b->was) - (a->was < b->was);
}

/*
 * Do two files with different paths get the same? A path that came twice before is a newer
 * version of one file, and no fault.
 */
static int refuse_clash(struct regroup *r, struct regroup_name *names, size_t n,
			struct error *e)
{
	if (n)
		qsort(names, n, sizeof(*names), regroup_by_name);
	for (size_t i = 1; i < n; i++)
		if (names[i - 1].is == names[i].is && names[i - 1].was != names[i].was)
			return error_set(e, ERROR_DATASET, EBADMSG,
					 "two files would be '%.300s', one of them moved "
					 "there by -o names=; leave names= out, or the file "
					 "out of its map",
					 regroup_new_path(r, names[i].file->path,
							  names[i].file->directory));
	return 0;
}

static int check_clashes(struct regroup *r, size_t first, size_t end, struct error *e)
{
	VEC(struct regroup_name) names = VEC_INIT;
	int err = 0;

	for (size_t i = first; i < end && !err; i++) {
		const struct regroup_file *file = &r->files.items[i];
		const char *path = regroup_new_path(r, file->path, file->directory);
		struct regroup_name name = { .file = file };

		if (path) {
			name.is = hash_bytes(path, strlen(path), 0);
			name.was = hash_bytes(file->path, strlen(file->path), 0);
		}
		err = path ? vec_push(&names, name) : -ENOMEM;
	}
	if (!err)
		err = refuse_clash(r, names.items, names.count, e);
	vec_free(&names);
	return err;
}

int regroup_check(struct regroup *r, struct error *e)
{
	size_t at = 0, first = 0;
	int err = 0;

	for (size_t s = 0; s < r->shards.count; s++) {
		const struct regroup_shard *shard = &r->shards.items[s];

		for (; at < shard->files && !err; at++) {
			err = check_file(r, &r->files.items[at], e);
			if (!err && shard->split)
				err = regroup_count_split(r, &r->files.items[at],
							  shard->split);
		}
	}
	for (size_t s = 0; s < r->shards.count && !err; s++) {
		err = check_clashes(r, first, r->shards.items[s].files, e);
		first = r->shards.items[s].files;
	}
	return err;
}
