/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of chunks: given out again, and no more kept than may be. */
#include "unit.h"

#include <pthread.h>

#include "os/slab.h"
#include "os/pages.h"

enum { MB = 1 << 20 };

static void test_the_same_size_is_used_again(void **state)
{
	struct slab slab;
	char *first, *second;

	(void)state;
	slab_init(&slab, 4 * MB);
	first = slab_acquire(&slab, MB);
	second = slab_acquire(&slab, MB);
	assert_non_null(first);
	assert_non_null(second);
	assert_ptr_not_equal(first, second);
	memset(first, 1, MB);
	memset(second, 2, MB);
	assert_int_equal(slab_bytes(&slab), 0);
	slab_release(&slab, first, MB);
	slab_release(&slab, second, MB);
	assert_int_equal(slab_bytes(&slab), 2 * MB);
	assert_ptr_equal(slab_acquire(&slab, MB), second);
	assert_ptr_equal(slab_acquire(&slab, MB), first);
	assert_int_equal(slab_bytes(&slab), 0);
	slab_release(&slab, first, MB);
	second = (slab_release(&slab, second, MB), slab_acquire(&slab, 2 * MB));
	memset(second, 3, 2 * MB);
	assert_int_equal(slab_bytes(&slab), 2 * MB);
	slab_release(&slab, second, 2 * MB);
	slab_free(&slab);
}

static void test_no_more_is_kept_than_may_be(void **state)
{
	struct slab slab;
	void *pieces[8];

	(void)state;
	slab_init(&slab, 4 * MB + 100);
	for (size_t i = 0; i < COUNT(pieces); i++)
		pieces[i] = slab_acquire(&slab, i < 4 ? MB : MB + 1);
	for (size_t i = 0; i < COUNT(pieces); i++) {
		slab_release(&slab, pieces[i], i < 4 ? MB : MB + 1);
		assert_true(slab_bytes(&slab) <= 4 * MB + 100);
	}
	/* the oldest went: what is left are the odd ones */
	assert_in_range(slab_bytes(&slab), 3 * (MB + 1), 4 * MB + 100);
	pieces[0] = slab_acquire(&slab, MB + 1);
	assert_ptr_equal(pieces[0], pieces[7]);
	slab_release(&slab, pieces[0], MB + 1);
	slab_limit(&slab, pages_round_up(MB + 1));
	assert_in_range(slab_bytes(&slab), MB + 1, pages_round_up(MB + 1));
	slab_limit(&slab, 0);
	assert_int_equal(slab_bytes(&slab), 0);
	slab_free(&slab);
}

static void test_sizes_of_all_kinds(void **state)
{
	static const size_t sizes[] = { 0, 1, 63, SLAB_LEAST - 1, SLAB_LEAST, SLAB_LEAST + 1,
					SLAB_MAPPED_LEAST - 1, SLAB_MAPPED_LEAST,
					SLAB_MAPPED_LEAST + 1, 3 * MB + 5 };
	struct slab slab;

	(void)state;
	slab_init(&slab, 16 * MB);
	for (int round = 0; round < 3; round++) {
		char *pieces[COUNT(sizes)];

		for (size_t i = 0; i < COUNT(sizes); i++) {
			pieces[i] = slab_acquire(&slab, sizes[i]);
			assert_non_null(pieces[i]);
			memset(pieces[i], (int)i, sizes[i]);
			assert_true(slab_weight(sizes[i]) >= sizes[i]);
			assert_true(slab_weight(sizes[i]) < sizes[i] + pages_size());
#ifndef __SANITIZE_ADDRESS__
			if (sizes[i] >= SLAB_MAPPED_LEAST)
				assert_int_equal((uintptr_t)pieces[i] % pages_size(), 0);
#endif
		}
		for (size_t i = 0; i < COUNT(sizes); i++) {
			for (size_t k = 0; k < sizes[i]; k++)
				assert_int_equal(pieces[i][k], i);
			slab_release(&slab, pieces[i], sizes[i]);
		}
	}
#ifndef __SANITIZE_ADDRESS__ /* which stops there */
	assert_null(slab_acquire(&slab, SIZE_MAX / 4));
#endif
	slab_free(&slab);
}

static void *take_and_give(void *argument)
{
	struct slab *slab = argument;
	uintptr_t wrong = 0;

	for (size_t i = 0; i < 2000; i++) {
		size_t size = (size_t)SLAB_LEAST << (i * 7 % 5);
		size_t *piece = slab_acquire(slab, size);

		piece[0] = i;
		piece[size / sizeof(*piece) - 1] = i;
		wrong += slab_bytes(slab) > 8 * MB + 4 * MB; /* one a thread is on its way */
		wrong += piece[0] != i || piece[size / sizeof(*piece) - 1] != i;
		slab_release(slab, piece, size);
	}
	return (void *)wrong;
}

static void test_many_threads(void **state)
{
	pthread_t threads[4];
	struct slab slab;

	(void)state;
	slab_init(&slab, 8 * MB);
	for (size_t i = 0; i < COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_and_give, &slab), 0);
	for (size_t i = 0; i < COUNT(threads); i++) {
		void *wrong;

		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
	assert_in_range(slab_bytes(&slab), 1, 8 * MB);
	slab_free(&slab);
	assert_int_equal(slab_bytes(&slab), 0);
}

/* Memory that was lent for one size serves others, and goes with its loan. */
static void test_loans(void **state)
{
	struct slab slab = SLAB_INIT(MB);
	struct slab_loan loan = { .slab = &slab };
	void *first;

	(void)state;
	first = slab_lend(&loan, 70 << 10);
	assert_non_null(first);
	memset(first, 1, 70 << 10);
	slab_end_loan(&loan);
	assert_int_equal(slab_bytes(&slab), 128 << 10);
	assert_ptr_equal(slab_lend(&loan, 128 << 10), first);
	assert_int_equal(slab_bytes(&slab), 0);
	assert_non_null(slab_lend(&loan, 0));
	assert_int_equal(slab_bytes(&slab), 128 << 10);
	assert_null(slab_lend(&loan, SIZE_MAX));
	slab_end_loan(&loan);
	slab_end_loan(&loan);
	slab_free(&slab);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_the_same_size_is_used_again),
	cmocka_unit_test(test_no_more_is_kept_than_may_be),
	cmocka_unit_test(test_sizes_of_all_kinds),
	cmocka_unit_test(test_many_threads),
	cmocka_unit_test(test_loans),
};

UNIT_MAIN_IN(tests, NULL, NULL)
