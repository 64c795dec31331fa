/* SPDX-License-Identifier: GPL-2.0-only */
/* known_message.h is what known_server and known_client say to each other: a request, and an answer, is so many bytes. */
#ifndef BOURDON_TESTS_WORKLOADS_KNOWN_MESSAGE_H
#define BOURDON_TESTS_WORKLOADS_KNOWN_MESSAGE_H

#define MESSAGE 24U

#endif
