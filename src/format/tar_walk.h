/*
 * tar_walk.h: one scan of a tar with libarchive. Private to the tar format: tar.c goes
 * from member to member, tar_member.c makes an entry of each.
 */
#ifndef GRANARY_FORMAT_TAR_WALK_H
#define GRANARY_FORMAT_TAR_WALK_H

#include <archive.h>
#include <archive_entry.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/format.h"
#include "format/tar_refuse.h"
#include "format/tar_window.h"
#include "util/vec.h"

struct tar_walk {
	struct scan *scan;
	struct tar_window window;
	struct archive *archive;
	struct archive_entry *entry; /* the member at hand */
	la_int64_t start; /* of what libarchive reads: its preface, if it has one */
	la_int64_t began; /* how long that is: TAR_PREFACE, or 0 */
	const unsigned char *preface; /* until it has been read */
	uint64_t header, data; /* where its headers and its data begin */
	uint64_t end;   /* behind the padded data of the last member */
	VEC(struct entry_extent) extents;
	VEC(struct entry_xattr) xattrs;
	uint64_t specials;
	uint64_t stay;  /* how long it stays with libarchive, members */
	uint64_t joint; /* where it leaves libarchive at once, if plain ones follow */
	bool pax;       /* there was a pax header */
	bool global;    /* a header for all that follow: then it stays */
	unsigned warnings;
	struct error *e;
};

/* A position in the file, for messages. */
static inline unsigned long long in_file(const struct tar_walk *walk, uint64_t position)
{
	return (unsigned long long)(walk->window.base + position);
}

/* What libarchive counts from where it began; negative stays negative. */
la_int64_t tar_walk_position(const struct tar_walk *walk, la_int64_t counted);

struct tar_place tar_walk_place(const struct tar_walk *walk);
int tar_walk_no_memory(struct tar_walk *walk);
int tar_walk_refuse_read(struct tar_walk *walk, int err);
int tar_walk_refuse_member(struct tar_walk *walk, const char *what);
void tar_walk_warn(struct tar_walk *walk, const char *what);

/* Steps over the data of the member at hand, which says how much is stored. */
int tar_step_over(struct tar_walk *walk);

/* The same, and appends the member to the log. */
int tar_take_member(struct tar_walk *walk);

#endif
