/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/epochs.h"

enum { AGAIN_LEAST = 10, AGAIN_PART = 20, SAME_ACCESS = 64 };

void epochs_begin(struct epochs *epochs, struct trace_files *files, struct epoch *list)
{
	*epochs = (struct epochs){ .files = files, .list = list };
}

/* The present one; the last of the list stands for all that follow. */
static struct epoch *present(struct epochs *epochs)
{
	uint32_t i = epochs->count ? epochs->count - 1 : 0;

	return &epochs->list[i < EPOCHS_MOST ? i : EPOCHS_MOST - 1];
}

/* An epoch begins with the first of the files that were seen again. */
static void begin_epoch(struct epochs *epochs, uint64_t at)
{
	present(epochs)->end = at;
	epochs->count++;
	if (epochs->count <= EPOCHS_MOST)
		*present(epochs) = (struct epoch){ .begin = at, .files = epochs->again };
	epochs->again = 0;
}

/* Have so many files come again that they are another epoch's? */
static bool is_another(const struct epochs *epochs, const struct epoch *epoch)
{
	return epochs->again > AGAIN_LEAST && epochs->again > epoch->files / AGAIN_PART;
}

/* The file has been seen in this epoch, and is the next one's now. */
static void come_again(struct epochs *epochs, struct trace_file *file, uint64_t at)
{
	if (epochs->again++ == 0)
		epochs->again_at = at;
	file->epoch = epochs->count + 1;
	if (is_another(epochs, present(epochs)))
		begin_epoch(epochs, epochs->again_at);
}

void epochs_access(struct epochs *epochs, uint32_t number, uint64_t at)
{
	struct trace_file *file;

	if (number == NO_FILE)
		return;
	if (!epochs->count)
		begin_epoch(epochs, at);
	file = &epochs->files->files.items[number];
	if (file->epoch < epochs->count) {
		file->epoch = epochs->count;
		present(epochs)->files++;
	} else if (file->epoch == epochs->count && epochs->accesses - file->seen > SAME_ACCESS) {
		come_again(epochs, file, at);
	}
	present(epochs)->end = at;
	file->seen = ++epochs->accesses;
}

void epochs_read(struct epochs *epochs, uint64_t bytes, bool hit)
{
	struct epoch *epoch = present(epochs);

	epoch->reads++;
	epoch->hits += hit;
	epoch->served += bytes;
}

void epochs_stored(struct epochs *epochs, uint64_t bytes)
{
	present(epochs)->stored += bytes;
}

void epochs_open(struct epochs *epochs)
{
	present(epochs)->opens++;
}
