/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/hdf5/padded.h"

#include <stdlib.h>
#include <string.h>

enum { TAIL_BYTES = 4096, END_BYTES = 8 };

int hdf5_padded_open(struct hdf5_walk *walk, struct hdf5_dataset *d, struct hdf5_padded *out)
{
	uint64_t items = 1;

	*out = (struct hdf5_padded){ 0 };
	out->tail = malloc(TAIL_BYTES);
	if (!out->tail)
		return hdf5_out_of_memory(walk);
	for (int i = 1; i < d->rank; i++)
		items *= d->dims[i];
	out->row_bytes = items * d->item; /* it fits: the array's extent does */
	return hdf5_column_open(walk, d, HDF5_COLUMN_HEADS, &out->column);
}

void hdf5_padded_close(struct hdf5_padded *padded)
{
	free(padded->tail);
	padded->tail = NULL;
	hdf5_column_close(&padded->column);
}

/* How many of the bytes remain without the zeros at their end. */
static uint64_t without_zeros(const unsigned char *bytes, uint64_t n)
{
	while (n > 0 && bytes[n - 1] == 0)
		n--;
	return n;
}

/* Are these the last bytes of a whole image? */
static bool ends_image(const unsigned char *bytes, uint64_t n)
{
	static const char png[] = "IEND\256B\140\202";

	return (n >= 2 && memcmp(bytes + n - 2, "\377\331", 2) == 0) ||
	       (n >= 8 && memcmp(bytes + n - 8, png, 8) == 0);
}

/* Of rows that lie as they are, only the ends are read. */
static int measure_tail(struct hdf5_padded *p, uint64_t row, uint64_t *length)
{
	const struct hdf5_column *c = &p->column;
	uint64_t at = c->at + row * c->stride, end = c->stride, n = 0, from = 0;

	while (end > 0 && n < END_BYTES) {
		int err;

		from = end > TAIL_BYTES ? end - TAIL_BYTES : 0;
		err = hdf5_blocks_read(&c->walk->file.blocks, p->tail, (size_t)(end - from),
				       at + from);
		if (err)
			return hdf5_refuse_read(c->walk, err);
		n = without_zeros(p->tail, end - from);
		end = from == 0 ? 0 : from + n;
	}
	*length = n == 0 ? 0 : ends_image(p->tail, n) ? from + n : c->stride;
	return 0;
}

int hdf5_padded_measure(struct hdf5_padded *p, uint64_t row, uint64_t *length)
{
	const unsigned char *bytes = NULL;
	uint64_t n;
	int err;

	if (p->column.at != HADDR_UNDEF)
		return measure_tail(p, row, length);
	err = hdf5_column_get(&p->column, row, &bytes);
	if (err)
		return err;
	n = without_zeros(bytes, p->column.item);
	*length = n == 0 || (p->column.item == p->row_bytes && ends_image(bytes, n)) ?
			  n : p->row_bytes;
	return 0;
}
