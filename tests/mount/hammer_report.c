/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports of a process: to the one that watches, and to the reader. */
#include "hammer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { REPORTED_MOST = 4 }; /* faults that a process describes */

void begin(struct hammer *h, const char *call, const char *path)
{
	h->account->path = path;
	h->account->call = call;
	h->account->steps++;
}

void done(struct hammer *h)
{
	h->account->call = NULL;
	h->account->steps++;
}

void count(struct hammer *h, enum count which, uint64_t n)
{
	h->account->counts[which] += n;
}

static bool is_allowed(const struct hammer *h, int errnum)
{
	for (unsigned i = 0; i < h->options->allowed_count; i++)
		if (h->options->allowed[i] == errnum)
			return true;
	return false;
}

/* Names are bytes: those that are not printable become \ooo. */
static void print_path(const char *path)
{
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if (c < ' ' || c >= 127 || c == '\\')
			fprintf(stderr, "\\%03o", c);
		else
			fputc(c, stderr);
	}
}

static bool may_tell(struct hammer *h)
{
	return h->told++ < REPORTED_MOST;
}

void failed(struct hammer *h, int errnum)
{
	const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	const char *call = h->account->call, *path = h->account->path;

	if (is_allowed(h, errnum)) {
		count(h, COUNT_allowed, 1);
		done(h);
		nanosleep(&pause, NULL); /* it will be the same for the next one */
		return;
	}
	count(h, COUNT_errors, 1);
	if (may_tell(h)) {
		fprintf(stderr, "hammer: %s: error %d (%s): ", call ? call : "?", errnum,
			strerror(errnum));
		print_path(path ? path : "?");
		fputc('\n', stderr);
	}
	done(h);
}

void wrong(struct hammer *h, const char *path, const char *what, uint64_t where)
{
	count(h, COUNT_wrong, 1);
	if (!may_tell(h))
		return;
	fprintf(stderr, "hammer: wrong %s at %llu: ", what, (unsigned long long)where);
	print_path(path);
	fputc('\n', stderr);
}

/* xorshift64* */
uint64_t below(struct hammer *h, uint64_t n)
{
	uint64_t x = h->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	h->random = x;
	return n ? (x * UINT64_C(0x2545f4914f6cdd1d) >> 11) % n : 0;
}
