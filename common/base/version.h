/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BOURDON_COMMON_BASE_VERSION_H
#define BOURDON_COMMON_BASE_VERSION_H

#define BOURDON_VERSION "0.9.0"

#endif
