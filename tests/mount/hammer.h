/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hammer: reads a mount in many ways at once, and compares all of it with a
 * tree that is known to be right. What its parts share.
 */
#ifndef TESTS_MOUNT_HAMMER_H
#define TESTS_MOUNT_HAMMER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Counters of each process, in the order of the output. */
#define HAMMER_COUNTS(X) \
	X(reads) X(bytes) X(files) X(stats) X(links) X(listings) X(absent) X(xattrs) \
	X(others) X(passes) X(drops) X(wrong) X(errors) X(allowed)

#define X(name) COUNT_##name,
enum count { HAMMER_COUNTS(X) COUNT_MAX };
#undef X

/* A name in a directory, as a listing gives it. */
struct name {
	char *name;
	unsigned char type; /* DT_ */
};

/* One name of the tree that is known to be right. */
struct item {
	char *path;          /* below the root; "." is the root itself */
	struct stat st;
	struct name *names;  /* of a directory, sorted */
	size_t count;
	bool excluded;       /* is listed, but not looked at */
};

struct tree {
	struct item *items;
	size_t count;
	size_t *files;       /* which of them are files of one byte or more */
	size_t file_count;
};

/* Loads the tree, without what is neither file, directory nor symbolic link. 0 or -1,
   with errno and the path in tree_failed(). Freed by the end of the process. */
int tree_load(struct tree *tree, int root);
const char *tree_failed(void);
/* These are not to be looked at. */
void tree_exclude(struct tree *tree, const char *const *paths, unsigned count);

/* For sorted arrays of names. */
int name_order(const void *a, const void *b);

/* The report of a process, in memory that all of them see. */
struct account {
	_Atomic uint64_t steps;        /* calls that were begun or came back */
	_Atomic(const char *) call;    /* the one that has not, or NULL */
	_Atomic(const char *) path;
	_Atomic uint64_t counts[COUNT_MAX];
};

struct hammer_options {
	int reference, mount;   /* descriptors of the two roots */
	const char *mountpoint;
	bool attributes;        /* are mode, mtime and xattrs the reference's? */
	int allowed[8];         /* errnos that are no errors */
	unsigned allowed_count;
	const char *excluded[16];
	unsigned excluded_count;
	uint64_t seed;
};

/* One process. */
struct hammer {
	const struct hammer_options *options;
	const struct tree *tree;
	struct account *account;
	const _Atomic bool *stop;
	uint64_t random;
	struct stat *seen;      /* of each item, how the mount showed it first */
	unsigned char *buffer;
	size_t buffer_size;
	struct held *held;      /* files that stay open */
	unsigned told;          /* faults that were printed */
};

/* hammer_names.c: one item, in one of the ways that there are. */
void check_item(struct hammer *h, size_t item);

/* hammer_contents.c: all bytes of a file. */
void check_contents(struct hammer *h, const struct item *it);
/* The next reader asks the daemon again. */
void forget_pages(int fd);
/* Opens some files for good; reads one of them. */
void opath_reopen(struct hammer *h);
void check_held(struct hammer *h);

/* hammer_report.c: what is said of a call, before it and after. */
void begin(struct hammer *h, const char *call, const char *path);
void done(struct hammer *h);
void count(struct hammer *h, enum count which, uint64_t n);
/* A call failed with `errnum`: is counted as an error, or as allowed. */
void failed(struct hammer *h, int errnum);
/* The bytes that came back are not those of the tree. */
void wrong(struct hammer *h, const char *path, const char *what, uint64_t where);

/* 0 to n - 1. */
uint64_t below(struct hammer *h, uint64_t n);

#endif
