/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source/saved_names.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "base/filename.h"
#include "base/pyjson.h"
#include "os/bounded.h"
#include "os/sandbox.h"

enum { NAMES_MOST = 100000, PARSE_MS = 20000, ROOM_LEAST = 4096 };

enum saved_fault {
	FAULT_NONE,
	FAULT_JSON,
	FAULT_UNNAMED,
	FAULT_NAME,
	FAULT_MANY,
	FAULT_MEMORY,
	FAULT_RIGHTS,
};

static const char *const fault_words[] = {
	[FAULT_JSON] = "is no JSON object",
	[FAULT_UNNAMED] = "has an item without a name",
	[FAULT_NAME] = "names a file that cannot be one",
	[FAULT_MANY] = "lists too many files",
	[FAULT_MEMORY] = "takes more memory to read than there is",
	[FAULT_RIGHTS] = "cannot be read by a process without rights",
};

/* Shared with the child; the names follow, a zero byte behind each. */
struct saved_result {
	enum saved_fault fault;
	size_t used;
	char names[];
};

struct saved_parse {
	const void *text;
	size_t size;
	const char *key;
	struct saved_result *result;
	size_t room; /* for names */
};

void path_list_free(struct path_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	vec_free(list);
}

int saved_names_refuse(const char *path, const char *what, struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "'%s' %s; name the Arrow files beside it instead of the directory",
			 path, what);
}

/* ---- The child ---------------------------------------------------------------- */

/* A decoded string is never longer than the text of its value. */
static enum saved_fault add_name(struct saved_parse *parse, const struct pyjson_value *string)
{
	struct saved_result *result = parse->result;
	char *text = result->names + result->used;
	const char *name;
	size_t n;

	if (string->size + 1 > parse->room - result->used)
		return FAULT_MANY;
	n = pyjson_string(string, text);
	text[n] = '\0';
	if (strlen(text) != n)
		return FAULT_NAME;
	name = filename_of(text);
	n = strlen(name) + 1;
	memmove(text, name, n);
	result->used += n;
	return FAULT_NONE;
}

static enum saved_fault parse_list(struct saved_parse *parse, const struct pyjson_value *list)
{
	struct pyjson_walk walk = pyjson_items(list);
	struct pyjson_value unused, item, name;
	enum saved_fault fault = FAULT_NONE;

	while (!fault && pyjson_next(&walk, &unused, &item)) {
		name = item;
		if (item.kind == PYJSON_OBJECT &&
		    !pyjson_find(&item, "filename", strlen("filename"), &name))
			return FAULT_UNNAMED;
		fault = name.kind == PYJSON_STRING ? add_name(parse, &name) : FAULT_UNNAMED;
	}
	return fault;
}

static enum saved_fault parse_text(struct saved_parse *parse)
{
	struct pyjson_fault unused;
	struct pyjson_value list;
	struct pyjson json;
	int err = pyjson_begin(&json, parse->text, parse->size, &unused);

	if (err < 0)
		return err == -ENOMEM ? FAULT_MEMORY : FAULT_JSON;
	if (json.root.kind != PYJSON_OBJECT)
		return FAULT_JSON;
	if (!pyjson_find(&json.root, parse->key, strlen(parse->key), &list))
		return FAULT_NONE;
	return parse_list(parse, &list);
}

static int parse_in_child(void *argument)
{
	struct saved_parse *parse = argument;
	struct error unused;

	parse->result->fault = sandbox_enter(&unused) < 0 ? FAULT_RIGHTS : parse_text(parse);
	return 0;
}

/* ---- The caller --------------------------------------------------------------- */

static bool is_own_name(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* The child's result is checked: a parser that was taken over may leave anything. */
static int add_parsed_names(const char *path, const struct saved_parse *parse,
			    struct path_list *list, struct error *e)
{
	const struct saved_result *result = parse->result;
	const char *name = result->names, *end;

	if (result->used > parse->room || (result->used && name[result->used - 1] != '\0'))
		return saved_names_refuse(path, fault_words[FAULT_NAME], e);
	for (end = name + result->used; name < end; name += strlen(name) + 1) {
		char *copy = strdup(name);

		if (!copy || vec_push(list, copy) < 0) {
			free(copy);
			return error_no_memory(e, NULL);
		}
		if (!is_own_name(copy))
			return saved_names_refuse(path, fault_words[FAULT_NAME], e);
		if (list->count > NAMES_MOST)
			return saved_names_refuse(path, fault_words[FAULT_MANY], e);
	}
	return 0;
}

static int run_parse(const char *path, struct saved_parse *parse, struct path_list *list,
		     struct error *e)
{
	int err = bounded_run(parse_in_child, parse, PARSE_MS);
	unsigned fault = parse->result->fault;

	if (err == -ETIMEDOUT)
		return saved_names_refuse(path, "takes more than 20 seconds to read", e);
	if (err == -EINTR || err > 0)
		return saved_names_refuse(path, "made the process that reads it crash", e);
	if (err < 0)
		return error_set(e, ERROR_SYSTEM, -err, "no process can be started: %s; end "
				 "others and try again", strerror(-err));
	if (fault >= sizeof(fault_words) / sizeof(fault_words[0]))
		fault = FAULT_NAME;
	if (fault)
		return saved_names_refuse(path, fault_words[fault], e);
	return add_parsed_names(path, parse, list, e);
}

int saved_names_list(const char *path, const void *text, size_t size, const char *key,
		     struct path_list *list, struct error *e)
{
	/* UTF-16 becomes UTF-8 of at most half as many bytes more */
	struct saved_parse parse = { text, size, key, NULL, 2 * size + ROOM_LEAST };
	size_t bytes = sizeof(*parse.result) + parse.room;
	int err;

	parse.result = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (parse.result == MAP_FAILED)
		return error_no_memory(e, path);
	err = run_parse(path, &parse, list, e);
	munmap(parse.result, bytes);
	return err;
}
