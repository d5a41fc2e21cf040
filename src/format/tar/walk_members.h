/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * walk_members.h: one scan of a tar. Private to format/tar/: tar.c goes from member to
 * member, chain.c reads the headers of one, member.c makes an entry of it.
 */
#ifndef GRANARY_FORMAT_TAR_WALK_MEMBERS_H
#define GRANARY_FORMAT_TAR_WALK_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "format/format.h"
#include "format/tar/header.h"
#include "format/tar/messages.h"
#include "format/tar/pax_records.h"
#include "format/tar/sparse.h"
#include "format/tar/window.h"

/* A member as its headers describe it. */
struct tar_member {
	uint64_t header; /* where the first of its headers is */
	uint64_t data;   /* where its data begin, */
	uint64_t stored; /* and how many bytes they are, without what fills the block */
	char type;
	const char *path, *target; /* target: of links only; never NULL */
	uint32_t mode, uid, gid;
	int64_t mtime;
	uint32_t mtime_ns;
	bool sparse;         /* with a map; else all of it is stored */
	struct tar_map map;

	/* The memory of the pointers above. */
	struct tar_records records;
	char *long_name, *long_link; /* of GNU's L and K */
	char name[TAR_PATH_BYTES + 1], link[TAR_NAME_BYTES + 1];
};

struct tar_walk {
	struct scan *scan;
	struct tar_window window;
	struct tar_records global; /* what holds for all members that follow */
	struct tar_member member;  /* the one at hand */
	uint64_t end;   /* behind the padded data of the last member, */
	uint64_t data_end; /* and behind the data themselves */
	uint64_t last;  /* where its headers begin */
	VEC(struct entry_extent) extents;
	VEC(struct entry_xattr) xattrs;
	VEC(char *) decoded; /* what the xattrs point into */
	uint64_t specials;
	bool pax;       /* there was a pax header */
	struct error *e;
};

/* A position in the file, for messages. */
static inline unsigned long long in_file(const struct tar_walk *walk, uint64_t position)
{
	return (unsigned long long)(walk->window.base + position);
}

struct tar_place tar_walk_place(const struct tar_walk *walk);
int tar_walk_no_memory(struct tar_walk *walk);
int tar_walk_refuse_read(struct tar_walk *walk);
int tar_walk_refuse_member(struct tar_walk *walk, const char *what);
int tar_walk_refuse_truncated(struct tar_walk *walk);
void tar_walk_warn(struct tar_walk *walk, const char *what);

/*
 * Reads the headers that begin at walk->end into walk->member: 1; 0 where there is no
 * header, nor behind those that say more of a next one, and walk->end is there; or an
 * error.
 */
int tar_read_headers(struct tar_walk *walk);

/* Appends the member to the log, and moves walk->end behind it. */
int tar_add_member(struct tar_walk *walk);

/* The member's xattrs, into walk->xattrs. */
int tar_collect_xattrs(struct tar_walk *walk);

void tar_walk_free(struct tar_walk *walk);

#endif
