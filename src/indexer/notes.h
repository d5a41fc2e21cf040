/*
 * notes.h: what `granary info` has to say besides where names and labels come from.
 */
#ifndef GRANARY_INDEXER_NOTES_H
#define GRANARY_INDEXER_NOTES_H

#include "tree/index.h"

/* Adds a line to the summary's notes. Where there is no more room, "..." says so. */
void note(struct index_summary *summary, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
