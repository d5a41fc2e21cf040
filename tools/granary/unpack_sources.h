/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unpack_sources.h: for granaryfs -o spool=: decodes compressed sources into files.
 */
#ifndef GRANARY_TOOL_UNPACK_SOURCES_H
#define GRANARY_TOOL_UNPACK_SOURCES_H

#include "granary.h"
#include "place/find.h"

/*
 * Writes each source of wish->unpack_to that no index can be made of as it is: one without
 * entry points, or with a format in it that is not read in a stream. The files of the others
 * stay empty. A child without rights does that. Returns the exit status.
 */
int unpack_sources(const struct request *request, const struct index_wish *wish);

#endif
