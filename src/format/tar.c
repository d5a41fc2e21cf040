/*
 * tar archives, through libarchive.
 *
 * Members with plain headers are read by tar_plain.c; from the first other one on
 * libarchive parses, until they are plain again. It says where a member's data begin;
 * the data themselves are stepped over, not read. Everything that it says is checked
 * against the window: it was made to unpack a stream, and does not mind where
 * the pieces of a file lie.
 *
 * Names come out byte for byte because the scan runs in the C locale. There,
 * libarchive cannot convert a name of a pax header that is not ASCII, warns,
 * and keeps the bytes as they are. In a UTF-8 locale it would compose accents
 * (NFC), and a name would be found under other bytes than were packed.
 */
#include "format/format.h"

#include <errno.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/limits.h"
#include "format/tar_ahead.h"
#include "format/tar_header.h"
#include "format/tar_idx.h"
#include "format/tar_plain.h"
#include "format/tar_walk.h"
#include "util/cleanup.h"
#include "util/log.h"

enum {
	END_MARKER = 2 * TAR_BLOCK, /* zeros that end an archive */
	STAY_MOST = 4096, /* members with libarchive before plain ones are looked for */
	RUN_LEAST = 16,   /* so many times longer a plain run pays for opening it */
};

static int tar_probe(const unsigned char *head, size_t n)
{
	bool magic = n >= TAR_BLOCK && memcmp(head + 257, "ustar", 5) == 0;

	if (n >= TAR_BLOCK && tar_header_fits(head))
		return magic ? 100 : 80;
	return magic ? 40 : 0; /* damaged: the scan says where */
}

/* What libarchive calls */

static la_ssize_t read_block(struct archive *archive, void *data, const void **out)
{
	struct tar_walk *walk = data;
	la_ssize_t n;

	if (walk->preface) {
		*out = walk->preface;
		walk->preface = NULL;
		return TAR_PREFACE;
	}
	n = tar_window_read(&walk->window, out);
	if (n < 0)
		archive_set_error(archive, -walk->window.err, "read error");
	return n;
}

static la_int64_t skip_block(struct archive *archive, void *data, la_int64_t wanted)
{
	struct tar_walk *walk = data;

	(void)archive;
	if (wanted <= 0 || walk->preface)
		return 0;
	return (la_int64_t)tar_window_skip(&walk->window, (uint64_t)wanted);
}

/* The end, good or bad */

/* libarchive could not read on behind walk->end. */
static int explain_stop(struct tar_walk *walk, int r)
{
	const char *label = walk->scan->label;
	la_int64_t done = tar_walk_position(walk, archive_filter_bytes(walk->archive, 0));
	bool cut = r != ARCHIVE_RETRY && walk->window.at_end, valid;
	struct tar_place place = tar_walk_place(walk);
	uint64_t start;
	int err;

	if (walk->window.err)
		return tar_walk_refuse_read(walk, walk->window.err);
	err = tar_window_find_nonzero(&walk->window, walk->end, &start);
	if (err)
		return tar_walk_refuse_read(walk, err);
	if (start == walk->window.length)
		return 0;
	valid = tar_window_has_header(&walk->window, start);
	if (start - walk->end >= END_MARKER && !valid) {
		log_warn("'%s': what is behind the end of the archive at byte %llu "
			 "is not a tar header and is left out",
			 label, in_file(walk, start));
		return 0;
	}
	if (cut)
		return tar_refuse_cut(&place, start);
	if (valid && r == ARCHIVE_RETRY && done >= TAR_BLOCK)
		start = (uint64_t)done - TAR_BLOCK; /* behind a pax header, say */
	return tar_refuse_header(&place, start,
				 valid && r != ARCHIVE_RETRY ?
					 archive_error_string(walk->archive) : NULL);
}

static int next_member(struct tar_walk *walk)
{
	int r = archive_read_next_header(walk->archive, &walk->entry);
	la_int64_t header = tar_walk_position(walk, archive_read_header_position(walk->archive));
	la_int64_t data = tar_walk_position(walk, archive_filter_bytes(walk->archive, 0));
	const char *text;

	if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
		return r;
	if (header < walk->start + walk->began)
		header = walk->start + walk->began; /* not the preface */
	if (header < 0 || data < header || (uint64_t)header < walk->end ||
	    (uint64_t)data > walk->window.length)
		return ARCHIVE_FATAL; /* it must not overlap the last one */
	walk->header = (uint64_t)header;
	walk->data = (uint64_t)data;
	text = r == ARCHIVE_WARN ? archive_error_string(walk->archive) : NULL;
	if (text && !strstr(text, "can't be converted")) /* that, we want */
		tar_walk_warn(walk, text);
	return ARCHIVE_OK;
}

static void report(const struct tar_walk *walk)
{
	const char *label = walk->scan->label;

	if (walk->end == walk->window.length && log_allowed(LIMIT_WARNINGS))
		log_warn("'%s' has no mark at its end: all its members are whole, but "
			 "there may have been more", label);
	if (walk->window.at_end && walk->window.at < walk->window.length)
		log_warn("'%s': if anything is behind the gap at byte %llu, it is left "
			 "out", label, in_file(walk, walk->window.at));
	if (walk->specials)
		log_info("'%s': %llu devices, pipes or sockets are left out", label,
			 (unsigned long long)walk->specials);
	if (walk->warnings > LIMIT_WARNINGS)
		log_warn("'%s': %u more warnings", label,
			 walk->warnings - LIMIT_WARNINGS);
}

/* Can the run of plain members begin at walk->end? */
static bool plain_follows(const struct tar_walk *walk)
{
	unsigned char block[TAR_BLOCK];
	struct tar_plain plain;

	return !walk->global &&
	       tar_window_peek(&walk->window, block, TAR_BLOCK, walk->end) == 0 &&
	       tar_plain_parse(block, &plain);
}

/* Behind the first pax header libarchive reads some of what is no pax otherwise. */
static void note_pax(struct tar_walk *walk)
{
	uint64_t at = walk->header, size;
	unsigned char block[TAR_BLOCK];

	while (at + TAR_BLOCK < walk->data &&
	       tar_window_peek(&walk->window, block, TAR_BLOCK, at) == 0 &&
	       tar_header_extends(block, &size)) {
		walk->pax |= block[TAR_TYPE] != 'L' && block[TAR_TYPE] != 'K';
		walk->global |= block[TAR_TYPE] == 'g';
		at += TAR_BLOCK + size;
	}
}

/* Members with libarchive: 1 if plain ones follow, 0 at the end, or an error. */
static int walk_members(struct tar_walk *walk)
{
	uint64_t members = 0;
	int r, err;

	while ((r = next_member(walk)) == ARCHIVE_OK) {
		uint64_t before = walk->end;

		note_pax(walk);
		err = tar_take_member(walk);
		if (err)
			return err;
		if (walk->scan->advance)
			walk->scan->advance(walk->scan, walk->end - before);
		if ((++members >= walk->stay || walk->end == walk->joint) &&
		    plain_follows(walk))
			return 1;
	}
	err = r == ARCHIVE_EOF ? 0 : explain_stop(walk, r);
	if (!err)
		report(walk);
	return err;
}

/* Set-up */

static void free_archive(struct archive **archive)
{
	if (*archive)
		archive_read_free(*archive);
}

static void restore_locale(locale_t *locale)
{
	uselocale(*locale);
}

static int open_archive(struct tar_walk *walk)
{
	struct archive *archive = walk->archive;

	if (archive_read_support_format_tar(archive) != ARCHIVE_OK ||
	    archive_read_set_option(archive, "tar", "read_concatenated_archives",
				    "1") != ARCHIVE_OK ||
	    archive_read_set_read_callback(archive, read_block) != ARCHIVE_OK ||
	    archive_read_set_skip_callback(archive, skip_block) != ARCHIVE_OK ||
	    archive_read_set_callback_data(archive, walk) != ARCHIVE_OK)
		return error_set(walk->e, ERROR_SYSTEM, ENOTSUP,
				 "cannot index '%s': libarchive does not do what is "
				 "needed (%s); update it",
				 walk->scan->label, archive_error_string(archive));
	if (archive_read_open1(archive) != ARCHIVE_OK)
		return walk->window.err ? tar_walk_refuse_read(walk, walk->window.err) :
					  explain_stop(walk, ARCHIVE_FATAL);
	return 0;
}

/*
 * libarchive begins at the last plain member, if there is one, and not behind it: what
 * it says of the end of an archive, or of damage, is then what it always says.
 */
static int pass_last(struct tar_walk *walk, const struct tar_run *run)
{
	int r, err;

	if (!run->members)
		return 0;
	walk->end = run->last;
	r = next_member(walk);
	err = r == ARCHIVE_OK ? tar_step_over(walk) : explain_stop(walk, r);
	if (!err && walk->end != run->end)
		err = tar_walk_refuse_member(walk, "size");
	return err;
}

/*
 * As walk_members. An archive in which a pax header has been begins with one that says
 * nothing, so that libarchive knows; the archive is gone afterwards.
 */
static int walk_from(struct tar_walk *walk, const struct tar_run *run)
{
	CLEANUP(free_archive) struct archive *archive = archive_read_new();
	int err;

	if (!archive)
		return tar_walk_no_memory(walk);
	walk->archive = archive;
	walk->start = (la_int64_t)(run->members ? run->last : run->end);
	tar_window_seek(&walk->window, (uint64_t)walk->start);
	walk->preface = walk->pax ? tar_preface() : NULL;
	walk->began = walk->pax ? TAR_PREFACE : 0;
	walk->start -= walk->began;
	err = open_archive(walk);
	if (!err)
		err = pass_last(walk, run);
	return err ? err : walk_members(walk);
}

/* Plain members from run->end on, and what others have walked of them already. */
static int walk_plain(struct tar_walk *walk, struct tar_ahead *ahead, struct tar_run *run)
{
	run->members = 0;
	for (;;) {
		int err;

		run->stop = tar_ahead_next(ahead, run->end);
		err = tar_plain_run(walk->scan, &walk->window, run, walk->e);
		if (err || run->end < run->stop)
			return err;
		tar_ahead_take(ahead, walk->scan, run);
	}
}

/* Where plain members are few between others it stays with libarchive for longer. */
static int scan_window(struct tar_walk *walk)
{
	struct tar_ahead *ahead = tar_ahead_start(walk->scan, &walk->window);
	struct tar_run run = { 0 };
	int r;

	walk->stay = 1;
	do {
		r = walk_plain(walk, ahead, &run);
		if (r < 0)
			break;
		if (run.members >= RUN_LEAST * walk->stay)
			walk->stay = 1;
		else if (walk->stay < STAY_MOST)
			walk->stay *= 2;
		walk->end = run.end;
		walk->joint = tar_ahead_next(ahead, run.end);
		r = walk_from(walk, &run);
		run.end = walk->end;
	} while (r > 0);
	tar_ahead_end(ahead, walk->scan);
	return r;
}

static int scan_in_c_locale(struct tar_walk *walk)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	int err;

	if (c == (locale_t)0)
		return tar_walk_no_memory(walk);
	{
		CLEANUP(restore_locale) locale_t old = uselocale(c);

		(void)old;
		err = scan_window(walk);
	}
	freelocale(c);
	return err;
}

static int tar_scan(struct scan *scan, struct error *e)
{
	struct tar_walk walk = { .scan = scan, .e = e };
	int err = tar_window_open(&walk.window, scan->source, scan->base, scan->length);

	if (err)
		return err == -ENOMEM ? tar_walk_no_memory(&walk) : tar_walk_refuse_read(&walk, err);
	err = scan->wds2idx ? tar_idx_scan(scan, &walk.window, e) : 0;
	if (err == 0)
		err = scan_in_c_locale(&walk);
	tar_window_close(&walk.window);
	vec_free(&walk.extents);
	vec_free(&walk.xattrs);
	return err < 0 ? err : 0;
}

const struct format format_tar = {
	.name = "tar",
	.nests = true,
	.appends = true,
	.probe = tar_probe,
	.scan = tar_scan,
};
