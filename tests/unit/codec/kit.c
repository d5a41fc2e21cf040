/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "codec/kit.h"

#include <sys/mman.h>
#include <unistd.h>

struct guarded guarded_new(size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t usable = (n + page - 1) / page * page;
	struct guarded made = { .n = n, .mapped = usable + page };

	made.mapping = mmap(NULL, made.mapped, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(made.mapping, MAP_FAILED);
	assert_int_equal(mprotect((char *)made.mapping + usable, page, PROT_NONE), 0);
	made.at = (unsigned char *)made.mapping + usable - n;
	return made;
}

struct guarded guarded_copy(const void *bytes, size_t n)
{
	struct guarded made = guarded_new(n);

	if (n)
		memcpy(made.at, bytes, n);
	return made;
}

void guarded_free(struct guarded *guarded)
{
	munmap(guarded->mapping, guarded->mapped);
}

void kit_fill(unsigned char *bytes, size_t n)
{
	uint32_t random = 12345;

	for (size_t i = 0; i < n; i++) {
		random = random * 1664525 + 1013904223;
		bytes[i] = i % 64 < 40 ? (unsigned char)(i / 64) :
					 (unsigned char)(random >> 27);
	}
}

ssize_t kit_decode(uint32_t step, const void *in, size_t n, struct guarded *out)
{
	const uint32_t chain[CODEC_CHAIN_MOST] = { step };
	struct guarded stored = guarded_copy(in, n);
	ssize_t got = codec_chain_decode(chain, 0, stored.at, n, out->at, out->n);

	guarded_free(&stored);
	return got;
}
