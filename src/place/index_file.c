/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "place/index_file.h"

#include <stdlib.h>

#include "source/load.h"
#include "source/source.h"

struct index_file {
	unsigned holders; /* besides the first */
	struct source *source;
	struct card *card;
};

static int index_file_read_source(const void *context, void *buffer, size_t length,
				  uint64_t offset)
{
	return source_pread(context, buffer, length, offset);
}

static int index_file_read_card(struct index_file *file, struct error *e)
{
	const struct card_reader reader = {
		.read = index_file_read_source, .context = file->source,
		.size = source_size(file->source), .owner = source_owner(file->source)->uid,
	};
	int err = card_read(&reader, &file->card, e);

	if (err)
		error_prefix(e, "%s", source_path(file->source));
	return err;
}

int index_file_open(const char *path, struct index_file **out, struct error *e)
{
	struct index_file *file = calloc(1, sizeof(*file));
	int err;

	if (!file)
		return error_no_memory(e, NULL);
	err = source_open(path, &file->source, e);
	if (!err)
		err = index_file_read_card(file, e);
	if (err) {
		index_file_close(file);
		return err;
	}
	*out = file;
	return 0;
}

void index_file_close(struct index_file *file)
{
	if (!file || file->holders-- > 0)
		return;
	card_free(file->card);
	source_close(file->source);
	free(file);
}

struct index_file *index_file_share(struct index_file *file)
{
	file->holders++;
	return file;
}

const struct card *index_file_card(const struct index_file *file)
{
	return file->card;
}

const struct source *index_file_source(const struct index_file *file)
{
	return file->source;
}

int index_file_load(const struct index_file *file, struct index **out, struct error *e)
{
	int memory, err = source_load(file->source, &memory, e);

	return err ? err : index_open_memory(memory, card_owner(file->card),
					     source_path(file->source), out, e);
}

int index_open(const char *path, struct index **out, struct error *e)
{
	struct index_file *file;
	int err = index_file_open(path, &file, e);

	if (err)
		return err;
	err = index_file_load(file, out, e);
	index_file_close(file);
	return err;
}
