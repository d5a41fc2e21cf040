/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "open_existing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "source/arguments.h"

static int open_nothing(const char *path, struct source **out, struct error *e)
{
	int fd = memfd_create("missing", MFD_CLOEXEC), err;

	if (fd < 0)
		return error_set(e, ERROR_SYSTEM, errno, "memfd_create: %s", strerror(errno));
	err = source_adopt(path, fd, out, e);
	if (err)
		close(fd);
	return err;
}

/* 0: the file exists; 1: it does not, and *out is empty. */
static int open_existing_one(const struct arguments *arguments, uint32_t number,
			     const char *path, struct source **out, struct error *e)
{
	int err = arguments_open(arguments, number, path, out, e);

	if (err != -ENOENT)
		return err;
	err = open_nothing(path, out, e);
	return err ? err : 1;
}

static int report_missing_file(const struct arguments *arguments, const bool *missing,
			       struct error *e)
{
	for (uint32_t i = 0; i < arguments_count(arguments); i++) {
		CLEANUP(cleanup_free) char *path =
			missing[i] ? arguments_path(arguments, i) : NULL;

		if (missing[i] && !path)
			return error_no_memory(e, NULL);
		if (missing[i])
			log_error("'%s' does not exist; check the path, or show the rest without "
				  "it with -o missing=skip", path);
	}
	return 0;
}

static int open_existing_all(const struct arguments *arguments, struct source_set *set,
			     bool *missing, struct error *e)
{
	uint32_t lost = 0, count = arguments_count(arguments);

	for (uint32_t i = 0; i < count; i++) {
		CLEANUP(cleanup_free) char *path = arguments_path(arguments, i);
		int err = path ? open_existing_one(arguments, i, path, &set->sources[i], e) :
				error_no_memory(e, NULL);

		if (err < 0)
			return err;
		set->count++;
		missing[i] = err > 0;
		lost += err > 0;
	}
	if (lost == count)
		return error_set(e, ERROR_SYSTEM, ENOENT, "none of the packed files exists");
	return report_missing_file(arguments, missing, e);
}

int open_existing(char *const *texts, size_t count, struct source_set *out,
		  bool **missing, struct error *e)
{
	CLEANUP(cleanup_arguments) struct arguments *arguments = NULL;
	int err = arguments_parse(texts, count, &arguments, e);

	*out = (struct source_set){ 0 };
	*missing = NULL;
	if (err)
		return err;
	out->sources = calloc(arguments_count(arguments), sizeof(*out->sources));
	*missing = calloc(arguments_count(arguments), sizeof(**missing));
	err = out->sources && *missing ? open_existing_all(arguments, out, *missing, e) :
					 error_no_memory(e, NULL);
	if (!err)
		return 0;
	source_set_close(out);
	free(*missing);
	*missing = NULL;
	return err;
}
