/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unit.h: what every unit test needs: cmocka, a folder of its own, files.
 *
 * Every program runs in a temporary folder, which is removed at its end.
 */
#ifndef GRANARY_TESTS_UNIT_H
#define GRANARY_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* cmocka 2 warns of it, and the compiler of the macro in its place: that casts to signed. */
#ifdef assert_uint_in_range
#undef assert_in_range
#define assert_in_range(value, least, most)                              \
	_assert_uint_in_range((uintmax_t)(value), (uintmax_t)(least),    \
			      (uintmax_t)(most), __FILE__, __LINE__)
#endif

/* Array lengths, for tables. */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Group set-up and teardown: into a new folder, and away with it. */
int unit_enter(void **state);
int unit_leave(void **state);

/* The folder's absolute path. */
const char *unit_folder(void);

void unit_write(const char *path, const void *bytes, size_t size);

/* The whole file, NUL-terminated; the caller frees it. */
char *unit_read(const char *path, size_t *size);

/* What `run` writes to standard error; the caller frees it. */
char *unit_stderr_of(void (*run)(void *), void *argument);

/* How many names a folder holds, `.` and `..` not counted. */
unsigned unit_names_in(const char *folder);

/* How often `word` occurs in `text`. */
unsigned unit_occurrences(const char *text, const char *word);

/* Runs a shell command that must succeed. */
void unit_shell(const char *command);

/* Runs `run` in a child: its exit status, or 256 + the signal that ended it. */
int unit_child(int (*run)(void *), void *argument);

/* Before any test. */
void unit_begin(void);

#define UNIT_MAIN(tests)                                               \
	int main(void)                                                 \
	{                                                              \
		unit_begin();                                          \
		cmocka_set_message_output(CM_OUTPUT_TAP);              \
		return cmocka_run_group_tests(tests, unit_enter,       \
					      unit_leave);             \
	}

#endif
