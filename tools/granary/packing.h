/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * packing.h: options, progress, index and report of the commands that pack: pack, convert.
 */
#ifndef GRANARY_TOOL_PACKING_H
#define GRANARY_TOOL_PACKING_H

#include "granary.h"
#include "packer/packer.h"

/* The options of both commands, and their help. */
extern const struct option packing_options[];

#define PACKING_HELP \
	"OUT is data.tar, data.sqfs or data.h5, or a set: data-%06d.tar,\n" \
	"data-{000000..000127}.tar.\n\n" \
	"    --shards N                      so many shards\n" \
	"    --shard-size SIZE               shards of at most this size (default 1G)\n" \
	"    --multiple-of N                 a number of shards that N divides\n" \
	"    --shuffle SEED                  in an order that the number decides on\n" \
	"    --layout tree|webdataset        names as they are, or samples KEY.jpg, KEY.cls\n" \
	"    --hdf5-layout tree|jsc          groups and datasets, or rows with labels\n" \
	"    --compress NAME[:LEVEL]         of squashfs (zstd): none, lz4, zstd, gzip, xz;\n" \
	"                                    of HDF5 (none): none, gzip; of .tar.gz, .tar.zst\n" \
	"                                    and .tar.xz the level: gzip:9\n" \
	"    --decode                        JPEG and PNG images become PPM\n" \
	"    --threads N                     that read\n" \
	"    --index                         make an index, with checksums (the default)\n" \
	"    --no-index                      make none\n" \
	"    --keep-going                    leave out what cannot be read\n" \
	"    --resume                        go on with a set that was interrupted\n" \
	"    --force                         replace what is there\n"

/*
 * Call it first: the options of the request; the caller frees *compressor. 0, or an exit
 * status, the error printed.
 */
int packing_prepare(struct request *request, struct pack_options *out, char **compressor);

/* packer_run with progress. */
int packing_run(const struct request *request, const struct pack_options *options,
		struct pack_result *result, struct error *e);

/*
 * Writes the index of what was packed, and prints the result or the error of packing_run:
 * the exit status.
 */
int packing_report(const struct request *request, const struct pack_result *result, int err,
		   const struct error *e);

#endif
