/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hdf5_output.c: the driver, and how files are opened: in the oldest version of the
 * format that can hold them, which every library reads, and without times of objects,
 * which would be the times of packing.
 */
#include "packer/hdf5_output.h"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/whole.h"

enum { SMALL_CHUNK_TABLE = 2 }; /* half the chunks of a node of the B-tree */

struct h5_output_driver_file {
	H5FD_t is;
	struct hdf5_output *out;
	haddr_t eoa; /* end of the space that libhdf5 has allocated */
};

/* Passed by the property list to the driver's open. */
struct h5_output_driver_info {
	struct hdf5_output *out;
};

static struct h5_output_driver_file *driver_file_of(H5FD_t *is)
{
	return (struct h5_output_driver_file *)is;
}

static H5FD_t *h5_output_driver_open(const char *name, unsigned flags, hid_t fapl,
				     haddr_t most)
{
	const struct h5_output_driver_info *info = H5Pget_driver_info(fapl);
	struct h5_output_driver_file *file;

	if (!info)
		return NULL;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->out = info->out;
	return &file->is;
}

static herr_t h5_output_driver_close(H5FD_t *is)
{
	free(driver_file_of(is));
	return 0;
}

/* Aggregates small pieces, as libhdf5's own file driver does. */
static herr_t h5_output_driver_query(const H5FD_t *is, unsigned long *flags)
{
	*flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
		 H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA |
		 H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
	return 0;
}

static haddr_t h5_output_driver_get_eoa(const H5FD_t *is, H5FD_mem_t type)
{
	return ((const struct h5_output_driver_file *)is)->eoa;
}

static herr_t h5_output_driver_set_eoa(H5FD_t *is, H5FD_mem_t type, haddr_t addr)
{
	driver_file_of(is)->eoa = addr;
	return 0;
}

static haddr_t h5_output_driver_get_eof(const H5FD_t *is, H5FD_mem_t type)
{
	return ((const struct h5_output_driver_file *)is)->out->size;
}

/* Bytes behind the end of the file read as zeros, as libhdf5 expects. */
static herr_t h5_output_driver_read(H5FD_t *is, H5FD_mem_t type, hid_t dxpl, haddr_t addr,
				    size_t size, void *buffer)
{
	struct hdf5_output *out = driver_file_of(is)->out;
	ssize_t n = read_whole_at(out->fd, buffer, size, addr);

	if (n < 0 && !out->error)
		out->error = (int)n;
	if (n < 0)
		return -1;
	memset((char *)buffer + n, 0, size - (size_t)n);
	return 0;
}

static herr_t h5_output_driver_write(H5FD_t *is, H5FD_mem_t type, hid_t dxpl,
				     haddr_t addr, size_t size, const void *buffer)
{
	struct hdf5_output *out = driver_file_of(is)->out;

	if (!out->error)
		out->error = write_whole_at(out->fd, buffer, size, addr);
	if (addr + size > out->size)
		out->size = addr + size;
	return 0;
}

static herr_t driver_truncate(H5FD_t *is, hid_t dxpl, hbool_t closing)
{
	struct h5_output_driver_file *file = driver_file_of(is);

	if (!file->out->error && ftruncate(file->out->fd, (off_t)file->eoa) < 0)
		file->out->error = -errno;
	file->out->size = file->eoa;
	return 0;
}

static const H5FD_class_t driver = {
#ifdef H5FD_CLASS_VERSION
	.version = H5FD_CLASS_VERSION,
	.value = (H5FD_class_value_t)601, /* any value above the reserved ones */
#endif
	.name = "granary-output",
	.maxaddr = INT64_MAX,
	.fc_degree = H5F_CLOSE_STRONG,
	.fapl_size = sizeof(struct h5_output_driver_info),
	.open = h5_output_driver_open,
	.close = h5_output_driver_close,
	.query = h5_output_driver_query,
	.get_eoa = h5_output_driver_get_eoa,
	.set_eoa = h5_output_driver_set_eoa,
	.get_eof = h5_output_driver_get_eof,
	.read = h5_output_driver_read,
	.write = h5_output_driver_write,
	.truncate = driver_truncate,
	.fl_map = H5FD_FLMAP_DICHOTOMY,
};

static hid_t h5_output_library_driver(void)
{
	static hid_t id = H5I_INVALID_HID;

	H5dont_atexit(); /* its exit handler is not needed: all is closed by then */
	if (id < 0 && H5open() >= 0)
		id = H5FDregister(&driver);
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* errors of this thread */
	return id;
}

hid_t hdf5_output_properties(hid_t class)
{
	hid_t id = H5Pcreate(class);

	if (id >= 0 && H5Pset_obj_track_times(id, false) < 0) {
		H5Pclose(id);
		id = H5I_INVALID_HID;
	}
	return id;
}

/*
 * Every version of libhdf5 can read the oldest form of each object, and writes the same
 * bytes for it. The default form of libhdf5 2 holds the time of packing.
 */
static bool set_form(hid_t fapl)
{
	return H5Pset_libver_bounds(fapl, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST) >= 0;
}

static bool create_file(struct hdf5_output *out, bool small_chunks)
{
	struct h5_output_driver_info info = { out };
	hid_t driver_id = h5_output_library_driver();
	hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
	hid_t fcpl = hdf5_output_properties(H5P_FILE_CREATE);
	bool well = fapl >= 0 && fcpl >= 0 && H5Pset_driver(fapl, driver_id, &info) >= 0 &&
		    H5Pset_fclose_degree(fapl, H5F_CLOSE_STRONG) >= 0 && set_form(fapl) &&
		    (!small_chunks || H5Pset_istore_k(fcpl, SMALL_CHUNK_TABLE) >= 0);

	if (well)
		out->file = H5Fcreate(out->path, H5F_ACC_TRUNC, fcpl, fapl);
	H5Pclose(fapl);
	H5Pclose(fcpl);
	return well && out->file >= 0;
}

int hdf5_output_open(struct hdf5_output *out, int fd, const char *path,
		     bool small_chunks, struct error *e)
{
	const hsize_t one = 1;

	*out = (struct hdf5_output){ .fd = fd, .path = path, .file = H5I_INVALID_HID };
	out->group_create = out->link_create = out->one = H5I_INVALID_HID;
	if (!create_file(out, small_chunks))
		return hdf5_output_failed(out, "it", e);
	out->group_create = hdf5_output_properties(H5P_GROUP_CREATE);
	out->link_create = H5Pcreate(H5P_LINK_CREATE);
	out->one = H5Screate_simple(1, &one, NULL);
	if (out->group_create < 0 || out->one < 0 || out->link_create < 0 ||
	    H5Pset_char_encoding(out->link_create, H5T_CSET_UTF8) < 0)
		return hdf5_output_failed(out, "it", e);
	return 0;
}

int hdf5_output_close(struct hdf5_output *out, bool complete, struct error *e)
{
	bool well = true;

	if (!complete && !out->error)
		out->error = -ECANCELED; /* so that the close writes nothing */
	if (out->one >= 0)
		H5Sclose(out->one);
	if (out->link_create >= 0)
		H5Pclose(out->link_create);
	if (out->group_create >= 0)
		H5Pclose(out->group_create);
	if (out->file >= 0)
		well = H5Fclose(out->file) >= 0;
	if (!complete)
		return 0;
	return well && !out->error ? 0 : hdf5_output_failed(out, "its end", e);
}

static herr_t h5_output_copy_innermost(unsigned n, const H5E_error2_t *error, void *data)
{
	if (n == 0)
		*(const char **)data = error->desc;
	return 0;
}

int hdf5_output_failed(const struct hdf5_output *out, const char *what, struct error *e)
{
	const char *reason = NULL;
	int rc;

	if (out->error)
		return error_set(e, ERROR_SYSTEM, -out->error,
				 "%s: %s cannot be written: %s", out->path, what,
				 strerror(-out->error));
	H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, h5_output_copy_innermost, &reason);
	rc = error_set(e, ERROR_SYSTEM, EIO, "%s: %s cannot be written: HDF5 says: %s",
		       out->path, what, reason && *reason ? reason : "no reason given");
	H5Eclear2(H5E_DEFAULT);
	return rc;
}

bool hdf5_output_write(const struct hdf5_output *out, hid_t dataset, hid_t type,
		       uint64_t first, uint64_t count, const void *elements)
{
	const hsize_t start = first, size = count;
	hid_t there = H5Dget_space(dataset);
	hid_t here = count == 1 ? out->one : H5Screate_simple(1, &size, NULL);
	bool well = there >= 0 && here >= 0 &&
		    H5Sselect_hyperslab(there, H5S_SELECT_SET, &start, NULL, &size,
					NULL) >= 0 &&
		    H5Dwrite(dataset, type, here, there, H5P_DEFAULT, elements) >= 0;

	if (here >= 0 && here != out->one)
		H5Sclose(here);
	if (there >= 0)
		H5Sclose(there);
	return well && !out->error;
}
