/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hdf5_run.h: what the tests of the HDF5 format share.
 */
#ifndef GRANARY_TESTS_HDF5_RUN_H
#define GRANARY_TESTS_HDF5_RUN_H

#include "scan_run.h"

/* Scans the file from byte `base` on. */
void run_window(struct run *run, const char *path, uint64_t base);

/* Options that scans have from now on. */
extern bool run_arrays;
extern const char *run_labels;

unsigned long sum_of_file(const struct run *run, const struct entry *entry);
unsigned long sum_of_sample(const struct run *run, const struct sample *sample);

/* The contents of a scan, as these two print them; the caller frees the text. */
typedef void run_print_entry(FILE *out, const struct run *run, const struct entry *entry);
typedef void run_print_group(FILE *out, const struct run *run, size_t number);
char *run_listing(const struct run *run, run_print_entry *print_entry,
		  run_print_group *print_group);

/* Are the lines of `got`, which is freed, those of the file NAMESUFFIX? */
void assert_listed(const char *name, const char *suffix, char *got);

/* For each file NAMESUFFIX: how many there are. */
unsigned for_each(const char *suffix, void (*check)(const char *name));

void assert_refused(const struct run *run, int err, enum error_status status);
void assert_word(const struct run *run, const char *word);

/* NAME.h5 is refused in a sentence with each word of NAME.refuse. */
void run_refuse(const char *name);

/* Goes to a new directory where the script wrote its fixtures; removes it. */
int run_enter(const char *script);
int run_leave(void **state);

#endif
