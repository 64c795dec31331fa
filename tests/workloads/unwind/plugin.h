/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * plugin.h owns the contract between plugin.c and the plugins that it loads.
 */
#ifndef BOURDON_WORKLOADS_UNWIND_PLUGIN_H
#define BOURDON_WORKLOADS_UNWIND_PLUGIN_H

typedef void plugin_leaf(void);
typedef void plugin_callback(plugin_leaf *leaf);

/* Has the callback call a leaf of the plugin, which burns some ten milliseconds. */
void plugin_enter(plugin_callback *callback);

#endif
