/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * loss_text.h owns what each reason of the loss ledger means, in words.
 */
#ifndef BOURDON_REPORT_MODEL_LOSS_TEXT_H
#define BOURDON_REPORT_MODEL_LOSS_TEXT_H

/* The meaning of a reason in one line of at most 83 characters; NULL: the reason is unknown. */
const char *loss_text(const char *reason);

#endif
