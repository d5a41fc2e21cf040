/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree_server.h: the tree of a dataset as the input of the packer, for `granary convert`.
 *
 * The parent packs, with the caller's rights. A child without rights (sandbox_child.h)
 * parses the index, reads and decodes packed bytes. The child lists the tree, and serves the
 * contents of files over lines: a socket each, and shared memory. The parent copies the
 * bytes out of that memory before it looks at them, checks every name and size
 * (pack_scan_add), and takes contents as bytes only.
 *
 * Threads: one opens, begins, ends and closes; the packer's threads use the input.
 */
#ifndef GRANARY_TOOL_TREE_SERVER_H
#define GRANARY_TOOL_TREE_SERVER_H

#include "dataset/dataset.h"
#include "packer/input.h"

struct tree_server;

/*
 * Before the fork. `config` is what the dataset was opened with; the dataset outlives the
 * server. 0, or a negative errno and *e; the caller closes *out.
 */
int tree_server_open(const struct dataset *dataset, const struct dataset_config *config,
		     unsigned lines, struct tree_server **out, struct error *e);
void tree_server_close(struct tree_server *server);

/* In the child, before it loses its rights: signals end the parent, and then the child. */
void tree_server_begin_child(struct tree_server *server);

/* In the child: serves until the parent ends the lines. 0, or a negative errno and *e. */
int tree_server_serve(struct tree_server *server, struct error *e);

/* In the parent, after the fork; the input lives as long as the server. */
const struct pack_input *tree_server_begin_parent(struct tree_server *server);

/* In the parent: ends the lines, and so the child. */
void tree_server_end(struct tree_server *server);

#endif
