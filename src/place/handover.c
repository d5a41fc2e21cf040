/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "place/handover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/vec.h"
#include "source/parts.h"

static const char first_record[] = "granary sources 1";

/* ---- In granaryfs ---- */

/* `unpack_to`: as in the wish, or NULL. */
static int handover_write_files(FILE *f, const char *what, const struct source_set *files,
				const int *unpack_to, struct error *e)
{
	for (uint32_t i = 0; i < files->count; i++) {
		const struct source *source = files->sources[i];

		for (uint32_t k = 0; k < source_part_count(source); k++) {
			const struct source *part = source_part(source, k);
			int fd = source_hand_over(part, e);

			if (fd < 0)
				return fd;
			fprintf(f, "%s %d %s%c", k ? "part" : what, fd, source_path(part),
				'\0');
		}
		if (unpack_to && unpack_to[i] >= 0)
			fprintf(f, "unpack %d %s%c", unpack_to[i], source_path(source), '\0');
	}
	return 0;
}

static int handover_write_records(const struct index_wish *wish, FILE *f, struct error *e)
{
	int err;

	fprintf(f, "%s%c", first_record, '\0');
	for (unsigned i = 0; i < wish->places.count; i++)
		fprintf(f, "%s %s%c", i == 0 && wish->places.beside ? "beside" : "place",
			wish->places.paths[i], '\0');
	err = handover_write_files(f, "source", wish->sources, wish->unpack_to, e);
	if (!err)
		err = handover_write_files(f, "classes", &wish->maps.classes, NULL, e);
	if (!err)
		err = handover_write_files(f, "names", &wish->maps.names, NULL, e);
	fprintf(f, "end%c", '\0');
	return err;
}

int handover_write(const struct index_wish *wish, int *fd, struct error *e)
{
	CLEANUP(cleanup_close) int list = memfd_create("granary sources", MFD_CLOEXEC);
	int copy = list < 0 ? -1 : fcntl(list, F_DUPFD_CLOEXEC, 3);
	FILE *f = copy < 0 ? NULL : fdopen(copy, "w");
	int err, failed;

	if (!f) {
		err = error_set(e, ERROR_SYSTEM, errno, "memfd_create: %s", strerror(errno));
		if (copy >= 0)
			close(copy);
		return err;
	}
	err = handover_write_records(wish, f, e);
	failed = ferror(f);
	if ((fclose(f) != 0 || failed) && !err)
		return error_set(e, ERROR_SYSTEM, EIO,
				 "the list of sources for the indexer cannot be written; free "
				 "some memory and try again");
	if (!err)
		*fd = steal_fd(&list);
	return err;
}

static int set_on_exec(int fd, bool closed)
{
	return fcntl(fd, F_SETFD, closed ? FD_CLOEXEC : 0) < 0 ? -errno : 0;
}

/* By /proc: older kernels that are supported have no close_range(2). */
static int close_all_on_exec(void)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;

	if (!directory)
		return -errno;
	while ((entry = readdir(directory))) {
		int fd = (int)strtol(entry->d_name, NULL, 10);

		if (fd > STDERR_FILENO)
			set_on_exec(fd, true);
	}
	closedir(directory);
	return 0;
}

static int inherit_files(const struct source_set *files)
{
	int err = 0;

	for (uint32_t i = 0; i < files->count; i++) {
		const struct source *source = files->sources[i];

		for (uint32_t k = 0; !err && k < source_part_count(source); k++)
			err = set_on_exec(source_hand_over(source_part(source, k), NULL),
					  false);
	}
	return err;
}

static int inherit_unpacked(const struct index_wish *wish)
{
	int err = 0;

	for (uint32_t i = 0; wish->unpack_to && !err && i < wish->sources->count; i++)
		if (wish->unpack_to[i] >= 0)
			err = set_on_exec(wish->unpack_to[i], false);
	return err;
}

int handover_keep(const struct index_wish *wish, int list, int memory)
{
	int err = close_all_on_exec();

	if (!err)
		err = set_on_exec(list, false);
	if (!err)
		err = set_on_exec(memory, false);
	if (!err)
		err = inherit_files(wish->sources);
	if (!err)
		err = inherit_unpacked(wish);
	if (!err)
		err = inherit_files(&wish->maps.classes);
	return err ? err : inherit_files(&wish->maps.names);
}

/* ---- In the indexer ---- */

struct files {
	VEC(char *) paths; /* these point into the list's bytes */
	VEC(int) descriptors;
	VEC(bool) parts; /* of the file before it? */
};

struct handover_list {
	char *bytes; /* owned; ends with a NUL */
	size_t size;
	size_t at;   /* where the next record begins */
	struct files sources, maps;
	VEC(int) unpack_to; /* of the sources so far that one of them is behind */
	size_t classes; /* of the maps, the first: one or none */
	struct index_places places;
};

static void free_files(struct files *files)
{
	vec_free(&files->paths);
	vec_free(&files->descriptors);
	vec_free(&files->parts);
}

static void free_list(struct handover_list *list)
{
	free(list->bytes);
	free_files(&list->sources);
	vec_free(&list->unpack_to);
	free_files(&list->maps);
	locate_free(&list->places);
}

static int handover_refuse(const char *what, struct error *e)
{
	return error_set(e, ERROR_USAGE, EINVAL,
			 "the list of sources from granaryfs %s; are granary and granaryfs of "
			 "the same version?", what);
}

/* The number of a descriptor, or -1. */
static int parse_descriptor(const char *text, char **end)
{
	long n;

	errno = 0;
	n = strtol(text, end, 10);
	return errno || *end == text || *text == '-' || n > INT_MAX ? -1 : (int)n;
}

static int handover_load(int fd, struct handover_list *list, struct error *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    st.st_size >= INT_MAX)
		return handover_refuse("cannot be read", e);
	list->size = (size_t)st.st_size;
	list->bytes = malloc(list->size);
	if (!list->bytes)
		return error_no_memory(e, NULL);
	if (pread(fd, list->bytes, list->size, 0) != (ssize_t)list->size ||
	    list->bytes[list->size - 1] != '\0')
		return handover_refuse("is not complete", e);
	return 0;
}

/* NULL after the last one. */
static char *next_record(struct handover_list *list)
{
	char *record = list->bytes + list->at;

	if (list->at >= list->size)
		return NULL;
	list->at += strlen(record) + 1;
	return record;
}

static int add_place(struct handover_list *list, const char *path)
{
	char *copy;

	if (list->places.count == LOCATE_MAX_PLACES)
		return -EINVAL;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	list->places.paths[list->places.count++] = copy;
	return 0;
}

/* Its record comes before the others. */
static int add_sibling(struct handover_list *list, const char *path)
{
	if (list->places.count)
		return -EINVAL;
	list->places.beside = true;
	return add_place(list, path);
}

/* "DESCRIPTOR PATH" */
static int handover_add_file(struct files *files, char *text, bool part)
{
	char *end;
	int fd = parse_descriptor(text, &end);

	if (fd < 0 || *end != ' ' || !end[1])
		return -EINVAL;
	return vec_push(&files->descriptors, fd) < 0 || vec_push(&files->parts, part) < 0 ||
	       vec_push(&files->paths, end + 1) < 0 ? -ENOMEM : 0;
}

/* At most one, before the names. */
static int add_classes(struct handover_list *list, char *text)
{
	if (list->maps.paths.count)
		return -EINVAL;
	list->classes = 1;
	return handover_add_file(&list->maps, text, false);
}

/* "DESCRIPTOR PATH", of the last source. */
static int add_unpacked(struct handover_list *list, const char *text)
{
	size_t sources = 0;
	char *end;
	int fd = parse_descriptor(text, &end);

	for (size_t i = 0; i < list->sources.parts.count; i++)
		sources += !list->sources.parts.items[i];
	if (fd < 0 || *end != ' ' || sources == 0 || list->unpack_to.count >= sources)
		return -EINVAL;
	while (list->unpack_to.count + 1 < sources)
		if (vec_push(&list->unpack_to, -1) < 0)
			return -ENOMEM;
	return vec_push(&list->unpack_to, fd);
}

static int handover_read_record(struct handover_list *list, char *record)
{
	if (strncmp(record, "place ", 6) == 0)
		return add_place(list, record + 6);
	if (strncmp(record, "beside ", 7) == 0)
		return add_sibling(list, record + 7);
	if (strncmp(record, "source ", 7) == 0)
		return handover_add_file(&list->sources, record + 7, false);
	if (strncmp(record, "part ", 5) == 0 && list->sources.paths.count)
		return handover_add_file(&list->sources, record + 5, true);
	if (strncmp(record, "unpack ", 7) == 0)
		return add_unpacked(list, record + 7);
	if (strncmp(record, "classes ", 8) == 0)
		return add_classes(list, record + 8);
	if (strncmp(record, "names ", 6) == 0)
		return handover_add_file(&list->maps, record + 6, false);
	return -EINVAL;
}

static int handover_parse(struct handover_list *list, struct error *e)
{
	char *record = next_record(list);
	int err = 0;

	if (!record || strcmp(record, first_record) != 0)
		return handover_refuse("is of another kind", e);
	while (!err) {
		record = next_record(list);
		if (!record)
			return handover_refuse("has no end", e);
		if (strcmp(record, "end") == 0)
			return 0;
		err = handover_read_record(list, record);
	}
	return err == -ENOMEM ? error_no_memory(e, NULL) :
				handover_refuse("has a record that is not understood", e);
}

static int handover_adopt(struct handover_list *list, struct source_set *sources,
			  struct map_files *maps, struct error *e)
{
	int err = source_set_adopt(list->sources.paths.items, list->sources.descriptors.items,
				   list->sources.parts.items, list->sources.paths.count,
				   sources, e);

	if (err)
		return err;
	err = map_files_adopt(list->maps.paths.items, list->maps.descriptors.items,
			      list->maps.paths.count, list->classes, maps, e);
	if (err)
		source_set_close(sources);
	return err;
}

/* Moves the descriptors into the wish, one a source. */
static int take_unpacked(struct handover_list *list, struct index_wish *wish, struct error *e)
{
	while (list->unpack_to.count < wish->sources->count)
		if (vec_push(&list->unpack_to, -1) < 0)
			return error_no_memory(e, NULL);
	wish->unpack_to = list->unpack_to.items;
	list->unpack_to.items = NULL;
	return 0;
}

int handover_read(const char *number, const struct dataset_config *config,
		  struct source_set *sources, struct index_wish *wish, struct error *e)
{
	CLEANUP(free_list) struct handover_list list = { 0 };
	struct map_files maps;
	char *end;
	CLEANUP(cleanup_close) int fd = parse_descriptor(number, &end);
	int err = fd < 0 || *end ? handover_refuse("has no number", e)
				 : handover_load(fd, &list, e);

	if (!err)
		err = handover_parse(&list, e);
	if (!err)
		err = handover_adopt(&list, sources, &maps, e);
	if (err)
		return err;
	list.places.named = dataset_index_path(config) != NULL;
	err = index_wish_adopt(config, sources, &list.places, &maps, wish, e);
	if (!err && list.unpack_to.count)
		err = take_unpacked(&list, wish, e);
	if (err)
		source_set_close(sources);
	return err;
}
