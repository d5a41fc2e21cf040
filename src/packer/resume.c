#include "resume.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "util/cleanup.h"
#include "util/filename.h"

enum { TEXT_BYTES = 64 };

static void render(uint64_t digest, char *text)
{
	snprintf(text, TEXT_BYTES, "granary plan 1 %016" PRIx64 "\n", digest);
}

char *resume_path(const struct out_name *name)
{
	CLEANUP(cleanup_free) char *first = out_name_of(name, 0);
	char *out = NULL;
	const char *own;

	if (!first)
		return NULL;
	own = filename_of(first);
	if (asprintf(&out, "%.*s.%s.plan", (int)(own - first), first, own) < 0)
		return NULL;
	return out;
}

enum resume_found resume_look(const char *path, uint64_t digest)
{
	CLEANUP(cleanup_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char wanted[TEXT_BYTES], found[TEXT_BYTES] = "";

	if (fd < 0)
		return errno == ENOENT ? RESUME_NOTHING : RESUME_OTHER;
	if (read(fd, found, sizeof(found) - 1) < 0)
		return RESUME_OTHER;
	render(digest, wanted);
	return strcmp(found, wanted) == 0 ? RESUME_SAME : RESUME_OTHER;
}

int resume_note(const char *path, uint64_t digest, struct error *e)
{
	char text[TEXT_BYTES];

	render(digest, text);
	return output_write(path, text, strlen(text), e);
}
