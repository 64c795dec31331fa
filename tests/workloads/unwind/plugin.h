/* SPDX-License-Identifier: GPL-2.0-only */
/* plugin.h owns the contract between plugin.c and its plugins. */
#ifndef BOURDON_WORKLOADS_UNWIND_PLUGIN_H
#define BOURDON_WORKLOADS_UNWIND_PLUGIN_H

typedef void plugin_leaf(void);
typedef void plugin_callback(plugin_leaf *leaf);

/* Lets the callback call a leaf of the plugin, which runs for some ten milliseconds. */
void plugin_enter(plugin_callback *callback);

#endif
