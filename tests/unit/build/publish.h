/* SPDX-License-Identifier: GPL-3.0-or-later */
/* publish.h: an image to a path, in one step. */
#ifndef GRANARY_TESTS_UNIT_TREE_PUBLISH_H
#define GRANARY_TESTS_UNIT_TREE_PUBLISH_H

#include "build/image.h"

static inline int publish_at(const struct image *image, const char *path,
			     const struct image_access *access, struct error *e)
{
	struct place *place;
	int err = place_open(path, false, &place, e);

	if (err)
		return err;
	err = image_publish(image, place, access, e);
	place_close(place);
	return err;
}

#endif
