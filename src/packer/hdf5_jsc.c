/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hdf5_jsc.c: the layout "jsc", in which JSC's deep learning course packs ImageNet
 *	(HelmholtzAI-FZJ, 2025-06-course-Bringing-Deep-Learning-Workloads-to-JSC-
 *	supercomputers, code/dataloading/save_imagenet_files.py):
 *
 *	/SPLIT/images    (N,) rows of uint8 of any length, contiguous: the files' bytes
 *	/SPLIT/targets   (N,) int16, contiguous: the numbers of their classes
 *
 * Beside the file lies NAME_SPLIT.pkl, with NAME in lower case as in the course: a
 * pickled dict from the path of each file to its number, in the order of the rows. The
 * course's loaders index images and labels by the row, and get paths from the map.
 *
 * A row is written in one piece, so one file at a time is in memory.
 */
#include "packer/hdf5_layouts.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "packer/output.h"
#include "packer/pickle_writer.h"

enum {
	SPLITS_MOST = 100,   /* without splits these are classes */
	ROW_MOST = 1 << 30,  /* bytes */
};

struct split {
	char *name;
	uint64_t rows, done;
	hid_t images;
	int16_t *targets; /* one a row */
	struct output *map;
	FILE *map_file;
	struct pickle_writer pickle;
};

struct jsc {
	struct hdf5_output *out;
	hid_t stored, memory; /* the type of a row in the file, and in memory */
	struct split *splits;
	size_t count;
	struct split *current; /* of the file between begin and end */
	char *row;             /* its bytes */
	size_t room, length;
};

/* "a/ImageNet.h5" and "train": "a/imagenet_train.pkl"; NULL: out of memory. */
static char *map_path(const char *path, const char *split)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	const size_t directory = (size_t)(name - path);
	const size_t stem = dot ? (size_t)(dot - name) : strlen(name);
	char *text = NULL;

	if (asprintf(&text, "%.*s_%s.pkl", (int)(directory + stem), path, split) < 0)
		return NULL;
	for (size_t i = directory; i < directory + stem; i++)
		text[i] = (char)tolower((unsigned char)text[i]);
	return text;
}

static int begin_map(const struct jsc *jsc, struct split *split, bool replace,
		     struct error *e)
{
	CLEANUP(cleanup_free) char *path = map_path(jsc->out->path, split->name);
	CLEANUP(cleanup_close) int fd = -1;
	int rc;

	if (!path)
		return error_no_memory(e, jsc->out->path);
	rc = output_begin(path, replace, &split->map, e);
	if (rc < 0)
		return rc;
	fd = fcntl(output_fd(split->map), F_DUPFD_CLOEXEC, 0);
	split->map_file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!split->map_file)
		return error_set(e, ERROR_SYSTEM, errno, "%s: %s", path, strerror(errno));
	fd = -1;
	pickle_writer_begin(&split->pickle, split->map_file);
	return 0;
}

static hid_t hdf5_jsc_create_dataset(const struct jsc *jsc, hid_t group, const char *name,
				     hid_t type, hid_t space)
{
	hid_t create = hdf5_output_properties(H5P_DATASET_CREATE);
	hid_t dataset = H5I_INVALID_HID;

	if (create >= 0) {
		dataset = H5Dcreate2(group, name, type, space, jsc->out->link_create,
				     create, H5P_DEFAULT);
		H5Pclose(create);
	}
	return dataset;
}

/* Creates the datasets; the labels are written at the end. */
static bool create_split(const struct jsc *jsc, struct split *split)
{
	const hsize_t rows = split->rows;
	hid_t space = H5Screate_simple(1, &rows, NULL);
	hid_t group = H5Gcreate2(jsc->out->file, split->name, jsc->out->link_create,
				 jsc->out->group_create, H5P_DEFAULT);
	hid_t targets = H5I_INVALID_HID;

	if (space >= 0 && group >= 0) {
		split->images =
			hdf5_jsc_create_dataset(jsc, group, "images", jsc->stored, space);
		targets = hdf5_jsc_create_dataset(jsc, group, "targets", H5T_STD_I16LE,
						  space);
	}
	if (space >= 0)
		H5Sclose(space);
	if (group >= 0)
		H5Gclose(group);
	return targets >= 0 && H5Dclose(targets) >= 0 && split->images >= 0 &&
	       !jsc->out->error;
}

static int begin_split(const struct jsc *jsc, struct split *split,
		       const struct writer_split *from, bool replace, struct error *e)
{
	split->name = strdup(from->name);
	split->rows = from->rows;
	split->targets = calloc(from->rows, sizeof(*split->targets));
	if (!split->name || !split->targets)
		return error_no_memory(e, jsc->out->path);
	if (!create_split(jsc, split))
		return hdf5_output_failed(jsc->out, from->name, e);
	return begin_map(jsc, split, replace, e);
}

static int begin_splits(struct jsc *jsc, const struct writer_config *config,
			struct error *e)
{
	int rc = 0;

	if (config->split_count > SPLITS_MOST)
		return error_set(e, ERROR_DATASET, EINVAL,
				 "the layout jsc wants SPLIT/CLASS/FILE, and here are %zu "
				 "directories at the top: pack the directory above, or use "
				 "--hdf5-layout tree", config->split_count);
	jsc->stored = H5Tvlen_create(H5T_STD_U8LE);
	jsc->memory = H5Tvlen_create(H5T_NATIVE_UINT8);
	jsc->splits = calloc(config->split_count + 1, sizeof(*jsc->splits));
	if (!jsc->splits || jsc->stored < 0 || jsc->memory < 0)
		return error_no_memory(e, jsc->out->path);
	for (size_t i = 0; i < config->split_count && !rc; i++) {
		jsc->splits[jsc->count].images = H5I_INVALID_HID;
		rc = begin_split(jsc, &jsc->splits[jsc->count++], &config->splits[i],
				 config->replace, e);
	}
	return rc;
}

static void split_free(struct split *split)
{
	if (split->images >= 0)
		H5Dclose(split->images);
	if (split->map_file)
		fclose(split->map_file);
	output_drop(split->map);
	free(split->targets);
	free(split->name);
}

static void jsc_free(struct jsc *jsc)
{
	for (size_t i = 0; i < jsc->count; i++)
		split_free(&jsc->splits[i]);
	if (jsc->stored >= 0)
		H5Tclose(jsc->stored);
	if (jsc->memory >= 0)
		H5Tclose(jsc->memory);
	free(jsc->splits);
	free(jsc->row);
	free(jsc);
}

static int jsc_open(void **state, struct hdf5_output *out,
		    const struct writer_config *config, struct error *e)
{
	struct jsc *jsc = calloc(1, sizeof(*jsc));
	int rc;

	if (!jsc)
		return error_no_memory(e, out->path);
	jsc->out = out;
	jsc->stored = jsc->memory = H5I_INVALID_HID;
	rc = begin_splits(jsc, config, e);
	if (rc < 0)
		jsc_free(jsc);
	else
		*state = jsc;
	return rc;
}

static struct split *hdf5_jsc_find_split(const struct jsc *jsc, const char *path)
{
	const size_t length = strcspn(path, "/");

	for (size_t i = 0; i < jsc->count; i++)
		if (strncmp(jsc->splits[i].name, path, length) == 0 &&
		    !jsc->splits[i].name[length])
			return &jsc->splits[i];
	return NULL;
}

static int jsc_check(const struct pack_entry *entry, struct error *e)
{
	if (entry->kind == PACK_DIRECTORY)
		return 0; /* the map has the names */
	if (entry->kind != PACK_FILE)
		return error_set(e, ERROR_DATASET, ENOTSUP,
				 "%s: is a link, and a row of the layout jsc has no name "
				 "to point to; use --hdf5-layout tree", entry->path);
	if (entry->label > INT16_MAX)
		return error_set(e, ERROR_DATASET, ERANGE,
				 "%s: is of class number %lld, and the layout jsc has room "
				 "for numbers up to %d", entry->path, entry->label, INT16_MAX);
	if (entry->size > ROW_MOST)
		return error_set(e, ERROR_DATASET, EFBIG,
				 "%s: has more than 1 GiB, and a row is written in one "
				 "piece; use --hdf5-layout tree", entry->path);
	return 0;
}

static int check_row(const struct pack_entry *entry, const struct split *split,
		     struct error *e)
{
	int rc = jsc_check(entry, e);

	if (rc < 0)
		return rc;
	if (!split || entry->label < 0)
		return error_set(e, ERROR_DATASET, EINVAL,
				 "%s: is in no class; the layout jsc wants directories "
				 "like train/CLASS/FILE, or use --hdf5-layout tree",
				 entry->path);
	if (split->done == split->rows)
		return error_set(e, ERROR_SYSTEM, EINVAL,
				 "%s: one row more than there should be", entry->path);
	return 0;
}

static int hdf5_jsc_make_room(struct jsc *jsc, size_t size)
{
	char *row;

	if (size <= jsc->room)
		return 0;
	row = realloc(jsc->row, size);
	if (!row)
		return -ENOMEM;
	jsc->row = row;
	jsc->room = size;
	return 0;
}

static int jsc_begin(void *state, const struct pack_entry *entry, struct error *e)
{
	struct jsc *jsc = state;
	struct split *split = hdf5_jsc_find_split(jsc, entry->path);
	int rc;

	if (entry->kind == PACK_DIRECTORY)
		return 0;
	rc = check_row(entry, split, e);
	if (rc < 0)
		return rc;
	if (hdf5_jsc_make_room(jsc, (size_t)entry->size) < 0)
		return error_set(e, ERROR_SYSTEM, ENOMEM, "%s: no memory to hold it",
				 entry->path);
	split->targets[split->done] = (int16_t)entry->label;
	pickle_writer_add(&split->pickle, entry->path, (uint16_t)entry->label);
	jsc->current = split;
	jsc->length = 0;
	return 0;
}

static int jsc_data(void *state, const void *bytes, size_t length, struct error *e)
{
	struct jsc *jsc = state;

	memcpy(jsc->row + jsc->length, bytes, length); /* no more than the entry's size */
	jsc->length += length;
	return 0;
}

static int jsc_end(void *state, struct error *e)
{
	struct jsc *jsc = state;
	struct split *split = jsc->current;
	const hvl_t row = { .len = jsc->length, .p = jsc->row };

	if (!hdf5_output_write(jsc->out, split->images, jsc->memory, split->done, 1, &row))
		return hdf5_output_failed(jsc->out, "a row", e);
	split->done++;
	return 0;
}

static int write_targets(const struct jsc *jsc, const struct split *split,
			 struct error *e)
{
	hid_t group = H5Gopen2(jsc->out->file, split->name, H5P_DEFAULT);
	hid_t targets = group < 0 ? H5I_INVALID_HID :
				    H5Dopen2(group, "targets", H5P_DEFAULT);
	bool well = targets >= 0 && hdf5_output_write(jsc->out, targets, H5T_NATIVE_INT16,
						      0, split->rows, split->targets);

	if (targets >= 0)
		H5Dclose(targets);
	if (group >= 0)
		H5Gclose(group);
	return well ? 0 : hdf5_output_failed(jsc->out, "labels", e);
}

static int finish_map(const struct jsc *jsc, struct split *split, struct error *e)
{
	FILE *file = split->map_file;
	struct output *map = split->map;
	int bad;

	pickle_writer_end(&split->pickle);
	bad = ferror(file);
	split->map_file = NULL;
	if (fclose(file) != 0 || bad)
		return error_set(e, ERROR_SYSTEM, errno ? errno : EIO,
				 "%s: the label map of %s cannot be written: %s",
				 jsc->out->path, split->name, strerror(errno));
	split->map = NULL;
	return output_commit(map, e);
}

/* The maps get their names when all other data is on its way to the disk. */
static int finish_splits(struct jsc *jsc, struct error *e)
{
	int rc = 0;

	for (size_t i = 0; i < jsc->count && !rc; i++) {
		const struct split *split = &jsc->splits[i];

		if (split->done < split->rows)
			return error_set(e, ERROR_SYSTEM, EINVAL,
					 "%s: %s should have %llu rows, and %llu came",
					 jsc->out->path, split->name,
					 (unsigned long long)split->rows,
					 (unsigned long long)split->done);
		rc = write_targets(jsc, split, e);
	}
	if (!rc && (H5Fflush(jsc->out->file, H5F_SCOPE_LOCAL) < 0 || jsc->out->error))
		rc = hdf5_output_failed(jsc->out, "its end", e);
	for (size_t i = 0; i < jsc->count && !rc; i++)
		rc = finish_map(jsc, &jsc->splits[i], e);
	return rc;
}

static int jsc_close(void *state, bool complete, struct error *e)
{
	struct jsc *jsc = state;
	int rc = complete ? finish_splits(jsc, e) : 0;

	jsc_free(jsc);
	return rc;
}

const struct hdf5_layout hdf5_jsc_layout = {
	.name = "jsc",
	.compresses = false,
	.open = jsc_open,
	.check = jsc_check,
	.begin = jsc_begin,
	.data = jsc_data,
	.end = jsc_end,
	.close = jsc_close,
};
