/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source/directory.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "source/remedies.h"

enum {
	NAMES_MOST = 100000, /* of a directory; more say nothing else */
	DIRECTORIES_MOST = 8,    /* of a directory that are looked into, */
	LEVELS_MOST = 3,     /* so deep, */
	LISTINGS_MOST = 64,  /* and so many in all */
	SHARE_LEAST = 4,     /* one of so many names has to be a packed file */
	FILES_BYTES = PATH_MAX + 4 * NAME_MAX,
};

enum directory_kind { KIND_MOUNTABLE, KIND_DATASET, KIND_FILES };

/* A line of directories.def. */
struct directory_row {
	enum directory_kind kind;
	const char *first, *second, *what, *remedy;
};

static const struct directory_row rows[] = {
#define MOUNTABLE(pattern, word) { KIND_MOUNTABLE, pattern, NULL, word, NULL },
#define DIRECTORY(first, second, what, remedy) { KIND_DATASET, first, second, what, remedy },
#define FILES(first, second, what) { KIND_FILES, first, second, what, NULL },
#include "source/directories.def"
};

struct directory_name {
	char *text; /* owned */
	bool directory;
};

/* The sorted names of a directory. */
struct directory_listing {
	char path[PATH_MAX];
	VEC(struct directory_name) names;
};

static void listing_free(struct directory_listing *listing)
{
	for (size_t i = 0; i < listing->names.count; i++)
		free(listing->names.items[i].text);
	vec_free(&listing->names);
}

static int directory_by_text(const void *a, const void *b)
{
	return strcmp(((const struct directory_name *)a)->text,
		      ((const struct directory_name *)b)->text);
}

static bool name_is_directory(DIR *dir, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK)
		return entry->d_type == DT_DIR;
	return fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 && S_ISDIR(st.st_mode);
}

static void directory_add_name(struct directory_listing *listing, DIR *dir,
			    const struct dirent *entry)
{
	struct directory_name name;

	if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
		return;
	name = (struct directory_name){strdup(entry->d_name), name_is_directory(dir,
										entry)};
	if (name.text && vec_push(&listing->names, name) < 0)
		free(name.text);
}

/* A directory that cannot be read, or short memory, gives fewer names. */
static void listing_read(struct directory_listing *listing, const char *path,
			 const char *below)
{
	struct dirent *entry;
	DIR *dir;

	*listing = (struct directory_listing){ .names = VEC_INIT };
	snprintf(listing->path, sizeof(listing->path), "%s%s%s", path, below ? "/" : "",
		 below ? below : "");
	dir = opendir(listing->path);
	if (!dir)
		return;
	while (listing->names.count < NAMES_MOST && (entry = readdir(dir)))
		directory_add_name(listing, dir, entry);
	closedir(dir);
	if (listing->names.count)
		qsort(listing->names.items, listing->names.count,
		      sizeof(*listing->names.items), directory_by_text);
}

static bool is_like(const struct directory_name *name, const char *pattern)
{
	return fnmatch(pattern, name->text, FNM_PERIOD) == 0;
}

static size_t count_like(const struct directory_listing *listing, const char *pattern)
{
	size_t count = 0;

	for (size_t i = 0; i < listing->names.count; i++)
		count += is_like(&listing->names.items[i], pattern);
	return count;
}

/*
 * `pattern`: for names here, or a directory's name, a slash and a pattern for its names.
 */
static bool directory_contains(const struct directory_listing *listing, const char *pattern)
{
	const char *slash = strchr(pattern, '/');
	CLEANUP(cleanup_free) char *name = NULL;
	CLEANUP(listing_free) struct directory_listing inner = { .names = VEC_INIT };

	if (!slash)
		return count_like(listing, pattern) > 0;
	name = strndup(pattern, (size_t)(slash - pattern));
	if (!name || count_like(listing, name) == 0)
		return false;
	listing_read(&inner, listing->path, name);
	return count_like(&inner, slash + 1) > 0;
}

/* One Parquet file beside directories of images makes no dataset of Parquet files. */
static bool are_many(const struct directory_listing *listing, const char *pattern)
{
	size_t all = count_like(listing, "*") - count_like(listing, "*.gidx");

	return all > 0 && count_like(listing, pattern) * SHARE_LEAST >= all;
}

static bool directory_fits(const struct directory_row *row,
			const struct directory_listing *listing)
{
	if (!row->second && row->first[0] == '*')
		return are_many(listing, row->first);
	return directory_contains(listing, row->first) &&
	       (!row->second || directory_contains(listing, row->second));
}

static const struct directory_row *find_row(const struct directory_listing *listing)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (directory_fits(&rows[i], listing))
			return &rows[i];
	return NULL;
}

/* The limits of a search for the error message. */
struct search {
	unsigned deeper;   /* levels */
	unsigned listings; /* that may still be read */
};

static const struct directory_row *find_below(struct directory_listing *listing,
					   struct search *search);

/*
 * A dataset in splits, or in versions, has one dataset in each directory. Returns the
 * kind of more than half of the first directories, or of the directories in them, and the
 * first such directory in *inner.
 */
static const struct directory_row *find_in_directories(const struct directory_listing *listing,
						struct search *search,
						struct directory_listing *inner)
{
	const struct directory_row *found = NULL;
	size_t looked_at = 0, like_it = 0;

	for (size_t i = 0; i < listing->names.count && looked_at < DIRECTORIES_MOST; i++) {
		const struct directory_name *name = &listing->names.items[i];
		CLEANUP(listing_free) struct directory_listing next = { .names = VEC_INIT };
		const struct directory_row *row;

		if (!name->directory || name->text[0] == '.' || search->listings == 0)
			continue;
		search->listings--;
		listing_read(&next, listing->path, name->text);
		row = find_row(&next);
		if (!row)
			row = find_below(&next, search);
		looked_at++;
		like_it += row && (!found || row == found);
		if (row && !found) {
			found = row;
			*inner = next;
			next.names = (typeof(next.names))VEC_INIT;
		}
	}
	return 2 * like_it > looked_at ? found : NULL;
}

/* Goes one level deeper: the listing becomes that of the dataset. */
static const struct directory_row *find_below(struct directory_listing *listing,
					   struct search *search)
{
	CLEANUP(listing_free) struct directory_listing inner = { .names = VEC_INIT };
	const struct directory_row *row = NULL;

	if (search->deeper > 0) {
		search->deeper--;
		row = find_in_directories(listing, search, &inner);
		search->deeper++;
	}
	if (row) {
		struct directory_listing outer = *listing;

		*listing = inner;
		inner = outer;
	}
	return row;
}

/* The begin and end, in the first name, of the number that differs in two names. */
static bool directory_find_number(const char *a, const char *b, size_t *begin, size_t *end)
{
	size_t length = strlen(a);

	if (strlen(b) != length)
		return false;
	for (*begin = 0; a[*begin] && a[*begin] == b[*begin]; ++*begin)
		;
	while (*begin > 0 && isdigit((unsigned char)a[*begin - 1]))
		--*begin;
	for (*end = *begin; isdigit((unsigned char)a[*end]) && isdigit((unsigned char)b[*end]);
	     ++*end)
		;
	return *end > *begin && strcmp(a + *end, b + *end) == 0;
}

static bool is_between(const char *text, const char *first, size_t begin, size_t end)
{
	if (strlen(text) != strlen(first) || strncmp(text, first, begin) != 0 ||
	    strcmp(text + end, first + end) != 0)
		return false;
	for (size_t i = begin; i < end; i++)
		if (!isdigit((unsigned char)text[i]))
			return false;
	return true;
}

/*
 * 'DIR/train-{000..127}.tar' if the files are exactly these; else 'DIR'/ and the pattern.
 */
static void name_files(const struct directory_listing *listing, const char *pattern,
		       char *out)
{
	const char *first = NULL, *last = NULL;
	size_t count = 0, begin = 0, end = 0;
	bool in_turn;

	for (size_t i = 0; i < listing->names.count; i++) {
		if (!is_like(&listing->names.items[i], pattern))
			continue;
		last = listing->names.items[i].text;
		first = first ? first : last;
		count++;
	}
	if (!first || count == 1) {
		snprintf(out, FILES_BYTES, "'%s/%s'", listing->path,
			 first ? first : pattern);
		return;
	}
	in_turn = listing->names.count < NAMES_MOST &&
		  directory_find_number(first, last, &begin, &end) && end - begin < 10 &&
		  strtoul(last + begin, NULL, 10) - strtoul(first + begin, NULL, 10) ==
			  count - 1;
	for (size_t i = 0; i < listing->names.count && in_turn; i++)
		in_turn = !is_like(&listing->names.items[i], pattern) ||
			  is_between(listing->names.items[i].text, first, begin, end);
	if (in_turn)
		snprintf(out, FILES_BYTES, "'%s/%.*s{%.*s..%.*s}%s'", listing->path,
			 (int)begin, first, (int)(end - begin), first + begin,
			 (int)(end - begin), last + begin, first + end);
	else
		snprintf(out, FILES_BYTES, "'%s'/%s", listing->path, pattern);
}

static int refuse_mountable(const char *path, const struct directory_listing *listing,
			    const struct directory_row *row, struct error *e)
{
	char files[FILES_BYTES];

	name_files(listing, row->first, files);
	return error_set(e, ERROR_DATASET, EISDIR,
			 "'%s' is a directory; mount the %s files in it: granaryfs %s "
			 "MOUNTPOINT", path, row->what, files);
}

/*
 * Directories KEY=VALUE below `path` are partitions of one dataset, which begins above
 * them.
 */
static void strip_partitions(const char *path, struct directory_listing *listing)
{
	char *name = listing->path + strlen(path), *end;

	for (; *name == '/'; name = end) {
		end = name + 1 + strcspn(name + 1, "/");
		if (memchr(name, '=', (size_t)(end - name))) {
			*name = '\0';
			return;
		}
	}
}

static int refuse_dataset(const char *path, const struct directory_listing *listing,
			  const struct directory_row *row, struct error *e)
{
	const char *hole = strstr(row->remedy, "%s");
	bool inside = strcmp(path, listing->path) != 0;
	int before = hole ? (int)(hole - row->remedy) : (int)strlen(row->remedy);

	return error_set(e, ERROR_DATASET, EISDIR,
			 "'%s' is a directory%s%s%s: %s, which is not read as such; %.*s%s%s", path,
			 inside ? " with a dataset in '" : "", inside ? listing->path : "",
			 inside ? "'" : "", row->what, before, row->remedy,
			 hole ? listing->path : "", hole ? hole + 2 : "");
}

/* A tar of "." must not lie in that directory, nor have the name "..tar". */
static int refuse_files(const char *path, const char *what, struct error *e)
{
	bool dots = path[strspn(path, "./")] == '\0';

	return error_set(e, ERROR_DATASET, EISDIR,
			 "'%s' is a directory%s%s, not a packed file; pack it first: "
			 "granary pack '%s' '%s%s'", path, what ? ": " : "", what ? what : "",
			 path, path, dots ? "/../packed.tar" : ".tar");
}

int directory_refuse(const char *path, struct error *e)
{
	CLEANUP(cleanup_free) char *plain = strdup(path);
	CLEANUP(listing_free) struct directory_listing listing = { .names = VEC_INIT };
	struct search search = { LEVELS_MOST, LISTINGS_MOST };
	const struct directory_row *row;

	for (size_t n = plain ? strlen(plain) : 0; n > 1 && plain[n - 1] == '/'; n--)
		plain[n - 1] = '\0';
	if (!plain || !e)
		return error_set(e, ERROR_DATASET, EISDIR, "'%s' is a directory", path);
	listing_read(&listing, plain, NULL);
	if (listing.names.count == 0)
		return error_set(e, ERROR_DATASET, EISDIR,
				 "'%s' is a directory that is empty, "
				 "or may not be read; name a packed file", plain);
	row = find_row(&listing);
	if (!row)
		row = find_below(&listing, &search);
	if (row && row->kind == KIND_MOUNTABLE)
		return refuse_mountable(plain, &listing, row, e);
	strip_partitions(plain, &listing);
	if (row && row->kind == KIND_DATASET)
		return refuse_dataset(plain, &listing, row, e);
	return refuse_files(plain, row ? row->what : NULL, e);
}

/* ---- Directories with a file of a certain name ---- */

enum { HAS_NONE, HAS_FILE, HAS_UNKNOWN };

/* A dangling link, or a directory that may not be searched, says nothing. */
static int directory_has_file(const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0)
		return S_ISREG(st.st_mode) ? HAS_FILE : HAS_NONE;
	if (errno == ENOENT && lstat(path, &st) == 0)
		return HAS_UNKNOWN;
	return errno == ENOENT || errno == ENOTDIR ? HAS_NONE : HAS_UNKNOWN;
}

/* Appends a directory, which is then the list's, if it has that file, or may have it: HAS_,
   or -ENOMEM. */
static int directory_add_with(char *directory, const char *name, struct path_list *list)
{
	CLEANUP(cleanup_free) char *file = directory ? json_file_join(directory, name) : NULL;
	int there = file ? directory_has_file(file) : -ENOMEM;

	if (there > 0 && vec_push(list, directory) < 0)
		there = -ENOMEM;
	if (there <= 0)
		free(directory);
	return there;
}

int directory_list_with(const char *path, const char *name, struct path_list *list,
			struct error *e)
{
	CLEANUP(listing_free) struct directory_listing listing = { .names = VEC_INIT };
	size_t directories = 0, count = 0, before = list->count;
	int there = 0;

	listing_read(&listing, path, NULL);
	for (size_t i = 0; i < listing.names.count && there >= 0; i++) {
		const struct directory_name *directory = &listing.names.items[i];

		if (!directory->directory || directory->text[0] == '.')
			continue;
		directories++;
		there = directory_add_with(json_file_join(path, directory->text), name, list);
		count += there == HAS_FILE;
	}
	if (there < 0)
		return error_no_memory(e, path);
	if (2 * count <= directories)
		while (list->count > before)
			free(list->items[--list->count]);
	return 0;
}

int directory_list_databases(const char *path, struct path_list *list, struct error *e)
{
	static const char name[] = "data.mdb";
	size_t before = list->count;
	int there = directory_add_with(strdup(path), name, list);

	if (there == 0)
		there = directory_list_with(path, name, list, e);
	for (size_t i = before; i < list->count && there >= 0; i++) {
		char *file = json_file_join(list->items[i], name);

		if (!file) {
			there = -ENOMEM;
			break;
		}
		free(list->items[i]);
		list->items[i] = file;
	}
	return there < 0 ? error_no_memory(e, path) : list->count > before;
}
