/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source/json_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "base/filename.h"
#include "os/bounded.h"
#include "os/sandbox.h"
#include "source/source.h"

enum {
	PARSE_MS = 20000,
	ROOM_LEAST = 4096,
	FILE_COST = 64 << 10, /* bytes: a process parses it */
};

static const char *const fault_words[] = {
	[JSON_NAMES_NO_OBJECT] = "is no JSON object",
	[JSON_NAMES_UNNAMED] = "has an item without a name",
	[JSON_NAMES_NO_NAME] = "names a file that cannot be one",
	[JSON_NAMES_MANY] = "lists too many files",
	[JSON_NAMES_FORMAT] = "lists files of another format, or of another version of it",
	[JSON_NAMES_MEMORY] = "takes more memory to read than there is",
	[JSON_NAMES_RIGHTS] = "cannot be read by a process without rights",
};

/* Shared with the child; the names follow, a zero byte behind each. */
struct names_result {
	enum json_names_fault fault;
	size_t used;
	char names[];
};

struct json_names {
	const struct json_file *file;
	const struct json_names_kind *kind;
	struct names_result *result;
	size_t room; /* for names */
};

void path_list_free(struct path_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	vec_free(list);
}

int json_names_refuse(const char *path, const char *what, const char *remedy, struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG, "'%s' %s; %s", path, what, remedy);
}

/* ---- The file ----------------------------------------------------------------- */

char *json_file_join(const char *directory, const char *name)
{
	size_t n = strlen(directory), room = n + strlen(name) + 2;
	char *path = malloc(room);

	if (!path)
		return NULL;
	while (n > 1 && directory[n - 1] == '/')
		n--;
	snprintf(path, room, "%.*s/%s", (int)n, directory, name);
	return path;
}

void json_file_free(struct json_file *file)
{
	free(file->path);
	free(file->text);
}

static void json_file_close(struct source **source)
{
	source_close(*source);
}

int json_file_read(const char *directory, const char *name, size_t *left,
		   const char *remedy, struct json_file *out, struct error *e)
{
	CLEANUP(json_file_close) struct source *source = NULL;
	uint64_t size;
	int err;

	*out = (struct json_file){ .path = json_file_join(directory, name) };
	if (!out->path)
		return error_no_memory(e, NULL);
	err = source_open(out->path, &source, e);
	if (err)
		return err == -ENOENT || err == -EISDIR ? 0 : err;
	size = source_size(source);
	out->is_empty = size == 0;
	if (out->is_empty)
		return 0;
	if (*left < FILE_COST || size > *left - FILE_COST)
		return json_names_refuse(out->path, "and such files before it are too many, or "
					 "too large", remedy, e);
	*left -= (size_t)size + FILE_COST;
	out->size = (size_t)size;
	out->text = malloc(out->size);
	if (!out->text)
		return error_no_memory(e, NULL);
	if (source_pread(source, out->text, out->size, 0) < 0)
		return json_names_refuse(out->path, "cannot be read", remedy, e);
	return 1;
}

/* ---- The child ---------------------------------------------------------------- */

/* A decoded string is never longer than the text of its value. */
enum json_names_fault json_names_add(struct json_names *names, const struct pyjson_value *value)
{
	struct names_result *result = names->result;
	char *text = result->names + result->used;
	size_t n = value->kind == PYJSON_NULL ? 0 : value->size;

	if (value->size + 1 > names->room - result->used)
		return JSON_NAMES_MANY;
	if (value->kind == PYJSON_STRING)
		n = pyjson_string(value, text);
	else
		memcpy(text, value->text, n);
	text[n] = '\0';
	if (strlen(text) != n)
		return JSON_NAMES_NO_NAME;
	result->used += n + 1;
	return JSON_NAMES_FINE;
}

enum json_names_fault json_names_add_last(struct json_names *names,
					  const struct pyjson_value *path)
{
	struct names_result *result = names->result;
	char *text = result->names + result->used;
	enum json_names_fault fault = json_names_add(names, path);
	const char *name;

	if (fault)
		return fault;
	name = filename_of(text);
	result->used -= (size_t)(name - text);
	memmove(text, name, strlen(name) + 1);
	return JSON_NAMES_FINE;
}

static enum json_names_fault parse_file(struct json_names *names)
{
	struct pyjson_fault unused;
	struct pyjson json;
	int err = pyjson_begin(&json, names->file->text, names->file->size, &unused);

	if (err < 0)
		return err == -ENOMEM ? JSON_NAMES_MEMORY : JSON_NAMES_NO_OBJECT;
	if (json.root.kind != PYJSON_OBJECT)
		return JSON_NAMES_NO_OBJECT;
	return names->kind->read(names, &json.root, names->kind->key);
}

static int parse_in_child(void *argument)
{
	struct json_names *names = argument;
	struct error unused;

	names->result->fault = sandbox_enter(&unused) < 0 ? JSON_NAMES_RIGHTS : parse_file(names);
	return 0;
}

/* ---- The caller --------------------------------------------------------------- */

static int refuse_fault(const struct json_names *names, enum json_names_fault fault,
			struct error *e)
{
	return json_names_refuse(names->file->path, fault_words[fault], names->kind->remedy, e);
}

/* The child's result is checked: a parser that was taken over may leave anything. */
static int add_parsed_names(const struct json_names *names, struct path_list *list,
			    struct error *e)
{
	const struct names_result *result = names->result;
	const char *name = result->names, *end;

	if (result->used > names->room || (result->used && name[result->used - 1] != '\0'))
		return refuse_fault(names, JSON_NAMES_NO_NAME, e);
	for (end = name + result->used; name < end; name += strlen(name) + 1) {
		char *copy = strdup(name);

		if (!copy || vec_push(list, copy) < 0) {
			free(copy);
			return error_no_memory(e, NULL);
		}
		if (!names->kind->fits(copy))
			return refuse_fault(names, JSON_NAMES_NO_NAME, e);
		if (list->count > names->kind->most)
			return refuse_fault(names, JSON_NAMES_MANY, e);
	}
	return 0;
}

static int run_parse(struct json_names *names, struct path_list *list, struct error *e)
{
	const char *path = names->file->path, *remedy = names->kind->remedy;
	int err = bounded_run(parse_in_child, names, PARSE_MS);
	unsigned fault = names->result->fault;

	if (err == -ETIMEDOUT)
		return json_names_refuse(path, "takes more than 20 seconds to read", remedy, e);
	if (err == -EINTR || err > 0)
		return json_names_refuse(path, "made the process that reads it crash", remedy, e);
	if (err < 0)
		return error_set(e, ERROR_SYSTEM, -err, "no process can be started: %s; end "
				 "others and try again", strerror(-err));
	if (fault >= sizeof(fault_words) / sizeof(fault_words[0]))
		fault = JSON_NAMES_NO_NAME;
	return fault ? refuse_fault(names, fault, e) : add_parsed_names(names, list, e);
}

int json_names_list(const struct json_file *file, const struct json_names_kind *kind,
		    struct path_list *list, struct error *e)
{
	/* UTF-16 becomes UTF-8 of at most half as many bytes more */
	struct json_names names = { file, kind, NULL, 2 * file->size + ROOM_LEAST };
	size_t bytes = sizeof(*names.result) + names.room;
	int err;

	names.result = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (names.result == MAP_FAILED)
		return error_no_memory(e, file->path);
	err = run_parse(&names, list, e);
	munmap(names.result, bytes);
	return err;
}
