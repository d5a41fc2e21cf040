/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * card.h: what an index says of itself, without its tree: the packed files that it was made
 * of, the options that shaped it, whether it has checksums. That is enough to judge whether
 * it fits, and costs a few small reads: a file that is no index, or one that does not fit,
 * may be of any size.
 *
 * What is read is bounded by the number of packed files, and compared with its checksums;
 * but for their names, which lie among other bytes. So what is judged by the card of a file
 * is judged once more by that of the copy which is taken.
 *
 * Threads: a card does not change.
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

/* A packed file, as it was when the index was made. */
struct card_source {
	struct identity identity;
	const char *name; /* its own, without folders; lives as long as the card */
};

/* Where the bytes of an index come from. */
struct card_reader {
	/* Exactly `length` bytes at `offset`, within `size`: 0 or a negative errno. */
	int (*read)(const void *context, void *buffer, size_t length, uint64_t offset);
	const void *context;
	uint64_t size; /* of the file, in bytes */
	uid_t owner;   /* of the file */
};

/*
 * Reads and checks the header, the table of sections, and what the card holds: 0, and the
 * caller frees it; -EBADMSG and a reason where that is no index of ours; or the reader's
 * errno, or -ENOMEM.
 */
int card_read(const struct card_reader *reader, struct card **out, struct error *e);
void card_free(struct card *card);

uid_t card_owner(const struct card *card);
const struct index_summary *card_summary(const struct card *card);

/* Does it say of each packed file what 0.1 did not record: its inode's number, its samples? */
bool card_has_identities(const struct card *card);

/* Has it the checksum of each file? */
bool card_has_sums(const struct card *card);

/* And those of the blocks of large files (index/block_sums.h)? */
bool card_has_blocks(const struct card *card);

/* NULL where there are not so many. */
const struct card_source *card_source(const struct card *card, uint32_t i);

/*
 * In what source `i`, which there is, differs from what it was, for messages; NULL: in
 * nothing. `copied`: its time does not count. Nor do samples where there are checksums:
 * these tell a damaged file from its sound neighbours.
 */
const char *card_difference(const struct card *card, uint32_t i, const struct identity *is,
			    bool copied);

/*
 * 0 if the index was made from these sources with these options, otherwise
 * -ESTALE and a reason. Numbers and names are not compared.
 */
int card_accept(const struct card *card, const struct identity *sources, uint32_t count,
		const char *options, struct error *e);

/* The same, but for what the sources are now. */
int card_accept_shape(const struct card *card, uint32_t count, const char *options,
		      struct error *e);

/*
 * For index/index.c: a section's place, within the file; NULL behind the last. And are these
 * the bytes that it had? 0, or -EBADMSG and a reason.
 */
struct layout_section;
const struct layout_section *card_section(const struct card *card, uint32_t i);
int card_check_section(const struct card *card, uint32_t i, const void *bytes,
		       struct error *e);

#endif
