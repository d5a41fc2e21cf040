/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much may be in use at once. */
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>

#include "os/quota.h"

enum { LIMIT = 100, THREADS = 8, ROUNDS = 5000 };

static struct quota quota = QUOTA_INIT(LIMIT);
static _Atomic uint64_t in_use, most, alone;

static void use(uint64_t amount)
{
	uint64_t now, seen = atomic_load(&most);

	quota_acquire(&quota, amount);
	now = atomic_fetch_add(&in_use, amount) + amount;
	if (amount > LIMIT && now == amount)
		atomic_fetch_add(&alone, 1);
	while (amount <= LIMIT && now > seen &&
	       !atomic_compare_exchange_weak(&most, &seen, now))
		;
	atomic_fetch_sub(&in_use, amount);
	quota_release(&quota, amount);
}

static void *work(void *number)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		use(1 + (i * 37 + (unsigned)(uintptr_t)number * 11) % LIMIT);
	for (unsigned i = 0; i < 10; i++)
		use(3 * LIMIT); /* more than there is: nobody else may have any */
	return NULL;
}

static void test_the_limit_holds(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_in_range(most, 1, LIMIT);
	assert_int_equal(alone, THREADS * 10);
	assert_int_equal(quota.used, 0);
}

static const struct CMUnitTest quotas[] = {
	cmocka_unit_test(test_the_limit_holds),
};

UNIT_MAIN(quotas)
