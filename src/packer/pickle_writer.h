/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pickle_writer.h: writes a Python dict from paths to numbers as a pickle, item by item.
 *
 * Protocol 4, as pickle.dump writes since Python 3.8, without frames and memos, which a
 * reader does not need. Keys are str as os.fsdecode makes them: bytes that are not UTF-8
 * become the surrogates U+DC80 to U+DCFF. Opcodes: CPython's Lib/pickletools.py.
 *
 * Errors are the stream's: ferror(3).
 */
#ifndef GRANARY_PACKER_PICKLE_WRITER_H
#define GRANARY_PACKER_PICKLE_WRITER_H

#include <stdint.h>
#include <stdio.h>

struct pickle_writer {
	FILE *file; /* the caller's */
	unsigned in_batch;
};

void pickle_writer_begin(struct pickle_writer *pickle, FILE *file);
void pickle_writer_add(struct pickle_writer *pickle, const char *key, uint16_t number);
void pickle_writer_end(struct pickle_writer *pickle);

#endif
