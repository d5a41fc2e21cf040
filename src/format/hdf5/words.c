/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/hdf5/words.h"

#include <errno.h>
#include <string.h>

bool hdf5_are_words(const struct hdf5_dataset *d)
{
	return d->kind == H5T_STRING && hdf5_is_column(d);
}

int hdf5_words_open(struct hdf5_walk *walk, struct hdf5_dataset *d,
		    struct hdf5_words *out)
{
	out->variable = H5Tis_variable_str(d->type) > 0;
	out->padding = H5Tget_strpad(d->type);
	return hdf5_column_open(walk, d, HDF5_COLUMN_ITEMS, &out->column);
}

void hdf5_words_close(struct hdf5_words *words)
{
	hdf5_column_close(&words->column);
}

/* The string that a descriptor points to. */
static int words_fetch(struct hdf5_words *words, const unsigned char *bytes,
		       size_t *length)
{
	struct hdf5_walk *walk = words->column.walk;
	struct hdf5_row row = hdf5_row_parse(bytes);
	struct hdf5_found place;
	int err;

	*length = row.length < HDF5_WORD_BYTES ? row.length : HDF5_WORD_BYTES;
	if (row.length == 0)
		return 0;
	err = hdf5_heap_find_checked(&walk->heap, &row, &place);
	if (err == -EBADMSG && !walk->file.blocks.err)
		return hdf5_refuse(walk,
				   "is damaged: a string of %u bytes %s; copy the "
				   "file again",
				   row.length, walk->heap.problem);
	if (!err)
		err = hdf5_blocks_read(&walk->file.blocks, words->text, *length, place.at);
	return err ? hdf5_refuse_read(walk, err) : 0;
}

/*
 * How long the text is without its padding. Many write blanks into types that are padded
 * with zeros; where a zero is padding is what the type says.
 */
static size_t words_trim(struct hdf5_words *words, size_t n)
{
	const char *text = words->text;
	size_t end = strnlen(text, n);

	words->cut = false;
	if (words->variable)
		return end;
	for (size_t i = end; i < n && words->padding != H5T_STR_NULLTERM; i++)
		words->cut |= text[i] != '\0';
	while (end > 0 && text[end - 1] == ' ')
		end--;
	return end;
}

int hdf5_words_get(struct hdf5_words *words, uint64_t row, const char **out)
{
	const unsigned char *bytes = NULL;
	size_t n;
	int err = hdf5_column_get(&words->column, row, &bytes);

	if (err)
		return err;
	n = words->column.item < HDF5_WORD_BYTES ? (size_t)words->column.item
						 : HDF5_WORD_BYTES;
	if (words->variable)
		err = words_fetch(words, bytes, &n);
	else
		memcpy(words->text, bytes, n);
	if (err)
		return err;
	n = words_trim(words, n);
	words->text[n] = '\0';
	*out = words->text;
	return 0;
}
