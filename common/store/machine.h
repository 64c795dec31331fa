/* SPDX-License-Identifier: GPL-2.0-only */
/* machine.h tells the machines apart on which databases were recorded, without telling their machine ids. */
#ifndef BOURDON_COMMON_STORE_MACHINE_H
#define BOURDON_COMMON_STORE_MACHINE_H

#include "common/text/hexadecimal.h"

#define MACHINE_ID_FILE "/etc/machine-id"
#define MACHINE_BYTES 16
#define MACHINE_TEXT_BYTES HEXADECIMAL_BYTES(MACHINE_BYTES)

/*
 * Stores the first half of the HMAC-SHA-256 of an application's id, keyed with the machine id, as machine-id(5) asks
 * for. Returns `text`; or NULL if the file has no machine id, as in a container that was never booted.
 */
const char *machine_hash(const char *machine_id_file, char text[MACHINE_TEXT_BYTES]);

#endif
