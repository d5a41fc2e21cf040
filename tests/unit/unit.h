/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unit.h: what every unit test needs: cmocka, a directory of its own, files.
 *
 * Every program runs in a temporary directory, which is removed at its end.
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

/* Group set-up and teardown: into a new directory, and away with it. */
int unit_enter(void **state);
int unit_leave(void **state);

/* The directory's absolute path. */
const char *unit_directory(void);

void unit_write(const char *path, const void *bytes, size_t size);

/* The whole file, NUL-terminated; the caller frees it. */
char *unit_read(const char *path, size_t *size);

/* The output of `run` to standard error; the caller frees it. */
char *unit_stderr_of(void (*run)(void *), void *argument);

/* How many names a directory holds, `.` and `..` not counted. */
unsigned unit_names_in(const char *directory);

/* How often `word` occurs in `text`. */
unsigned unit_occurrences(const char *text, const char *word);

/* Runs a shell command that must succeed. */
void unit_shell(const char *command);

/* Runs `run` in a child: its exit status, or 256 + the signal that ended it. */
int unit_child(int (*run)(void *), void *argument);

/* In a child, where cmocka cannot: says what is wrong, for the test's log. */
void unit_complain(const char *file, int line, const char *wrong);

/* In a child's function: a condition that fails is told, and is its exit status. */
#define WANT(condition)                                                   \
	do {                                                              \
		if (!(condition)) {                                       \
			unit_complain(__FILE__, __LINE__, #condition);    \
			return 1;                                         \
		}                                                         \
	} while (0)

/* The line NAME of /proc/PROCESS/status, until the next call; "" without one. */
const char *unit_status_of(const char *name, const char *process);

/*
 * A test of a table runs once a row, each a point of its own by the name "TEST/ROW": a row
 * that fails does not keep the next ones from being tried. Rows are named by a member of
 * the table that is text; by the text, in an array of texts; or by their number.
 *
 *	static void test_rows(void **state)
 *	{
 *		size_t i = unit_row(state);
 *		...
 *	}
 *
 *	unit_table(test_rows, table, name),
 */
struct unit_rows {
	const void *rows;
	size_t size, count;
	ptrdiff_t name; /* in a row, where the pointer to its name is; or none */
};

enum { UNIT_NO_NAME = -1 };

/* Marks a line of a list of tests as a table. */
int unit_mark(void **state);

#define UNIT_ROWS(function, table, at)                                                 \
	{ #function, function, unit_mark, NULL,                                        \
	  &(struct unit_rows){ table, sizeof((table)[0]), COUNT(table), at } }
#define unit_table(function, table, member)                                            \
	UNIT_ROWS(function, table,                                                     \
		  (const char *)&(table)[0].member - (const char *)&(table)[0])
#define unit_texts(function, table) UNIT_ROWS(function, table, 0)
#define unit_rows(function, table) UNIT_ROWS(function, table, UNIT_NO_NAME)

/* The number of the row that this test is for. */
static inline size_t unit_row(void *const *state)
{
	return (size_t)(uintptr_t)*state - 1;
}

/* Runs tests, tables among them: the status for main. */
int unit_run(const struct CMUnitTest *tests, size_t count, CMFixtureFunction enter,
	     CMFixtureFunction leave);

#define UNIT_MAIN_IN(tests, enter, leave)                                              \
	int main(void)                                                                 \
	{                                                                              \
		return unit_run(tests, COUNT(tests), enter, leave);                    \
	}
#define UNIT_MAIN(tests) UNIT_MAIN_IN(tests, unit_enter, unit_leave)

#endif
