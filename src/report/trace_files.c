/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/trace_files.h"

enum { FILES_MOST = 4 * 1024 * 1024, TEXT_MOST = 256 * 1024 * 1024, PATH_MOST = 64 * 1024 };

void trace_files_free(struct trace_files *files)
{
	idmap_free(&files->map);
	vec_free(&files->files);
	vec_free(&files->text);
}

static bool has_digest(const void *context, uint32_t id, const void *key)
{
	const struct trace_files *files = context;

	return files->files.items[id].digest == *(const uint64_t *)key;
}

uint32_t trace_files_find(struct trace_files *files, uint64_t digest)
{
	uint32_t hash = (uint32_t)(digest >> 32), id = (uint32_t)files->files.count;
	const struct idmap_slot *slot = idmap_find(&files->map, hash, has_digest, files, &digest);
	const struct trace_file file = { .digest = digest };

	if (slot)
		return slot->id_plus_1 - 1;
	if (!digest || id >= FILES_MOST || vec_push(&files->files, file) < 0)
		return NO_FILE;
	if (idmap_insert(&files->map, hash, id) == 0)
		return id;
	files->files.count--;
	return NO_FILE;
}

void trace_files_name(struct trace_files *files, uint64_t digest,
		      const struct pyjson_value *path)
{
	uint32_t file = trace_files_find(files, digest);
	size_t at = files->text.count, n;

	if (file == NO_FILE || files->files.items[file].path || path->size > PATH_MOST ||
	    at + path->size > TEXT_MOST || vec_reserve(&files->text, path->size + 1) < 0)
		return;
	n = pyjson_string(path, files->text.items + at);
	for (size_t i = 0; i < n; i++) /* a text ends with its first 0 */
		files->text.items[at + i] = files->text.items[at + i] ?
					    files->text.items[at + i] : '?';
	files->text.items[at + n] = '\0';
	files->text.count += n + 1;
	files->files.items[file].path = (uint32_t)at + 1;
}

const char *trace_files_path(const struct trace_files *files, uint32_t file)
{
	uint32_t path = file < files->files.count ? files->files.items[file].path : 0;

	return path ? files->text.items + path - 1 : "";
}
