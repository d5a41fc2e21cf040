/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * remedies.h: texts of remedies for directories.def and src/format/signatures.def.
 *
 * Each remedy was tried: the commands by tests/mount/remedies.sh, if a distribution's
 * package has the tool, and otherwise once by hand.
 */
#ifndef GRANARY_SOURCE_REMEDIES_H
#define GRANARY_SOURCE_REMEDIES_H

#define REMEDY_PACK "granary pack directory packed.tar"

/* For formats that only their own library reads. */
#define REMEDY_READER(reader)                                                      \
	"its own reader is " reader ": write its samples as files with that, then " \
	REMEDY_PACK

/* Rows that pyarrow reads batch by batch from the result of `open`. */
#define REMEDY_ARROW(import, open)                                                   \
	"write it again as Arrow: python3 -c \"import pyarrow as p, " import "; s = "  \
	open "; w = p.ipc.new_file('new.arrow', s.schema); "                           \
	"[w.write(b) for b in s.to_batches()]; w.close()\", and mount new.arrow"
#define REMEDY_DATASET(format)               \
	REMEDY_ARROW("pyarrow.dataset as d", \
		     "d.dataset('%s', format='" format "', partitioning='hive')")

#endif
