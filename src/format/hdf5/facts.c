/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/hdf5/facts.h"

#include <errno.h>
#include <string.h>

#include "format/hdf5/column.h"
#include "format/hdf5/npy.h"
#include "format/hdf5/numbers.h"
#include "names/image_suffixes.h"

enum {
	ROWS_SNIFFED = 16,
	ENCODED_LEAST = 32,  /* bytes of a row that may be an image */
	CLASSES_MOST = 65536, /* columns that may be one-hot */
};

bool hdf5_attribute_is(const struct hdf5_dataset *d, const char *name, const char *text)
{
	char value[256] = "";
	hid_t attribute, type;
	bool read = false;

	if (H5Aexists(d->id, name) <= 0) {
		H5Eclear2(H5E_DEFAULT);
		return false;
	}
	attribute = H5Aopen(d->id, name, H5P_DEFAULT);
	type = attribute < 0 ? attribute : H5Aget_type(attribute);
	if (type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
	    H5Tget_size(type) < sizeof(value) &&
	    H5Aget_storage_size(attribute) < sizeof(value))
		read = H5Aread(attribute, type, value) >= 0;
	if (type >= 0)
		H5Tclose(type);
	if (attribute >= 0)
		H5Aclose(attribute);
	H5Eclear2(H5E_DEFAULT);
	return read && strncmp(value, text, strlen(text)) == 0;
}

/* h5py's bool is an enumeration. */
static bool facts_is_bool(hid_t type)
{
	char *name = H5Tget_nmembers(type) == 2 ? H5Tget_member_name(type, 0) : NULL;
	bool is = name && strcmp(name, "FALSE") == 0;

	H5free_memory(name);
	return is;
}

static void facts_read_type(const struct hdf5_dataset *d, struct catalogue_item *out)
{
	static const enum item_type types[H5T_NCLASSES] = {
		[H5T_INTEGER] = ITEM_INTEGER, [H5T_FLOAT] = ITEM_FLOAT,
		[H5T_STRING] = ITEM_TEXT, [H5T_COMPOUND] = ITEM_COMPOUND,
		[H5T_ENUM] = ITEM_ENUM,
	};
	struct hdf5_number number;

	if (d->use == HDF5_USE_ROWS)
		out->type = ITEM_BYTES;
	else if (d->kind >= 0 && d->kind < H5T_NCLASSES)
		out->type = types[d->kind];
	if (out->type == ITEM_ENUM && facts_is_bool(d->type))
		out->type = ITEM_BOOL;
	out->is_signed = out->type == ITEM_INTEGER && H5Tget_sign(d->type) != H5T_SGN_NONE;
	out->numbered = out->type == ITEM_TEXT ||
			((out->type == ITEM_INTEGER || out->type == ITEM_ENUM) &&
			 hdf5_number_describe(d->type, &number));
}

/* Nothing is known of what cannot be read as a column: 0 or -ENOMEM, or storage's error. */
static int forgive(struct hdf5_walk *walk, int err)
{
	if (err != -EBADMSG || walk->file.blocks.err)
		return err;
	H5Eclear2(H5E_DEFAULT);
	return 0;
}

/* Are all floats whole, or NaN; has each row one 1, or none? And some are labels. */
static int read_numbers(struct hdf5_walk *walk, struct hdf5_dataset *d, bool one_hot,
			bool *out)
{
	struct hdf5_column column = { 0 };
	struct hdf5_number number;
	bool some = false;
	int64_t value;
	int err;

	if (!hdf5_number_describe(d->type, &number))
		return 0;
	err = hdf5_column_open(walk, d, one_hot ? HDF5_COLUMN_ROWS : HDF5_COLUMN_ITEMS, &column);
	*out = !err && column.rows > 0;
	for (uint64_t i = 0; i < column.rows && !err && *out; i++) {
		const unsigned char *bytes = NULL;

		err = hdf5_column_get(&column, i, &bytes);
		if (!err)
			*out = one_hot ? hdf5_number_hot(&number, bytes, column.item / number.bytes,
							 &value) :
					 hdf5_number_label(&number, bytes, &value);
		some |= !err && *out && value != SAMPLE_UNLABELLED;
	}
	hdf5_column_close(&column);
	*out = *out && !err && some;
	return forgive(walk, err);
}

static int read_labels(struct hdf5_walk *walk, struct hdf5_dataset *d,
		       struct catalogue_item *out)
{
	bool number = out->type == ITEM_INTEGER || out->type == ITEM_FLOAT ||
		      out->type == ITEM_BOOL;

	if (out->type == ITEM_FLOAT && hdf5_is_column(d))
		return read_numbers(walk, d, false, &out->whole);
	if (number && d->rank == 2 && d->dims[0] > 1 && d->dims[1] > 1 &&
	    d->dims[1] <= CLASSES_MOST)
		return read_numbers(walk, d, true, &out->one_hot);
	return 0;
}

/* Names begin like some images; these do not. */
static bool is_sure(const char *extension)
{
	return extension && image_suffix(extension) & SUFFIX_SURE;
}

static int sniff_rows(struct hdf5_walk *walk, struct hdf5_dataset *d,
		      struct catalogue_item *out)
{
	const char *extensions[ROWS_SNIFFED];
	struct hdf5_column column = { 0 };
	size_t n = 0;
	int err = hdf5_column_open(walk, d, HDF5_COLUMN_HEADS, &column);

	if (!err && column.item < SAMPLES_SNIFF_BYTES)
		column.rows = 0;
	for (uint64_t i = 0; i < column.rows && i < ROWS_SNIFFED && !err; i++) {
		const unsigned char *bytes = NULL;

		err = hdf5_column_get(&column, i, &bytes);
		if (!err && *bytes)
			extensions[n++] = samples_detect_type(bytes, SAMPLES_SNIFF_BYTES);
		if (!err && n && !is_sure(extensions[0]))
			break;
	}
	hdf5_column_close(&column);
	if (!err && n && is_sure(extensions[0])) {
		out->encoded = samples_common_extension(extensions, n);
		if (!is_sure(out->encoded))
			out->encoded = NULL;
	}
	return forgive(walk, err);
}

/* Strings of a fixed size, or rows of bytes, may be whole files of images. */
static bool may_be_encoded(const struct hdf5_dataset *d, const struct catalogue_item *item)
{
	if (d->space != H5S_SIMPLE || d->rank < 1 || d->dims[0] == 0)
		return false;
	if (item->type == ITEM_TEXT)
		return d->rank == 1 && d->item >= ENCODED_LEAST &&
		       H5Tis_variable_str(d->type) == 0;
	return item->type == ITEM_INTEGER && d->item == 1 && d->rank == 2 &&
	       d->dims[1] >= ENCODED_LEAST;
}

int hdf5_facts_read(struct hdf5_walk *walk, struct hdf5_dataset *d, bool labels,
		    struct catalogue_item *out)
{
	struct hdf5_npy npy;
	int err = 0;

	out->bytes = d->item;
	out->place = d->address;
	hdf5_dataset_describe(d, out->what, sizeof(out->what));
	if (d->space != H5S_SIMPLE || d->rank > CATALOGUE_RANK)
		return 0;
	out->rank = d->rank;
	for (int i = 0; i < d->rank; i++)
		out->dims[i] = d->dims[i];
	facts_read_type(d, out);
	out->is_numpy = d->use == HDF5_USE_ARRAY && d->rank <= VOLUME_RANK &&
			hdf5_npy_describe(d->type, &npy);
	if (d->rank > 2)
		out->reversed = H5Aexists(d->id, "MATLAB_class") > 0;
	if (labels)
		err = read_labels(walk, d, out);
	if (!err && may_be_encoded(d, out))
		err = sniff_rows(walk, d, out);
	return err;
}
