/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "place/stale_index.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/filename.h"
#include "place/provenance.h"

enum { INDEXES_MOST = 64 }; /* most indexes that are opened */

/* 0: it is stale, and the caller closes it; -EEXIST: it fits; another errno: neither. */
static int stale_index_inspect(const struct index_wish *wish, bool of_others, unsigned i,
			       struct index_file **out, struct error *why)
{
	const struct card *card;
	int err = index_wish_open(wish, i, out, NULL);

	if (err)
		return err;
	card = index_file_card(*out);
	if (index_fits(wish, card, *out, why) == 0)
		err = -EEXIST;
	else if (!card_has_sums(card) || !index_has_owner_and_options(wish, card) ||
		 (!of_others && provenance_check(wish, card, *out, NULL) < 0))
		err = -ESTALE;
	if (err)
		index_file_close(*out);
	return err;
}

static bool has_fitting_sums(const struct index_wish *wish)
{
	bool found = false;

	for (unsigned i = 0; i < wish->places.count && !found; i++) {
		struct index_file *file;

		if (index_wish_open(wish, i, &file, NULL) < 0)
			continue;
		found = card_has_sums(index_file_card(file)) &&
			index_fits(wish, index_file_card(file), file, NULL) == 0;
		index_file_close(file);
	}
	return found;
}

int stale_index_find(const struct index_wish *wish, bool of_others,
		     struct index_file **out, const char **path, struct error *why)
{
	int err = has_fitting_sums(wish) ? -EEXIST : -ENOENT;

	for (unsigned i = 0; i < wish->places.count && err && err != -EEXIST; i++) {
		*path = wish->places.paths[i];
		err = stale_index_inspect(wish, of_others, i, out, why);
	}
	return err ? -ENOENT : 0;
}

bool stale_index_would_be_replaced(const struct index_wish *wish, const char **path,
				   struct error *why)
{
	struct index_file *file;

	if (stale_index_find(wish, true, &file, path, why) < 0)
		return false;
	index_file_close(file);
	return true;
}

bool stale_index_shows_damage(const struct index_wish *wish, const struct card *card,
			      uint32_t source)
{
	const struct identity *is = &wish->identities[source];
	const struct card_source *was = card_source(card, source);

	return was && is->size == was->identity.size &&
	       identity_same_time(is, &was->identity) && is->digest != was->identity.digest;
}

int stale_index_check(const struct index_wish *wish, struct error *e)
{
	struct index_file *file;
	const char *path;
	int err = 0;

	if (stale_index_find(wish, false, &file, &path, NULL) < 0)
		return 0;
	for (uint32_t i = 0; i < wish->sources->count && !err; i++) {
		if (stale_index_shows_damage(wish, index_file_card(file), i))
			err = error_set(e, ERROR_DAMAGED, EBADMSG,
					"'%s' is damaged: its first or last bytes are not what they "
					"were when its checksums were made (%s), though its size and "
					"time are; granary verify names what is damaged. If it was "
					"changed on purpose: granary index --force --checksums",
					source_path(wish->sources->sources[i]), path);
	}
	index_file_close(file);
	return err;
}

bool stale_index_is_at(const char *path)
{
	struct index *index;
	bool has;

	if (index_open(path, &index, NULL) < 0)
		return false;
	has = index_has_sums(index);
	index_close(index);
	return has;
}

/* Has the index at `path` checksums of the packed file with this identity? */
static bool stale_index_knows(const char *path, const struct identity *identity)
{
	const struct card_source *source;
	struct index_file *file;
	bool found = false;

	if (index_file_open(path, &file, NULL) < 0)
		return false;
	for (uint32_t i = 0; card_has_sums(index_file_card(file)) && !found &&
			     (source = card_source(index_file_card(file), i)); i++) {
		struct identity had = source->identity;

		had.samples = 0; /* a set's have fewer samples */
		found = identity_equal(&had, identity);
	}
	index_file_close(file);
	return found;
}

static char *stale_index_search(DIR *directory, const char *place,
				const struct identity *identity)
{
	size_t length = (size_t)(filename_of(place) - place);
	unsigned looked = 0;
	struct dirent *entry;

	while (looked < INDEXES_MOST && (entry = readdir(directory))) {
		const char *end = strstr(entry->d_name, ".gidx");
		char *path;

		if (!end || strcmp(end, ".gidx") != 0)
			continue;
		looked++;
		if (asprintf(&path, "%.*s%s", (int)length, place, entry->d_name) < 0)
			return NULL;
		if (strcmp(path, place) != 0 && stale_index_knows(path, identity))
			return path;
		free(path);
	}
	return NULL;
}

char *stale_index_find_set(const struct index_wish *wish)
{
	const char *place = wish->places.count ? wish->places.paths[0] : NULL;
	CLEANUP(cleanup_free) char *name = NULL;
	char *found = NULL;
	DIR *directory;

	if (!place || wish->places.named)
		return NULL;
	name = strndup(place, (size_t)(filename_of(place) - place));
	directory = name ? opendir(*name ? name : ".") : NULL;
	if (directory) {
		found = stale_index_search(directory, place, &wish->identities[0]);
		closedir(directory);
	}
	return found;
}
