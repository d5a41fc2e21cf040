/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A packed file of one format, FUZZ_FORMAT: read through, sealed, served. With FUZZ_TAKE
 * it is a tar that may hold WebDataset's samples; FUZZ_ARRAYS is view=arrays, and
 * FUZZ_LABELS the name in labels=NAME. With FUZZ_LISTED the file is an index.json as well, by its
 * end.
 *
 * granary-fuzz: hdf5-arrays -DFUZZ_FORMAT='"hdf5"' -DFUZZ_ARRAYS=true
 * granary-fuzz: hdf5-labels -DFUZZ_FORMAT='"hdf5"' -DFUZZ_LABELS='"labels"'
 * granary-fuzz: litdata -DFUZZ_FORMAT='"litdata"' -DFUZZ_LISTED=true
 * granary-fuzz: webdataset -DFUZZ_FORMAT='"tar"' -DFUZZ_TAKE
 */
#include "fuzz.h"

#include <stdlib.h>
#include <unistd.h>

#include "build/findings.h"
#include "format/format.h"
#ifdef FUZZ_TAKE
#include "samples/webdataset.h"
#endif

#ifndef FUZZ_ARRAYS
#define FUZZ_ARRAYS false
#endif
#ifndef FUZZ_LISTED
#define FUZZ_LISTED false
#endif
#ifndef FUZZ_LABELS
#define FUZZ_LABELS NULL
#endif

/* A packed file inside another is read in the same way. */
static struct entries *offer(struct scan *scan, const char *member, uint64_t base,
			     uint64_t length)
{
	(void)scan;
	(void)member;
	(void)base;
	(void)length;
	return NULL;
}

static int scan_all(const struct format *format, const struct source_set *sources,
		    struct entries **entries, struct samples *samples, struct error *e)
{
	static const struct row_options rows = { .labels = FUZZ_LABELS,
						 .arrays = FUZZ_ARRAYS };
	struct findings told = { 0 };
	struct scan scan = { .source = sources->sources[0], .findings = &told,
			     .length = source_size(sources->sources[0]), .label = "source",
			     .entries = *entries, .samples = samples, .offer = offer,
			     .rows = &rows,
			     .listed_in = FUZZ_LISTED ? sources->sources[0] : NULL };
	int err = format_scan(format, &scan, e);

#ifdef FUZZ_TAKE
	const struct webdataset_config config = { .classes = scan.length % 2 };

	if (!err)
		err = webdataset_make_samples(&scan, &config, e);
#endif
	if (!err && scan.detail[0])
		fuzz_say("taken for: %s", scan.detail);
	findings_publish(&told, NULL);
	findings_free(&told);
	*entries = scan.entries;
	vec_free(&scan.selection);
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const struct format *format = format_by_name(FUZZ_FORMAT);
	struct entries *entries = entries_new();
	struct samples *samples = samples_new();
	struct error e = { 0 };
	struct source_set sources;
	int fd, err;

	log_level_now = fuzz_log_level;
	if (!format || !entries || !samples)
		abort();
	fd = fuzz_file(bytes, n);
	sources = fuzz_source(fd);
	format->probe(bytes, n < FORMAT_HEAD_BYTES ? n : FORMAT_HEAD_BYTES);
	err = scan_all(format, &sources, &entries, samples, &e);
	fuzz_expect_sentence(err, &e);
	if (err) {
		entries_free(entries);
		samples_free(samples);
	} else {
		fuzz_serve(entries, samples, &sources);
	}
	source_set_close(&sources);
	close(fd);
	return 0;
}
