/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * card.h: the description of an index without its tree: its packed files, the options
 * that shaped it, whether it has checksums. This suffices to decide whether the index
 * fits, by a few small reads: a file that is no index, or does not fit, may be of any
 * size.
 *
 * Reads are bounded by the number of packed files, and checked by checksums, except the
 * names of the files. So the card of a file is only a first check: the card of the memory
 * copy decides.
 *
 * Threads: a card is constant.
 */
#ifndef GRANARY_INDEX_CARD_H
#define GRANARY_INDEX_CARD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/identity.h"
#include "index/index.h"

struct card;

/* A packed file when the index was made. */
struct card_source {
	struct identity identity;
	const char *name; /* without directories; lives as long as the card */
};

/* Reads the bytes of an index. */
struct card_reader {
	/* Reads `length` bytes at `offset`, within `size`: 0 or a negative errno. */
	int (*read)(const void *context, void *buffer, size_t length, uint64_t offset);
	const void *context;
	uint64_t size; /* of the file, in bytes */
	uid_t owner;   /* of the file */
};

/*
 * Reads and checks the header, the table of sections and the card's sections: 0, and the
 * caller frees the card; -EBADMSG and a reason if it is no index; or -ENOMEM or the
 * reader's error.
 */
int card_read(const struct card_reader *reader, struct card **out, struct error *e);
void card_free(struct card *card);

uid_t card_owner(const struct card *card);
const struct index_summary *card_summary(const struct card *card);

/* Has it the fields that 0.1 lacks for each packed file: inode number and samples? */
bool card_has_identities(const struct card *card);

/* Has it a checksum of each file? */
bool card_has_sums(const struct card *card);

/* Has it checksums of the blocks of large files (index/block_sums.h)? */
bool card_has_blocks(const struct card *card);

/* Source `i`, or NULL. */
const struct card_source *card_source(const struct card *card, uint32_t i);

/*
 * The property in which the existing source `i` has changed, for messages; NULL: none.
 * `copied`: ignores the time. Samples are ignored if there are checksums, which tell a
 * damaged file from its sound neighbours.
 */
const char *card_difference(const struct card *card, uint32_t i, const struct identity *is,
			    bool copied);

/*
 * 0 if the index was made from these sources with these options, else -ESTALE and a
 * reason. Inode numbers and names are not compared.
 */
int card_accept(const struct card *card, const struct identity *sources, uint32_t count,
		const char *options, struct error *e);

/* The same for the count and the options only. */
int card_accept_shape(const struct card *card, uint32_t count, const char *options,
		      struct error *e);

/*
 * For index/index.c: section `i` of the table, within the file, or NULL; and a check of
 * its bytes against its checksum: 0, or -EBADMSG and a reason.
 */
struct layout_section;
const struct layout_section *card_section(const struct card *card, uint32_t i);
int card_check_section(const struct card *card, uint32_t i, const void *bytes,
		       struct error *e);

#endif
