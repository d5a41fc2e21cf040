/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packer/kit.h"

#include <fcntl.h>
#include <unistd.h>

enum { PIECE = 70000 }; /* no block's size, so that pieces and blocks cross */

char *kit_contents(const struct item *item)
{
	const size_t size = (size_t)item->entry.size;
	char *bytes = calloc(1, size + 1);
	uint32_t x = item->seed * 2654435761u + 1;
	size_t i;

	assert_non_null(bytes);
	for (i = 0; i < size && item->seed; i++) {
		x = x * 1664525u + 1013904223u;
		bytes[i] = (char)(x >> 24);
	}
	return bytes;
}

static int write_contents(const struct writer_ops *ops, struct writer *w,
			  const struct item *item, struct error *e)
{
	char *bytes = kit_contents(item);
	const size_t size = (size_t)item->entry.size;
	size_t at, n;
	int rc = ops->data(w, bytes, 0, e); /* allowed at any time */

	for (at = 0; at < size && !rc; at += n) {
		n = size - at < PIECE ? size - at : PIECE;
		rc = ops->data(w, bytes + at, n, e);
	}
	free(bytes);
	return rc;
}

static int write_item(const struct writer_ops *ops, struct writer *w,
		      const struct item *item, struct error *e)
{
	int rc = ops->begin(w, &item->entry, e);

	if (!rc && item->entry.kind == PACK_FILE)
		rc = write_contents(ops, w, item, e);
	return rc ? rc : ops->end(w, e);
}

int kit_pack(const struct writer_ops *ops, const char *path,
	     const struct writer_config *config, const struct item *items, size_t count,
	     struct error *e)
{
	struct error unsaid;
	struct writer *w;
	size_t i;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int rc, closed;

	assert_true(fd >= 0);
	rc = ops->open(&w, fd, path, config, e);
	if (!rc) {
		for (i = 0; i < count && !rc; i++)
			rc = write_item(ops, w, &items[i], e);
		closed = ops->close(w, !rc, rc ? &unsaid : e);
		rc = rc ? rc : closed;
	}
	close(fd);
	return rc;
}

void kit_packed(const struct writer_ops *ops, const char *path,
		const struct writer_config *config, const struct item *items,
		size_t count)
{
	struct error e = { 0 };

	if (kit_pack(ops, path, config, items, count, &e) != 0)
		fail_msg("%s", e.text);
}

char *kit_output(const char *command)
{
	char *text = NULL, line[8192];
	size_t size = 0;
	FILE *pipe = popen(command, "r"), *memory = open_memstream(&text, &size);

	assert_true(pipe && memory);
	while (fgets(line, sizeof(line), pipe))
		fputs(line, memory);
	fclose(memory);
	if (pclose(pipe) != 0)
		fail_msg("%s: %s", command, text);
	return text;
}

void kit_assert_in(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}
