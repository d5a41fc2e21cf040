/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * faults.h: storage that fails, servers that crash, and a FUSE that lacks something, for
 * tests.
 *
 * These functions stand between a program and its calls of pread(2); the linker puts
 * it there (--wrap) in programs that are built for tests, and in no other. What is
 * to fail is said in the environment:
 *
 *	GRANARY_FAULTS='FAULT[;FAULT...]'	FAULT is FIELD[,FIELD...]
 *
 *	kind=KIND      what happens; needed. Of a read:
 *	    eio, estale, etimedout, eintr    it fails with this error
 *	    stale      it fails with ESTALE, until dup3 has put another file in the
 *	               descriptor's place
 *	    short      it gives fewer bytes than there are
 *	    zero       it gives none, as at the end of a file
 *	    late       it waits for ms=
 *	    garbage    it gives other bytes
 *	    note       nothing; where it read is written to standard error
 *	path=TEXT      of files only that have this in their path, with no suffix behind
 *	offset=A-B     of reads only that touch the bytes A up to B - 1. A read that
 *	               begins before them and is to fail gives what lies before them,
 *	               as a kernel does at a bad sector; only these bytes become garbage
 *	from=N         beginning with the N-th read that matches (1)
 *	every=K        then each K-th (1)
 *	count=M        M of them in all (without end)
 *	while=PATH     only while PATH exists; `late` then waits until it is gone
 *	ms=N           for `late`
 *	bytes=N        at most, for `short` (half of what was asked for)
 *
 * Reads are counted over all processes that one start has forked, and so over
 * servers that follow each other. GRANARY_FAULTS_COUNTS names a file that holds two
 * numbers a fault, of 64 bits each: how many reads matched, how many were struck.
 *
 *	GRANARY_CRASH='CRASH[;CRASH...]'	CRASH is node=INO or name=NAME, and
 *		[,signal=SEGV|ABRT|KILL][,after=MS][,from=N][,every=K][,count=M]
 *
 * ends the process that reads the file with inode number INO (as stat shows it), or
 * that is asked for NAME in any directory; after so many milliseconds (0).
 *
 *	GRANARY_SHIELD=removed|lacks=NAME
 *
 * makes the overlay that is a mount's shield a bad one. removed: the empty directory that
 * is its second layer is removed, so that a merged root is empty, as before Linux 6.15
 * where that directory was not in a tmpfs. lacks: no listing through an overlay has NAME,
 * for the process that tries it.
 *
 *	GRANARY_FUSE_LACKS='LACK[,LACK...]'	LACK is async_read, auto_inval, readdirplus,
 *		readdirplus_auto, no_open, parallel_dirops, max_pages, cache_symlinks,
 *		no_opendir, explicit_inval: a flag that the kernel's INIT has not;
 *		minor=N, an older protocol with all that it lacks; readahead=BYTES, its
 *		most; or store: the kernel takes no pages
 *
 * A rule that cannot be parsed ends the program: a test must not go on without faults.
 */
#ifndef GRANARY_TESTS_FAULTS_H
#define GRANARY_TESTS_FAULTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { FAULTS_MOST = 16, FAULT_PATH_BYTES = 256 };

enum fault_kind {
	FAULT_NONE,
	FAULT_ERROR,
	FAULT_STALE,
	FAULT_SHORT,
	FAULT_ZERO,
	FAULT_LATE,
	FAULT_GARBAGE,
	FAULT_NOTE,
};

/* The matches that get the fault. */
struct fault_turns {
	uint64_t from, every, count;
};

struct fault {
	enum fault_kind kind;
	int errnum;
	struct fault_turns turns;
	uint64_t begin, end;
	uint64_t ms, bytes;
	char path[FAULT_PATH_BYTES];
	char present[FAULT_PATH_BYTES]; /* while= */
};

struct crash {
	uint64_t node;               /* 0: none */
	char name[FAULT_PATH_BYTES]; /* "": none */
	int signal;
	uint64_t after;              /* milliseconds */
	struct fault_turns turns;
};

/* In memory that processes share. */
struct fault_counts {
	_Atomic uint64_t matched, struck;
};

/* How many faults, or -1 with the field that is not understood in *wrong. */
int faults_parse(const char *text, struct fault *out, unsigned room, const char **wrong);
int crash_parse(const char *text, struct crash *out, const char **wrong);

/* Counts one more that matches: is it its turn? */
bool fault_strikes(const struct fault_turns *turns, struct fault_counts *counts);

/* For tests that are the program: from now on these faults, counted from 0. */
void faults_use(const char *text);
uint64_t faults_struck(unsigned number);

/* `n` counts that forked processes share; in a file where a path is given. */
struct fault_counts *fault_counts_new(unsigned n, const char *path);

/* Says what is wrong with a variable, and ends the program. */
_Noreturn void fault_refuse(const char *variable, const char *what);

#endif
