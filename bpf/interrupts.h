/* SPDX-License-Identifier: GPL-2.0-only */
/* interrupts.h tells other programs what bpf/interrupts.bpf.c measures of this CPU. */
#ifndef BOURDON_BPF_INTERRUPTS_H
#define BOURDON_BPF_INTERRUPTS_H

#include "bpf/kernel.h"

#define SOFTIRQ_NET_RX 3U /* include/linux/interrupt.h */

#define IN_NO_INTERRUPT 0U
#define IN_INTERRUPT 1U
#define IN_NET_RX 2U /* a soft interrupt that receives from a network, or from this host itself */

/* What this CPU serves. An interrupt whose begin was not seen is none. */
__u32 interrupts_now(void);

/* How long it has been in interrupts that have ended. */
__u64 interrupts_ns(void);

#endif
