/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vec.h: growable arrays.
 *
 *	VEC(struct extent) extents = VEC_INIT;
 *	if (vec_push(&extents, value) < 0) ...  -ENOMEM
 *	extents.items[i], extents.count
 *	vec_free(&extents);
 *
 * Not for concurrent use.
 */
#ifndef GRANARY_BASE_VEC_H
#define GRANARY_BASE_VEC_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define VEC(type)             \
	struct {              \
		type *items;  \
		size_t count; \
		size_t room;  \
	}

#define VEC_INIT { NULL, 0, 0 }

static inline int vec_grow_(void **items, size_t *room, size_t need, size_t size)
{
	size_t wanted = *room ? *room : 16;
	void *grown;

	while (wanted < need) {
		if (wanted > SIZE_MAX / 2)
			return -ENOMEM;
		wanted *= 2;
	}
	if (wanted > SIZE_MAX / size)
		return -ENOMEM;
	grown = realloc(*items, wanted * size);
	if (!grown)
		return -ENOMEM;
	*items = grown;
	*room = wanted;
	return 0;
}

/* Room for `n` more items: 0 or -ENOMEM. */
#define vec_reserve(v, n)                                             \
	((v)->room - (v)->count >= (size_t)(n) ?                      \
		 0 :                                                  \
		 vec_grow_((void **)&(v)->items, &(v)->room,          \
			   (v)->count + (size_t)(n), sizeof(*(v)->items)))

#define vec_push(v, value)                                            \
	(vec_reserve(v, 1) < 0 ?                                      \
		 -ENOMEM :                                            \
		 ((v)->items[(v)->count++] = (value), 0))

/*
 * The number of the last item of which `at_most` is true, 0 where that is none: a binary
 * search. `at_most` is an expression of `middle`, the number of an item; where it is false
 * for one, it is for all that follow.
 */
#define vec_find_last(v, at_most)                                     \
	({                                                            \
		size_t low_ = 0, high_ = (v)->count;                  \
		while (high_ - low_ > 1) {                            \
			size_t middle = low_ + (high_ - low_) / 2;    \
			*((at_most) ? &low_ : &high_) = middle;       \
		}                                                     \
		low_;                                                 \
	})

#define vec_free(v)                \
	do {                       \
		free((v)->items);  \
		(v)->items = NULL; \
		(v)->count = 0;    \
		(v)->room = 0;     \
	} while (0)

#endif
