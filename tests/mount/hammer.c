/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hammer: reads a mount in many ways at once, and compares all of it with a
 * tree that is known to be right.
 *
 *	hammer [-p PROCESSES] [-s SECONDS | -u STOPFILE] [-w SECONDS] [-e ERRNO,...]
 *	       [-x PATH] [-n] [-r] [-S SEED] REFERENCE_DIR MOUNT_DIR
 *
 * Each of the processes (-p, 8) walks the whole tree, again and again, each time in
 * another order: attributes, listings, links, names that are not there, xattrs, and
 * every byte of every file, by read, pread, mmap or in one piece. It drops the pages
 * that it has read, so that the daemon is asked again, and keeps some files open
 * from the start to the end. -r: as root a further process drops all dentries and
 * inodes that are not in use, some times a second, by a remount that changes nothing.
 *
 * The run ends after -s SECONDS (10), or when STOPFILE is there; but not before each
 * process has read something, unless that takes -w SECONDS (30) longer. Then
 * STOPFILE.reading is made. A call that does not come back for -w SECONDS is a hang, and ends it at once. -e
 * names errors that may come: they are counted apart, and to each process one has to
 * come before it ends. -x leaves a file or directory of that path out. -n: the format
 * has no modes, times and xattrs.
 *
 * Printed are counts, one a line. Status 0: something was read, and nothing was wrong.
 */
#include "hammer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES_MAX = 64, BUFFER_BYTES = 2 << 20 };

struct watch {
	uint64_t steps;
	double since; /* they have not moved */
};

struct run {
	struct hammer_options options;
	struct tree tree;
	unsigned processes; /* that read; one more drops */
	bool drops;
	double seconds, patience;
	const char *stop_file;
	struct shared *shared;
	pid_t children[PROCESSES_MAX + 1];
	struct watch watches[PROCESSES_MAX + 1];
	unsigned hung, died;
	double wanted;        /* it is to end since then, or 0 */
	bool told;            /* STOPFILE.reading is there */
};

struct shared {
	_Atomic bool stop;
	struct account accounts[PROCESSES_MAX + 1];
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void pause_ms(uint64_t ms)
{
	const struct timespec ts = { .tv_sec = (time_t)(ms / 1000),
				     .tv_nsec = (long)(ms % 1000) * 1000 * 1000 };

	nanosleep(&ts, NULL);
}

/* ---- In a process ---- */

static void shuffle(struct hammer *h, size_t *order, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = below(h, i), kept = order[i - 1];

		order[i - 1] = order[j];
		order[j] = kept;
	}
}

static void read_on(struct hammer *h)
{
	size_t n = h->tree->count, *order = malloc(n * sizeof(*order));

	if (!order)
		abort();
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	while (!*h->stop) {
		shuffle(h, order, n);
		for (size_t i = 0; i < n && !*h->stop; i++) {
			check_item(h, order[i]);
			if (below(h, 8) == 0)
				check_held(h);
		}
		count(h, COUNT_passes, 1);
	}
	free(order);
}

/* Dentries and inodes that nobody uses, of this one mount. */
static void drop_on(struct hammer *h)
{
	while (!*h->stop) {
		pause_ms(50 + below(h, 200));
		begin(h, "remount", ".");
		if (mount("none", h->options->mountpoint, NULL,
			  MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL) < 0) {
			failed(h, errno);
			continue;
		}
		done(h);
		count(h, COUNT_drops, 1);
	}
}

static void run_process(struct run *r, unsigned number)
{
	struct hammer h = { .options = &r->options, .tree = &r->tree,
			    .account = &r->shared->accounts[number],
			    .stop = &r->shared->stop, .buffer_size = BUFFER_BYTES,
			    .random = r->options.seed * 1000 + number + 1 };

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody else would tell it to stop */
	for (int i = 0; i < 10; i++)
		below(&h, 1);
	h.buffer = aligned_alloc(4096, BUFFER_BYTES);
	h.seen = calloc(r->tree.count, sizeof(*h.seen));
	if (!h.buffer || !h.seen)
		abort();
	if (number < r->processes) {
		opath_reopen(&h);
		read_on(&h);
	} else {
		drop_on(&h);
	}
	_exit(0);
}

static int start(struct run *r)
{
	for (unsigned i = 0; i < r->processes + r->drops; i++) {
		r->watches[i].since = now();
		r->children[i] = fork();
		if (r->children[i] == 0)
			run_process(r, i);
		if (r->children[i] < 0)
			return -1;
	}
	return 0;
}

/* ---- In the one that watches ---- */

static void describe_hang(const struct run *r, unsigned i)
{
	const struct account *a = &r->shared->accounts[i];
	const char *call = a->call, *path = a->path;
	char name[64], line[256];
	FILE *stack;

	fprintf(stderr, "hammer: process %d hangs in %s: %s\n", (int)r->children[i],
		call ? call : "no call", path ? path : "?");
	snprintf(name, sizeof(name), "/proc/%d/stack", (int)r->children[i]);
	stack = fopen(name, "r");
	while (stack && fgets(line, sizeof(line), stack))
		fprintf(stderr, "hammer:     %s", line);
	if (stack)
		fclose(stack);
}

/* Counts those that do not move. */
static void look_for_hangs(struct run *r)
{
	for (unsigned i = 0; i < r->processes + r->drops; i++) {
		uint64_t steps = r->shared->accounts[i].steps;
		struct watch *w = &r->watches[i];

		if (steps != w->steps || !r->children[i]) {
			w->steps = steps;
			w->since = now();
		} else if (now() - w->since > r->patience) {
			describe_hang(r, i);
			r->hung++;
			r->shared->stop = true;
			w->since = now() + 3600;
		}
	}
}

/* Takes leave of those that have ended; how many are left? */
static unsigned reap(struct run *r)
{
	unsigned left = 0;
	int status;

	for (unsigned i = 0; i < r->processes + r->drops; i++) {
		if (!r->children[i])
			continue;
		if (waitpid(r->children[i], &status, WNOHANG) == 0) {
			left++;
			continue;
		}
		r->children[i] = 0;
		if (status) {
			fprintf(stderr, "hammer: a process ended with %#x\n", (unsigned)status);
			r->died++;
			r->shared->stop = true;
		}
	}
	return left;
}

static bool each_has(const struct run *r, enum count which)
{
	for (unsigned i = 0; i < r->processes; i++)
		if (!r->shared->accounts[i].counts[which])
			return false;
	return true;
}

static void tell_reading(struct run *r)
{
	char path[4096];
	int fd;

	r->told = true;
	snprintf(path, sizeof(path), "%s.reading", r->stop_file);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		perror(path);
	else
		close(fd);
}

/* On a busy machine it may not have come to anything yet. */
static bool is_over(struct run *r, double end)
{
	bool read = each_has(r, COUNT_reads);

	if (r->stop_file && read && !r->told)
		tell_reading(r);
	if (now() <= end && !(r->stop_file && access(r->stop_file, F_OK) == 0))
		return false;
	if (r->wanted <= 0)
		r->wanted = now();
	return now() - r->wanted > r->patience ||
	       (read && (!r->options.allowed_count || each_has(r, COUNT_allowed)));
}

/* One that hangs is not waited for: it may be in a state that no signal ends. */
static void watch(struct run *r)
{
	double end = now() + r->seconds;

	while (reap(r) > r->hung) {
		pause_ms(20);
		look_for_hangs(r);
		if (is_over(r, end))
			r->shared->stop = true;
	}
	for (unsigned i = 0; i < r->processes + r->drops; i++)
		if (r->children[i])
			kill(r->children[i], SIGKILL);
}

static uint64_t total(const struct run *r, enum count which)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < r->processes + r->drops; i++)
		n += r->shared->accounts[i].counts[which];
	return n;
}

static int report(const struct run *r)
{
#define X(name) #name,
	static const char *const names[] = { HAMMER_COUNTS(X) };
#undef X

	for (int i = 0; i < COUNT_MAX; i++)
		printf("%s %" PRIu64 "\n", names[i], total(r, (enum count)i));
	printf("hung %u\nseed %" PRIu64 "\n", r->hung, r->options.seed);
	return r->hung || r->died || total(r, COUNT_wrong) || total(r, COUNT_errors) ||
	       !total(r, COUNT_reads);
}

/* ---- Arguments ---- */

static int parse_errno(const char *word)
{
	static const struct {
		const char *name;
		int number;
	} known[] = { { "ENOTCONN", ENOTCONN }, { "ECONNABORTED", ECONNABORTED },
		      { "EIO", EIO } };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(word, known[i].name) == 0)
			return known[i].number;
	return 0;
}

static int parse_allowed(struct hammer_options *o, char *list)
{
	for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
		int number = parse_errno(word);

		if (!number || o->allowed_count == sizeof(o->allowed) / sizeof(int))
			return -1;
		o->allowed[o->allowed_count++] = number;
	}
	return 0;
}

static int add_excluded(struct hammer_options *o, const char *path)
{
	if (o->excluded_count == sizeof(o->excluded) / sizeof(o->excluded[0]))
		return -1;
	o->excluded[o->excluded_count++] = path;
	return 0;
}

static int parse_option(struct run *r, int option)
{
	switch (option) {
	case 'p':
		r->processes = (unsigned)strtoul(optarg, NULL, 10);
		return r->processes >= 1 && r->processes <= PROCESSES_MAX ? 0 : -1;
	case 's':
		r->seconds = strtod(optarg, NULL);
		return r->seconds > 0 ? 0 : -1;
	case 'u':
		r->stop_file = optarg;
		r->seconds = 1e9;
		return 0;
	case 'w':
		r->patience = strtod(optarg, NULL);
		return r->patience > 0 ? 0 : -1;
	case 'e':
		return parse_allowed(&r->options, optarg);
	case 'x':
		return add_excluded(&r->options, optarg);
	case 'n':
		r->options.attributes = false;
		return 0;
	case 'r':
		r->drops = true;
		return 0;
	case 'S':
		r->options.seed = strtoull(optarg, NULL, 10);
		return 0;
	default:
		return -1;
	}
}

static int parse(struct run *r, int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "p:s:u:w:e:x:nrS:")) >= 0)
		if (parse_option(r, option) < 0)
			return -1;
	if (argc - optind != 2)
		return -1;
	r->options.mountpoint = argv[optind + 1];
	r->options.reference = open(argv[optind], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r->options.mount = open(argv[optind + 1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->options.reference < 0 || r->options.mount < 0) {
		perror(r->options.reference < 0 ? argv[optind] : argv[optind + 1]);
		return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct run r = { .processes = 8, .seconds = 10, .patience = 30 };

	r.options.attributes = true;
	r.options.seed = (uint64_t)getpid();
	if (parse(&r, argc, argv) < 0) {
		fprintf(stderr, "usage: hammer [-p PROCESSES] [-s SECONDS | -u STOPFILE] "
				"[-w SECONDS] [-e ERRNO,...] [-x PATH] [-n] [-r] [-S SEED] "
				"REFERENCE_DIR MOUNT_DIR\n");
		return 2;
	}
	r.shared = mmap(NULL, sizeof(*r.shared), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r.shared == MAP_FAILED || tree_load(&r.tree, r.options.reference) < 0) {
		fprintf(stderr, "hammer: %s: %s\n", tree_failed(), strerror(errno));
		return 2;
	}
	tree_exclude(&r.tree, r.options.excluded, r.options.excluded_count);
	if (start(&r) < 0)
		r.shared->stop = true;
	watch(&r);
	return report(&r);
}
