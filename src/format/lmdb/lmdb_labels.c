/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/lmdb/lmdb_labels.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/pickle.h"

enum { FIRST_LETTER = 0x20, PICKLED = 0x80 };

int lmdb_labels_begin(struct lmdb_labels *labels, struct lmdb_file *file)
{
	if (!labels->name)
		return 0;
	lmdb_cursor_open(&labels->cursor, file, &labels->db, !labels->walked);
	labels->walked = true;
	labels->more = lmdb_cursor_next(&labels->cursor, &labels->item);
	return labels->more < 0 ? labels->more : 0;
}

void lmdb_labels_end(struct lmdb_labels *labels)
{
	if (labels->name)
		lmdb_cursor_close(&labels->cursor);
}

/* As LMDB orders keys: by their bytes, or native integers by their value. */
static int compare_keys(const struct lmdb_labels *labels, const struct lmdb_item *a,
			const struct lmdb_item *b)
{
	size_t n = a->key_size < b->key_size ? a->key_size : b->key_size;
	int order;

	if (labels->db.flags & LMDB_INTEGER_KEYS && n <= 8) {
		uint64_t x = little_endian(a->key, (unsigned)n),
			 y = little_endian(b->key, (unsigned)n);

		return (x > y) - (x < y);
	}
	order = memcmp(a->key, b->key, n);
	return order ? order : (a->key_size > b->key_size) - (a->key_size < b->key_size);
}

static void take_bytes(const unsigned char *bytes, size_t n, struct lmdb_sample *out)
{
	bool text = true;
	uint64_t number;

	for (size_t i = 0; i < n; i++)
		text &= bytes[i] >= FIRST_LETTER;
	if (n && bytes[0] == PICKLED) {
		out->labelled = pickle_int(bytes, n, &out->label) == 0;
	} else if (text) {
		lmdb_label_text(out, (const char *)bytes, n);
	} else if (n == 1 || n == 2 || n == 4 || n == 8) {
		number = little_endian(bytes, (unsigned)n);
		if (n < 8 && n > 1 && number >> (8 * n - 1) & 1)
			number |= UINT64_MAX << 8 * n;
		lmdb_label_number(out, (int64_t)number);
	}
}

int lmdb_labels_find(struct lmdb_labels *labels, struct value_window *window,
		     const struct lmdb_item *of, struct lmdb_sample *out)
{
	const unsigned char *bytes;
	int order = 1, err = 0;

	while (labels->more > 0 && (order = compare_keys(labels, &labels->item, of)) < 0)
		labels->more = lmdb_cursor_next(&labels->cursor, &labels->item);
	if (labels->more <= 0 || order > 0 || labels->item.size > LMDB_TEXT_MOST)
		return labels->more < 0 ? labels->more : 0;
	err = value_window_get(window, labels->item.at, (size_t)labels->item.size,
			       &bytes);
	if (err)
		return format_unreadable(labels->cursor.file->scan->label, err,
					 labels->cursor.file->e);
	take_bytes(bytes, (size_t)labels->item.size, out);
	return 0;
}
