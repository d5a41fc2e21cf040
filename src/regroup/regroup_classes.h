/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * regroup_classes.h: which directory a label's files belong into.
 *
 * Maps may say labels by their numbers only. The directory is then, in this order, what
 * the list of classes says; the one directory that files with this label lie in, in the
 * keys of the maps or in the dataset; of as many directories below train/ as there are
 * labels, the one with that rank; the number itself.
 *
 * Threads: none.
 */
#ifndef GRANARY_REGROUP_REGROUP_CLASSES_H
#define GRANARY_REGROUP_REGROUP_CLASSES_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include "maps/name_map.h"

struct regroup_classes;

/* `list` may be NULL, and outlives it. NULL: out of memory. */
struct regroup_classes *regroup_classes_new(const struct class_list *list);
void regroup_classes_free(struct regroup_classes *classes);

/* A file with that label lies (or a key says so) at `path`. 0 or -ENOMEM. */
int regroup_classes_add(struct regroup_classes *classes, const char *path, int64_t label);

/* Something lies at `path`: notes the directory below train/. 0 or -ENOMEM. */
int regroup_classes_add_path(struct regroup_classes *classes, const char *path);

/* All has been seen. */
void regroup_classes_seal(struct regroup_classes *classes);

/* The name of a label's directory: valid until the next call. */
const char *regroup_classes_name(struct regroup_classes *classes, int64_t label);

/* Was a label asked for that the list has no name for, nor anything else? The first. */
bool regroup_classes_nameless(const struct regroup_classes *classes, int64_t *label);

/* Has the list in order a name for label 0, which no file has? It may begin with label 1. */
bool regroup_classes_shifted(const struct regroup_classes *classes);

/* Where the names come from: "the directories below train/". */
const char *regroup_classes_source(const struct regroup_classes *classes);

#endif
