/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pickled image: what is said of its pixels must be so. */
/* granary-fuzz: pyd */
#include "fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "samples/pickled_image.h"
#include "base/checked.h"

static void expect_image(const struct wds_image *image, size_t n)
{
	uint64_t pixels, bytes;

	if (!range_within(image->offset, image->length, n) ||
	    !checked_mul(image->width, image->height, &pixels) ||
	    !checked_mul(pixels, image->channels, &bytes) || bytes != image->length)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	int fd = fuzz_file(bytes, n);
	struct source_set sources = fuzz_source(fd);
	struct wds_window *window = calloc(1, sizeof(*window));
	struct wds_image image;
	const char *why = NULL;
	struct pickled_image_reader *pyd;
	int err;

	if (!window)
		abort();
	window->source = sources.sources[0];
	pyd = pickled_image_new(window);
	if (!pyd)
		abort();
	err = pickled_image_find(pyd, 0, n, &image, &why);
	if (err == 0)
		expect_image(&image, n);
	fuzz_say("%s", err == 0 ? "an image" : err == -ENOTSUP && why ? why : "no image");
	if (err > 0 || (err == -ENOTSUP && !why))
		abort();
	pickled_image_free(pyd);
	free(window);
	source_set_close(&sources);
	close(fd);
	return 0;
}
