/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/chrome.h"

#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "report/trace_line.h"
#include "report/trace_text.h"

enum { NAME_MOST = 128, PATH_MOST = 256 };

static const off_t CHROME_MOST = (off_t)4 << 30;

static const char *const categories[] = {
	[LINE_READ] = "read", [LINE_REQUEST] = "request", [LINE_STORAGE] = "storage",
	[LINE_DECODE] = "decode", [LINE_PUSH] = "push",
};

/* Each event repeats its file: of a long path only the end, from a whole character on. */
static const char *end_of_path(const char *path)
{
	size_t size = strlen(path);

	if (size <= PATH_MOST)
		return path;
	path += size - PATH_MOST;
	while ((*path & 0xc0) == 0x80)
		path++;
	return path;
}

static void write_event(struct json *json, const struct figures *f,
			const struct trace_line *line)
{
	/* files that are found are not added: figures.c has seen all lines */
	uint32_t file = trace_files_find((struct trace_files *)(uintptr_t)&f->files, line->file);
	const char *path = end_of_path(trace_files_path(&f->files, file));
	char name[NAME_MOST + 1] = "";

	if (line->name.kind == PYJSON_STRING && line->name.size <= NAME_MOST)
		name[pyjson_string(&line->name, name)] = '\0';
	fputc('\n', json->out);
	json_open(json, NULL, '{');
	json_text(json, "name", name);
	json_text(json, "cat", categories[line->kind]);
	json_text(json, "ph", "X");
	json_uint(json, "ts", line->ts - f->first);
	json_uint(json, "dur", line->dur);
	json_uint(json, "pid", line->pid);
	json_uint(json, "tid", line->tid);
	json_open(json, "args", '{');
	if (*path)
		json_text(json, "file", path);
	json_int(json, "result", line->result);
	json_close(json, '}');
	json_close(json, '}');
}

int chrome_write(const struct source *trace, const struct figures *f, FILE *out)
{
	struct trace_text *text = trace_text_new(trace);
	struct json json = { .out = out };
	const char *bytes;
	size_t size;
	int more;

	if (!text)
		return -ENOMEM;
	json_open(&json, NULL, '{');
	json_text(&json, "displayTimeUnit", "ms");
	json_open(&json, "traceEvents", '[');
	while ((more = trace_text_line(text, &bytes, &size)) > 0 && !ferror(out)) {
		struct trace_line line;

		if (ftello(out) > CHROME_MOST) {
			more = -EFBIG;
			break;
		}
		if (trace_line_parse(bytes, size, &line) && figures_have(f, &line))
			write_event(&json, f, &line);
	}
	fputc('\n', out);
	json_close(&json, ']');
	json_close(&json, '}');
	fputc('\n', out);
	trace_text_free(text);
	return more < 0 ? more : 0;
}
