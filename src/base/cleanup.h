/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cleanup.h: local variables that free their resource at the end of their scope.
 *
 *	CLEANUP(cleanup_free) char *text = NULL;
 *	CLEANUP(cleanup_close) int fd = -1;
 */
#ifndef GRANARY_BASE_CLEANUP_H
#define GRANARY_BASE_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

#define CLEANUP(function) __attribute__((cleanup(function)))

static inline int steal_fd(int *fd)
{
	int stolen = *fd;

	*fd = -1;
	return stolen;
}

static inline void cleanup_free(void *pointer)
{
	free(*(void **)pointer);
}

static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#endif
