/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read-all: reads files as a data loader does, from several processes.
 *
 *	read-all [-c] LIST SEED PROCESSES
 *
 * LIST holds one path a line. Every process shuffles the list with SEED and
 * takes each PROCESSES-th file: open, fstat, read to the end, close. Printed
 * are files, bytes, a checksum and seconds. The checksum (-c) does not depend
 * on the order nor on the number of processes, but on which file holds what.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 20, PROCESSES_MAX = 64 };

struct list {
	char **paths;
	size_t count;
};

/* The findings of one process; in memory that all share. */
struct result {
	uint64_t files, bytes, checksum;
};

static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* A hash of bytes that may come in pieces of any size: `at` is the offset. */
static uint64_t digest(const unsigned char *data, size_t size, uint64_t at, uint64_t sum)
{
	for (size_t i = 0; i < size; i++)
		sum += (uint64_t)(data[i] + 1u) *
		       ((at + i) * UINT64_C(0x9e3779b97f4a7c15) | 1u);
	return sum;
}

static int read_list(const char *name, struct list *list)
{
	FILE *in = fopen(name, "r");
	char *line = NULL;
	size_t room = 0, slots = 0;
	ssize_t length;

	if (!in)
		return -1;
	while ((length = getline(&line, &room, in)) > 0) {
		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		if (list->count == slots) {
			slots = slots ? slots * 2 : 1024;
			list->paths = realloc(list->paths, slots * sizeof(char *));
			if (!list->paths)
				abort();
		}
		list->paths[list->count++] = strdup(line);
	}
	free(line);
	fclose(in);
	return 0;
}

static size_t *shuffled(size_t count, uint64_t seed)
{
	size_t *order = malloc((count ? count : 1) * sizeof(*order));

	if (!order)
		abort();
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	for (size_t i = count; i > 1; i--) {
		size_t j = (size_t)(mix(seed += i) % i), kept = order[i - 1];

		order[i - 1] = order[j];
		order[j] = kept;
	}
	return order;
}

/* 0, or -1 with errno. */
static int read_file(int fd, unsigned char *buffer, bool summed, struct result *result,
		     uint64_t *sum)
{
	struct stat st;
	uint64_t at = 0;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return -1;
	while ((n = read(fd, buffer, BUFFER_BYTES)) > 0) {
		if (summed)
			*sum = digest(buffer, (size_t)n, at, *sum);
		at += (uint64_t)n;
	}
	if (n < 0)
		return -1;
	if (at != (uint64_t)st.st_size) {
		errno = EBADMSG;
		return -1;
	}
	result->files++;
	result->bytes += at;
	return 0;
}

static int read_one(const char *path, size_t number, unsigned char *buffer, bool summed,
		    struct result *result)
{
	uint64_t sum = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC), status;

	if (fd < 0) {
		fprintf(stderr, "read-all: %s: %s\n", path, strerror(errno));
		return -1;
	}
	status = read_file(fd, buffer, summed, result, &sum);
	if (status)
		fprintf(stderr, "read-all: %s: %s\n", path, strerror(errno));
	close(fd);
	result->checksum += mix(sum + mix(number + 1));
	return status;
}

/* Every `step`-th of the shuffled files, from the `first`. */
static int read_share(const struct list *list, const size_t *order, size_t first,
		      size_t step, bool summed, struct result *result)
{
	/* whole pages: copying into an odd address is a third as fast */
	unsigned char *buffer = aligned_alloc(4096, BUFFER_BYTES);
	int failed = 0;

	if (!buffer)
		abort();
	for (size_t i = first; i < list->count; i += step)
		if (read_one(list->paths[order[i]], order[i], buffer, summed, result))
			failed = 1;
	free(buffer);
	return failed;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int read_in_processes(const struct list *list, uint64_t seed, unsigned processes,
			     bool summed, struct result *results)
{
	size_t *order = shuffled(list->count, seed);
	pid_t children[PROCESSES_MAX];
	int failed = 0, status;

	for (unsigned i = 0; i < processes; i++) {
		children[i] = fork();
		if (children[i] == 0)
			_exit(read_share(list, order, i, processes, summed, &results[i]));
		if (children[i] < 0)
			failed = 1;
	}
	for (unsigned i = 0; i < processes; i++)
		if (children[i] > 0 && (waitpid(children[i], &status, 0) < 0 || status))
			failed = 1;
	free(order);
	return failed;
}

static int run(const char *name, uint64_t seed, unsigned processes, bool summed)
{
	struct list list = { NULL, 0 };
	struct result *results, total = { 0, 0, 0 };
	double start;
	int failed;

	results = mmap(NULL, PROCESSES_MAX * sizeof(*results), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (results == MAP_FAILED || read_list(name, &list) < 0) {
		fprintf(stderr, "read-all: %s: %s\n", name, strerror(errno));
		return 2;
	}
	start = now();
	failed = read_in_processes(&list, seed, processes, summed, results);
	start = now() - start;
	for (unsigned i = 0; i < processes; i++) {
		total.files += results[i].files;
		total.bytes += results[i].bytes;
		total.checksum += results[i].checksum;
	}
	printf("files %" PRIu64 " bytes %" PRIu64 " checksum %016" PRIx64 " seconds %.4f\n",
	       total.files, total.bytes, summed ? total.checksum : 0, start);
	for (size_t i = 0; i < list.count; i++)
		free(list.paths[i]);
	free(list.paths);
	munmap(results, PROCESSES_MAX * sizeof(*results));
	return failed;
}

int main(int argc, char **argv)
{
	bool summed = argc > 1 && strcmp(argv[1], "-c") == 0;
	unsigned long long seed;
	unsigned long processes;

	argv += summed;
	if (argc - summed != 4) {
		fprintf(stderr, "usage: read-all [-c] LIST SEED PROCESSES\n");
		return 1;
	}
	seed = strtoull(argv[2], NULL, 10);
	processes = strtoul(argv[3], NULL, 10);
	if (processes < 1 || processes > PROCESSES_MAX) {
		fprintf(stderr, "read-all: 1 to %d processes\n", PROCESSES_MAX);
		return 1;
	}
	return run(argv[1], seed, (unsigned)processes, summed);
}
