/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hdf5_tree.c: the layout "tree". A directory is a group. A file is a contiguous dataset
 * of bytes of one dimension, so a mount reads it as one extent. With gzip it is in
 * chunks; a chunk that does not become smaller is stored as it is. Symbolic links are
 * soft links, hard links are hard links. Owners, modes and times are not stored.
 */
#include "packer/hdf5_layouts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

enum {
	USUAL_LEVEL = 6, MOST_LEVEL = 9,
	CHUNK_SIZE = 256 * 1024,  /* bytes, at most */
	WHOLE_LIMIT = 4 * 1024,   /* smaller files are not compressed: tables cost more */
};

struct h5_tree {
	struct hdf5_output *out;
	int level;       /* of gzip, or 0 */
	hid_t dataset;   /* of the file between begin and end */
	uint64_t at;     /* bytes of it written */
	hid_t group;     /* the directory of the last entry */
	char *directory;    /* its path */
};

static int h5_tree_fail(const struct h5_tree *tree, const char *path, struct error *e)
{
	return hdf5_output_failed(tree->out, path, e);
}

static int tree_open(void **state, struct hdf5_output *out,
		     const struct writer_config *config, struct error *e)
{
	struct h5_tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return error_no_memory(e, out->path);
	tree->out = out;
	tree->dataset = tree->group = H5I_INVALID_HID;
	if (config->compressor && strcmp(config->compressor, "none") != 0)
		tree->level = config->level < 0 ? USUAL_LEVEL : config->level;
	if (tree->level > MOST_LEVEL || (tree->level == 0 && config->level == 0)) {
		free(tree);
		return error_set(e, ERROR_USAGE, EINVAL,
				 "gzip: has the levels 1 to %d, not %d", MOST_LEVEL,
				 config->level);
	}
	*state = tree;
	return 0;
}

/* Refuses a path with an empty part, "." or "..". */
static int h5_tree_check_path(const char *path, struct error *e)
{
	const char *name = path, *end;

	for (;; name = end + 1) {
		end = strchrnul(name, '/');
		if (end == name || strncmp(name, ".", (size_t)(end - name)) == 0 ||
		    (end - name == 2 && strncmp(name, "..", 2) == 0))
			return error_set(e, ERROR_SYSTEM, EINVAL,
					 "%s: no path of a packed file: a part of it is "
					 "empty or dots", path);
		if (!*end)
			return 0;
	}
}

/* The group of that name in `parent`; created if it does not exist. */
static hid_t open_group(const struct h5_tree *tree, hid_t parent, const char *name)
{
	htri_t there = H5Lexists(parent, name, H5P_DEFAULT);

	if (there < 0)
		return H5I_INVALID_HID;
	return there ? H5Gopen2(parent, name, H5P_DEFAULT) :
		       H5Gcreate2(parent, name, tree->out->link_create,
				  tree->out->group_create, H5P_DEFAULT);
}

/*
 * Opens the directory's groups one by one; `directory` is changed meanwhile and restored.
 */
static hid_t walk_groups(const struct h5_tree *tree, char *directory)
{
	hid_t group = H5Gopen2(tree->out->file, "/", H5P_DEFAULT), next;
	char *name = directory, *slash;

	while (group >= 0 && *name) {
		slash = strchrnul(name, '/');
		const char end = *slash;

		*slash = '\0';
		next = open_group(tree, group, name);
		*slash = end;
		name = end ? slash + 1 : slash;
		H5Gclose(group);
		group = next;
	}
	return group;
}

/* Makes the directory tree->group: 0, or -errno and a sentence. */
static int enter_directory(struct h5_tree *tree, const char *path, size_t length,
			struct error *e)
{
	if (tree->directory && strlen(tree->directory) == length &&
	    memcmp(tree->directory, path, length) == 0)
		return 0;
	if (tree->group >= 0)
		H5Gclose(tree->group);
	tree->group = H5I_INVALID_HID;
	free(tree->directory);
	tree->directory = strndup(path, length);
	if (!tree->directory)
		return error_no_memory(e, path);
	tree->group = walk_groups(tree, tree->directory);
	return tree->group < 0 || tree->out->error ? h5_tree_fail(tree, path, e) : 0;
}

/*
 * The fewest chunks, all of the same size: the last chunk is stored in full, so it should
 * hold little padding.
 */
static bool set_chunks(hid_t create, uint64_t size, int level)
{
	const uint64_t chunks = (size + CHUNK_SIZE - 1) / CHUNK_SIZE;
	const hsize_t chunk = (size + chunks - 1) / chunks;

	return H5Pset_chunk(create, 1, &chunk) >= 0 &&
	       H5Pset_deflate(create, (unsigned)level) >= 0;
}

static hid_t h5_tree_create_dataset(const struct h5_tree *tree, const char *name,
				    uint64_t size)
{
	const hsize_t length = size;
	hid_t create = hdf5_output_properties(H5P_DATASET_CREATE);
	hid_t space = H5Screate_simple(1, &length, NULL);
	hid_t dataset = H5I_INVALID_HID;

	if (create >= 0 && space >= 0 && H5Pset_fill_time(create, H5D_FILL_TIME_NEVER) >= 0 &&
	    (!tree->level || size < WHOLE_LIMIT || set_chunks(create, size, tree->level)))
		dataset = H5Dcreate2(tree->group, name, H5T_STD_U8LE, space,
				     tree->out->link_create, create, H5P_DEFAULT);
	if (space >= 0)
		H5Sclose(space);
	if (create >= 0)
		H5Pclose(create);
	return dataset;
}

static int h5_tree_begin_file(struct h5_tree *tree, const struct pack_entry *entry,
			      const char *name, struct error *e)
{
	tree->dataset = h5_tree_create_dataset(tree, name, entry->size);
	tree->at = 0;
	return tree->dataset < 0 || tree->out->error ? h5_tree_fail(tree, entry->path, e)
						     : 0;
}

/* Counts the leading ".." of `path`; *rest is the remaining path. */
static size_t count_climbs(const char *path, const char **rest)
{
	size_t climbs = 0;

	while (strncmp(path, "..", 2) == 0 && (path[2] == '/' || !path[2])) {
		climbs++;
		path += 2;
		path += strspn(path, "/");
	}
	*rest = path;
	return climbs;
}

static bool has_climb(const char *path)
{
	const char *rest, *slash;

	for (;; path = slash + 1) {
		if (count_climbs(path, &rest))
			return true;
		slash = strchr(path, '/');
		if (!slash)
			return false;
	}
}

/*
 * The target of a soft link in `directory`. In HDF5 ".." is a plain name, so a path that
 * climbs is written from the root. NULL: it leads out of the root, or has a later "..".
 */
static char *link_target(const char *directory, const char *target)
{
	size_t depth = *directory != '\0', climbs, kept = strlen(directory);
	const char *rest, *at;
	char *text = NULL;

	for (at = directory; (at = strchr(at, '/')); at++)
		depth++;
	climbs = count_climbs(target, &rest);
	if (*target == '/' || climbs > depth || has_climb(rest))
		return NULL;
	if (!climbs)
		return strdup(target);
	for (; climbs; climbs--) {
		while (kept && directory[kept - 1] != '/')
			kept--;
		kept -= kept > 0;
	}
	if (asprintf(&text, "/%.*s%s%s", (int)kept, directory, kept && *rest ? "/" : "",
		     rest) < 0)
		return NULL;
	return text;
}

static int refuse_link(const struct pack_entry *entry, struct error *e)
{
	return error_set(e, ERROR_SYSTEM, ENOTSUP,
			 "%s: is a symbolic link to '%s': HDF5 has only links to what is in "
			 "the packed directory, and no '..' within a path; pack to tar or "
			 "squashfs", entry->path, entry->target);
}

static int tree_check(const struct pack_entry *entry, struct error *e)
{
	CLEANUP(cleanup_free) char *directory = NULL, *target = NULL;
	const char *slash;

	if (entry->kind != PACK_SYMLINK)
		return 0;
	slash = strrchr(entry->path, '/');
	directory = strndup(entry->path, slash ? (size_t)(slash - entry->path) : 0);
	if (!directory)
		return error_no_memory(e, entry->path);
	target = link_target(directory, entry->target);
	return target ? 0 : refuse_link(entry, e);
}

static int h5_tree_write_symlink(const struct h5_tree *tree,
				 const struct pack_entry *entry,
				 const char *name, struct error *e)
{
	CLEANUP(cleanup_free) char *target = link_target(tree->directory, entry->target);

	if (!target)
		return refuse_link(entry, e);
	if (H5Lcreate_soft(target, tree->group, name, tree->out->link_create,
			   H5P_DEFAULT) < 0 || tree->out->error)
		return h5_tree_fail(tree, entry->path, e);
	return 0;
}

static int write_hard_link(const struct h5_tree *tree, const struct pack_entry *entry,
			   const char *name, struct error *e)
{
	H5L_info_t info;

	if (H5Lget_info(tree->out->file, entry->target, &info, H5P_DEFAULT) < 0)
		return error_set(e, ERROR_SYSTEM, ENOENT,
				 "%s: a hard link to %s, which is no file of this pack",
				 entry->path, entry->target);
	if (info.type != H5L_TYPE_HARD)
		return error_set(e, ERROR_SYSTEM, ENOTSUP,
				 "%s: is another name of a symbolic link, which HDF5 "
				 "cannot have; pack to tar or squashfs", entry->path);
	if (H5Lcreate_hard(tree->out->file, entry->target, tree->group, name,
			   tree->out->link_create, H5P_DEFAULT) < 0 || tree->out->error)
		return h5_tree_fail(tree, entry->path, e);
	return 0;
}

static int begin_name(struct h5_tree *tree, const struct pack_entry *entry,
		      const char *name, struct error *e)
{
	htri_t there = H5Lexists(tree->group, name, H5P_DEFAULT);

	if (there < 0)
		return h5_tree_fail(tree, entry->path, e);
	if (there)
		return error_set(e, ERROR_SYSTEM, EEXIST, "%s: comes twice", entry->path);
	if (entry->kind == PACK_SYMLINK)
		return h5_tree_write_symlink(tree, entry, name, e);
	if (entry->kind == PACK_HARDLINK)
		return write_hard_link(tree, entry, name, e);
	return h5_tree_begin_file(tree, entry, name, e);
}

static int tree_begin(void *state, const struct pack_entry *entry, struct error *e)
{
	struct h5_tree *tree = state;
	const char *slash = strrchr(entry->path, '/');
	const size_t length = slash ? (size_t)(slash - entry->path) : 0;
	int rc;

	if (entry->kind == PACK_DIRECTORY && !*entry->path)
		return 0; /* the root exists */
	rc = h5_tree_check_path(entry->path, e);
	if (rc < 0)
		return rc;
	if (entry->kind == PACK_DIRECTORY)
		return enter_directory(tree, entry->path, strlen(entry->path), e);
	rc = enter_directory(tree, entry->path, length, e);
	return rc < 0 ? rc : begin_name(tree, entry, entry->path + length + !!slash, e);
}

static int tree_data(void *state, const void *bytes, size_t length, struct error *e)
{
	struct h5_tree *tree = state;

	if (!hdf5_output_write(tree->out, tree->dataset, H5T_NATIVE_UINT8, tree->at, length,
			       bytes))
		return h5_tree_fail(tree, "a file", e);
	tree->at += length;
	return 0;
}

static int tree_end(void *state, struct error *e)
{
	struct h5_tree *tree = state;
	herr_t status = H5Dclose(tree->dataset);

	tree->dataset = H5I_INVALID_HID;
	return status < 0 || tree->out->error ? h5_tree_fail(tree, "a file", e) : 0;
}

static int tree_close(void *state, bool complete, struct error *e)
{
	struct h5_tree *tree = state;

	if (tree->dataset >= 0)
		H5Dclose(tree->dataset);
	if (tree->group >= 0)
		H5Gclose(tree->group);
	free(tree->directory);
	free(tree);
	return 0;
}

const struct hdf5_layout hdf5_tree_layout = {
	.name = "tree",
	.compresses = true,
	.check = tree_check,
	.open = tree_open,
	.begin = tree_begin,
	.data = tree_data,
	.end = tree_end,
	.close = tree_close,
};
