/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/log_ring.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

/* Untrusted: a server, which has no rights, can write to it. */
static struct ring {
	_Atomic uint64_t end; /* all bytes ever added */
	char bytes[LOG_RING_BYTES];
} *ring;

void log_ring_make(void)
{
	void *memory = mmap(NULL, sizeof(*ring), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ring = memory == MAP_FAILED ? NULL : memory;
}

void log_ring_add(const char *line, size_t length)
{
	uint64_t at;

	if (!ring || length > LOG_RING_BYTES)
		return;
	at = atomic_fetch_add(&ring->end, length);
	for (size_t i = 0; i < length; i++)
		ring->bytes[(at + i) % LOG_RING_BYTES] = line[i];
}

size_t log_ring_text(char *out, size_t room)
{
	uint64_t end = ring ? atomic_load(&ring->end) : 0, most = LOG_RING_BYTES;
	uint64_t at = end > most ? end - most : 0;
	size_t n = 0;

	if (room < most && end - at > room)
		at = end - room;
	/* the first line is incomplete */
	if (at > 0) {
		while (at < end && ring->bytes[at % most] != '\n')
			at++;
		at += at < end;
	}
	for (; at < end; at++) {
		char c = ring->bytes[at % most];

		out[n++] = c == '\n' || !iscntrl((unsigned char)c) ? c : '?';
	}
	return n;
}
