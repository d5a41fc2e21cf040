#include "present.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/brace.h"
#include "util/cleanup.h"
#include "util/log.h"

static int out_of_memory(struct error *e)
{
	return error_set(e, ERROR_SYSTEM, ENOMEM, "out of memory");
}

static int expand(char *const *arguments, size_t count, struct brace_words *out,
		  struct error *e)
{
	for (size_t i = 0; i < count; i++) {
		char *copy;
		int err;

		if (access(arguments[i], F_OK) < 0) {
			err = brace_expand(arguments[i], out, e);
			if (err)
				return err;
			continue;
		}
		copy = strdup(arguments[i]);
		if (!copy || vec_push(&out->words, copy) < 0) {
			free(copy);
			return out_of_memory(e);
		}
	}
	return 0;
}

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

/* 0: it is there; 1: it is not. */
static int open_one(const char *path, struct source **out, struct error *e)
{
	int err = source_open(path, out, e);

	if (err != -ENOENT)
		return err;
	err = open_nothing(path, out, e);
	return err ? err : 1;
}

static int open_words(const struct brace_words *words, struct source_set *set,
		      bool *missing, struct error *e)
{
	size_t lost = 0;
	int err = 0;

	for (size_t i = 0; i < words->words.count && err >= 0; i++) {
		err = open_one(words->words.items[i], &set->sources[i], e);
		set->count += err >= 0;
		missing[i] = err > 0;
		lost += err > 0;
	}
	if (err < 0)
		return err;
	if (lost == words->words.count)
		return error_set(e, ERROR_SYSTEM, ENOENT, "none of the packed files exists");
	for (uint32_t i = 0; i < set->count; i++) {
		if (missing[i])
			log_error("'%s' does not exist; check the path, or show the rest without "
				  "it with -o missing=skip", words->words.items[i]);
	}
	return 0;
}

int present_open(char *const *arguments, size_t count, struct source_set *out,
		 bool **missing, struct error *e)
{
	CLEANUP(brace_free) struct brace_words words = { VEC_INIT };
	int err = expand(arguments, count, &words, e);

	*out = (struct source_set){ 0 };
	*missing = NULL;
	if (err)
		return err;
	out->sources = calloc(words.words.count + 1, sizeof(*out->sources));
	*missing = calloc(words.words.count + 1, sizeof(**missing));
	err = out->sources && *missing ? open_words(&words, out, *missing, e) :
					 out_of_memory(e);
	if (!err)
		return 0;
	source_set_close(out);
	free(*missing);
	*missing = NULL;
	return err;
}
