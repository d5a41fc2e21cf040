/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map_files.h: the files of -o classes= and names=.
 *
 * They give names and classes to samples (maps/name_map.h), and so shape the tree. They
 * are opened with the sources, by the same rights, and handed to the indexer alike
 * (place/handover.h). Their identity is recorded as a packed file's (base/identity.h).
 */
#ifndef GRANARY_PLACE_MAP_FILES_H
#define GRANARY_PLACE_MAP_FILES_H

#include <stddef.h>

#include "base/error.h"
#include "place/config.h"
#include "source/source_set.h"

struct map_files {
	struct source_set classes; /* at most one */
	struct source_set names;   /* in the order of the option */
};

/* The caller closes *out, even if it is empty. */
int map_files_open(const struct dataset_config *config, struct map_files *out,
		   struct error *e);

/*
 * The same with descriptors, which are closed on error: paths[i] is the path of fds[i];
 * the first `classes` (at most one) are those of classes=.
 */
int map_files_adopt(char *const *paths, const int *fds, size_t n, size_t classes,
		    struct map_files *out, struct error *e);
void map_files_close(struct map_files *maps);

/*
 * Appends ",classes=HASH,names=HASH", for the files there are, to the text of
 * dataset_config_shape or _variant.
 */
int map_files_append_key(const struct map_files *maps, char text[CONFIG_TEXT_BYTES],
			 struct error *e);

#endif
