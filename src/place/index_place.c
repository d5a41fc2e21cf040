/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "place/index_place.h"

#include "base/filename.h"

/* The group is that of the packed file's readers, if the file has the same owner. */
static void act_as_owner(const struct index_wish *wish, struct place *place)
{
	const struct source_owner *owner = source_owner(wish->sources->sources[0]);
	uid_t uid = place_uid(place);

	if (index_owner_is_allowed(wish, uid))
		place_set_ids(place, uid, owner->uid == uid ? owner->gid :
			      place_gid(place));
}

static int index_place_open_sibling(const struct index_wish *wish, const char *path,
				    struct place **out, struct error *e)
{
	const struct source *source = wish->sources->sources[0];
	const struct source_id *id = &source_info(source)->id;
	const char *where = source_place(source);

	return place_open_sibling(path, filename_of(where ? where : source_path(source)),
				  id->device, id->inode, out, e);
}

int opened_places_get(struct opened_places *spots, unsigned i, const struct place **out,
		      struct error *e)
{
	const struct index_places *places = &spots->wish->places;
	struct place **opened = &spots->opened[i];
	int err = 0;

	if (!*opened) {
		if (places->beside && i == 0)
			err = index_place_open_sibling(spots->wish, places->paths[i],
						       opened, e);
		else
			err = place_open(places->paths[i], !places->named, opened, e);
		if (!err)
			act_as_owner(spots->wish, *opened);
	}
	*out = *opened;
	return err;
}

void opened_places_close(struct opened_places *spots)
{
	for (unsigned i = 0; i < LOCATE_MAX_PLACES; i++)
		place_close(spots->opened[i]);
}
