/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_info.c: granary info SOURCE... */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sandbox_child.h"
#include "classes.h"
#include "granary.h"
#include "base/json.h"
#include "os/front_kind.h"
#include "os/memory.h"
#include "os/pages.h"
#include "base/size.h"

/* Everything that is printed. */
struct info_report {
	const struct request *request;
	struct dataset_info info;
	struct classes classes;
	uint64_t names;      /* shown */
	uint64_t walk_bytes; /* of kernel memory, once all names have been looked up */
	uint64_t walk_shield_bytes; /* the same, seen through the overlay */
	uint64_t budget;     /* what a mount here and now would have */
};

static void info_count_names(struct info_report *report)
{
	const struct index_summary *s = &report->info.summary;
	uint64_t inodes = s->files + s->symlinks + s->directories;

	report->names = inodes + s->links;
	report->walk_bytes = inodes * TREE_NAME_BYTES;
	report->walk_shield_bytes = report->walk_bytes +
				    inodes * front_kind_overlay.name_bytes;
}

/*
 * The share of the dataset, contents in whole pages and inodes together, that fits into
 * the budget beside the daemon's own cache.
 */
static unsigned percent_that_fits(const struct info_report *report)
{
	double needed = (double)report->info.summary.bytes +
			(double)report->info.summary.files * (double)(pages_size() / 2) +
			(double)report->walk_bytes;
	double room = (double)(report->budget - memory_cache_part(report->budget));

	return room >= needed ? 100 : (unsigned)(room / needed * 100);
}

static void json_splits(struct json *json, const struct classes *classes)
{
	json_open(json, "splits", '[');
	for (uint32_t i = 0; i < classes->splits && i < CLASSES_SPLITS_MOST; i++) {
		json_open(json, NULL, '{');
		json_text(json, "name", classes->split[i].name);
		json_uint(json, "classes", classes->split[i].classes);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void json_note(const char *line, void *json)
{
	json_text(json, NULL, line);
}

static void print_json(const struct info_report *report)
{
	const struct dataset_info *info = &report->info;
	const struct index_summary *s = &info->summary;
	struct json json = { .out = stdout };

	json_open(&json, NULL, '{');
	json_text(&json, "format", s->format);
	json_text(&json, "detail", s->detail);
	json_uint(&json, "sources", info->sources);
	json_text(&json, "first_source", info->first_source);
	json_uint(&json, "source_bytes", info->source_bytes);
	json_uint(&json, "files", s->files);
	json_uint(&json, "links", s->links);
	json_uint(&json, "symlinks", s->symlinks);
	json_uint(&json, "directories", s->directories);
	json_uint(&json, "top_directories", report->classes.directories);
	json_uint(&json, "classes", classes_most(&report->classes));
	json_splits(&json, &report->classes);
	json_uint(&json, "bytes", s->bytes);
	json_uint(&json, "left_out", s->left_out);
	json_text(&json, "names", s->names);
	json_text(&json, "labels", s->labels);
	json_text(&json, "view", s->view);
	json_open(&json, "notes", '[');
	dataset_for_each_note(report->request->dataset, json_note, &json);
	json_close(&json, ']');
	json_uint(&json, "walk_bytes", report->walk_bytes);
	json_uint(&json, "walk_shield_bytes", report->walk_shield_bytes);
	json_uint(&json, "budget_bytes", report->budget);
	json_bool(&json, "fits", percent_that_fits(report) == 100);
	json_text(&json, "options", s->options);
	json_text(&json, "index", info->index_path ? info->index_path : "");
	json_uint(&json, "index_bytes", info->index_bytes);
	json_bool(&json, "checksums", info->checksums);
	json_text(&json, "compared", dataset_compared_word(info->compared));
	json_close(&json, '}');
	putchar('\n');
}

/* "1,000 in train, 1,000 in val": the classes that an ImageFolder on each finds. */
static void print_classes(const struct classes *classes)
{
	char text[SIZE_TEXT_BYTES];
	const char *between = "";

	printf("classes      ");
	if (classes->at_root || classes->splits == 0) {
		printf("%s at the root", count_text(classes->at_root, text));
		between = ", ";
	}
	for (uint32_t i = 0; i < classes->splits && i < CLASSES_SPLITS_MOST; i++) {
		printf("%s%s in ", between, count_text(classes->split[i].classes, text));
		print_escaped(classes->split[i].name);
		between = ", ";
	}
	if (classes->splits > CLASSES_SPLITS_MOST)
		printf(", and more in %s others",
		       count_text(classes->splits - CLASSES_SPLITS_MOST, text));
	printf("%s\n", classes->cut ? ", and perhaps more: not all was looked at" : "");
}

static void info_print_line(const char *what, const char *text)
{
	printf("%-12s ", what);
	print_escaped(text);
	putchar('\n');
}

static void print_note(const char *line, void *context)
{
	info_print_line("note", line);
}

static void print_source(const struct dataset_info *info)
{
	const struct index_summary *s = &info->summary;
	char text[SIZE_TEXT_BYTES];

	printf("source       ");
	print_escaped(info->first_source);
	if (info->sources > 1)
		printf(" and %s more", count_text(info->sources - 1, text));
	printf(" (%s)\n", size_text(info->source_bytes, text));
	printf("format       %s%s", s->format, *s->detail ? " (" : "");
	print_escaped(s->detail);
	printf("%s\n", *s->detail ? ")" : "");
}

static void print_counts(const struct info_report *report)
{
	const struct index_summary *s = &report->info.summary;
	char a[SIZE_TEXT_BYTES], b[SIZE_TEXT_BYTES];

	printf("files        %s (%s)\n", count_text(s->files, a), size_text(s->bytes, b));
	printf("directories  %s (%s at the root)\n", count_text(s->directories, a),
	       count_text(report->classes.directories, b));
	printf("links        %s symbolic, %s hard\n", count_text(s->symlinks, a),
	       count_text(s->links, b));
	if (s->left_out)
		printf("left out     %s entries that are no files or cannot be shown\n",
		       count_text(s->left_out, a));
	print_classes(&report->classes);
	info_print_line("view", s->view);
	info_print_line("names", s->names);
	info_print_line("labels", s->labels);
	dataset_for_each_note(report->request->dataset, print_note, NULL);
	if (dataset_compared_note(report->info.compared))
		info_print_line("note", dataset_compared_note(report->info.compared));
}

static void print_costs(const struct info_report *report)
{
	const struct dataset_info *info = &report->info;
	const struct index_summary *s = &info->summary;
	char a[SIZE_TEXT_BYTES], b[SIZE_TEXT_BYTES];

	printf("index        ");
	print_escaped(info->index_path ? info->index_path : "in memory");
	printf(" (%s%s)\n", size_text(info->index_bytes, a),
	       info->checksums ? ", with checksums" : "");
	printf("inodes       %s instead of %s\n",
	       count_text(info->sources + (info->index_path ? 1U : 0U), b),
	       count_text(s->files + s->directories + s->symlinks, a));
	printf("a walk       of all %s names makes the kernel keep about %s",
	       count_text(report->names, a), size_text(report->walk_bytes, b));
	printf(", %s under the shield\n", size_text(report->walk_shield_bytes, a));
}

/* The share of the dataset that a mount on this machine could keep in memory. */
static void info_print_memory(const struct info_report *report)
{
	unsigned percent = percent_that_fits(report);
	char text[SIZE_TEXT_BYTES];

	printf("memory       a budget of %s here, without cache=: ",
	       size_text(report->budget, text));
	if (percent == 100)
		printf("all of the dataset fits");
	else if (percent == 0)
		printf("less than 1 %% of the dataset fits");
	else
		printf("%u %% of the dataset fits", percent);
	if (!memory_allows_inodes(report->walk_bytes, report->budget))
		printf("; listings come without attributes");
	printf("\n");
}

static void info_print_text(const struct info_report *report)
{
	print_source(&report->info);
	print_counts(report);
	print_costs(report);
	info_print_memory(report);
}

static int info_collect(void *context)
{
	struct info_report *report = context;
	const struct request *request = report->request;

	if (dataset_info(request->dataset, &report->info) < 0)
		return report_error(&(struct error){ ERROR_SYSTEM, "the index is damaged" });
	classes_count(request->dataset, &report->classes);
	info_count_names(report);
	if (request->json)
		print_json(report);
	else
		info_print_text(report);
	return finish_output();
}

static int run(struct request *request)
{
	struct info_report report = { .request = request };
	struct error e;
	int status = request_open(request, ONLY_SOURCES);

	if (status)
		return status;
	if (memory_budget_of_process(NULL, &report.budget, &e) < 0)
		return report_error(&e);
	return sandbox_child_run(&(struct sandbox_child){ .request = request,
							  .work = info_collect,
						  .sources =
						  dataset_sources(request->dataset),
						  .context = &report });
}

const struct command command_info = {
	.name = "info", .usage = "[-o OPTIONS] [--json] SOURCE...",
	.summary = "Says what a packed dataset is: format, counts, sizes, index",
	.help = "", .shorts = "", .takes_dataset = true, .run = run,
};
