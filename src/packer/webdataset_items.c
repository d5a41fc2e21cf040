/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packer/webdataset_items.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/filename.h"
#include "packer/naming.h"

/* A file that becomes a member. */
struct member {
	const struct pack_scan_entry *source;
	const char *path;      /* key, dot, extension */
	const char *extension; /* within path */
	int32_t label;
};

struct wds_items_making {
	const struct pack_scan *scan;
	struct plan *plan;
	bool decode;
	VEC(struct member) members;
};

static size_t key_length(const char *path, const char *extension)
{
	return (size_t)(extension - 1 - path);
}

bool webdataset_items_same(const struct plan_item *a, const struct plan_item *b)
{
	const char *one = strchr(filename_of(a->path), '.');
	const char *other = strchr(filename_of(b->path), '.');
	size_t length = (size_t)(one - a->path);

	return length == (size_t)(other - b->path) && memcmp(a->path, b->path, length) == 0;
}

/* Readers skip names of the form `__...__`. */
static bool is_private(const char *path)
{
	for (const char *part = path; part; part = strchr(part, '/')) {
		const char *end;

		part += *part == '/';
		end = strchrnul(part, '/');
		if (end - part >= 4 && strncmp(part, "__", 2) == 0 &&
		    strncmp(end - 2, "__", 2) == 0)
			return true;
	}
	return false;
}

/* "Class/a.b.JPEG" becomes "Class/a_b.jpg"; NULL: out of memory. */
static char *member_path(struct arena *arena, const char *path, const char **extension)
{
	size_t at = (size_t)(naming_extension(path) - path);
	char *out = arena_copy(arena, path, strlen(path));

	if (!out)
		return NULL;
	for (char *c = out + (filename_of(path) - path); c < out + at - 1; c++)
		*c = *c == '.' ? '_' : *c;
	for (char *c = out + at; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	if (strcmp(out + at, "jpeg") == 0)
		memcpy(out + at, "jpg", sizeof("jpg"));
	*extension = out + at;
	return out;
}

/* The class number of a path, added if new; paths come in order. */
static int32_t class_of(struct plan *plan, const char *path)
{
	size_t length = strcspn(path, "/");
	const char *last = plan->classes.count ?
				   plan->classes.items[plan->classes.count - 1] : "";
	const char *name;

	if (strlen(last) == length && memcmp(last, path, length) == 0)
		return (int32_t)plan->classes.count - 1;
	name = arena_copy(&plan->arena, path, length);
	if (!name || vec_push(&plan->classes, name) < 0)
		return -1;
	return (int32_t)plan->classes.count - 1;
}

/*
 * Every directory at the top has a number, also an empty or unreadable one: a directory's
 * contents must not change the numbers of other classes.
 */
static int wds_items_add_class(struct plan *plan, const struct pack_scan_entry *directory)
{
	if (!*directory->path || strchr(directory->path, '/') || *directory->path == '.' ||
	    is_private(directory->path))
		return 0;
	return class_of(plan, directory->path) < 0 ? -ENOMEM : 0;
}

static bool has_controls(const char *name)
{
	while (*name && !iscntrl((unsigned char)*name))
		name++;
	return *name;
}

/* A line break in a name would shift the lines of classes.txt, one a class. */
static int wds_items_check_classes(const struct plan *plan, struct error *e)
{
	for (size_t i = 0; i < plan->classes.count; i++)
		if (has_controls(plan->classes.items[i]))
			return error_set(e, ERROR_DATASET, EINVAL,
					 "%s: the name of this directory has control characters, "
					 "which no name of a class may have; rename it",
					 plan->classes.items[i]);
	return 0;
}

static int wds_items_add_member(struct wds_items_making *m,
				const struct pack_scan_entry *source)
{
	struct member member = { .source = source };

	if (!strchr(source->path, '/')) {
		m->plan->no_class++;
		return 0;
	}
	if (!naming_extension(source->path) || *filename_of(source->path) == '.' ||
	    is_private(source->path)) {
		m->plan->no_name++;
		return 0;
	}
	member.label = class_of(m->plan, source->path);
	member.path = member_path(&m->plan->arena, source->path, &member.extension);
	if (member.label < 0 || !member.path)
		return -ENOMEM;
	return vec_push(&m->members, member);
}

/* By key, then by extension, as in WebDataset's own writer. */
static int by_key(const void *a, const void *b)
{
	const struct member *one = a, *other = b;
	size_t length = key_length(one->path, one->extension);
	size_t others = key_length(other->path, other->extension);
	size_t both = length < others ? length : others;

	if (memcmp(one->path, other->path, both) == 0 && length == others) {
		int order = strcmp(one->extension, other->extension);

		return order ? order : strcmp(one->source->path, other->source->path);
	}
	return pack_path_compare(one->path, other->path);
}

static bool wds_items_same_key(const struct member *a, const struct member *b)
{
	size_t length = key_length(a->path, a->extension);

	return length == key_length(b->path, b->extension) &&
	       memcmp(a->path, b->path, length) == 0;
}

static int wds_items_refuse_pair(const struct member *a, const struct member *b,
				 struct error *e)
{
	return error_set(e, ERROR_DATASET, EEXIST,
			 "%s and %s would both belong to the sample %.*s, whose members then "
			 "cannot be told apart; rename one of them",
			 a->source->path, b->source->path,
			 (int)key_length(a->path, a->extension), a->path);
}

/*
 * Two files of one sample must have one stem, or "a.b.jpg" and "a_b.txt" would be joined,
 * and two extensions.
 */
static int wds_items_check_pair(const struct member *a, const struct member *b,
				struct error *e)
{
	const char *one = a->source->path, *other = b->source->path;
	size_t length = key_length(a->path, a->extension);

	if (memcmp(one, other, length) != 0 || strcmp(a->extension, b->extension) == 0)
		return wds_items_refuse_pair(a, b, e);
	return 0;
}

/* KEY.EXTENSION in the plan's memory. */
static const char *with_extension(struct plan *plan, const struct member *member,
				  const char *extension)
{
	return arena_print(&plan->arena, "%.*s%s", (int)(member->extension - member->path),
			   member->path, extension);
}

static int add_label(struct wds_items_making *m, const struct member *member)
{
	struct plan_item item = { .source = member->source, .kind = PACK_FILE,
				  .label = member->label, .is_label = true,
				  .is_plain = true };

	item.path = with_extension(m->plan, member, "cls");
	if (!item.path)
		return -ENOMEM;
	m->plan->items[m->plan->count++] = item;
	return 0;
}

/* Only one image of a sample can become its .ppm. */
static const char *decoded_extension(const struct member *first, size_t count,
				     const struct member *member, char *longer, size_t size)
{
	for (size_t i = 0; i < count; i++) {
		if (&first[i] != member && (naming_is_image(first[i].path) ||
					    strcmp(first[i].extension, "ppm") == 0)) {
			snprintf(longer, size, "%s.ppm", member->extension);
			return longer;
		}
	}
	return "ppm";
}

static int wds_items_add_file(struct wds_items_making *m, const struct member *first,
			      size_t count, const struct member *member)
{
	struct plan_item item = { .source = member->source, .kind = PACK_FILE,
				  .label = member->label, .path = member->path,
				  .is_plain = true };
	char longer[16];

	if (m->decode && naming_is_image(member->path)) {
		item.decoded = with_extension(m->plan, member,
					      decoded_extension(first, count, member,
								longer, sizeof(longer)));
		if (!item.decoded)
			return -ENOMEM;
	}
	m->plan->items[m->plan->count++] = item;
	return 0;
}

/* Adds the members of one sample, and a label if they have none. */
static int wds_items_add_sample(struct wds_items_making *m, const struct member *first,
				size_t count, struct error *e)
{
	bool labelled = false;
	int err = 0;

	for (size_t i = 0; i < count; i++)
		labelled |= strcmp(first[i].extension, "cls") == 0;
	for (size_t i = 0; i < count && !err; i++) {
		if (i > 0)
			err = wds_items_check_pair(&first[i - 1], &first[i], e);
		if (!err && !labelled && strcmp(first[i].extension, "cls") > 0) {
			labelled = true;
			err = add_label(m, &first[i]);
		}
		if (!err)
			err = wds_items_add_file(m, first, count, &first[i]);
	}
	return err || labelled ? err : add_label(m, &first[0]);
}

static int add_samples(struct wds_items_making *m, struct error *e)
{
	const struct member *members = m->members.items;
	size_t count = m->members.count, end;
	int err = 0;

	for (size_t i = 0; i < count && !err; i = end) {
		for (end = i + 1;
		     end < count && wds_items_same_key(&members[i], &members[end]);)
			end++;
		err = wds_items_add_sample(m, &members[i], end - i, e);
	}
	return err;
}

int webdataset_items_make(const struct pack_scan *scan, bool decode, struct plan *plan,
			  struct error *e)
{
	struct wds_items_making m = { .scan = scan, .plan = plan, .decode = decode,
			    .members = VEC_INIT };
	int err = 0;

	if (e)
		*e->text = 0;
	for (size_t i = 0; i < scan->count && !err; i++) {
		uint16_t kind = scan->entries[i].kind;

		if (kind == PACK_FILE || kind == PACK_HARDLINK)
			err = wds_items_add_member(&m, &scan->entries[i]);
		else if (kind == PACK_DIRECTORY)
			err = wds_items_add_class(plan, &scan->entries[i]);
		else
			plan->no_name++;
	}
	if (!err)
		err = wds_items_check_classes(plan, e);
	if (!err && m.members.count)
		qsort(m.members.items, m.members.count, sizeof(m.members.items[0]), by_key);
	/* at most one label a member */
	plan->items = malloc((2 * m.members.count + 1) * sizeof(*plan->items));
	if (!plan->items)
		err = -ENOMEM;
	if (!err)
		err = add_samples(&m, e);
	vec_free(&m.members);
	if (err == -ENOMEM)
		error_no_memory(e, NULL);
	return err;
}
