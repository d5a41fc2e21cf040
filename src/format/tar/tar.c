/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tar archives.
 *
 * Members with plain headers are read by plain.c, several stretches of a large
 * archive at once; all others by chain.c. Data are stepped over, not read. Names
 * are bytes: no locale has a part in this.
 */
#include "build/findings.h"
#include "format/format.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "format/tar/parallel.h"
#include "format/tar/plain.h"
#include "format/tar/walk_members.h"

enum { END_MARKER = 2 * TAR_BLOCK }; /* zeros that end an archive */

static int tar_probe(const unsigned char *head, size_t n)
{
	bool magic = n >= TAR_BLOCK && memcmp(head + TAR_MAGIC, "ustar", 5) == 0;

	if (n >= TAR_BLOCK && tar_header_fits(head))
		return magic ? 100 : 80;
	return magic ? 40 : 0; /* damaged: the scan says where */
}

static bool header_is_at(const struct tar_window *window, uint64_t position)
{
	unsigned char block[TAR_BLOCK];

	return tar_window_peek(window, block, TAR_BLOCK, position) == 0 &&
	       tar_header_fits(block);
}

/*
 * A member of a stream was taken before its data had been decoded. The last one may lack
 * the padding of its last block.
 */
static int check_last_member(struct tar_walk *walk)
{
	struct tar_place place = tar_walk_place(walk);

	if (walk->data_end > walk->window.length)
		return tar_refuse_lost(&place, walk->last);
	if (walk->end > walk->window.length)
		walk->end = walk->window.length;
	return 0;
}

/*
 * There is no header at walk->end. 1 if another archive follows, and walk->end is
 * there; 0 at the end; or an error.
 */
static int pass_end(struct tar_walk *walk)
{
	struct findings *findings = walk->scan->findings;
	struct tar_place place = tar_walk_place(walk);
	uint64_t start;
	int err = check_last_member(walk);

	if (err)
		return err;
	if (tar_window_find_nonzero(&walk->window, walk->end, &start) != 0)
		return tar_walk_refuse_read(walk);
	if (start == walk->window.length)
		return 0;
	if (start - walk->end >= TAR_GAP_MOST) {
		findings_add(findings, FINDING_LEFT_OUT,
			     "if anything is behind the gap at byte %llu, it is left out",
			     in_file(walk, walk->end));
		return 0;
	}
	if (header_is_at(&walk->window, start)) {
		walk->end = start;
		return 1;
	}
	if (start - walk->end >= END_MARKER) {
		findings_add(findings, FINDING_LEFT_OUT,
			     "what is behind the end of the archive at byte %llu is not "
			     "a tar header and is left out", in_file(walk, start));
		return 0;
	}
	return walk->window.length - start < TAR_BLOCK ?
		       tar_refuse_cut(&place, start) : tar_refuse_header(&place, start, NULL);
}

static void tar_report(const struct tar_walk *walk)
{
	struct findings *findings = walk->scan->findings;

	walk->scan->unended = walk->end == walk->window.length;
	if (walk->scan->unended)
		findings_add(findings, FINDING_LEFT_OUT,
			     "it has no mark at its end: all its members are whole, but "
			     "there may have been more");
	if (walk->specials)
		findings_add(findings, FINDING_USUAL,
			     "%llu devices, pipes or sockets are left out",
			     (unsigned long long)walk->specials);
}

/* Plain members from walk->end on, and what others have walked of them already. */
static int walk_plain(struct tar_walk *walk, struct tar_parallel *ahead)
{
	struct tar_run run = { .end = walk->end };
	int err;

	for (;;) {
		run.stop = tar_parallel_next(ahead, run.end);
		err = tar_plain_run(walk->scan, &walk->window, &run, walk->e);
		walk->end = run.end;
		if (run.members) {
			walk->last = run.last;
			walk->data_end = run.data_end;
		}
		if (err || run.end < run.stop)
			return err;
		tar_parallel_join(ahead, walk->scan, &run);
		if (run.end > walk->end)
			tar_window_seek(&walk->window, run.end);
	}
}

/* One member that is not plain, or the end of an archive: 1; 0 at the end of all. */
static int walk_member(struct tar_walk *walk)
{
	uint64_t before = walk->end;
	int r = tar_read_headers(walk);

	if (r == 0) {
		r = pass_end(walk);
	} else if (r > 0) {
		int err = tar_add_member(walk);

		r = err ? err : 1;
	}
	if (walk->scan->advance && walk->end > before)
		walk->scan->advance(walk->scan, walk->end - before);
	return r;
}

static int scan_window(struct tar_walk *walk)
{
	struct tar_parallel *ahead = tar_parallel_start(walk->scan, &walk->window);
	int r;

	do {
		/* what holds for all that follow holds for plain ones, too */
		r = walk->global.items.count ? 0 : walk_plain(walk, ahead);
		if (!r)
			r = walk_member(walk);
	} while (r > 0);
	tar_parallel_end(ahead, walk->scan);
	if (!r)
		tar_report(walk);
	return r;
}

static int tar_scan(struct scan *scan, struct error *e)
{
	struct tar_walk walk = { .scan = scan, .e = e };
	int err = tar_window_open(&walk.window, scan->source, scan->base, scan->length);

	walk.window.err = err;
	if (err)
		return err == -ENOMEM ? tar_walk_no_memory(&walk) : tar_walk_refuse_read(&walk);
	err = scan_window(&walk);
	tar_window_close(&walk.window);
	tar_walk_free(&walk);
	return err;
}

const struct format format_tar = {
	.name = "tar",
	.in_order = true,
	.nests = true,
	.appends = true,
	.probe = tar_probe,
	.scan = tar_scan,
};
