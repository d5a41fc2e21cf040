/* SPDX-License-Identifier: GPL-3.0-or-later */
/* crash.c: a server that crashes on some files or names. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dataset/dataset.h"
#include "faults.h"

/* The linker's names (--wrap). */
ssize_t __wrap_dataset_read(const struct dataset *dataset, uint32_t node, void *buffer,
			    size_t length, uint64_t offset, struct read_context *context);
ssize_t __real_dataset_read(const struct dataset *dataset, uint32_t node, void *buffer,
			    size_t length, uint64_t offset, struct read_context *context);
int __wrap_tree_lookup(const struct tree *tree, uint32_t parent, const char *name,
		       size_t length, uint32_t *node);
int __real_tree_lookup(const struct tree *tree, uint32_t parent, const char *name,
		       size_t length, uint32_t *node);

enum { CRASHES_MOST = 8 };

static struct crash crashes[CRASHES_MOST];
static unsigned crash_count;
static struct fault_counts *counts;

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("GRANARY_CRASH"), *wrong = text;
	char copy[1024], *rest = NULL, *word;

	if (!text || !*text)
		return;
	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		fault_refuse("GRANARY_CRASH", text);
	for (word = strtok_r(copy, ";", &rest); word; word = strtok_r(NULL, ";", &rest)) {
		if (crash_count == CRASHES_MOST ||
		    crash_parse(word, &crashes[crash_count++], &wrong) < 0)
			fault_refuse("GRANARY_CRASH", wrong);
	}
	counts = fault_counts_new(CRASHES_MOST, NULL);
}

/* A write to nowhere comes through even where the signal is blocked. */
__attribute__((no_sanitize("undefined"))) static void end_by(const struct crash *crash)
{
	volatile int *volatile nowhere = NULL;
	int signal = crash->signal;

	usleep((useconds_t)crash->after * 1000);
	if (signal == SIGSEGV)
		*nowhere = 1;
	if (signal == SIGABRT)
		abort();
	kill(getpid(), signal);
	for (;;)
		pause();
}

/* Inode numbers are as fuse/ops.c gives them. */
static uint64_t inode_of(const struct dataset *dataset, uint32_t node)
{
	return node == dataset_root(dataset) ? 1 : (uint64_t)node + 1;
}

ssize_t __wrap_dataset_read(const struct dataset *dataset, uint32_t node, void *buffer,
			    size_t length, uint64_t offset, struct read_context *context)
{
	for (unsigned i = 0; i < crash_count; i++)
		if (crashes[i].node == inode_of(dataset, node) &&
		    fault_strikes(&crashes[i].turns, &counts[i]))
			end_by(&crashes[i]);
	return __real_dataset_read(dataset, node, buffer, length, offset, context);
}

int __wrap_tree_lookup(const struct tree *tree, uint32_t parent, const char *name,
		       size_t length, uint32_t *node)
{
	for (unsigned i = 0; i < crash_count; i++)
		if (*crashes[i].name && strlen(crashes[i].name) == length &&
		    memcmp(crashes[i].name, name, length) == 0 &&
		    fault_strikes(&crashes[i].turns, &counts[i]))
			end_by(&crashes[i]);
	return __real_tree_lookup(tree, parent, name, length, node);
}
