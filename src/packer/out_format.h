/* SPDX-License-Identifier: GPL-3.0-or-later */
/* out_format.h: the format of a packed file, by the end of its name. */
#ifndef GRANARY_PACKER_OUT_FORMAT_H
#define GRANARY_PACKER_OUT_FORMAT_H

#include "base/error.h"
#include "packer/out_name.h"
#include "packer/writer.h"

struct out_format {
	const char *suffix;       /* ".tar.gz" */
	const struct writer_ops *writer;
	const char *compressor;   /* NULL: --compress chooses */
};

/* The format of the files `name`, as `out` in messages. 0, or a negative errno and *e. */
int out_format_find(const struct out_name *name, const char *out,
		    const struct out_format **format, struct error *e);

#endif
