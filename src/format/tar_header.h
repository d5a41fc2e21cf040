/*
 * tar_header.h: what we read in a tar's header blocks ourselves. Private to
 * the tar format; pure functions of bytes.
 */
#ifndef GRANARY_FORMAT_TAR_HEADER_H
#define GRANARY_FORMAT_TAR_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TAR_BLOCK = 512 };

/* `n` rounded up to whole blocks, or false where that does not fit. */
bool tar_round_up(uint64_t n, uint64_t *out);

/* Does the checksum of the TAR_BLOCK bytes fit? All zeros: no. */
bool tar_header_fits(const unsigned char *block);

/*
 * Is it a header that says more of the next one (pax's x, X, g, GNU's L, K)? Then *size
 * is how much follows, in whole blocks.
 */
bool tar_header_extends(const unsigned char *block, uint64_t *size);

/* A pax header for all that follow that says nothing: TAR_PREFACE bytes, for good. */
enum { TAR_TYPE = 156, TAR_PREFACE = 2 * TAR_BLOCK };
const unsigned char *tar_preface(void);

/*
 * Looks for a negative mtime in the pax header among the header blocks of one
 * member. `bytes` are n and a NUL.
 */
bool tar_header_negative_mtime(const unsigned char *bytes, size_t n,
			       int64_t *seconds, uint32_t *ns);

#endif
