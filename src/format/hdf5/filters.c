/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The filters of a dataset's chunks, as steps of a codec chain.
 */
#include "format/hdf5/filters.h"

#include "codec/codec.h"

enum {
	FILTERS_NAMED = 64,

	/* As they are registered with the HDF Group */
	FILTER_LZF = 32000,
	FILTER_BLOSC = 32001,
	FILTER_LZ4 = 32004,
	FILTER_ZSTD = 32015,
};

/* The filters that are codecs here. Sized: the first of its values is its parameter. */
static const struct {
	H5Z_filter_t filter;
	enum codec_id codec;
	bool sized;
} filters[] = {
	{ H5Z_FILTER_DEFLATE, CODEC_ZLIB, false },
	{ H5Z_FILTER_SHUFFLE, CODEC_SHUFFLE, true },
	{ H5Z_FILTER_FLETCHER32, CODEC_FLETCHER32, false },
	{ FILTER_LZF, CODEC_LZF, false },
	{ FILTER_BLOSC, CODEC_BLOSC, false },
	{ FILTER_LZ4, CODEC_HDF5_LZ4, false },
	{ FILTER_ZSTD, CODEC_ZSTD, false },
};

/* h5repack leaves out what it cannot read, and says that all went well. */
static int refuse_filter(struct hdf5_walk *walk, H5Z_filter_t filter, const char *name)
{
	if (!*name)
		name = "no name";
	if (H5Zfilter_avail(filter) > 0)
		return hdf5_refuse(walk, "is packed with the filter %d (%s), which is "
					 "not supported; repack it: h5repack -f GZIP=1 "
					 "'%s' out.h5, or -f NONE",
				   (int)filter, name, walk->scan->label);
	return hdf5_refuse(walk, "is packed with the filter %d (%s), which is not "
				 "supported; write it again with gzip or without a "
				 "filter, with the program that wrote it (h5repack lacks "
				 "this filter, and would drop the dataset)",
			   (int)filter, name);
}

/* A codec that this build leaves out is no damage. */
static int check_build(struct hdf5_walk *walk, H5Z_filter_t filter, uint32_t step)
{
	const char *needs = codec_chain_needs((const uint32_t[CODEC_CHAIN_MOST]){ step });

	return !needs ? 0 :
			hdf5_refuse(walk, "is packed with the filter %d: this granaryfs was "
					  "built without %s", (int)filter, needs);
}

static int read_filter(struct hdf5_walk *walk, struct hdf5_dataset *d, unsigned i,
		       uint32_t *step)
{
	unsigned flags, values[8] = { 0 };
	size_t value_count = sizeof(values) / sizeof(*values);
	char name[FILTERS_NAMED] = "";
	H5Z_filter_t filter = H5Pget_filter2(d->plist, i, &flags, &value_count, values,
					     sizeof(name), name, NULL);

	if (filter < 0)
		return hdf5_refuse_library(walk, "cannot read the filters of");
	name[sizeof(name) - 1] = '\0';
	/* shuffle has no size where the type has none: then every chunk skips it */
	if (value_count == 0 || values[0] == 0)
		values[0] = 1;
	for (size_t j = 0; j < sizeof(filters) / sizeof(*filters); j++)
		if (filters[j].filter == filter && i < VOLUME_CODECS &&
		    (!filters[j].sized || values[0] <= CODEC_PARAMETER_MOST)) {
			*step = CODEC_STEP(filters[j].codec,
					   filters[j].sized ? values[0] : 0);
			return check_build(walk, filter, *step);
		}
	return refuse_filter(walk, filter, name);
}

int hdf5_read_filters(struct hdf5_walk *walk, struct hdf5_dataset *d,
		      struct hdf5_chunks *chunks)
{
	int n = H5Pget_nfilters(d->plist);

	if (n < 0)
		return hdf5_refuse_library(walk, "cannot read the filters of");
	chunks->filters = (unsigned)n;
	for (unsigned i = 0; i < chunks->filters; i++) {
		uint32_t step = 0;
		int err = read_filter(walk, d, i, &step);

		if (err)
			return err;
		chunks->codecs[i] = step;
	}
	if (codec_chain_check(chunks->codecs) < 0)
		return hdf5_refuse(walk, "is packed with filters that cannot be undone "
					 "together; repack it: h5repack -f GZIP=1 '%s' "
					 "out.h5",
				   walk->scan->label);
	return 0;
}
