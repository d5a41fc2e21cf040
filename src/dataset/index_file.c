#include "dataset/index_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "source/load.h"
#include "source/source.h"
#include "util/cleanup.h"

static void close_source(struct source **source)
{
	source_close(*source);
}

/* Before all of it is read: a file that is no index may be of any size. */
static int check_head(const struct source *source, struct error *e)
{
	char head[INDEX_HEAD_BYTES];
	uint64_t size = source_size(source);
	size_t n = size < sizeof(head) ? (size_t)size : sizeof(head);
	int err = source_pread(source, head, n, 0);

	if (err)
		return error_set(e, ERROR_SYSTEM, -err, "%s: %s", source_path(source),
				 strerror(-err));
	err = index_check_head(head, n, size, e);
	if (err)
		error_prefix(e, "%s", source_path(source));
	return err;
}

int index_open(const char *path, struct index **out, struct error *e)
{
	CLEANUP(close_source) struct source *source = NULL;
	int memory, err = source_open(path, &source, e);

	if (!err)
		err = check_head(source, e);
	if (!err)
		err = source_load(source, &memory, e);
	return err ? err : index_open_memory(memory, source_owner(source)->uid, path, out, e);
}
