/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "place/find.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"
#include "place/provenance.h"

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
		err = error_no_memory(e, NULL);
	free(paths);
	return err;
}

/* A wish without places. Moves the maps into it. */
static int find_make_wish(const struct dataset_config *config,
			  const struct source_set *sources, struct map_files *maps,
			  struct index_wish *out, struct error *e)
{
	int err;

	*out = (struct index_wish){ .sources = sources, .maps = *maps };
	*maps = (struct map_files){ 0 };
	dataset_config_shape(config, sources->count, out->shape);
	out->identities = calloc(sources->count, sizeof(*out->identities));
	out->sampled = calloc(1, sizeof(*out->sampled));
	if (out->identities && out->sampled)
		err = source_set_identify_ends(sources, out->identities, e);
	else
		err = error_no_memory(e, NULL);
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
		err = find_make_wish(config, sources, &maps, out, e);
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
	int err = find_make_wish(config, sources, maps, out, e);

	if (err)
		return err;
	out->places = *places;
	*places = (struct index_places){ 0 };
	return 0;
}

int index_wish_renew(const struct dataset_config *config, struct index_wish *wish, bool beside,
		     struct error *e)
{
	int err = source_set_identify_ends(wish->sources, wish->identities, e);

	*wish->sampled = false;
	if (err || wish->places.named || wish->places.count == 0)
		return err;
	locate_free(&wish->places);
	return beside ? find_places(config, wish->sources, &wish->maps, &wish->places, e) : 0;
}

void index_wish_sample(const struct index_wish *wish)
{
	if (!wish->sampled || *wish->sampled)
		return;
	source_set_sample(wish->sources, wish->identities);
	*wish->sampled = true;
}

void index_wish_free(struct index_wish *wish)
{
	free(wish->identities);
	free(wish->sampled);
	wish->identities = NULL;
	wish->sampled = NULL;
	map_files_close(&wish->maps);
	locate_free(&wish->places);
}

int index_wish_open(const struct index_wish *wish, unsigned i, struct index_file **out,
		    struct error *e)
{
	typeof(wish->files->at[0]) *at = wish->files ? &wish->files->at[i] : NULL;

	if (!at)
		return index_file_open(wish->places.paths[i], out, e);
	if (!at->opened)
		at->err = index_file_open(wish->places.paths[i], &at->file, &at->why);
	at->opened = true;
	if (!at->err)
		*out = index_file_share(at->file);
	else if (e)
		*e = at->why;
	return at->err;
}

void index_files_close(struct index_files *files)
{
	for (unsigned i = 0; i < LOCATE_MAX_PLACES; i++)
		if (files->at[i].opened && !files->at[i].err)
			index_file_close(files->at[i].file);
	*files = (struct index_files){ 0 };
}

bool index_owner_is_allowed(const struct index_wish *wish, uid_t owner)
{
	if (owner == 0 || owner == geteuid())
		return true;
	for (uint32_t i = 0; i < wish->sources->count; i++) {
		if (source_owner(wish->sources->sources[i])->uid != owner)
			return false;
	}
	return true;
}

/* Names the changed file: an index knows its packed files by number only. */
static void name_changed_source(const struct index_wish *wish, const struct card *card,
				struct error *e)
{
	for (uint32_t i = 0; i < wish->sources->count; i++) {
		if (card_difference(card, i, &wish->identities[i], false)) {
			error_prefix(e, "%s", source_path(wish->sources->sources[i]));
			return;
		}
	}
}

bool index_has_owner_and_options(const struct index_wish *wish, const struct card *card)
{
	return index_owner_is_allowed(wish, card_owner(card)) &&
	       card_accept_shape(card, wish->sources->count, wish->shape, NULL) == 0;
}

int index_fits(const struct index_wish *wish, const struct card *card,
	       const struct index_file *file, struct error *e)
{
	int err;

	if (!index_owner_is_allowed(wish, card_owner(card)))
		return error_set(e, ERROR_DATASET, EPERM,
				 "it belongs to uid %u, who owns neither every packed file "
				 "nor this process", card_owner(card));
	err = card_accept_shape(card, wish->sources->count, wish->shape, e);
	if (err)
		return err;
	if (file) /* an index in memory was made just now */
		index_wish_sample(wish);
	err = card_accept(card, wish->identities, wish->sources->count, wish->shape, e);
	if (err == -ESTALE)
		name_changed_source(wish, card, e);
	return err ? err : provenance_check(wish, card, file, e);
}

enum { REMEDY_BYTES = 2 * INDEX_SOURCES_BYTES + 256 };

/* Copies of all packed files, or those themselves: only their times of change differ. */
static bool may_be_copies(const struct index_wish *wish, const struct card *card)
{
	if (card_accept_shape(card, wish->sources->count, wish->shape, NULL) < 0)
		return false;
	for (uint32_t i = 0; i < wish->sources->count; i++) {
		if (card_difference(card, i, &wish->identities[i], true))
			return false;
	}
	return true;
}

void index_sources_text(const struct index_wish *wish, char out[INDEX_SOURCES_BYTES])
{
	size_t others = wish->sources->count - 1;

	snprintf(out, INDEX_SOURCES_BYTES, "'%s'", source_path(wish->sources->sources[0]));
	if (others)
		buffer_print(out, INDEX_SOURCES_BYTES, " and the %zu others", others);
}

/* To use an index again that does not fit, or to have its checksums again. */
static void find_remedy(const struct index_wish *wish, const struct card *card, int err,
			char out[REMEDY_BYTES])
{
	char sources[INDEX_SOURCES_BYTES];

	*out = '\0';
	index_sources_text(wish, sources);
	if (err == -EXDEV)
		snprintf(out, REMEDY_BYTES,
			 "; if it was copied or renamed: granary index --adopt %s", sources);
	else if (err == -EPERM || (!card_has_sums(card) && !may_be_copies(wish, card)))
		return;
	else if (!card_has_sums(card))
		snprintf(out, REMEDY_BYTES, "; if it is a copy: granary index --adopt %s", sources);
	else if (may_be_copies(wish, card))
		snprintf(out, REMEDY_BYTES,
			 "; if it is a copy: granary index --adopt %s; if it was changed, its "
			 "checksums are those of before: granary index --checksums %s makes them "
			 "anew", sources, sources);
	else
		snprintf(out, REMEDY_BYTES,
			 "; its checksums are not those of what is there now: granary index "
			 "--checksums %s makes them anew", sources);
}

static int find_pass_over(const struct index_wish *wish, int err, const struct error *why,
			  const char *remedy)
{
	if (!wish->quiet)
		log_warn("index not used: %s%s", why->text, remedy);
	return err;
}

static int find_judge(const struct index_wish *wish, const struct card *card,
		      const struct index_file *file)
{
	char remedy[REMEDY_BYTES];
	struct error why;
	int err = index_fits(wish, card, file, &why);

	if (!err)
		return 0;
	error_prefix(&why, "%s", source_path(index_file_source(file)));
	find_remedy(wish, card, err, remedy);
	return find_pass_over(wish, err, &why, remedy);
}

/* The index at place `i` if it fits, by its card; says why if it does not. */
static int try_place(const struct index_wish *wish, unsigned i, struct index_file **out)
{
	struct error why;
	int err = index_wish_open(wish, i, out, &why);

	if (err == -ENOENT || err == -ENOTDIR)
		return err;
	if (err == -EACCES) { /* another user's cache, or not readable */
		log_debug("%s", why.text);
		return err;
	}
	if (err)
		return find_pass_over(wish, err, &why, "");
	err = find_judge(wish, index_file_card(*out), *out);
	if (err)
		index_file_close(*out);
	return err;
}

static bool has_required_sums(const struct index_wish *wish, const struct card *card)
{
	return (!wish->checksums || card_has_sums(card)) &&
	       (!wish->blocks || card_has_blocks(card));
}

/* The first place from `first` on with a fitting index, not in `tried`; or -ENOENT. */
static int find_next_place(const struct index_wish *wish, unsigned first, unsigned tried,
			   struct index_file **out)
{
	for (unsigned i = first; i < wish->places.count; i++) {
		if (tried >> i & 1 || try_place(wish, i, out) < 0)
			continue;
		if (has_required_sums(wish, index_file_card(*out)))
			return (int)i;
		index_file_close(*out);
	}
	return -ENOENT;
}

/* Prefers an index at a later place that has checksums, or those of blocks. */
static void prefer(const struct index_wish *wish, bool blocks, unsigned tried, int *place,
		   struct index_file **file)
{
	struct index_wish better = *wish;
	struct index_file *other;
	int second;

	better.checksums = better.quiet = true;
	better.blocks = blocks;
	if (has_required_sums(&better, index_file_card(*file)))
		return;
	second = find_next_place(&better, (unsigned)*place + 1, tried, &other);
	if (second < 0)
		return;
	index_file_close(*file);
	*file = other;
	*place = second;
}

static int find_best(const struct index_wish *wish, unsigned tried, struct index_file **out)
{
	int place = find_next_place(wish, 0, tried, out);

	if (place < 0)
		return place;
	prefer(wish, true, tried, &place, out);
	prefer(wish, false, tried, &place, out);
	return place;
}

/* Warns: checksums tell damaged files, and all others can be read. */
static void report_damage(const struct index_wish *wish, const struct card *card)
{
	for (uint32_t i = 0; i < wish->sources->count && !wish->quiet; i++) {
		if (identity_difference(&card_source(card, i)->identity, &wish->identities[i]))
			log_warn("'%s' is damaged: bytes in its middle are not what they were when "
				 "it was indexed, though its size and time are; granary verify names "
				 "the files that cannot be read",
				 source_path(wish->sources->sources[i]));
	}
}

/* Loads a copy, and checks that again. */
static int find_load(const struct index_wish *wish, const struct index_file *file,
		     struct index **out)
{
	struct error why;
	int err = index_file_load(file, out, &why);

	if (err)
		return find_pass_over(wish, err, &why, "");
	err = find_judge(wish, index_card(*out), file);
	if (err)
		index_close(*out);
	else
		report_damage(wish, index_card(*out));
	return err;
}

int index_find(const struct index_wish *wish, struct index **out, const char **path)
{
	struct index_wish rest = *wish;
	struct index_file *file;
	unsigned tried = 0;
	int place, err = -ENOENT;

	while (err && (place = find_best(&rest, tried, &file)) >= 0) {
		err = find_load(wish, file, out);
		index_file_close(file);
		if (!err)
			*path = wish->places.paths[place];
		tried |= 1U << place;
		rest.quiet = true; /* the reasons for other indexes were logged */
	}
	if (!err)
		return 0;
	*out = NULL;
	return -ENOENT;
}

int index_find_other(const struct index_wish *wish, struct index_file **out,
		     const char **path, struct error *why)
{
	for (unsigned i = 0; i < wish->places.count; i++) {
		const struct card *card;

		*path = wish->places.paths[i];
		if (index_wish_open(wish, i, out, NULL) < 0)
			continue;
		card = index_file_card(*out);
		if (index_has_owner_and_options(wish, card) &&
		    index_fits(wish, card, *out, why) < 0)
			return 0;
		index_file_close(*out);
	}
	*out = NULL;
	return -ENOENT;
}
