/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mount_list.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/vec.h"
#include "os/mounts.h"
#include "os/registry.h"

/* A record, and the process that announces it. */
struct announced {
	struct record *record; /* owned, until a mount has it */
	pid_t daemon;
	bool is_mounted; /* in this namespace */
};

struct mount_survey {
	VEC(struct announced) announced;
	struct mount_list *list;
};

/* Users. */

static void name_user(uid_t uid, char out[RECORD_WORD_BYTES])
{
	static char last_name[RECORD_WORD_BYTES];
	static uid_t last_uid;
	const struct passwd *user;

	if (!*last_name || last_uid != uid) {
		user = getpwuid(uid);
		last_uid = uid;
		if (user)
			snprintf(last_name, sizeof(last_name), "%s", user->pw_name);
		else
			snprintf(last_name, sizeof(last_name), "%u", (unsigned)uid);
	}
	snprintf(out, RECORD_WORD_BYTES, "%s", last_name);
}

/* A daemon of root's knows for whom it mounts; others could name another user. */
static uid_t user_of(const struct record *record)
{
	return record->owner == 0 ? record->facts.uid : record->owner;
}

/* Records. */

static bool is_known(const struct mount_survey *survey, pid_t daemon)
{
	for (size_t i = 0; i < survey->announced.count; i++) {
		if (survey->announced.items[i].daemon == daemon)
			return true;
	}
	return false;
}

static bool has_enough(const struct mount_survey *survey, uint32_t owner)
{
	size_t n = 0;

	for (size_t i = 0; i < survey->announced.count; i++)
		n += survey->announced.items[i].record->owner == owner;
	return owner != 0 && n >= MOUNT_LIST_USER_MOST;
}

/* A name may be announced again by a stranger: a process has one record. */
static int add_record(void *context, pid_t daemon, int memory)
{
	struct mount_survey *survey = context;
	struct announced one = { .daemon = daemon };

	if (is_known(survey, daemon))
		return 0;
	one.record = malloc(sizeof(*one.record));
	if (!one.record)
		return -ENOMEM;
	if (record_read(memory, one.record) < 0 || has_enough(survey, one.record->owner)) {
		free(one.record);
		return 0;
	}
	if (vec_push(&survey->announced, one) == 0)
		return 0;
	free(one.record);
	return -ENOMEM;
}

/*
 * Does the record belong to this mount? Anybody can claim the number of a connection: a
 * record counts if it is root's, the caller's, or of the mount's owner.
 */
static bool is_of_mount(const struct record *record, const struct mount_entry *entry)
{
	if (!entry->connection || record->facts.connection != entry->connection)
		return false;
	return record->owner == 0 || record->owner == geteuid() ||
	       (!entry->front && record->owner == entry->uid);
}

static struct announced *find_announced(struct mount_survey *survey,
					const struct mount_entry *entry)
{
	for (size_t i = 0; i < survey->announced.count; i++) {
		struct announced *one = &survey->announced.items[i];

		if (is_of_mount(one->record, entry))
			return one;
	}
	return NULL;
}

/* The list. */

static struct record *copy_record(const struct record *from)
{
	struct record *to = malloc(sizeof(*to));

	if (to)
		memcpy(to, from, sizeof(*to));
	return to;
}

/* `one` may be NULL. Takes nothing over. */
static int add_mount(struct mount_list *list, const struct announced *one,
		     const char *source, const char *mountpoint)
{
	struct listed_mount mount = {
		.source = strdup(source), .mountpoint = strdup(mountpoint),
		.record = one ? copy_record(one->record) : NULL,
		.daemon = one ? one->daemon : 0,
	};

	if (mount.source && mount.mountpoint && (mount.record || !one) &&
	    vec_push(list, mount) == 0)
		return 0;
	free(mount.source);
	free(mount.mountpoint);
	free(mount.record);
	return -ENOMEM;
}

static void describe_record(struct listed_mount *mount)
{
	const struct record *record = mount->record;

	snprintf(mount->id, sizeof(mount->id), RECORD_ID, record->facts.connection,
		 (int)mount->daemon);
	name_user(user_of(record), mount->user);
	sample_take(&record->cells, &mount->sample);
}

/* In the mount table. */
static int add_visible(void *context, const struct mount_entry *entry, const char *path,
		       const char *source)
{
	struct mount_survey *survey = context;
	struct announced *one = find_announced(survey, entry);
	struct listed_mount *mount;

	if (add_mount(survey->list, one, source, path) < 0)
		return -ENOMEM;
	mount = &survey->list->items[survey->list->count - 1];
	if (one) {
		one->is_mounted = true;
		describe_record(mount);
		return 0;
	}
	snprintf(mount->id, sizeof(mount->id), "%u", entry->connection);
	if (entry->front) /* an overlay has no owner */
		snprintf(mount->user, sizeof(mount->user), "-");
	else
		name_user(entry->uid, mount->user);
	return 0;
}

/* In other namespaces only. */
static int add_private(struct mount_survey *survey)
{
	for (size_t i = 0; i < survey->announced.count; i++) {
		const struct announced *one = &survey->announced.items[i];
		struct listed_mount *mount;

		if (one->is_mounted)
			continue;
		if (add_mount(survey->list, one, one->record->facts.source,
			      one->record->facts.mountpoint) < 0)
			return -ENOMEM;
		mount = &survey->list->items[survey->list->count - 1];
		mount->is_private = true;
		describe_record(mount);
	}
	return 0;
}

static void free_survey(struct mount_survey *survey)
{
	for (size_t i = 0; i < survey->announced.count; i++)
		free(survey->announced.items[i].record);
	vec_free(&survey->announced);
}

int mount_list_read(struct mount_list *out, struct error *e)
{
	CLEANUP(free_survey) struct mount_survey survey = { VEC_INIT, out };
	int err = registry_each(add_record, &survey);

	*out = (struct mount_list){ 0 };
	if (err == -ENOENT) /* a kernel without unix(7) */
		err = 0;
	if (!err)
		err = mounts_each(add_visible, &survey);
	if (!err)
		err = add_private(&survey);
	if (!err)
		return 0;
	mount_list_free(out);
	if (err == -ENOMEM)
		return error_no_memory(e, NULL);
	return error_set(e, ERROR_SYSTEM, -err, "the mounts cannot be listed: %s; is /proc "
			 "mounted?", strerror(-err));
}

void mount_list_free(struct mount_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].source);
		free(list->items[i].mountpoint);
		free(list->items[i].record);
	}
	vec_free(list);
}

struct record *mount_list_find(const char *path)
{
	CLEANUP(free_survey) struct mount_survey survey = { VEC_INIT, NULL };
	CLEANUP(cleanup_free) char *real = mounts_path(path);
	struct mount_entry entry;
	struct announced *one;

	if (!real || mounts_find(real, &entry) != 1 || !entry.granaryfs ||
	    registry_each(add_record, &survey) < 0)
		return NULL;
	one = find_announced(&survey, &entry);
	return one ? copy_record(one->record) : NULL;
}

/* The figures of a sample. */

uint64_t sample_memory(const struct stats_sample *sample)
{
	return sample->counters[COUNTER_cache_bytes] +
	       sample->counters[COUNTER_resident_bytes] +
	       sample->counters[COUNTER_inode_bytes];
}

double sample_hit_share(const struct stats_sample *sample)
{
	double hits = (double)sample->counters[COUNTER_cache_hits];
	double misses = (double)sample->counters[COUNTER_cache_misses];

	return hits + misses > 0 ? hits / (hits + misses) : -1;
}
