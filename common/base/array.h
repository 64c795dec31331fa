/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * array.h grows arrays by doubling, large ones by a quarter, so that appending takes constant time, and searches sorted ones.
 * Room: what C lacks. Any program, any thread; no state, no file, no lock.
 */
#ifndef BOURDON_COMMON_BASE_ARRAY_H
#define BOURDON_COMMON_BASE_ARRAY_H

#include <errno.h>
#include <stdlib.h>

#define ARRAY_FIRST_ROOM 64
#define ARRAY_LARGE 4096 /* elements */

/*
 * Ensures that `elements`, a pointer variable with `room` elements of which `count` are used, has room for
 * `more`. Returns 0, or -ENOMEM with nothing changed.
 */
#define array_make_room(elements, count, room, more)                                                         \
	({                                                                                                   \
		__typeof__(room) wanted_ = (room) ? (room) : ARRAY_FIRST_ROOM;                               \
		__typeof__(elements) grown_ = (elements);                                                    \
		while (wanted_ - (count) < (more))                                                           \
			wanted_ += wanted_ < ARRAY_LARGE ? wanted_ : wanted_ / 4;                            \
		if (wanted_ != (room))                                                                       \
			grown_ = reallocarray((elements), wanted_, sizeof(*(elements)));                     \
		if (grown_) {                                                                                \
			(elements) = grown_;                                                                 \
			(room) = wanted_;                                                                    \
		}                                                                                            \
		grown_ ? 0 : -ENOMEM;                                                                        \
	})

/* Gives back the room of `elements` that is not used; nothing will be added soon. */
#define array_fit(elements, count, room)                                                                     \
	({                                                                                                   \
		__typeof__(elements) fitted_ =                                                               \
			(count) < (room) && (count) ? reallocarray((elements), (count), sizeof(*(elements))) \
						    : NULL;                                                  \
		if (fitted_) {                                                                               \
			(elements) = fitted_;                                                                \
			(room) = (count);                                                                    \
		}                                                                                            \
	})

/*
 * Binary search (std::partition_point of C++): of the positions 0 to `count`, for which `holds`, an expression of `at`, is true up
 * to some position and false from there on, returns the first for which it is false, or `count`.
 */
#define array_partition_point(count, at, holds)                                                              \
	({                                                                                                   \
		__typeof__((count) + 0) low_ = 0, high_ = (count);                                           \
		while (low_ < high_) {                                                                       \
			__typeof__(low_) at = low_ + (high_ - low_) / 2;                                     \
			if (holds)                                                                           \
				low_ = at + 1;                                                               \
			else                                                                                 \
				high_ = at;                                                                  \
		}                                                                                            \
		low_;                                                                                        \
	})

#endif
