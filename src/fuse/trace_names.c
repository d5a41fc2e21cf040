/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/trace_names.h"

#include <stdio.h>
#include <string.h>

#include "trace/trace_writer.h"

static const struct dataset *named_dataset;
static const char *named_mountpoint;

/* The mount begins at the dataset's root, which may lie within the tree. */
static bool name_node(const void *context, uint64_t node, char *out, size_t size)
{
	const struct tree *tree = dataset_tree(named_dataset);
	size_t mount = strlen(named_mountpoint), root;

	(void)context;
	if (mount + 2 > size)
		return false;
	memcpy(out, named_mountpoint, mount + 1);
	if (node == dataset_root(named_dataset))
		return true;
	tree_path(tree, dataset_root(named_dataset), out + mount + 1, size - mount - 1);
	root = strlen(out + mount + 1);
	tree_path(tree, (uint32_t)node, out + mount + 1, size - mount - 1);
	if (root)
		memmove(out + mount, out + mount + 1 + root, strlen(out + mount + 1 + root) + 1);
	else
		out[mount] = '/';
	return true;
}

static const char *name_source(const void *context, size_t i, uint64_t *subject)
{
	const struct source_set *set = dataset_sources(named_dataset);

	(void)context;
	if (i >= set->count)
		return NULL;
	*subject = (uint64_t)(uintptr_t)set->sources[i];
	return source_place(set->sources[i]);
}

void trace_names_set(const struct dataset *dataset, const char *mountpoint)
{
	named_dataset = dataset;
	named_mountpoint = mountpoint;
}

int trace_names_write(const char *path, struct error *e)
{
	static struct trace_names names;

	names = (struct trace_names){
		.node = name_node, .source = name_source,
		.nodes = tree_count(dataset_tree(named_dataset)),
		.dataset = source_place(dataset_sources(named_dataset)->sources[0]),
		.mountpoint = named_mountpoint,
	};
	return trace_writer_start(&names, path, e);
}
