/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lmdb_value.h: the image in a value of an LMDB file, and its label.
 *
 * Writers of datasets wrap both: pickle.dumps((image, label)), Caffe's Datum (protobuf),
 * a list in msgpack (tensorpack). The image stays where it is; only what is around it is
 * read. Nothing that a pickle would call is called.
 *
 * Threads: a reader belongs to one thread.
 */
#ifndef GRANARY_FORMAT_LMDB_VALUE_H
#define GRANARY_FORMAT_LMDB_VALUE_H

#include "build/samples.h"
#include "format/lmdb/value_window.h"

enum { LMDB_TEXT_MOST = 255, LMDB_NAME_MOST = 63 };

struct lmdb_sample {
	uint64_t at, size;	/* of the image, in the window */
	uint64_t width, height; /* of pixels; 0: it is a file */
	unsigned channels;	/* 1 or 3 */
	bool planes,
		blue_first; /* pixels of one colour lie together; the first is blue */
	bool labelled;	    /* the label is `text`, or if that is empty the number */
	bool label_list;    /* there are numbers in its place that are no one-hot row */
	bool label_chosen;  /* other items of a tuple could be it, too */
	int64_t label;
	char text[LMDB_TEXT_MOST + 1];
	char label_name[LMDB_NAME_MOST + 1]; /* of a dict: the item that is the label, */
	char rival[LMDB_NAME_MOST + 1];	     /* and one that could be meant, too */
};

/*
 * Fills in `out`, which is zero: 0; -ENODATA where the value is of another form; or the
 * window's error.
 */
typedef int lmdb_decoder(struct value_window *window, uint64_t at, uint64_t size,
			 const char *labels, struct lmdb_sample *out);

lmdb_decoder lmdb_decode_pickle, lmdb_decode_datum, lmdb_decode_msgpack;

/* The forms of values, by their first bytes; `labels` is labels=NAME, or NULL. */
struct lmdb_form {
	const char *word;   /* "pickled pairs"; */
	const char *labels; /* where labels are from */
	lmdb_decoder *decode;
};

extern const struct lmdb_form lmdb_forms[];
extern const size_t lmdb_form_count;

/* Notes a text as the label: a class's name, none, or the place of the 1 in "0 0 1". */
void lmdb_label_text(struct lmdb_sample *sample, const char *text, size_t n);

/* Notes the number in n bytes, 8 at most. */
void lmdb_label_number(struct lmdb_sample *sample, int64_t number);

/* The extension for what begins at `at`; *out is NULL where it is not known. */
int lmdb_detect_type(struct value_window *window, uint64_t at, uint64_t size,
		     const char **out);

#endif
