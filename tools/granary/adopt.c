/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "adopt.h"

#include <stdio.h>

#include "checksums.h"
#include "rescan.h"
#include "base/log.h"

bool adopt_find(struct index_wish *wish)
{
	struct index_file *file;
	struct error why;
	const char *path;

	if (index_find_other(wish, &file, &path, &why) < 0)
		return false;
	wish->checksums |= card_has_sums(index_file_card(file));
	wish->quiet = true;
	index_file_close(file);
	return true;
}

struct index *adopt_load(const struct index_wish *wish, const char **place)
{
	struct index_file *file;
	struct index *index;
	struct error e;

	if (index_find_other(wish, &file, place, &e) < 0)
		return NULL;
	if (index_file_load(file, &index, &e) < 0) {
		log_warn("%s; it is not adopted, and made anew", e.text);
		index = NULL;
	}
	index_file_close(file);
	if (index && index_has_owner_and_options(wish, index_card(index)))
		return index;
	index_close(index);
	return NULL;
}

/* A copy has the size of its original, and the same samples of bytes. */
static const char *find_other_source(const struct index_wish *wish, const struct index *old,
				     const char **difference)
{
	for (uint32_t i = 0; i < wish->sources->count; i++) {
		*difference = card_difference(index_card(old), i, &wish->identities[i], true);
		if (*difference)
			return source_path(wish->sources->sources[i]);
	}
	return NULL;
}

static bool adopt_is_same(const struct index_wish *wish, const struct index *old,
			  const char *place, const struct index *now)
{
	const char *what, *source = find_other_source(wish, old, &what);
	char path[4096];

	if (source) {
		log_warn("%s is not adopted, and made anew: '%s' has another %s than what it was "
			 "made for", place, source, what);
		return false;
	}
	if (index_check(old, NULL) < 0) {
		log_warn("%s is not adopted, and made anew: it is damaged", place);
		return false;
	}
	if (rescan_same(old, now, path, sizeof(path), &what))
		return true;
	log_warn("%s is not adopted, and made anew: %s: %s; if '%s' should be a copy, it is "
		 "damaged: compare it with what it was copied from, by cmp(1)", place, path,
		 what, source_path(wish->sources->sources[0]));
	return false;
}

bool adopt_holds(const struct index_wish *wish, const struct image *image,
		 const struct index *old, const char *place)
{
	struct index *now;
	struct error e;
	bool holds;

	if (checksums_open(image, &now, &e) < 0) {
		log_warn("%s is not adopted, and made anew: %s", place, e.text);
		return false;
	}
	holds = adopt_is_same(wish, old, place, now);
	index_close(now);
	return holds;
}
