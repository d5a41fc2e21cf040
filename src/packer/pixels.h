/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pixels.h: JPEG and PNG images decoded to PPM (P6, 8 bits, RGB), for loaders that are to
 * spend no time on that.
 *
 * The pixels are those of Pillow's Image.open(...).convert("RGB"): grey becomes three equal
 * values, alpha is dropped, CMYK is taken as Adobe writes it. Nothing is rotated, and no
 * colour profile is applied. A grey PNG of 16 bits is not decoded, since it would lose
 * what it has.
 *
 * Threads: any. Errors are words, for the packer to put behind a path.
 */
#ifndef GRANARY_PACKER_PIXELS_H
#define GRANARY_PACKER_PIXELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pixels {
	unsigned char *bytes; /* header and pixels; owned */
	size_t size;
};

/* The library that this build lacks for them, and how to get it; or NULL. */
const char *pixels_need(void);

/* All that *damage may be. */
enum { PIXELS_DAMAGES = 4 };
extern const char *const pixels_damages[PIXELS_DAMAGES];

/*
 * Is this an image that can be decoded? Then *size is about what it will be. If it should
 * be one and its header is damaged, or it is too large, or it is neither JPEG nor PNG, false
 * and *damage says so.
 */
bool pixels_measure(const void *bytes, size_t length, uint64_t *size, const char **damage);

/* 0 and the image, to be freed with pixels_free; or -EBADMSG or -ENOMEM and *damage. */
int pixels_decode(const void *bytes, size_t length, struct pixels *out,
		  const char **damage);
void pixels_free(struct pixels *pixels);

#endif
