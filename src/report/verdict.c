/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/verdict.h"

#include <stdio.h>

#include "base/size.h"

enum { WAITS_LITTLE = 150 /* thousandths of the time */ };

static double part(uint64_t of, uint64_t all)
{
	return all ? 100 * (double)of / (double)all : 0;
}

static double per(uint64_t sum, uint64_t count)
{
	return count ? (double)sum / (double)count : 0;
}

static void tell_loader(const struct figures *f, char *out)
{
	snprintf(out, VERDICT_BYTES,
		 "The loader itself. In %.1f %% of the time no request of a reader was under way "
		 "here: decoding images, the training step, or too few workers took the time. "
		 "Faster storage would change little.",
		 100 - (double)f->waiting_permille / 10);
}

static void tell_storage(const struct figures *f, char *out)
{
	char rate[SIZE_TEXT_BYTES];

	size_text((uint64_t)(per(f->stored, f->demand_us + f->ahead_us) * 1e6), rate);
	snprintf(out, VERDICT_BYTES,
		 "Storage. Readers waited in %.1f %% of the time; their reads of the packed files "
		 "took %.2f ms on average, at %s a second each, and %.1f %% of the reads needed "
		 "one. prefetch=sweep reads ahead of the loader, a larger cache= keeps "
		 "more for the next epoch, and more workers wait at the same time.",
		 (double)f->waiting_permille / 10, per(f->demand_us, f->demand_reads) / 1000, rate,
		 part(f->reads - f->hits, f->reads));
}

static void tell_decode(const struct figures *f, char *out)
{
	snprintf(out, VERDICT_BYTES,
		 "Decoding of the packed files. Readers waited in %.1f %% of the time, and a chunk "
		 "took %.2f ms to decode. More processors for the mount (cpus=), a larger cache=, or "
		 "packed files with a faster codec, or none, help.",
		 (double)f->waiting_permille / 10, per(f->decode_us, f->decodes) / 1000);
}

static void tell_requests(const struct figures *f, char *out)
{
	snprintf(out, VERDICT_BYTES,
		 "Requests. Readers waited in %.1f %% of the time, mostly for answers that needed "
		 "no storage: %.0f us each. shield=on spares Python's ioctls, and a second epoch "
		 "finds in the page cache what the first has read.",
		 (double)f->waiting_permille / 10,
		 per(f->hit_us + f->request_us, f->hits + f->requests));
}

const char *verdict_of(const struct figures *f, char *out)
{
	uint64_t waits = f->read_us + f->request_us;

	if (f->waiting_permille < WAITS_LITTLE) {
		tell_loader(f, out);
		return "loader";
	}
	if (f->demand_us >= f->decode_us && f->demand_us > waits / 3) {
		tell_storage(f, out);
		return "storage";
	}
	if (f->decode_us > waits / 3) {
		tell_decode(f, out);
		return "decode";
	}
	tell_requests(f, out);
	return "requests";
}
