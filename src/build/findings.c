/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "build/findings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "build/image.h"

struct finding {
	enum finding_kind kind;
	const char *file;
	uint64_t more;	  /* files that say the same */
	size_t place;	  /* in the order of the files */
	char *text;
};

enum {
	LINE_BYTES = 1536,
	FINDINGS_MOST_OF_SET = 4096, /* for there may be a million packed files inside */
};

/* Where there is no memory, it is counted. */
static void findings_push(struct findings *findings, const struct finding *finding)
{
	if (finding->text && vec_push(&findings->items, *finding) == 0)
		return;
	free(finding->text);
	findings->more++;
}

void findings_add(struct findings *findings, enum finding_kind kind, const char *format, ...)
{
	struct finding finding = { .kind = kind };
	va_list arguments;

	if (!findings)
		return;
	va_start(arguments, format);
	if (findings->items.count >= (findings->file ? FINDINGS_MOST : FINDINGS_MOST_OF_SET) ||
	    vasprintf(&finding.text, format, arguments) < 0)
		finding.text = NULL;
	va_end(arguments);
	/* a name may hold what parts the lines */
	for (char *c = finding.text; c && *c; c++)
		*c = *c == '\n' ? '?' : *c;
	finding.file = findings->file;
	findings_push(findings, &finding);
}

void findings_free(struct findings *findings)
{
	for (size_t i = 0; i < findings->items.count; i++)
		free(findings->items.items[i].text);
	vec_free(&findings->items);
	findings->more = 0;
}

void findings_join(struct findings *to, struct findings *from)
{
	for (size_t i = 0; i < from->items.count && to; i++)
		findings_push(to, &from->items.items[i]);
	if (to)
		to->more += from->more;
	from->items.count = to ? 0 : from->items.count;
	findings_free(from);
}

static int findings_by_text(const void *left, const void *right)
{
	const struct finding *a = left, *b = right;
	int order = strcmp(a->text, b->text);

	return order ? order : (a->place > b->place) - (a->place < b->place);
}

static int findings_by_kind(const void *left, const void *right)
{
	const struct finding *a = left, *b = right;

	if (a->kind != b->kind)
		return a->kind > b->kind ? 1 : -1;
	return (a->place > b->place) - (a->place < b->place);
}

/* Equal sentences become the first of them. */
static void findings_sort(struct findings *findings)
{
	struct finding *items = findings->items.items;
	size_t n = findings->items.count, kept = 0;

	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++)
		items[i].place = i;
	qsort(items, n, sizeof(*items), findings_by_text);
	for (size_t i = 1; i < n; i++) {
		if (strcmp(items[kept].text, items[i].text) == 0) {
			items[kept].more += items[i].file != items[kept].file;
			free(items[i].text);
		} else {
			items[++kept] = items[i];
		}
	}
	findings->items.count = kept + 1;
	qsort(items, kept + 1, sizeof(*items), findings_by_kind);
}

static size_t print_finding(const struct finding *finding, char line[LINE_BYTES])
{
	char more[40] = "";
	int n;

	if (finding->more)
		snprintf(more, sizeof(more), " and %" PRIu64 " more", finding->more);
	if (finding->file)
		n = snprintf(line, LINE_BYTES, "'%.300s'%s: %s", finding->file, more,
			     finding->text);
	else
		n = snprintf(line, LINE_BYTES, "%s", finding->text);
	return n < LINE_BYTES ? (size_t)n : LINE_BYTES - 1;
}

static int publish_line(enum finding_kind kind, const char *line, struct image *image)
{
	log_write(kind == FINDING_USUAL ? LOG_LEVEL_INFO : LOG_LEVEL_WARN, "%s", line);
	if (!image)
		return 0;
	return image_append(image, SECTION_NOTES, line, strlen(line)) < 0 ||
	       image_append(image, SECTION_NOTES, "\n", 1) < 0 ? -ENOMEM : 0;
}

int findings_publish(struct findings *findings, struct image *image)
{
	size_t bytes = 0, i = 0;
	char line[LINE_BYTES];
	int err = 0;

	findings_sort(findings);
	for (; i < findings->items.count && !err; i++) {
		bytes += print_finding(&findings->items.items[i], line) + 1;
		if (bytes > FINDINGS_BYTES_MOST)
			break;
		err = publish_line(findings->items.items[i].kind, line, image);
	}
	if (err || (findings->more += findings->items.count - i) == 0)
		return err;
	snprintf(line, sizeof(line), "%" PRIu64 " more findings are not told", findings->more);
	return publish_line(FINDING_LEFT_OUT, line, image);
}
