/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * find.h: finds an index that fits these sources and options.
 */
#ifndef GRANARY_PLACE_FIND_H
#define GRANARY_PLACE_FIND_H

#include "index/index.h"
#include "place/config.h"
#include "place/index_file.h"
#include "place/locate.h"
#include "place/map_files.h"
#include "source/source_set.h"

/*
 * The files at the places of a wish: each is opened once, when it is asked for first, and
 * stays what it was then. Zero to begin with.
 */
struct index_files {
	struct {
		bool opened;
		int err;
		struct error why;
		struct index_file *file;
	} at[LOCATE_MAX_PLACES];
};

/* The sources and options that an index must fit, and the places where it may be. */
struct index_wish {
	const struct source_set *sources;
	struct identity *identities; /* owned: one a source */
	bool *sampled; /* owned: have these their samples? NULL: yes (index_wish_sample) */
	struct map_files maps;       /* owned */
	char shape[CONFIG_TEXT_BYTES];
	struct index_places places;  /* owned; none with index=off */
	bool checksums; /* one without does not do, */
	bool blocks;    /* nor one that has none of blocks (index/block_sums.h) */
	bool quiet; /* it has been said why those that are there do not fit */
	int *unpack_to; /* one a source: the file that it is unpacked to, or -1; NULL: none */
	struct index_files *files; /* NULL: a place is opened each time */
};

/* The index at place `i`, as index_file_open; and closes all that were opened. */
int index_wish_open(const struct index_wish *wish, unsigned i, struct index_file **out,
		    struct error *e);
void index_files_close(struct index_files *files);

/* Opens the maps. The sources must be open, and outlive the wish. */
int index_wish_make(const struct dataset_config *config,
		    const struct source_set *sources, struct index_wish *out,
		    struct error *e);

/*
 * The same with places and maps that another process has found, with more rights. They
 * are moved into the wish; after an error the maps are closed.
 */
int index_wish_adopt(const struct dataset_config *config,
		     const struct source_set *sources, struct index_places *places,
		     struct map_files *maps, struct index_wish *out, struct error *e);
void index_wish_free(struct index_wish *wish);

/*
 * Reads the samples of the packed files, unless the wish has them: up to 64 reads all over
 * each file. The search does so when it has found an index to compare, so a dataset
 * without one is not sampled before it is indexed.
 */
void index_wish_sample(const struct index_wish *wish);

/*
 * For sources some of which have been replaced (place/spool.h). The index may lie beside
 * the first one if `beside`, and otherwise only where the user named a place.
 */
int index_wish_renew(const struct dataset_config *config, struct index_wish *wish, bool beside,
		     struct error *e);

/*
 * 0, or a negative errno and the reason why an index with this card does not fit. `file`:
 * the index's file; NULL: it was made in memory.
 */
int index_fits(const struct index_wish *wish, const struct card *card,
	       const struct index_file *file, struct error *e);

/*
 * May this user have made an index? An index decides which bytes of which source are
 * shown, and with which permissions. So its maker must be able to read all sources: root,
 * this process's user, or the owner of every source.
 */
bool index_owner_is_allowed(const struct index_wish *wish, uid_t owner);

/*
 * Has the index of this card a permitted maker, as many files and the same options? Its
 * packed files are not compared.
 */
bool index_has_owner_and_options(const struct index_wish *wish, const struct card *card);

/*
 * The first index that fits; those with checksums of blocks come before those with
 * checksums of files, and these before others: 0, the index (the caller closes it) and
 * its path, valid as long as the wish; or -ENOENT. An index that does not fit, or whose
 * owner is not permitted, is skipped, with the reason in the log unless quiet. Only of
 * the result more than the card is read.
 */
int index_find(const struct index_wish *wish, struct index **out, const char **path);

/* The packed files, as a remedy names them: the path of the first, and how many others. */
enum { INDEX_SOURCES_BYTES = 1100 };
void index_sources_text(const struct index_wish *wish, char out[INDEX_SOURCES_BYTES]);

/*
 * An index that would fit if the packed files had not been changed, copied or exchanged:
 * 0, the index (the caller closes it), its path, and why it does not fit; or -ENOENT.
 */
int index_find_other(const struct index_wish *wish, struct index_file **out,
		     const char **path, struct error *why);

#endif
