/*
 * remedies.h: words of remedies that folders.def and src/format/signatures.def share.
 *
 * Each has been followed: the commands by tests/mount/remedies.sh, where a package of the
 * distributions brings the tool, and otherwise once by hand.
 */
#ifndef GRANARY_SOURCE_REMEDIES_H
#define GRANARY_SOURCE_REMEDIES_H

#define REMEDY_PACK "granary pack folder packed.tar"

/* For what only its own library reads. */
#define REMEDY_READER(reader)                                                      \
	"its own reader is " reader ": write its samples as files with that, then " \
	REMEDY_PACK

/* Rows that pyarrow can hand over, batch after batch, from what `open` returns. */
#define REMEDY_ARROW(import, open)                                                   \
	"write it again as Arrow: python3 -c \"import pyarrow as p, " import "; s = "  \
	open "; w = p.ipc.new_file('new.arrow', s.schema); "                           \
	"[w.write(b) for b in s.to_batches()]; w.close()\", and mount new.arrow"
#define REMEDY_DATASET(format) \
	REMEDY_ARROW("pyarrow.dataset as d", "d.dataset('%s', format='" format "')")

#endif
