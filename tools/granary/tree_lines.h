/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree_lines.h: the two sides of tree_server.h: tree_server.c is the child's, tree_input.c
 * the parent's. A question and its answer go over the socket of a line, bytes through its
 * memory. The parent trusts no answer.
 */
#ifndef GRANARY_TOOL_TREE_LINES_H
#define GRANARY_TOOL_TREE_LINES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "dataset/dataset.h"
#include "os/lock.h"
#include "packer/input.h"

enum {
	/* shared memory of a line; a name with its attributes has 1 MiB and a little */
	LINE_BYTES = 2 << 20,
	RECORD_XATTR = 100,
};

enum question_kind { LIST_NAMES, READ_BYTES };

/* Parent and child are one program. */
struct tree_question {
	uint32_t kind, node;
	uint64_t offset;
	uint32_t length;
};

struct tree_answer {
	int32_t err;     /* 0 or a negative errno; LIST_NAMES: a struct error is in the memory */
	uint32_t length; /* bytes in the memory; LIST_NAMES: 0 at the end */
};

/*
 * A name in the memory, or an attribute of the one before it. Behind it: the name, and the
 * target or the value, with a NUL behind each.
 */
struct tree_record {
	uint64_t directory, size;
	int64_t mtime;
	uint32_t node, mtime_ns, mode, uid, gid;
	uint32_t kind;   /* enum pack_kind, or RECORD_XATTR */
	uint32_t linked; /* 1: the file has several names */
	uint32_t name_length, value_length;
};

struct tree_line {
	int parent, child;
	char *memory; /* LINE_BYTES, shared */
	bool busy;    /* lock */
};

struct tree_level {
	uint32_t directory; /* node */
	uint32_t next;      /* of its names */
	uint64_t number;    /* of its entry */
};

struct tree_server {
	const struct dataset *dataset;
	const struct tree *tree;
	struct pack_input input;
	struct lock lock;
	struct wakeup idle;
	char *memory; /* of all lines */
	/* of the child: where the listing is */
	VEC(struct tree_level) levels;
	uint64_t listed;
	char *list, *value; /* of attributes */
	const char **names; /* in the list, those that are sent */
	_Atomic unsigned served; /* lines that have a thread */
	unsigned count;
	struct tree_line lines[];
};

/* The bytes of a record in the memory, with what is behind it. */
static inline size_t tree_record_size(const struct tree_record *record)
{
	size_t size = sizeof(*record) + (size_t)record->name_length + record->value_length + 2;

	return (size + 7) & ~(size_t)7;
}

/* A whole message: false where the other side has ended. */
bool tree_send(int fd, const void *bytes, size_t size);
bool tree_receive(int fd, void *bytes, size_t size);
void tree_close_end(int *fd);

/* Fills in server->input. 0, or a negative errno and *e. */
int tree_input_init(struct tree_server *server, const struct dataset_config *config,
		    struct error *e);

#endif
