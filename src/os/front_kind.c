/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/front_kind.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static unsigned recognise_overlay(const char *options)
{
	static const char layer[] = "/" FRONT_OVERLAY_LAYER;
	const char *at = strstr(options, layer);
	unsigned long number;
	char *end;

	if (!at)
		return 0;
	number = strtoul(at + strlen(layer), &end, 10);
	return number <= UINT_MAX && (*end == ',' || !*end) ? (unsigned)number : 0;
}

const struct front_kind front_kind_overlay = {
	.type = "overlay", .recognise = recognise_overlay, .name_bytes = 900,
	.hidden_xattr = "user.overlay.",
};

static const struct front_kind *const kinds[] = { &front_kind_overlay };

enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

const struct front_kind *front_recognise(const char *type, const char *options,
					 unsigned *connection)
{
	for (unsigned i = 0; i < KINDS; i++)
		if (strcmp(kinds[i]->type, type) == 0 &&
		    (*connection = kinds[i]->recognise(options)))
			return kinds[i];
	return NULL;
}

bool front_hides_xattr(const char *name)
{
	for (unsigned i = 0; i < KINDS; i++)
		if (strncmp(name, kinds[i]->hidden_xattr, strlen(kinds[i]->hidden_xattr)) == 0)
			return true;
	return false;
}
