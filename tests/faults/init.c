/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * init.c: a FUSE that is older than the one here. The kernel's first request, INIT, is
 * made to offer less before libfuse sees it.
 */
#include <errno.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUSE_USE_VERSION 31
#include <fuse_lowlevel.h>

#include "faults.h"

void __wrap_fuse_session_process_buf(struct fuse_session *session, const struct fuse_buf *buf);
void __real_fuse_session_process_buf(struct fuse_session *session, const struct fuse_buf *buf);
int __wrap_fuse_lowlevel_notify_store(struct fuse_session *session, fuse_ino_t ino,
				      off_t offset, struct fuse_bufvec *pieces,
				      enum fuse_buf_copy_flags flags);
int __real_fuse_lowlevel_notify_store(struct fuse_session *session, fuse_ino_t ino,
				      off_t offset, struct fuse_bufvec *pieces,
				      enum fuse_buf_copy_flags flags);

/* In linux/fuse.h of other ages some are not there. */
static const struct {
	const char *name;
	uint32_t flag;
} flags[] = {
	{ "async_read", 1U << 0 },       { "auto_inval", 1U << 12 },
	{ "readdirplus", 1U << 13 },     { "readdirplus_auto", 1U << 14 },
	{ "no_open", 1U << 17 },         { "parallel_dirops", 1U << 18 },
	{ "max_pages", 1U << 22 },       { "cache_symlinks", 1U << 23 },
	{ "no_opendir", 1U << 24 },      { "explicit_inval", 1U << 25 },
};

static uint32_t allowed = UINT32_MAX, minor_most = UINT32_MAX, readahead_most = UINT32_MAX;
static bool stores = true;

static bool take_flag(const char *name)
{
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (strcmp(flags[i].name, name) != 0)
			continue;
		allowed &= ~flags[i].flag;
		return true;
	}
	return false;
}

/* Flags that no kernel knew before that minor version of the protocol. */
static void be_as_old_as(uint32_t minor)
{
	minor_most = minor;
	if (minor < 36)
		allowed &= (1U << 30) - 1;
	if (minor < 28)
		allowed &= (1U << 22) - 1;
}

static void take(const char *word)
{
	if (strncmp(word, "minor=", 6) == 0)
		be_as_old_as((uint32_t)strtoul(word + 6, NULL, 10));
	else if (strncmp(word, "readahead=", 10) == 0)
		readahead_most = (uint32_t)strtoul(word + 10, NULL, 10);
	else if (strcmp(word, "store") == 0)
		stores = false;
	else if (!take_flag(word))
		fault_refuse("GRANARY_FUSE_LACKS", word);
}

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("GRANARY_FUSE_LACKS");
	char copy[512], *rest = NULL;

	if (!text || !*text)
		return;
	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		fault_refuse("GRANARY_FUSE_LACKS", text);
	for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
		take(word);
}

static uint32_t at_most(uint32_t value, uint32_t most)
{
	return value < most ? value : most;
}

void __wrap_fuse_session_process_buf(struct fuse_session *session, const struct fuse_buf *buf)
{
	struct fuse_in_header *request = buf->mem;
	struct fuse_init_in *init = (struct fuse_init_in *)(request + 1);

	if (request->opcode == FUSE_INIT) {
		init->minor = at_most(init->minor, minor_most);
		init->max_readahead = at_most(init->max_readahead, readahead_most);
		init->flags &= allowed;
	}
	__real_fuse_session_process_buf(session, buf);
}

int __wrap_fuse_lowlevel_notify_store(struct fuse_session *session, fuse_ino_t ino,
				      off_t offset, struct fuse_bufvec *pieces,
				      enum fuse_buf_copy_flags how)
{
	if (!stores)
		return -ENOSYS;
	return __real_fuse_lowlevel_notify_store(session, ino, offset, pieces, how);
}
