/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * secret.h says where `secret --hotspot` has what libjvm.so would have: in its lowest mapping. It begins with the words that
 * have the offsets of the fields of HotSpot's structures, in the order of HOTSPOT_* (common/abi/abi.h).
 */
#ifndef BOURDON_TESTS_SECRET_H
#define BOURDON_TESTS_SECRET_H

#define SECRET_HOTSPOT_HEAPS 128 /* where the pointer to the list of heaps is */
#define SECRET_HOTSPOT_BLOCK                                                                                 \
	192 /* bytes of the header before the CodeBlob, which is the first of the first heap */

#endif
