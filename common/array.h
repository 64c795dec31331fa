/* SPDX-License-Identifier: GPL-2.0-only */
/* array.h grows arrays by doubling, so that appending takes constant time on average. */
#ifndef BOURDON_ARRAY_H
#define BOURDON_ARRAY_H

#include <errno.h>
#include <stdlib.h>

#define ARRAY_FIRST_ROOM 64

/*
 * Ensures that `elements`, a pointer variable with `room` elements of which `count` are used, has room for
 * `more`. Returns 0, or -ENOMEM with nothing changed.
 */
#define array_make_room(elements, count, room, more)                                                         \
	({                                                                                                   \
		__typeof__(room) wanted_ = (room) ? (room) : ARRAY_FIRST_ROOM;                               \
		__typeof__(elements) grown_ = (elements);                                                    \
		while (wanted_ - (count) < (more))                                                           \
			wanted_ *= 2;                                                                        \
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

#endif
