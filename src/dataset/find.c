#include "dataset/find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dataset/index_file.h"
#include "tree/blocks.h"
#include "util/log.h"

static int find_places(const struct dataset_config *config,
		       const struct source_set *sources, const struct map_files *maps,
		       struct index_places *out, struct error *e)
{
	char variant[CONFIG_TEXT_BYTES];
	const char **paths = calloc(sources->count, sizeof(*paths));
	const struct dataset_name name = {
		.paths = paths, .count = sources->count,
		.variant = dataset_config_variant(config, sources->count, variant),
	};
	int err = map_files_append_key(maps, variant, e);

	for (uint32_t i = 0; paths && i < sources->count; i++)
		paths[i] = source_path(sources->sources[i]);
	if (!err && (!paths || locate_index(&name, dataset_index_path(config), out) < 0))
		err = error_set(e, ERROR_SYSTEM, ENOMEM, "out of memory");
	free(paths);
	return err;
}

/* A wish without places. The maps are moved into it. */
static int make_wish(const struct dataset_config *config,
		     const struct source_set *sources, struct map_files *maps,
		     struct index_wish *out, struct error *e)
{
	int err;

	*out = (struct index_wish){ .sources = sources, .maps = *maps };
	*maps = (struct map_files){ 0 };
	dataset_config_shape(config, sources->count, out->shape);
	out->identities = calloc(sources->count, sizeof(*out->identities));
	if (out->identities)
		err = source_set_identify(sources, out->identities, e);
	else
		err = error_set(e, ERROR_SYSTEM, ENOMEM, "out of memory");
	if (!err)
		err = map_files_append_key(&out->maps, out->shape, e);
	if (err)
		index_wish_free(out);
	return err;
}

int index_wish_make(const struct dataset_config *config,
		    const struct source_set *sources, struct index_wish *out,
		    struct error *e)
{
	struct map_files maps;
	int err = map_files_open(config, &maps, e);

	if (!err)
		err = make_wish(config, sources, &maps, out, e);
	if (err || dataset_index_is(config, "off"))
		return err;
	err = find_places(config, sources, &out->maps, &out->places, e);
	if (err)
		index_wish_free(out);
	return err;
}

int index_wish_adopt(const struct dataset_config *config,
		     const struct source_set *sources, struct index_places *places,
		     struct map_files *maps, struct index_wish *out, struct error *e)
{
	int err = make_wish(config, sources, maps, out, e);

	if (err)
		return err;
	out->places = *places;
	*places = (struct index_places){ 0 };
	return 0;
}

void index_wish_free(struct index_wish *wish)
{
	free(wish->identities);
	wish->identities = NULL;
	map_files_close(&wish->maps);
	locate_free(&wish->places);
}

/*
 * Whoever wrote an index decides which bytes of which source are shown under
 * which permissions: so it must be somebody who may read all of them.
 */
static bool owner_is_trusted(const struct index_wish *wish, uid_t owner)
{
	if (owner == 0 || owner == geteuid())
		return true;
	for (uint32_t i = 0; i < wish->sources->count; i++) {
		if (source_owner(wish->sources->sources[i])->uid != owner)
			return false;
	}
	return true;
}

/* An index knows its packed files by number only. */
static void name_changed_source(const struct index_wish *wish, const struct index *index,
				struct error *e)
{
	for (uint32_t i = 0; i < wish->sources->count; i++) {
		struct identity had;

		if (index_source(index, i, &had) < 0)
			return;
		if (!identity_equal(&had, &wish->identities[i])) {
			error_prefix(e, "%s", source_path(wish->sources->sources[i]));
			return;
		}
	}
}

int index_fits(const struct index_wish *wish, const struct index *index,
	       struct error *e)
{
	int err;

	if (!owner_is_trusted(wish, index_owner(index)))
		return error_set(e, ERROR_DATASET, EPERM,
				 "it belongs to uid %u, who owns neither every packed file "
				 "nor this process", index_owner(index));
	err = index_accept_shape(index, wish->sources->count, wish->shape, e);
	if (err)
		return err;
	err = index_accept(index, wish->identities, wish->sources->count, wish->shape, e);
	if (err == -ESTALE)
		name_changed_source(wish, index, e);
	return err;
}

/* Copies of all packed files: only their times of change differ. */
static bool are_copies(const struct index_wish *wish, const struct index *index)
{
	struct identity had;
	bool newer = false;

	if (index_accept_shape(index, wish->sources->count, wish->shape, NULL) < 0)
		return false;
	for (uint32_t i = 0; i < wish->sources->count; i++) {
		const struct identity *is = &wish->identities[i];

		if (index_source(index, i, &had) < 0 || had.size != is->size ||
		    had.digest != is->digest)
			return false;
		newer |= !identity_equal(&had, is);
	}
	return newer;
}

/* To use an index again that does not fit, or to have its checksums again. */
static const char *find_remedy(const struct index_wish *wish, const struct index *index)
{
	bool copies = are_copies(wish, index);

	if (!index_has_sums(index))
		return copies ? "; if it is a copy: granary index --adopt" : "";
	return copies ? "; if it is a copy: granary index --adopt; if it was changed, its "
			"checksums are those of before: granary index --checksums makes them anew" :
			"; its checksums are not those of what is there now: granary index "
			"--checksums makes them anew";
}

/* Takes the index at `path` if it fits; says why if it does not. */
static int try_place(const struct index_wish *wish, const char *path,
		     struct index **out)
{
	const char *remedy = "";
	struct error why;
	int err = index_open(path, out, &why);

	if (err == -ENOENT || err == -ENOTDIR)
		return err;
	if (err == -EACCES) { /* somebody else's cache, or not for us */
		log_debug("%s", why.text);
		return err;
	}
	if (!err) {
		err = index_fits(wish, *out, &why);
		if (!err)
			return 0;
		error_prefix(&why, "%s", path);
		remedy = find_remedy(wish, *out);
		index_close(*out);
	}
	if (!wish->quiet)
		log_warn("index not used: %s%s", why.text, remedy);
	return err;
}

/* From place `first` on: which one it is, or -ENOENT. */
static int find_from(const struct index_wish *wish, unsigned first, struct index **out)
{
	for (unsigned i = first; i < wish->places.count; i++) {
		if (try_place(wish, wish->places.paths[i], out) < 0)
			continue;
		if ((!wish->checksums || index_has_sums(*out)) &&
		    (!wish->blocks || blocks_are_there(*out)))
			return (int)i;
		index_close(*out);
	}
	*out = NULL;
	return -ENOENT;
}

/* Takes one at a later place that has checksums, or those of blocks, if this one has not. */
static void prefer(const struct index_wish *wish, bool blocks, int *place,
		   struct index **index)
{
	struct index_wish better = *wish;
	struct index *other;
	int second;

	if (blocks ? blocks_are_there(*index) : index_has_sums(*index))
		return;
	better.checksums = better.quiet = true;
	better.blocks = blocks;
	second = find_from(&better, (unsigned)*place + 1, &other);
	if (second < 0)
		return;
	index_close(*index);
	*index = other;
	*place = second;
}

int index_find(const struct index_wish *wish, struct index **out, const char **path)
{
	int place = find_from(wish, 0, out);

	if (place < 0)
		return place;
	prefer(wish, true, &place, out);
	prefer(wish, false, &place, out);
	*path = wish->places.paths[place];
	return 0;
}

static int find_other(const struct index_wish *wish, bool with_sums, struct index **out,
		      const char **path, struct error *why)
{
	for (unsigned i = 0; i < wish->places.count; i++) {
		*path = wish->places.paths[i];
		if (index_open(*path, out, NULL) < 0)
			continue;
		if ((index_has_sums(*out) || !with_sums) &&
		    owner_is_trusted(wish, index_owner(*out)) &&
		    index_accept_shape(*out, wish->sources->count, wish->shape, why) == 0 &&
		    index_fits(wish, *out, why) < 0)
			return 0;
		index_close(*out);
	}
	*out = NULL;
	return -ENOENT;
}

int index_find_outdated(const struct index_wish *wish, struct index **out,
			const char **path, struct error *why)
{
	return find_other(wish, true, out, path, why);
}

int index_find_other(const struct index_wish *wish, struct index **out, const char **path,
		     struct error *why)
{
	return find_other(wish, false, out, path, why);
}
