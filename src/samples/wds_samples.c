/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "samples/wds_samples.h"

#include <string.h>
#include <strings.h>

#include "base/filename.h"

bool wds_is_meta(const char *path)
{
	size_t n = strcspn(path, "/");

	return n >= 4 && strncmp(path, "__", 2) == 0 && strncmp(path + n - 2, "__", 2) == 0;
}

/* Where the suffix of a member begins; NULL where it is in no sample. */
static const char *wds_samples_suffix_of(const struct entry *entry)
{
	const char *name = filename_of(entry->path);
	const char *dot = strchr(name, '.');

	if (entry->kind != ENTRY_FILE || !dot || dot == name || wds_is_meta(entry->path))
		return NULL;
	return dot + 1;
}

static struct wds_member member_of(struct entries *log, size_t index,
				   const struct entry *entry, const char *suffix)
{
	struct wds_member member = { .path = entry->path, .suffix = suffix,
				     .size = entry->size, .log = log, .index = index };
	const struct entry_extent *x = entry->extents;

	member.whole = entry->size == 0;
	if (entry->extent_count == 1 && x->file_offset == 0 && x->length == entry->size) {
		const struct volume_desc *volume = entries_volume(log, x->volume);

		member.coded = volume->kind == VOLUME_CODED;
		member.whole = !member.coded;
		member.source = volume->source;
		member.offset = volume->base + x->offset;
	}
	return member;
}

static bool wds_samples_same_key(const struct wds_sample *sample, const char *path,
				 size_t n)
{
	return n == sample->key_length && memcmp(path, sample->key, n) == 0;
}

static int wds_samples_add_member(struct wds_sample *sample,
				  const struct wds_member *member)
{
	if (sample->members.count >= WDS_MEMBERS_MOST)
		sample->odd = "has too many members";
	else if (wds_sample_find(sample, member->suffix))
		sample->odd = "has two members with one suffix";
	return vec_push(&sample->members, *member);
}

int wds_walk_next(struct wds_walk *walk, struct wds_sample *sample)
{
	sample->members.count = 0;
	sample->odd = NULL;
	for (; walk->log; walk->log = entries_next(walk->log), walk->next = 0) {
		for (; walk->next < entries_count(walk->log); walk->next++) {
			const struct entry *entry = entries_get(walk->log, walk->next);
			const char *suffix = wds_samples_suffix_of(entry);
			struct wds_member member;
			int err = 0;

			if (!suffix) {
				if (walk->other)
					err = walk->other(walk->context, walk->log, entry);
				if (err < 0)
					return err;
				continue;
			}
			member = member_of(walk->log, walk->next, entry, suffix);
			if (sample->members.count == 0) {
				sample->key = entry->path;
				sample->key_length = (size_t)(suffix - 1 - entry->path);
			} else if (!wds_samples_same_key(sample, entry->path,
							 (size_t)(suffix - 1 -
								  entry->path))) {
				return 1;
			}
			if (wds_samples_add_member(sample, &member) < 0)
				return -ENOMEM;
		}
	}
	return sample->members.count > 0;
}

void wds_sample_free(struct wds_sample *sample)
{
	vec_free(&sample->members);
}

const struct wds_member *wds_sample_find(const struct wds_sample *sample,
					 const char *suffix)
{
	for (size_t i = 0; i < sample->members.count; i++)
		if (strcasecmp(sample->members.items[i].suffix, suffix) == 0)
			return &sample->members.items[i];
	return NULL;
}

const char *wds_extension(const char *suffix)
{
	const char *dot = strrchr(suffix, '.');

	return dot ? dot + 1 : suffix;
}

const char *wds_plain_suffix(const char *suffix)
{
	return suffix + (*suffix == '.');
}

const char *wds_plain_path(const char *path)
{
	for (;;) {
		if (*path == '/')
			path++;
		else if (path[0] == '.' && path[1] == '/')
			path += 2;
		else
			return path;
	}
}
