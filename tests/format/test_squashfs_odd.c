/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Squashfs images with listings as other programs than mksquashfs write them. */
#include "config.h"
#if WITH_SQUASHFS && WITH_DEFLATE && WITH_LZ4 && WITH_ZSTD && WITH_LZMA && WITH_LZO
#include "scan_run.h"

#include <errno.h>

#include "base/log.h"

static const char *const images[] = { "small", "nothing", "many", "extended" };

static void print_entry(FILE *out, const struct run *run, const struct entry *entry)
{
	(void)run;
	fprintf(out, "%u %o %s %s %llu %zu %zu", entry->kind, entry->mode, entry->path,
		entry->target ? entry->target : "", (unsigned long long)entry->size,
		entry->extent_count, entry->xattr_count);
}

static char *list(const char *image, const char *tag)
{
	struct run run;
	char name[64], *text;

	snprintf(name, sizeof(name), "%s%s.sqfs", image, tag);
	run_scan(&run, "squashfs", name, 0, NULL, false);
	if (run.err)
		print_message("# %s\n", run.e.text);
	assert_int_equal(run.err, 0);
	text = run_list_entries(&run, print_entry);
	run_end(&run);
	return text;
}

static void test_exact_sizes(void **state)
{
	size_t i = unit_row(state);
	char *want = list(images[i], ""), *got = list(images[i], "-exact");

	assert_string_equal(got, want);
	free(want);
	free(got);
}

/* Sizes that neither way of counting gives are damage. */
static void test_other_sizes(void **state)
{
	static const unsigned less[] = { 1, 2, 4, 20 };

	(void)state;
	for (size_t i = 0; i < COUNT(images) * COUNT(less); i++) {
		struct run run;
		char name[64];

		snprintf(name, sizeof(name), "%s-less-%u.sqfs", images[i / COUNT(less)],
			 less[i % COUNT(less)]);
		run_scan(&run, "squashfs", name, 0, NULL, false);
		if (run.err != -EBADMSG)
			fail_msg("%s is read", name);
		if (!strstr(run.e.text, "is damaged: "))
			fail_msg("%s", run.e.text);
		run_end(&run);
	}
}

static int enter(void **state)
{
	const char *srcdir = getenv("abs_top_srcdir"), *python = getenv("PYTHON");
	char command[4096];

	log_level_now = LOG_LEVEL_ERROR;
	if (unit_enter(state) < 0)
		return -1;
	snprintf(command, sizeof(command), "'%s' '%s/tests/format/squashfs_oddities.py' .",
		 python ? python : "/usr/bin/python3", srcdir ? srcdir : ".");
	unit_shell(command);
	return 0;
}

static const struct CMUnitTest tests[] = {
	unit_texts(test_exact_sizes, images),
	cmocka_unit_test(test_other_sizes),
};

UNIT_MAIN_IN(tests, enter, unit_leave)

#else
#include "left_out.h"
#endif
