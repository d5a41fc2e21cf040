/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map_files.h: the files that -o classes= and names= name.
 *
 * They tell the names and classes of samples (maps/name_map.h) and so shape the tree.
 * They are opened where the sources are, with the same rights, and handed to the
 * indexer as the sources are (place/handover.h). One is told from another, and from
 * its own past, as a packed file is (base/identity.h).
 */
#ifndef GRANARY_PLACE_MAP_FILES_H
#define GRANARY_PLACE_MAP_FILES_H

#include <stddef.h>

#include "base/error.h"
#include "place/config.h"
#include "source/source_set.h"

struct map_files {
	struct source_set classes; /* one, or none */
	struct source_set names;   /* in the order of the option */
};

/* The caller owns *out, also where there are none. */
int map_files_open(const struct dataset_config *config, struct map_files *out,
		   struct error *e);

/*
 * The same of descriptors, which are closed where it fails: paths[i] is what fds[i] is
 * called, and the first `classes` of them (one or none) are those of classes=.
 */
int map_files_adopt(char *const *paths, const int *fds, size_t n, size_t classes,
		    struct map_files *out, struct error *e);
void map_files_close(struct map_files *maps);

/*
 * Appends ",classes=HASH,names=HASH", as far as there are such files, to what
 * dataset_config_shape or _variant wrote.
 */
int map_files_append_key(const struct map_files *maps, char text[CONFIG_TEXT_BYTES],
			 struct error *e);

#endif
