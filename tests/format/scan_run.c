/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scan_run.h"

#include "told.h"

static void advance(struct scan *scan, uint64_t bytes)
{
	struct run *run = (struct run *)(void *)((char *)scan - offsetof(struct run, scan));

	run->position += bytes;
	run->passed++;
}

void run_scan(struct run *run, const char *format, const char *path, uint64_t base,
	      const char *labels, bool arrays)
{
	memset(run, 0, sizeof(*run));
	assert_int_equal(source_open(path, &run->source, NULL), 0);
	run->entries = entries_new();
	run->samples = samples_new();
	assert_non_null(run->entries);
	assert_non_null(run->samples);
	run->rows = (struct row_options){ .labels = labels, .arrays = arrays };
	run->scan = (struct scan){ .source = run->source, .source_number = RUN_SOURCE,
				   .base = base,
				   .length = source_size(run->source) - base,
				   .label = path, .entries = run->entries,
				   .samples = run->samples, .rows = &run->rows,
				   .findings = &run->findings, .advance = advance };
	run->findings.file = path;
	run->err = format_by_name(format)->scan(&run->scan, &run->e);
}

void run_end(struct run *run)
{
	free(told(&run->findings));
	entries_free(run->entries);
	samples_free(run->samples);
	source_close(run->source);
}

char *run_list_entries(const struct run *run, void (*print)(FILE *out, const struct run *run,
						       const struct entry *entry))
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	for (size_t i = 0; i < entries_count(run->entries); i++) {
		print(out, run, entries_get(run->entries, i));
		fputc('\n', out);
	}
	fclose(out);
	return text;
}
