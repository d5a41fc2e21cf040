/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pixels.h: decodes JPEG and PNG images to PPM (P6, 8 bits, RGB), so that loaders need
 * not.
 *
 * The pixels are those of Pillow's Image.open(...).convert("RGB"): grey becomes three
 * equal values, alpha is dropped, CMYK is read as Adobe writes it. Nothing is rotated,
 * and no colour profile is applied. A grey PNG of 16 bits is not decoded, since 8 bits
 * would lose data.
 *
 * Threads: any. Errors are phrases that the packer appends to a path.
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
 * Can this image be decoded? If so, *size is about its decoded size. If it is damaged in
 * its header, too large, or neither JPEG nor PNG: false, and *damage says so.
 */
bool pixels_measure(const void *bytes, size_t length, uint64_t *size, const char **damage);

/* 0 and the image, to be freed with pixels_free; or -EBADMSG or -ENOMEM and *damage. */
int pixels_decode(const void *bytes, size_t length, struct pixels *out,
		  const char **damage);
void pixels_free(struct pixels *pixels);

#endif
