/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clash.c: errors for two files of one name, without a rule which is shown. */
#include <errno.h>

#include "build/builder.h"

int clash_between(const struct builder *b, uint32_t other, const char *path,
		  struct error *e)
{
	return error_set(e, ERROR_DATASET, EEXIST,
			 "%s is in both %s and %s; say which is meant with "
			 "-o duplicates=first or -o duplicates=last",
			 path, b->labels.items[other], b->labels.items[b->shard]);
}

int clash_within(const struct builder *b, const char *path, struct error *e)
{
	/* not from the start: a sample's path equals a member's */
	bool whole = entries_unique_from(b->outer) == 0;

	return error_set(e, ERROR_DATASET, EBADMSG,
			 "'%s' has the name '%.200s' twice, and only one can be shown; %s",
			 b->labels.items[b->shard], path, whole ?
			 "it is damaged, or has to be packed again with other names" :
			 "pack it again with other names, or try -o view=tree");
}
