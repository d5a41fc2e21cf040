/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace of a mount: a page and events, or one sentence, and nothing of its HTML is taken. */
/* granary-fuzz: trace */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/chrome.h"
#include "report/figures.h"
#include "report/page.h"

static void expect_page(const struct figures *figures)
{
	size_t size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	page_write(figures, out);
	if (fclose(out) != 0 || strstr(text, "<script") || !strstr(text, "</html>"))
		abort();
	free(text);
}

static void expect_events(const struct source *trace, const struct figures *figures)
{
	FILE *out = fopen("/dev/null", "w");

	if (!out || chrome_write(trace, figures, out) < 0)
		abort();
	fclose(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	int fd = fuzz_file(bytes, n), err;
	struct source_set set;
	struct figures *figures;
	struct error e = { 0 };

	if (fd < 0)
		return 0;
	set = fuzz_source(fd);
	err = figures_read(set.sources[0], &figures, &e);
	fuzz_expect_sentence(err, &e);
	if (!err) {
		fuzz_say("%llu reads in %u epochs%s", (unsigned long long)figures->reads,
			 figures->epoch_count, figures->cut ? ", cut off" : "");
		expect_page(figures);
		expect_events(set.sources[0], figures);
		figures_free(figures);
	}
	source_set_close(&set);
	close(fd);
	return 0;
}
