/* cmd_info.c: granary info SOURCE... */
#include <inttypes.h>
#include <stdio.h>

#include "granary.h"
#include "util/json.h"
#include "util/size.h"

/* Directories under the root: what an ImageFolder would call its classes. */
static uint32_t count_top_directories(const struct dataset *dataset)
{
	const struct tree *tree = dataset_tree(dataset);
	struct tree_name name;
	uint32_t n = 0;

	for (uint32_t i = 0; tree_child(tree, dataset_root(dataset), i, &name) == 0; i++)
		n += name.kind == TREE_DIRECTORY;
	return n;
}

static void print_json(const struct dataset_info *info, uint32_t top)
{
	const struct index_summary *s = &info->summary;
	struct json json = { .out = stdout };

	json_open(&json, NULL, '{');
	json_text(&json, "format", s->format);
	json_uint(&json, "sources", info->sources);
	json_text(&json, "first_source", info->first_source);
	json_uint(&json, "source_bytes", info->source_bytes);
	json_uint(&json, "files", s->files);
	json_uint(&json, "links", s->links);
	json_uint(&json, "symlinks", s->symlinks);
	json_uint(&json, "directories", s->directories);
	json_uint(&json, "top_directories", top);
	json_uint(&json, "bytes", s->bytes);
	json_uint(&json, "left_out", s->left_out);
	json_text(&json, "names", "archive");
	json_text(&json, "options", s->options);
	json_text(&json, "index", info->index_path ? info->index_path : "");
	json_uint(&json, "index_bytes", info->index_bytes);
	json_close(&json, '}');
	putchar('\n');
}

static void print_text(const struct dataset_info *info, uint32_t top)
{
	const struct index_summary *s = &info->summary;
	char a[SIZE_TEXT_BYTES], b[SIZE_TEXT_BYTES], c[SIZE_TEXT_BYTES];

	printf("source       %s", info->first_source);
	if (info->sources > 1)
		printf(" and %s more", count_text(info->sources - 1, a));
	printf(" (%s)\n", size_text(info->source_bytes, a));
	printf("format       %s\n", s->format);
	printf("files        %s (%s)\n", count_text(s->files, a), size_text(s->bytes, b));
	printf("directories  %s (%s at the root)\n", count_text(s->directories, a),
	       count_text(top, b));
	printf("links        %s symbolic, %s hard\n", count_text(s->symlinks, a),
	       count_text(s->links, b));
	if (s->left_out)
		printf("left out     %s entries: devices, FIFOs, sockets, or what "
		       "cannot be shown\n", count_text(s->left_out, a));
	printf("names        as in the archive\n");
	printf("index        %s (%s)\n", info->index_path ? info->index_path : "in memory",
	       size_text(info->index_bytes, a));
	printf("inodes       %s instead of %s\n",
	       count_text(info->sources + (info->index_path ? 1U : 0U), b),
	       count_text(s->files + s->directories + s->symlinks, c));
}

static int run(struct request *request)
{
	struct dataset_info info;
	uint32_t top;
	int status = request_open(request, ONLY_SOURCES);

	if (status)
		return status;
	if (dataset_info(request->dataset, &info) < 0)
		return report_error(&(struct error){ ERROR_SYSTEM, "the index is damaged" });
	top = count_top_directories(request->dataset);
	if (request->json)
		print_json(&info, top);
	else
		print_text(&info, top);
	return finish_output();
}

const struct command command_info = {
	.name = "info", .usage = "[-o OPTIONS] [--json] SOURCE...",
	.summary = "Says what a packed dataset is: format, counts, sizes, index",
	.help = "", .shorts = "", .takes_dataset = true, .run = run,
};
