/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "fuse/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/log_ring.h"
#include "os/memory.h"
#include "stats/metrics.h"
#include "stats/render.h"
#include "stats/stats.h"

enum {
	CONTROL_BYTES = METRICS_BYTES, /* no text is as large */
	LIST_BYTES = 4096,          /* nor is the listing */
	BLKSIZE = 128 * 1024,       /* a text in one go */
	BLOCK = 512,
};

/* The inodes of a tree end at 0x7fffffff; 32-bit programs need inodes of 32 bits. */
static const fuse_ino_t DIRECTORY = 0xfffffff0, FILES = 0xfffffff1;

static void render_metrics(const struct served *s, struct render_text *text);
static void render_config(const struct served *s, struct render_text *text);
static void render_log(struct render_text *text);

/* One of the files. */
static const struct control_file {
	const char *name;
	void (*render)(struct render_text *text);                    /* or: */
	void (*render_served)(const struct served *s, struct render_text *text);
} files[] = {
	{ "stats", render_stats, NULL },
	{ "stats.json", render_json, NULL },
	{ "metrics", NULL, render_metrics },
	{ "config", NULL, render_config },
	{ "progress", render_progress, NULL },
	{ "log", render_log, NULL },
};

enum { FILE_COUNT = sizeof(files) / sizeof(files[0]) };

static size_t sizes[FILE_COUNT]; /* set by control_init; the log has its present size */

bool control_owns(uint64_t ino)
{
	return ino >= DIRECTORY && ino < FILES + FILE_COUNT;
}

static bool control_is_directory(fuse_ino_t parent, const char *name)
{
	return parent == FUSE_ROOT_ID && strcmp(name, CONTROL_NAME) == 0;
}

bool control_is_request(const struct fuse_in_header *request)
{
	return control_owns(request->nodeid) ||
	       (request->opcode == FUSE_LOOKUP &&
		control_is_directory(request->nodeid, (const char *)(request + 1)));
}

/* The texts. */

/* Control characters of a path are escaped: a path must not add lines. */
static void add_plain(struct render_text *text, const char *value)
{
	for (; *value; value++)
		text_add(text, "%c", (unsigned char)*value < ' ' ? '?' : *value);
}

static void add_option(struct render_text *text, const struct option_spec *spec,
		       const struct mount_config *config)
{
	char value[1024];

	if (options_value(spec, config, value, sizeof(value)) < 0)
		return;
	text_add(text, "%s=", spec->name);
	add_plain(text, value);
	text_add(text, "\n");
}

static const char *opens_are(bool hidden)
{
	return hidden ? "hidden" : "visible";
}

/* The effect of the options on this kernel: the requests that it sends. */
static void add_terms(const struct served *s, struct render_text *text)
{
	const struct kernel_terms *terms = &s->terms;

	text_add(text, "kernel.protocol=7.%u\nkernel.opens=%s\nkernel.opendirs=%s\n",
		 terms->minor, opens_are(s->hide_opens), opens_are(s->hide_opendirs));
	text_add(text, "kernel.listings=%s\nkernel.readdirplus=%s\nkernel.symlinks=%s\n",
		 terms->listings || s->hide_opendirs ? "kept" : "asked for",
		 terms->readdirplus ? "yes" : "no", terms->symlinks ? "kept" : "asked for");
	text_add(text, "kernel.max_request=%u\nkernel.max_readahead=%u\n",
		 terms->max_request, terms->max_readahead);
}

/* The names in .granaryfs never change, and so the size is constant. */
static void render_config(const struct served *s, struct render_text *text)
{
	struct dataset_info info;

	text_add(text, "version=%s\n", PACKAGE_VERSION);
	if (dataset_info(s->dataset, &info) == 0) {
		text_add(text, "sources=%u\nsource=", info.sources);
		add_plain(text, info.first_place);
		text_add(text, "\nindex=");
		add_plain(text, info.index_path ? info.index_path : "in memory");
		text_add(text, "\nchecksums=%s\n", dataset_compared_word(info.compared));
	}
	for (const struct option_spec *spec = mount_options; spec->name; spec++)
		add_option(text, spec, s->config);
	add_terms(s, text);
}

static void render_metrics(const struct served *s, struct render_text *text)
{
	const struct metrics_mount mount = { s->labels ? s->labels : "", stats_now() };

	metrics_render(text, &mount, 1);
}

static void render_log(struct render_text *text)
{
	text->used += log_ring_text(text->bytes + text->used, text->room - text->used - 1);
	text->bytes[text->used] = '\0';
}

static void control_render(const struct served *s, size_t file, struct render_text *text)
{
	stats_set(COUNTER_daemon_bytes, memory_own());
	if (files[file].render)
		files[file].render(text);
	else
		files[file].render_served(s, text);
}

static void warn_if_hidden(const struct served *s)
{
	uint32_t node;

	/* the indexer drops this name at the root; -o subdir= may show another root */
	if (tree_lookup(dataset_tree(s->dataset), dataset_root(s->dataset), CONTROL_NAME,
			strlen(CONTROL_NAME), &node) == 0)
		log_warn("the dataset's own " CONTROL_NAME " cannot be seen in the mount: that name "
			 "is taken; granary ls and granary cat show it");
}

void control_measure(const struct served *s)
{
	CLEANUP(cleanup_free) char *bytes = malloc(CONTROL_BYTES);

	for (size_t i = 0; bytes && i < FILE_COUNT; i++) {
		struct render_text text = { .bytes = bytes, .room = CONTROL_BYTES };

		control_render(s, i, &text);
		sizes[i] = text.used;
	}
}

void control_init(const struct served *s)
{
	warn_if_hidden(s);
	control_measure(s);
}

/* The answers. */

/* The kernel returns at most the size that it was told. */
static off_t size_of(fuse_ino_t ino)
{
	char bytes[LOG_RING_BYTES];

	if (ino == DIRECTORY)
		return 0;
	if (files[ino - FILES].render == render_log)
		return (off_t)log_ring_text(bytes, sizeof(bytes));
	return (off_t)sizes[ino - FILES];
}

static struct stat attributes(const struct mount_config *config, fuse_ino_t ino)
{
	bool directory = ino == DIRECTORY;
	struct stat st = {
		.st_ino = ino,
		.st_mode = (directory ? S_IFDIR | 0555 : S_IFREG | 0444) & ~(config->umask & 0777),
		.st_nlink = directory ? 2 : 1,
		.st_uid = config->uid == MOUNT_AS_ARCHIVED ? geteuid() : config->uid,
		.st_gid = config->gid == MOUNT_AS_ARCHIVED ? getegid() : config->gid,
		.st_size = size_of(ino),
		.st_blksize = BLKSIZE,
	};

	st.st_blocks = (st.st_size + BLOCK - 1) / BLOCK;
	/* new each time: the kernel then drops its copy of the text */
	clock_gettime(CLOCK_REALTIME, &st.st_mtim);
	st.st_atim = st.st_ctim = st.st_mtim;
	return st;
}

static const struct mount_config *config_of(fuse_req_t req)
{
	return ((const struct served *)fuse_req_userdata(req))->config;
}

/* Without timeouts: the kernel asks each time. */
static struct fuse_entry_param control_entry_of(fuse_req_t req, fuse_ino_t ino)
{
	return (struct fuse_entry_param){ .ino = ino, .attr = attributes(config_of(req), ino) };
}

static void answer_name(fuse_req_t req, const char *name)
{
	for (size_t i = 0; i < FILE_COUNT; i++) {
		if (strcmp(files[i].name, name) == 0) {
			struct fuse_entry_param entry = control_entry_of(req, FILES + i);

			fuse_reply_entry(req, &entry);
			return;
		}
	}
	fuse_reply_err(req, ENOENT);
}

bool control_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param entry;
	bool directory = control_is_directory(parent, name);

	if (!directory && !control_owns(parent))
		return false;
	stats_add(COUNTER_fuse_control, 1);
	if (directory) {
		entry = control_entry_of(req, DIRECTORY);
		fuse_reply_entry(req, &entry);
	} else {
		answer_name(req, name);
	}
	return true;
}

/* Is it an inode of .granaryfs? Then the request is counted, too. */
static bool control_count_request(fuse_ino_t ino)
{
	if (!control_owns(ino))
		return false;
	stats_add(COUNTER_fuse_control, 1);
	return true;
}

bool control_getattr(fuse_req_t req, fuse_ino_t ino)
{
	struct stat st;

	if (!control_count_request(ino))
		return false;
	st = attributes(config_of(req), ino);
	fuse_reply_attr(req, &st, 0);
	return true;
}

static void answer_read(fuse_req_t req, size_t file, size_t size, size_t at)
{
	CLEANUP(cleanup_free) char *bytes = malloc(CONTROL_BYTES);
	struct render_text text = { .bytes = bytes, .room = CONTROL_BYTES };

	if (!bytes) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	control_render(fuse_req_userdata(req), file, &text);
	if (at > text.used)
		at = text.used;
	if (size > text.used - at)
		size = text.used - at;
	fuse_reply_buf(req, bytes + at, size);
}

bool control_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset)
{
	if (!control_count_request(ino))
		return false;
	if (ino == DIRECTORY || offset < 0)
		fuse_reply_err(req, ino == DIRECTORY ? EISDIR : EINVAL);
	else
		answer_read(req, ino - FILES, size, (size_t)offset);
	return true;
}

/* Entry `position` of the listing, or 0 behind the last. */
static fuse_ino_t control_listed(off_t position, const char **name)
{
	static const char *const dots[] = { ".", ".." };

	if (position < 2) {
		*name = dots[position];
		return position == 0 ? DIRECTORY : FUSE_ROOT_ID;
	}
	if (position - 2 >= FILE_COUNT)
		return 0;
	*name = files[position - 2].name;
	return FILES + (fuse_ino_t)(position - 2);
}

static void answer_list(fuse_req_t req, size_t size, off_t offset, bool plus)
{
	char buffer[LIST_BYTES];
	size_t used = 0, room = size < sizeof(buffer) ? size : sizeof(buffer);
	const char *name = NULL;
	fuse_ino_t ino;

	for (off_t at = offset < 0 ? 0 : offset; (ino = control_listed(at, &name)) != 0;
	     at++) {
		struct fuse_entry_param entry =
			control_entry_of(req, at < 2 ? DIRECTORY : ino);
		size_t need;

		entry.attr.st_ino = ino;
		if (plus)
			need = fuse_add_direntry_plus(req, buffer + used, room - used, name,
						      &entry, at + 1);
		else
			need = fuse_add_direntry(req, buffer + used, room - used, name,
						 &entry.attr, at + 1);
		if (need > room - used)
			break;
		used += need;
	}
	fuse_reply_buf(req, buffer, used);
}

bool control_list(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, bool plus)
{
	if (!control_count_request(ino))
		return false;
	if (ino == DIRECTORY)
		answer_list(req, size, offset, plus);
	else
		fuse_reply_err(req, ENOTDIR);
	return true;
}

#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 8)
bool control_lseek(fuse_req_t req, fuse_ino_t ino, off_t offset, int whence)
{
	off_t size = control_owns(ino) ? size_of(ino) : 0;

	if (!control_owns(ino))
		return false;
	if (whence != SEEK_DATA && whence != SEEK_HOLE)
		fuse_reply_err(req, EINVAL);
	else if (offset < 0 || offset >= size)
		fuse_reply_err(req, ENXIO);
	else
		fuse_reply_lseek(req, whence == SEEK_DATA ? offset : size);
	return true;
}
#endif
