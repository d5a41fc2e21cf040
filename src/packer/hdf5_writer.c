/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hdf5_writer.c: HDF5 files, through libhdf5, in one of two layouts. Both layouts share
 * the options, and the check that a file has as many bytes as its entry.
 */
#include "packer/hdf5_layouts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct writer {
	struct hdf5_output out;
	const struct hdf5_layout *layout;
	void *state;
	char *path;
	bool in_file;
	uint64_t missing; /* bytes of the file not yet written */
};

static const struct hdf5_layout *const layouts[] = { &hdf5_tree_layout,
						     &hdf5_jsc_layout };

static int choose_layout(const char *name, const struct hdf5_layout **out,
			 struct error *e)
{
	*out = layouts[0];
	for (size_t i = 0; name && i < sizeof(layouts) / sizeof(*layouts); i++) {
		*out = layouts[i];
		if (strcmp(name, layouts[i]->name) == 0)
			return 0;
	}
	if (!name)
		return 0;
	return error_set(e, ERROR_USAGE, EINVAL,
			 "%s: no layout of HDF5 files; there are tree and jsc", name);
}

static int check_compressor(const struct hdf5_layout *layout, const char *compressor,
			    struct error *e)
{
	if (!compressor || strcmp(compressor, "none") == 0)
		return 0;
	if (strcmp(compressor, "gzip") != 0)
		return error_set(e, ERROR_USAGE, EINVAL,
				 "%s: HDF5 files have none and gzip, which every library "
				 "reads; for others pack to squashfs (.sqfs)", compressor);
	if (!layout->compresses)
		return error_set(e, ERROR_USAGE, EINVAL,
				 "gzip: rows of the layout %s are not compressed: HDF5 "
				 "compresses only the references to rows", layout->name);
	return 0;
}

static int writer_check(const struct writer_config *config,
			const struct pack_entry *entry, struct error *e)
{
	const struct hdf5_layout *layout;
	int rc = choose_layout(config->hdf5_layout, &layout, e);

	return rc < 0 ? rc : layout->check(entry, e);
}

static int start_layout(struct writer *w, int fd, const struct writer_config *config,
			struct error *e)
{
	bool compressed = config->compressor && strcmp(config->compressor, "none") != 0;
	struct error unsaid;
	int rc = choose_layout(config->hdf5_layout, &w->layout, e);

	if (!rc)
		rc = check_compressor(w->layout, config->compressor, e);
	if (rc < 0)
		return rc;
	rc = hdf5_output_open(&w->out, fd, w->path, compressed, e);
	if (!rc)
		rc = w->layout->open(&w->state, &w->out, config, e);
	if (rc < 0)
		hdf5_output_close(&w->out, false, &unsaid);
	return rc;
}

static void h5_writer_free(struct writer *w)
{
	free(w->path);
	free(w);
}

static int h5_writer_open(struct writer **out, int fd, const char *path,
			  const struct writer_config *config, struct error *e)
{
	struct writer *w = calloc(1, sizeof(*w));
	int rc;

	if (!w || !(w->path = strdup(path))) {
		free(w);
		return error_no_memory(e, path);
	}
	rc = start_layout(w, fd, config, e);
	if (rc < 0)
		h5_writer_free(w);
	else
		*out = w;
	return rc;
}

static int h5_writer_begin(struct writer *w, const struct pack_entry *entry,
			   struct error *e)
{
	w->in_file = entry->kind == PACK_FILE;
	w->missing = w->in_file ? entry->size : 0;
	return w->layout->begin(w->state, entry, e);
}

static int h5_writer_data(struct writer *w, const void *bytes, size_t length,
			  struct error *e)
{
	if (length > w->missing)
		return error_set(e, ERROR_SYSTEM, EINVAL,
				 "%s: more bytes than its entry said", w->path);
	w->missing -= length;
	return length ? w->layout->data(w->state, bytes, length, e) : 0;
}

static int h5_writer_end(struct writer *w, struct error *e)
{
	if (w->missing)
		return error_set(e, ERROR_SYSTEM, EINVAL,
				 "%s: fewer bytes than its entry said", w->path);
	if (!w->in_file)
		return 0;
	w->in_file = false;
	return w->layout->end(w->state, e);
}

/* The layout's error comes first; after it nothing more is written. */
static int h5_writer_close(struct writer *w, bool complete, struct error *e)
{
	struct error unsaid;
	int rc = w->layout->close(w->state, complete, e);
	int closed = hdf5_output_close(&w->out, complete && !rc, rc ? &unsaid : e);

	h5_writer_free(w);
	return rc ? rc : closed;
}

const struct writer_ops hdf5_writer = {
	.name = "hdf5",
	.check = writer_check,
	.open = h5_writer_open,
	.begin = h5_writer_begin,
	.data = h5_writer_data,
	.end = h5_writer_end,
	.close = h5_writer_close,
};
