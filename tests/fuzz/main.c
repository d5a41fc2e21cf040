/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gives a harness the files that are named, in place of a fuzzing engine:
 *
 *	PROGRAM [--say] [--mutate=N] FILE...
 *
 * and of each file N variants: cut short, or with some bytes changed, always the same.
 * With --say it says what became of them, warnings too.
 */
#include "fuzz.h"

#ifndef FUZZ_ENGINE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint64_t any(uint64_t below)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (state >> 33) % below;
}

static uint8_t *read_file(const char *path, size_t *n)
{
	FILE *file = fopen(path, "r");
	uint8_t *bytes;
	long size;

	if (!file || fseek(file, 0, SEEK_END) < 0 || (size = ftell(file)) < 0) {
		perror(path);
		exit(2);
	}
	rewind(file);
	*n = (size_t)size;
	bytes = malloc(*n + 1);
	if (!bytes || fread(bytes, 1, *n, file) != *n) {
		perror(path);
		exit(2);
	}
	fclose(file);
	return bytes;
}

/* Numbers that are likely to matter, and others. */
static void change(uint8_t *bytes, size_t n)
{
	static const uint64_t numbers[] = { 0, 1, 0x7f, 0x80, 0xff, 0x7fffffff, 0xffffffff,
					    UINT64_MAX, UINT64_C(1) << 63, UINT64_C(1) << 40 };
	size_t at = any(n), width = (size_t)1 << any(4);
	uint64_t number = any(2) ? numbers[any(sizeof(numbers) / sizeof(*numbers))] : any(256);

	memcpy(bytes + at, &number, width < n - at ? width : n - at);
}

static void mutate(const uint8_t *bytes, size_t n, long rounds)
{
	uint8_t *copy = malloc(n + 1);

	if (!copy)
		exit(2);
	for (long i = 0; i < rounds && n; i++) {
		size_t length = any(8) ? n : any(n) + 1;

		memcpy(copy, bytes, n);
		for (uint64_t k = any(6) + 1; k > 0; k--)
			change(copy, length);
		LLVMFuzzerTestOneInput(copy, length);
	}
	free(copy);
}

int main(int argc, char **argv)
{
	long rounds = 0;

	for (int i = 1; i < argc; i++) {
		uint8_t *bytes;
		size_t n;

		if (strcmp(argv[i], "--say") == 0) {
			fuzz_log_level = LOG_LEVEL_WARN;
			continue;
		}
		if (strncmp(argv[i], "--mutate=", 9) == 0) {
			rounds = strtol(argv[i] + 9, NULL, 10);
			continue;
		}
		bytes = read_file(argv[i], &n);
		state = n;
		LLVMFuzzerTestOneInput(bytes, n);
		mutate(bytes, n, rounds);
		free(bytes);
	}
	return 0;
}
#endif
