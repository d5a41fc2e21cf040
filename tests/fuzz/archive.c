/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A packed file as the indexer takes it: compressed or not, with the packed files in it.
 *
 * granary-fuzz: archive
 */
#include "fuzz.h"

#include <unistd.h>

#include "build/image.h"
#include "indexer/indexer.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const struct indexer_config config = { .duplicates = DUPLICATES_LAST, .nested = true,
					       .nested_npz = true, .view = VIEW_AUTO,
					       .threads = 1, .options = "" };
	struct source_set sources;
	struct error e = { 0 };
	struct image image;
	int fd = fuzz_file(bytes, n), err;

	log_level_now = fuzz_log_level;
	sources = fuzz_source(fd);
	err = indexer_run(&sources, &config, NULL, &image, &e);
	fuzz_expect_sentence(err, &e);
	if (!err) {
		fuzz_serve_image(&image, &sources);
		image_free(&image);
	}
	source_set_close(&sources);
	close(fd);
	return 0;
}
