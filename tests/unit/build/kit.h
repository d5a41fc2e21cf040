/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kit.h: trees in one line of text.
 *
 * A script is entries apart by spaces; `|` begins the next shard.
 *
 *	f:PATH:SIZE     a file (its size tells it from others)
 *	d:PATH[:MODE]   a directory
 *	s:PATH:TARGET   a symbolic link
 *	h:PATH:TARGET   a hard link
 *	n:PATH[:MODE] ( ... )   a packed file inside, with what it holds
 *	x:PATH:SIZE ( ... )     one that could not be read
 *
 * A listing is what can be seen: "a/ a/b=7 c>target d=3*2 e/,700", where *2 is
 * the number of links and ,700 a mode that is not a directory's usual 755.
 */
#ifndef GRANARY_TESTS_UNIT_TREE_KIT_H
#define GRANARY_TESTS_UNIT_TREE_KIT_H

#include "build/build.h"
#include "build/image.h"
#include "index/index.h"
#include "source/read_context.h"
#include "unit.h"

/* Size of the source that the files' bytes are in: a file of SIZE begins at SIZE. */
#define KIT_SOURCE_SIZE (UINT64_C(1) << 45)

enum { KIT_MODE = 0644, KIT_UID = 1000, KIT_GID = 100, KIT_MTIME = 1500000000 };

/* Of a read whose fault nobody asks for. */
#define PLAIN_READ (&(struct read_context){ .hint = READ_EXACT })

/* One log; *script is moved to behind it. The caller frees it. */
struct entries *kit_log(const char **script);

/* A builder with the usual defaults: directories are 0755, 1:2, mtime 3. */
struct builder *kit_builder(enum duplicates duplicates);

/* Applies a script to a builder, shards labelled "s0", "s1", ... */
int kit_apply(struct builder *builder, const char *script, struct error *e);

/* Adds one entry that must be taken. */
void kit_add(struct entries *log, const struct entry *entry);

/* Applies one log, frees it, seals: an image with a source "kit.tar". */
int kit_seal(struct builder *builder, struct image *image, struct error *e);

/* Script to image, which must work. */
void kit_image(const char *script, struct image *image);

/* Opens what an image would be as a file, and frees the image. */
struct index *kit_open(struct image *image);
struct index *kit_make(const char *script);

/* From a log of entries, which is freed, to an index. */
struct index *kit_index_of(struct entries *log);

/* The listing; the caller frees it. */
char *kit_list(const struct tree *tree);

/* The result of a script: its listing, or the error's text. The caller frees it. */
char *kit_result(const char *script, enum duplicates duplicates);

/* The node at a path, which must be there. */
uint32_t kit_node(const struct tree *tree, const char *path);

/* The bytes of an index file; the caller frees them. */
uint8_t *kit_bytes(const struct image *image, size_t *size);
uint8_t *kit_bytes_of(struct entries *log, size_t *size);

/* The index in a file; -errno where there is none. */
int kit_open_path(const char *path, struct index **out, struct error *e);

/* An index over these bytes: as index_open_memory. */
int kit_open_bytes(const uint8_t *bytes, size_t size, struct index **out,
		   struct error *e);

/* Makes the header's checksum right again; with the sections' own. */
void kit_fix_header(uint8_t *bytes);
void kit_fix_sums(uint8_t *bytes);

/* Where a section begins, and how long it is, in the bytes of an index. */
size_t kit_section(const uint8_t *bytes, unsigned section, size_t *length);

#endif
