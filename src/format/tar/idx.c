/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lists of wds2idx, version 1.2: "v1.2 SAMPLES", then a line for each sample, of four
 * words for each of its files: suffix, where its data begin, how many bytes, name.
 */
#include "format/tar/idx.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "format/tar/header.h"
#include "format/tar/plain.h"
#include "os/held.h"

enum {
	CHECKED = 16,          /* headers that are compared with the list */
	LARGEST = 1 << 30,     /* bytes of a list */
};

struct word {
	const char *at;
	size_t n;
};

/* One file of the list. */
struct listed {
	struct word suffix, name;
	uint64_t data, size; /* data: from the start of the tar */
	uint64_t end;        /* behind its last block */
};

struct list {
	char *path, *text;
	size_t length;
	const char *at;      /* what is parsed next */
	uint64_t samples, files, files_seen;
	uint64_t end;        /* of the last file that was parsed */
	struct tar_plain first;
};

static void free_list(struct list *list)
{
	free(list->path);
	free(list->text);
}

/* The text */

/* A word, and the one byte behind it, which is a blank or a line's end. */
static bool take_word(struct list *list, struct word *out, char *behind)
{
	const char *end = list->text + list->length;

	out->at = list->at;
	while (list->at < end && *list->at != ' ' && *list->at != '\n' && *list->at)
		list->at++;
	out->n = (size_t)(list->at - out->at);
	if (list->at == end || !*list->at || out->n == 0)
		return false;
	*behind = *list->at++;
	return true;
}

static bool take_number(struct list *list, uint64_t *out, char *behind)
{
	struct word word;

	*out = 0;
	if (!take_word(list, &word, behind))
		return false;
	for (size_t i = 0; i < word.n; i++)
		if (word.at[i] < '0' || word.at[i] > '9' || !checked_mul(*out, 10, out) ||
		    !checked_add(*out, (uint64_t)(word.at[i] - '0'), out))
			return false;
	return true;
}

/* Where a name has blanks the words are not what they seem: the suffix tells. */
static bool take_file(struct list *list, struct listed *out, char *behind)
{
	char a, b, c;

	return take_word(list, &out->suffix, &a) && a == ' ' &&
	       take_number(list, &out->data, &b) && b == ' ' &&
	       take_number(list, &out->size, &c) && c == ' ' &&
	       take_word(list, &out->name, behind) && out->name.n >= out->suffix.n &&
	       memcmp(out->name.at + out->name.n - out->suffix.n, out->suffix.at,
		      out->suffix.n) == 0;
}

/* Does it lie behind the one before, with room for a header, and in the window? */
static bool file_fits(const struct list *list, const struct tar_window *window,
		      struct listed *file)
{
	uint64_t padded;

	return file->name.n < TAR_PLAIN_PATH && file->data % TAR_BLOCK == 0 &&
	       file->data >= TAR_BLOCK && file->data - TAR_BLOCK >= list->end &&
	       tar_round_up(file->size, &padded) &&
	       checked_add(file->data, padded, &file->end) && file->end <= window->length;
}

/* NULL, or what is wrong with the first line. */
static const char *take_head(struct list *list)
{
	struct word version;
	char behind;

	list->at = list->text;
	list->end = 0;
	list->files_seen = 0;
	if (!take_word(list, &version, &behind) || behind != ' ' ||
	    version.n != 4 || memcmp(version.at, "v1.", 3) != 0)
		return "it is no list of wds2idx";
	if (version.at[3] != '2')
		return "only version 1.2 of wds2idx has the names of the files";
	if (!take_number(list, &list->samples, &behind) || behind != '\n')
		return "it is no list of wds2idx";
	return NULL;
}

/* The headers */

static bool read_header(const struct tar_window *window, const struct listed *file,
			struct tar_plain *plain)
{
	unsigned char block[TAR_BLOCK];

	return tar_window_peek(window, block, TAR_BLOCK, file->data - TAR_BLOCK) == 0 &&
	       tar_plain_parse(block, plain) && !plain->directory &&
	       plain->size == file->size && strlen(plain->path) == file->name.n &&
	       memcmp(plain->path, file->name.at, file->name.n) == 0;
}

/* Is it one of those that are spread evenly, the first and the last among them? */
static bool is_checked(const struct list *list, uint64_t number)
{
	uint64_t last = list->files - 1, step = last / (CHECKED - 1);

	return step == 0 || number == last || number % step == 0;
}

/* What is done with each file of the list: 0, 1 to stop, or an error. */
typedef int (*file_function)(struct list *list, struct scan *scan,
			     struct tar_window *window, const struct listed *file);

static int count_file(struct list *list, struct scan *scan, struct tar_window *window,
		      const struct listed *file)
{
	(void)scan;
	(void)window;
	(void)file;
	list->files++;
	return 0;
}

static int check_file(struct list *list, struct scan *scan, struct tar_window *window,
		      const struct listed *file)
{
	struct tar_plain plain;

	(void)scan;
	if (!is_checked(list, list->files_seen))
		return 0;
	if (!read_header(window, file, &plain))
		return 1;
	if (list->files_seen == 0)
		list->first = plain;
	return 0;
}

static int append_file(struct list *list, struct scan *scan, struct tar_window *window,
		       const struct listed *file)
{
	struct tar_plain plain = list->first;
	int err;

	plain.size = file->size;
	memcpy(plain.path, file->name.at, file->name.n);
	plain.path[file->name.n] = '\0';
	err = tar_plain_append(scan, window, file->data - TAR_BLOCK, &plain);
	if (!err && scan->advance)
		scan->advance(scan, file->end - list->end);
	return err;
}

/*
 * Goes through the list. 0 at its end, 1 where it is not what it should be, with the
 * reason in *why if it is one of the text; or an error.
 */
static int each_file(struct list *list, struct scan *scan, struct tar_window *window,
		     file_function function, const char **why)
{
	uint64_t lines = 0;

	*why = take_head(list);
	if (*why)
		return 1;
	while (list->at < list->text + list->length) {
		struct listed file;
		char behind;
		int r;

		*why = "it is damaged, or of another file, or has names with blanks";
		if (!take_file(list, &file, &behind) || !file_fits(list, window, &file))
			return 1;
		*why = "its names, sizes or places are not those in the headers";
		r = function(list, scan, window, &file);
		if (r)
			return r;
		list->end = file.end;
		list->files_seen++;
		lines += behind == '\n';
	}
	*why = "it is cut off";
	return lines != list->samples || lines == 0 || list->text[list->length - 1] != '\n';
}

/* The file */

static const char *load(struct list *list, int fd, const struct scan *scan)
{
	const struct source_owner *tar = source_owner(scan->source);
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    st.st_size > LARGEST || (uint64_t)st.st_size > scan->length)
		return "it is empty, too large, or no regular file";
	if (st.st_mtim.tv_sec < tar->mtime ||
	    (st.st_mtim.tv_sec == tar->mtime && st.st_mtim.tv_nsec < tar->mtime_ns))
		return "it is older than the tar";
	list->text = malloc((size_t)st.st_size);
	if (!list->text)
		return "there is no memory for it";
	while (list->length < (size_t)st.st_size) {
		n = read(fd, list->text + list->length, (size_t)st.st_size - list->length);
		if (n == 0 || (n < 0 && errno != EINTR))
			return "it cannot be read";
		list->length += n > 0 ? (size_t)n : 0;
	}
	return NULL;
}

char *tar_idx_path(const char *tar, unsigned i)
{
	size_t n = strlen(tar);
	bool has_end = n > 4 && strcmp(tar + n - 4, ".tar") == 0;
	char *path;

	if (i >= TAR_IDX_PATHS || (i == 1 && !has_end))
		return NULL;
	if (has_end && i == 0)
		n -= 4;
	return asprintf(&path, "%.*s.idx", (int)n, tar) < 0 ? NULL : path;
}

int tar_idx_open(const char *path)
{
	return held_open_file(path);
}

/* Who opens it. Set while the process has one thread. */
static int (*opener)(const char *path) = tar_idx_open;

void tar_idx_open_by(int (*open)(const char *path))
{
	opener = open;
}

/* A descriptor, or a negative errno. */
static int open_list(struct list *list, const char *tar)
{
	int fd = -ENOENT;

	for (unsigned i = 0; i < TAR_IDX_PATHS && fd == -ENOENT; i++) {
		char *path = tar_idx_path(tar, i);

		if (!path)
			break;
		free(list->path);
		list->path = path;
		fd = opener(path);
	}
	return fd;
}

/* NULL, or why the list is not used; nothing has been appended. */
static const char *verify(struct list *list, struct scan *scan, struct tar_window *window)
{
	uint64_t rest;
	const char *why;
	int r = each_file(list, scan, window, count_file, &why);

	if (!r)
		r = each_file(list, scan, window, check_file, &why);
	if (r)
		return why;
	if (tar_window_find_nonzero(window, list->end, &rest) != 0 ||
	    rest != window->length)
		return "there is more in the tar, behind the last file of the list";
	return NULL;
}

int tar_idx_scan(struct scan *scan, struct tar_window *window, struct error *e)
{
	CLEANUP(free_list) struct list list = { 0 };
	CLEANUP(cleanup_close) int fd = -1;
	const char *why;
	int err;

	if (scan->base != 0 || scan->length != source_size(scan->source))
		return 0; /* a tar inside another has no list */
	fd = open_list(&list, source_path(scan->source));
	why = fd == -EINVAL ? "it is no regular file" :
	      fd < 0 ? "it is not there, or may not be read" : load(&list, fd, scan);
	if (!why)
		why = verify(&list, scan, window);
	if (why) {
		log_warn("'%s': the list '%s' is not used: %s. All headers are read instead",
			 scan->label, list.path ? list.path : "", why);
		return 0;
	}
	err = each_file(&list, scan, window, append_file, &why);
	if (err)
		return format_no_memory(scan->label, e);
	snprintf(scan->detail, sizeof(scan->detail), "files as its .idx lists them");
	return 1;
}
