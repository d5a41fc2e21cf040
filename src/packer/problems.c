/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packer/problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void problems_add(struct problems *problems, const char *path, const char *format, ...)
{
	struct problem problem;
	char reason[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	LOCK_GUARD(&problems->lock);
	problem.path = arena_copy(&problems->arena, path, strlen(path));
	problem.reason = arena_copy(&problems->arena, reason, strlen(reason));
	if (!problem.path || !problem.reason || vec_push(&problems->items, problem) < 0)
		problems->lost++;
}

size_t problems_count(const struct problems *problems)
{
	return problems->items.count + problems->lost;
}

static int problems_by_path(const void *a, const void *b)
{
	const struct problem *one = a, *other = b;
	int order = strcmp(one->path, other->path);

	return order ? order : strcmp(one->reason, other->reason);
}

void problems_sort(struct problems *problems)
{
	if (problems->items.count)
		qsort(problems->items.items, problems->items.count,
		      sizeof(problems->items.items[0]), problems_by_path);
}

void problems_free(struct problems *problems)
{
	vec_free(&problems->items);
	arena_free(&problems->arena);
}
