/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "build/index_copy.h"

#include <errno.h>

int index_copy(const struct index *index, struct image *out)
{
	const void *bytes;
	uint64_t length;

	*out = (struct image){ 0 };
	for (uint32_t i = 0; (bytes = index_section(index, i, &length)); i++) {
		if (image_append(out, (enum layout_section_id)i, bytes, length) < 0) {
			image_free(out);
			return -ENOMEM;
		}
	}
	return 0;
}
