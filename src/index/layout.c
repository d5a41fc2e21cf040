/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "index/layout.h"

const struct layout_type layout_types[SECTION_COUNT] = {
#define SECTION_TYPE(id, type) [SECTION_##id] = { #id, sizeof(type) },
	LAYOUT_SECTIONS(SECTION_TYPE)
#undef SECTION_TYPE
};
