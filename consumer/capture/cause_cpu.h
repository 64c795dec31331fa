/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cause_cpu.h owns the verdicts on pressure on CPUs and by interrupts. Each function returns one, or facts_no_verdict.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_CAUSE_CPU_H
#define BOURDON_CONSUMER_CAPTURE_CAUSE_CPU_H

#include "consumer/capture/cause_facts.h"

struct cause cause_cpu_throttled(const struct facts *facts);
struct cause cause_cpu_stolen(const struct facts *facts);
struct cause cause_cpu_interrupted(const struct facts *facts);
struct cause cause_cpu_shared(const struct facts *facts);
struct cause cause_irq_time(const struct facts *facts);

#endif
