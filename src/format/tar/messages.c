/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/tar/messages.h"

#include <errno.h>

#include "base/checked.h"

enum { VOLUME_UNIT = 1024 }; /* in which GNU tar counts what a volume may hold */

#define JOIN "extract all volumes together, in a directory: tar -xM -f FIRST -f SECOND ..."
#define OR_A_VOLUME "; if it is the first volume of several (tar -M), " JOIN \
		    ", and pack that again"

static unsigned long long messages_in_file(const struct tar_place *place,
					   uint64_t position)
{
	return (unsigned long long)(place->base + position);
}

int tar_refuse_read(const struct tar_place *place, uint64_t at, int err)
{
	errno = -err;
	return error_set(place->e, ERROR_SYSTEM, -err,
			 "cannot read '%s' near byte %llu: %m; check the storage, or "
			 "copy the file again",
			 place->label, messages_in_file(place, at));
}

int tar_refuse_member(const struct tar_place *place, const char *what,
		      const char *member, uint64_t data)
{
	return error_set(place->e, ERROR_DATASET, EBADMSG,
			 "'%s' is damaged: the %s of member '%.200s' at byte %llu is "
			 "not right; copy it again, or pack it again",
			 place->label, what, member, messages_in_file(place, data));
}

int tar_refuse_truncated(const struct tar_place *place, const char *member,
			 uint64_t data, uint64_t stored)
{
	uint64_t want, missing = 0;
	bool volume = place->base == 0 && place->length % VOLUME_UNIT == 0;

	if (checked_add(stored, data, &want) && want > place->length)
		missing = want - place->length;
	return error_set(place->e, ERROR_DATASET, EBADMSG,
			 "'%s' is truncated: it ends at byte %llu inside member "
			 "'%.200s', which needs %llu more bytes; copy it again%s",
			 place->label, messages_in_file(place, place->length), member,
			 (unsigned long long)missing, volume ? OR_A_VOLUME : "");
}

int tar_refuse_volume(const struct tar_place *place, const char *file)
{
	return error_set(place->e, ERROR_DATASET, EBADMSG,
			 "'%s' is one volume of a tar in several (tar -M): at byte %llu it "
			 "goes on inside '%.200s', which begins in another volume; " JOIN
			 ", and pack it again",
			 place->label, messages_in_file(place, 0), file);
}

static int refuse_end_inside(const struct tar_place *place, const char *part,
			     uint64_t header)
{
	return error_set(place->e, ERROR_DATASET, EBADMSG,
			 "'%s' is truncated: it ends at byte %llu inside the %s at byte "
			 "%llu; copy it again",
			 place->label, messages_in_file(place, place->length), part,
			 messages_in_file(place, header));
}

int tar_refuse_cut(const struct tar_place *place, uint64_t header)
{
	return refuse_end_inside(place, "header", header);
}

int tar_refuse_lost(const struct tar_place *place, uint64_t header)
{
	return refuse_end_inside(place, "member whose header is", header);
}

int tar_refuse_header(const struct tar_place *place, uint64_t header, const char *reason)
{
	return error_set(place->e, ERROR_DATASET, EBADMSG,
			 "'%s' is damaged: there is no valid tar header at byte %llu"
			 "%s%s; copy it again, or pack it again",
			 place->label, messages_in_file(place, header),
			 reason ? ": " : "", reason ? reason : "");
}
