/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bytes of which a name and a size are known and no way to decode them, such as an
 * encrypted member of a zip: the file is listed, and each read of it is EIO. -EOPNOTSUPP,
 * the reason inside, tells it from damage.
 */
#include "codec/codec.h"

#include <errno.h>

static ssize_t unreadable_decode(const void *in, size_t n, void *out, size_t room,
				 uint32_t parameter)
{
	(void)in;
	(void)n;
	(void)out;
	(void)room;
	(void)parameter;
	return -EOPNOTSUPP;
}

const struct codec codec_unreadable = { .name = "unreadable",
					.decode = unreadable_decode };
