/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source/shard_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/filename.h"
#include "source/directory.h"

#define INDEX "index.json"
#define REMEDY "name the shards beside it instead"
#define LITDATA_REMEDY "write the dataset again"
/* before it is known whose it is */
#define ANY_REMEDY "name the shards beside it instead if they are MDS; if it is LitData's, " \
	"write the dataset again, in larger chunks"

enum { SHARDS_MOST = 100000, TEXTS = 4 /* of a shard: name and size, twice */ };

void shard_list_free(struct shard_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].path);
	vec_free(list);
}

/* ---- In the child ---- */

static bool find(const struct pyjson_value *object, const char *key, struct pyjson_value *out)
{
	return object->kind == PYJSON_OBJECT && pyjson_find(object, key, strlen(key), out);
}

/* Name and size of a file; of null two empty texts. */
static enum json_names_fault add_shard_file(struct json_names *names,
					    const struct pyjson_value *shard, const char *key)
{
	struct pyjson_value file = { PYJSON_NULL, "", 0 }, name = file, size = file;
	enum json_names_fault fault;

	find(shard, key, &file);
	if (file.kind != PYJSON_NULL &&
	    (!find(&file, "basename", &name) || name.kind != PYJSON_STRING ||
	     !find(&file, "bytes", &size) || size.kind != PYJSON_INTEGER))
		return JSON_NAMES_UNNAMED;
	fault = json_names_add(names, &name);
	return fault ? fault : json_names_add(names, &size);
}

static bool is_mds(const struct pyjson_value *shard)
{
	struct pyjson_value format, version;

	return find(shard, "format", &format) && format.kind == PYJSON_STRING &&
	       pyjson_equals(&format, "mds", strlen("mds")) &&
	       find(shard, "version", &version) && version.kind == PYJSON_INTEGER &&
	       version.size == 1 && *version.text == '2';
}

/* Of a chunk of LitData only the name: its size is that of the plain chunk. */
static enum json_names_fault add_chunk(struct json_names *names, const struct pyjson_value *chunk)
{
	static const struct pyjson_value none = { PYJSON_NULL, "", 0 };
	struct pyjson_value name;
	enum json_names_fault fault;

	if (!find(chunk, "filename", &name) || name.kind != PYJSON_STRING)
		return JSON_NAMES_UNNAMED;
	fault = json_names_add(names, &name);
	for (unsigned i = 1; i < TEXTS && !fault; i++)
		fault = json_names_add(names, &none);
	return fault;
}

static enum json_names_fault add_shard_entry(struct json_names *names,
						const struct pyjson_value *shard)
{
	enum json_names_fault fault;

	if (!is_mds(shard))
		return JSON_NAMES_FORMAT;
	fault = add_shard_file(names, shard, "raw_data");
	return fault ? fault : add_shard_file(names, shard, "zip_data");
}

/* All items of the list that the root has under this key. */
static enum json_names_fault read_items(
	struct json_names *names, const struct pyjson_value *root, const char *key,
	enum json_names_fault (*add)(struct json_names *names, const struct pyjson_value *item))
{
	enum json_names_fault fault = JSON_NAMES_FINE;
	struct pyjson_value items, unused, item;
	struct pyjson_walk walk;

	if (!find(root, key, &items))
		return JSON_NAMES_FINE;
	walk = pyjson_items(&items);
	while (!fault && pyjson_next(&walk, &unused, &item))
		fault = add(names, &item);
	return fault;
}

static enum json_names_fault read_chunks(struct json_names *names,
					 const struct pyjson_value *root, const char *key)
{
	return read_items(names, root, key, add_chunk);
}

static enum json_names_fault read_shards(struct json_names *names,
					 const struct pyjson_value *root, const char *key)
{
	return read_items(names, root, key, add_shard_entry);
}

/* ---- The shards ---- */

/* Each is looked at as a name or a size later. */
static bool fits_any(const char *text)
{
	return text != NULL;
}

static bool has_dots(const char *name)
{
	for (const char *p = name; (p = strstr(p, "..")); p += 2)
		if ((p == name || p[-1] == '/') && (p[2] == '/' || !p[2]))
			return true;
	return false;
}

static int refuse_name(const struct json_file *index, const char *name, struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "'%s' names the shard '%.200s', which is no file below its directory; "
			 "write the dataset again, or copy its shards there", index->path, name);
}

static int refuse_size(const struct json_file *index, char *const *texts, struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "'%s' says that the shard '%.200s' has '%.40s' bytes, which is no size of a "
			 "file; " REMEDY, index->path, texts[0], texts[1]);
}

/* Codecs whose streams are not read, and what unpacks a shard beside itself. */
static int refuse_codec(const char *path, struct error *e)
{
	static const char *const unpack[][2] = {
		{ ".br", "brotli -dk" },
		{ ".snappy", "python3 -c 'import snappy, sys; n = sys.argv[1]; open(n[:-7], \"wb\")"
			     ".write(snappy.decompress(open(n, \"rb\").read()))'" },
	};

	for (size_t i = 0; i < sizeof(unpack) / sizeof(*unpack); i++) {
		if (strcmp(suffix_of(path), unpack[i][0]) != 0)
			continue;
		return error_set(e, ERROR_DATASET, EBADMSG,
				 "'%s' is compressed by %s, which is not read; unpack each shard beside "
				 "itself: %s '%s'", path, unpack[i][0] + 1, unpack[i][1], path);
	}
	return 0;
}

static bool parse_size(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

static size_t directory_length(const struct json_file *index)
{
	return (size_t)(filename_of(index->path) - index->path) - 1;
}

/* Appends a shard: 1; 0: it has no such file, or `must_exist` and it does not; or an error. */
static int add_shard(const struct json_file *index, char *const *texts, bool must_exist,
		     struct shard_list *list, struct error *e)
{
	const char *name = texts[0];
	size_t directory = directory_length(index);
	struct shard_name shard = { .directory = directory, .size = SHARD_SIZE_UNKNOWN };
	struct stat st;

	if (!*name)
		return 0;
	if (*name == '/' || has_dots(name))
		return refuse_name(index, name, e);
	if (*texts[1] && !parse_size(texts[1], &shard.size))
		return refuse_size(index, texts, e);
	if (asprintf(&shard.path, "%.*s/%s", (int)directory, index->path, name) < 0)
		return error_no_memory(e, NULL);
	if (must_exist && stat(shard.path, &st) < 0 && errno == ENOENT) {
		free(shard.path);
		return 0;
	}
	if (vec_push(list, shard) == 0)
		return 1;
	free(shard.path);
	return error_no_memory(e, NULL);
}

/* The plain file, if it is there; else the compressed one; else what is missed. */
static int add_shard_or_zip(const struct json_file *index, char *const *texts,
			    struct shard_list *list, struct error *e)
{
	bool zipped = *texts[2] != '\0';
	int there = add_shard(index, texts, zipped, list, e), err = 0;

	if (there == 0 && zipped) {
		there = add_shard(index, texts + 2, false, list, e);
		if (there > 0)
			err = refuse_codec(list->items[list->count - 1].path, e);
	}
	if (there == 0)
		return refuse_name(index, "", e);
	return there < 0 ? there : err;
}

static int list_shards(const struct json_file *index, const struct json_names_kind *kind,
		       struct shard_list *list, struct error *e)
{
	CLEANUP(path_list_free) struct path_list texts = { NULL, 0, 0 };
	int err = json_names_list(index, kind, &texts, e);

	if (!err && (texts.count == 0 || texts.count % TEXTS))
		err = json_names_refuse(index->path, "lists no shards", kind->remedy, e);
	for (size_t i = 0; i < texts.count && !err; i += TEXTS)
		err = add_shard_or_zip(index, texts.items + i, list, e);
	return err ? err : 1;
}

/* ---- Indexes ---- */

static bool has_member(const struct json_file *index, const char *member)
{
	return memmem(index->text, index->size, member, strlen(member)) != NULL;
}

/* LitData's says what is in its chunks, too: it goes with them. */
static int list_chunks(struct json_file *index, struct shard_list *list, struct error *e)
{
	static const struct json_names_kind chunks = { read_chunks, "chunks", SHARDS_MOST * TEXTS,
						       fits_any, LITDATA_REMEDY };
	struct shard_name itself = { strdup(index->path), directory_length(index),
				     SHARD_SIZE_UNKNOWN };

	if (!itself.path || vec_push(list, itself) < 0) {
		free(itself.path);
		return error_no_memory(e, NULL);
	}
	return list_shards(index, &chunks, list, e);
}

static int list_index(const char *directory, size_t *left, struct shard_list *list,
		      struct error *e)
{
	static const struct json_names_kind shards = { read_shards, "shards", SHARDS_MOST * TEXTS,
						       fits_any, REMEDY };
	CLEANUP(json_file_free) struct json_file index;
	int there = json_file_read(directory, INDEX, left, ANY_REMEDY, &index, e);

	if (there == 0 && index.is_empty)
		return json_names_refuse(index.path, "is empty", ANY_REMEDY, e);
	if (there > 0 && has_member(&index, "\"data_format\"") && has_member(&index, "\"chunks\""))
		return list_chunks(&index, list, e);
	if (there > 0 && has_member(&index, "\"shards\""))
		return list_shards(&index, &shards, list, e);
	return there < 0 ? there : 0;
}

int shard_list_of_file(const char *path, size_t *left, struct shard_list *list,
		       struct error *e)
{
	const char *name = filename_of(path);
	CLEANUP(cleanup_free) char *directory = NULL;

	if (strcmp(name, INDEX) != 0)
		return 0;
	directory = name == path ? strdup(".") : strndup(path, (size_t)(name - path));
	return directory ? list_index(directory, left, list, e) : error_no_memory(e, NULL);
}

/* An index.json that is none among some that are: its split is not left out. */
static int refuse_split(const char *directory, struct error *e)
{
	CLEANUP(cleanup_free) char *path = json_file_join(directory, INDEX);

	return path ? json_names_refuse(path, "lists no shards", ANY_REMEDY, e) :
		      error_no_memory(e, NULL);
}

/* A split's directory may be a link: its files lie below the directory that was named. */
static void set_directory(struct shard_list *list, size_t from, const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	for (; from < list->count; from++)
		list->items[from].directory = n;
}

static int list_splits(const char *path, size_t *left, struct shard_list *list,
		       struct error *e)
{
	CLEANUP(path_list_free) struct path_list directories = { NULL, 0, 0 };
	int there = directory_list_with(path, INDEX, &directories, e);
	size_t before = list->count;
	const char *none = NULL;
	bool any = false;

	for (size_t i = 0; i < directories.count && there >= 0; i++) {
		there = list_index(directories.items[i], left, list, e);
		any |= there > 0;
		if (there == 0 && !none)
			none = directories.items[i];
	}
	if (there >= 0 && any && none)
		return refuse_split(none, e);
	set_directory(list, before, path);
	return there < 0 ? there : any;
}

int shard_list_of_directory(const char *path, size_t *left, struct shard_list *list,
			    struct error *e)
{
	int there = list_index(path, left, list, e);

	return there ? there : list_splits(path, left, list, e);
}
