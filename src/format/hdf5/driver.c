/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/hdf5/driver.h"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "build/entries.h"

enum { METADATA_KEPT = 4 << 20 }; /* bytes */

/* The part of an open file that libhdf5 keeps. */
struct driver_file {
	H5FD_t is;
	struct hdf5_file *file;
	haddr_t eoa;
};

/* The content of a property list, for the driver's open. */
struct driver_info {
	struct hdf5_file *file;
};

static struct driver_file *of(H5FD_t *is)
{
	return (struct driver_file *)is;
}

static const struct driver_file *of_const(const H5FD_t *is)
{
	return (const struct driver_file *)is;
}

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t fapl, haddr_t most)
{
	const struct driver_info *info = H5Pget_driver_info(fapl);
	struct driver_file *file;

	if (!info || strcmp(name, source_path(info->file->blocks.source)) != 0 ||
	    (flags & (H5F_ACC_RDWR | H5F_ACC_CREAT | H5F_ACC_TRUNC)))
		return NULL;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->file = info->file;
	return &file->is;
}

static herr_t driver_close(H5FD_t *is)
{
	free(of(is));
	return 0;
}

static herr_t driver_query(const H5FD_t *is, unsigned long *flags)
{
	*flags = H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
	return 0;
}

static haddr_t driver_get_eoa(const H5FD_t *is, H5FD_mem_t type)
{
	return of_const(is)->eoa;
}

static herr_t driver_set_eoa(H5FD_t *is, H5FD_mem_t type, haddr_t addr)
{
	of(is)->eoa = addr;
	return 0;
}

static haddr_t driver_get_eof(const H5FD_t *is, H5FD_mem_t type)
{
	return of_const(is)->file->blocks.length;
}

static herr_t driver_read(H5FD_t *is, H5FD_mem_t type, hid_t dxpl, haddr_t addr,
			  size_t size, void *buffer)
{
	struct hdf5_file *file = of(is)->file;

	if (file->recording && type == H5FD_MEM_DRAW) {
		file->noted++;
		file->noted_at = addr;
		file->noted_size = size;
		return 0;
	}
	return hdf5_blocks_read(&file->blocks, buffer, size, addr) < 0 ? -1 : 0;
}

/* A driver must have one. */
static herr_t driver_write(H5FD_t *is, H5FD_mem_t type, hid_t dxpl, haddr_t addr,
			   size_t size, const void *buffer)
{
	return -1;
}

static const H5FD_class_t driver = {
#ifdef H5FD_CLASS_VERSION
	.version = H5FD_CLASS_VERSION,
	.value = (H5FD_class_value_t)600, /* any above those that are reserved */
#endif
	.name = "granary",
	.maxaddr = INT64_MAX,
	.fc_degree = H5F_CLOSE_STRONG,
	.fapl_size = sizeof(struct driver_info),
	.open = driver_open,
	.close = driver_close,
	.query = driver_query,
	.get_eoa = driver_get_eoa,
	.set_eoa = driver_set_eoa,
	.get_eof = driver_get_eof,
	.read = driver_read,
	.write = driver_write,
	.fl_map = H5FD_FLMAP_DICHOTOMY,
};

/*
 * The driver is registered once. No plug-ins: what a file needs must not depend on
 * a variable of the environment, and must not load code. Nor does the library tidy
 * up when the process ends: after a damaged file it may fail to, and complain.
 */
static hid_t driver_library_driver(void)
{
	static hid_t id = H5I_INVALID_HID;

	H5dont_atexit(); /* fails where the library is in use already, by a packer */
	if (id < 0 && H5open() >= 0) {
		H5PLset_loading_state(0);
		id = H5FDregister(&driver);
	}
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* of this thread */
	return id;
}

static herr_t driver_copy_innermost(unsigned n, const H5E_error2_t *error, void *data)
{
	if (n == 0)
		*(H5E_error2_t *)data = *error;
	return 0;
}

/* Its strings live until the errors are cleared. */
static H5E_error2_t innermost_error(void)
{
	H5E_error2_t error = { 0 };

	H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, driver_copy_innermost, &error);
	return error;
}

void hdf5_file_reason(char *text, size_t room)
{
	H5E_error2_t error = innermost_error();

	snprintf(text, room, "%s",
		 error.desc && *error.desc ? error.desc : "no reason given");
	H5Eclear2(H5E_DEFAULT);
}

static int driver_read_sizes(struct hdf5_file *file)
{
	hid_t fcpl = H5Fget_create_plist(file->id);
	hsize_t user_block = 0;
	herr_t status;

	if (fcpl < 0)
		return -EBADMSG;
	status = H5Pget_sizes(fcpl, &file->address_bytes, &file->length_bytes);
	if (status >= 0)
		status = H5Pget_userblock(fcpl, &user_block);
	file->base = user_block;
	H5Pclose(fcpl);
	return status < 0 ? -EBADMSG : 0;
}

/*
 * libhdf5 counts the metadata that it keeps by their size in the file; in memory
 * they take ten times that. Everything is looked at once, so little is enough.
 */
static herr_t limit_metadata(hid_t fapl)
{
	H5AC_cache_config_t config = { .version = H5AC__CURR_CACHE_CONFIG_VERSION };

	if (H5Pget_mdc_config(fapl, &config) < 0)
		return -1;
	config.set_initial_size = 1;
	config.initial_size = METADATA_KEPT;
	config.min_size = METADATA_KEPT;
	config.max_size = METADATA_KEPT;
	return H5Pset_mdc_config(fapl, &config);
}

/* No cache of chunks: each would cost a table when a dataset is opened. */
static hid_t access_list(struct hdf5_file *file)
{
	struct driver_info info = { file };
	hid_t id = driver_library_driver(), fapl;

	if (id < 0)
		return H5I_INVALID_HID;
	fapl = H5Pcreate(H5P_FILE_ACCESS);
	if (fapl < 0)
		return fapl;
	if (H5Pset_driver(fapl, id, &info) < 0 ||
	    H5Pset_fclose_degree(fapl, H5F_CLOSE_STRONG) < 0 ||
	    H5Pset_cache(fapl, 0, 0, 0, 0.0) < 0 || limit_metadata(fapl) < 0) {
		H5Pclose(fapl);
		return H5I_INVALID_HID;
	}
	return fapl;
}

int hdf5_file_open(struct hdf5_file *file, const struct source *source, uint64_t base,
		   uint64_t length)
{
	hid_t fapl;

	memset(file, 0, sizeof(*file));
	file->id = file->access = H5I_INVALID_HID;
	hdf5_blocks_open(&file->blocks, source, base, length);
	fapl = access_list(file);
	if (fapl < 0)
		return -EBADMSG;
	file->access = fapl; /* to close it now would forget why opening failed */
	file->id = H5Fopen(source_path(source), H5F_ACC_RDONLY, fapl);
	if (file->blocks.err)
		return file->blocks.err;
	return file->id < 0 ? -EBADMSG : driver_read_sizes(file);
}

void hdf5_file_close(struct hdf5_file *file)
{
	if (file->id >= 0)
		H5Fclose(file->id);
	if (file->access >= 0)
		H5Pclose(file->access);
	H5Eclear2(H5E_DEFAULT);
	hdf5_blocks_close(&file->blocks);
}

/*
 * H5Dread_chunk looks the chunk up and asks the driver to read it, which only
 * notes the place. The buffer is as large as it must be for a library that would
 * write to it; its pages are never touched.
 */
static int record_read(struct hdf5_file *file, hid_t dataset, const hsize_t *at,
		       struct hdf5_place *place)
{
	CLEANUP(cleanup_free) void *buffer = malloc((size_t)place->size);
	herr_t status;

	if (!buffer)
		return -ENOMEM;
	file->noted = 0;
	file->recording = true;
	status = H5Dread_chunk(dataset, H5P_DEFAULT, at, &place->skipped, buffer);
	file->recording = false;
	if (status < 0 || file->noted != 1 || file->noted_size != place->size)
		return -EBADMSG;
	place->at = file->noted_at;
	return 0;
}

/*
 * A chunk that was never written has size 0, or is an error, as the version has
 * it. Then the function that looks for it says so itself; where it could not look,
 * the innermost error is that of the one that could not read.
 */
static bool is_missing(void)
{
	const char *function = innermost_error().func_name;
	bool missing = function && strcmp(function, "H5D__get_chunk_storage_size") == 0;

	if (missing)
		H5Eclear2(H5E_DEFAULT);
	return missing;
}

int hdf5_file_find_chunk(struct hdf5_file *file, hid_t dataset, const hsize_t *at,
			 struct hdf5_place *out)
{
	hsize_t size = 0;

	*out = (struct hdf5_place){ 0 };
	if (H5Dget_chunk_storage_size(dataset, at, &size) < 0)
		return is_missing() ? 0 : -EBADMSG;
	if (size > VOLUME_CHUNK_LIMIT)
		return -EFBIG;
	out->size = size;
	return size == 0 ? 0 : record_read(file, dataset, at, out);
}
