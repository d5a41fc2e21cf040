#include "dataset/evidence.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/index_file.h"
#include "util/cleanup.h"
#include "util/filename.h"

enum { INDEXES_MOST = 64 }; /* that are looked into */

int evidence_find(const struct index_wish *wish, struct index **out, const char **path,
		  struct error *why)
{
	struct index_wish one = *wish;
	struct index *fitting;

	one.quiet = one.checksums = true;
	one.blocks = false;
	if (index_find(&one, &fitting, path) == 0) {
		index_close(fitting);
		return -ENOENT;
	}
	one.checksums = false;
	one.places.count = 1;
	for (unsigned i = 0; i < wish->places.count; i++) {
		one.places.paths[0] = wish->places.paths[i];
		if (index_find_outdated(&one, out, path, why) == 0)
			return 0;
		if (index_find(&one, &fitting, path) < 0)
			continue;
		index_close(fitting);
		break;
	}
	*out = NULL;
	return -ENOENT;
}

bool evidence_of_damage(const struct index_wish *wish, const struct index *index,
			uint32_t source)
{
	const struct identity *is = &wish->identities[source];
	struct identity was;

	return index_source(index, source, &was) == 0 && is->size == was.size &&
	       identity_same_time(is, &was) && is->digest != was.digest;
}

int evidence_check(const struct index_wish *wish, struct error *e)
{
	struct index *index;
	const char *path;
	int err = 0;

	if (evidence_find(wish, &index, &path, NULL) < 0)
		return 0;
	for (uint32_t i = 0; i < wish->sources->count && !err; i++) {
		if (evidence_of_damage(wish, index, i))
			err = error_set(e, ERROR_DAMAGED, EBADMSG,
					"'%s' is damaged: its first or last bytes are not what they "
					"were when its checksums were made (%s), though its size and "
					"time are; granary verify names what is damaged. If it was "
					"changed on purpose: granary index --force --checksums",
					source_path(wish->sources->sources[i]), path);
	}
	index_close(index);
	return err;
}

bool evidence_at(const char *path)
{
	struct index *index;
	bool has;

	if (index_open(path, &index, NULL) < 0)
		return false;
	has = index_has_sums(index);
	index_close(index);
	return has;
}

/* Checksums of the packed file with this identity? */
static bool knows(const char *path, const struct identity *identity)
{
	struct index *index;
	struct identity had;
	bool found = false;

	if (index_open(path, &index, NULL) < 0)
		return false;
	for (uint32_t i = 0; index_has_sums(index) && !found &&
			     index_source(index, i, &had) == 0; i++)
		found = identity_equal(&had, identity);
	index_close(index);
	return found;
}

static char *search(DIR *folder, const char *place, const struct identity *identity)
{
	size_t length = (size_t)(filename_of(place) - place);
	unsigned looked = 0;
	struct dirent *entry;

	while (looked < INDEXES_MOST && (entry = readdir(folder))) {
		const char *end = strstr(entry->d_name, ".gidx");
		char *path;

		if (!end || strcmp(end, ".gidx") != 0)
			continue;
		looked++;
		if (asprintf(&path, "%.*s%s", (int)length, place, entry->d_name) < 0)
			return NULL;
		if (strcmp(path, place) != 0 && knows(path, identity))
			return path;
		free(path);
	}
	return NULL;
}

char *evidence_of_set(const struct index_wish *wish)
{
	const char *place = wish->places.count ? wish->places.paths[0] : NULL;
	CLEANUP(cleanup_free) char *name = NULL;
	char *found = NULL;
	DIR *folder;

	if (!place || wish->places.named)
		return NULL;
	name = strndup(place, (size_t)(filename_of(place) - place));
	folder = name ? opendir(*name ? name : ".") : NULL;
	if (folder) {
		found = search(folder, place, &wish->identities[0]);
		closedir(folder);
	}
	return found;
}
