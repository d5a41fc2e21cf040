/* SPDX-License-Identifier: GPL-3.0-or-later */
/* raw.c: a window over a source. */
#include "volume/stage.h"

static int raw_pread(const struct volume *volume, void *buffer, size_t length,
		     uint64_t offset, struct read_context *context)
{
	return stage_pread(volume, buffer, length, volume->desc.base + offset, context);
}

const struct volume_ops volume_raw_ops = { .pread = raw_pread };
