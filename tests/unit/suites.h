/* SPDX-License-Identifier: GPL-2.0-only */
/* suites.h owns the list of all suites: one a module, each in tests/unit/test_MODULE.c. */
#ifndef BOURDON_UNIT_SUITES_H
#define BOURDON_UNIT_SUITES_H

#include <check.h>

Suite *capture_suite(void);
Suite *cause_suite(void);
Suite *cgroup_suite(void);
Suite *comm_trie_suite(void);
Suite *confinement_suite(void);
Suite *cpus_suite(void);
Suite *debug_files_suite(void);
Suite *demangle_suite(void);
Suite *elf_symbols_suite(void);
Suite *escape_suite(void);
Suite *files_suite(void);
Suite *findings_suite(void);
Suite *grant_suite(void);
Suite *grant_client_suite(void);
Suite *grants_suite(void);
Suite *watches_suite(void);
Suite *hash_index_suite(void);
Suite *heap_suite(void);
Suite *hexadecimal_suite(void);
Suite *ini_suite(void);
Suite *jit_map_suite(void);
Suite *kernel_symbols_suite(void);
Suite *kernel_version_suite(void);
Suite *known_files_suite(void);
Suite *landlock_suite(void);
Suite *manifest_suite(void);
Suite *mapped_files_suite(void);
Suite *mappings_suite(void);
Suite *module_suite(void);
Suite *options_suite(void);
Suite *owner_suite(void);
Suite *pass_fd_suite(void);
Suite *patterns_suite(void);
Suite *perf_map_suite(void);
Suite *pieces_suite(void);
Suite *policy_suite(void);
Suite *process_events_suite(void);
Suite *process_text_suite(void);
Suite *psi_suite(void);
Suite *records_suite(void);
Suite *report_suite(void);
Suite *requirements_suite(void);
Suite *resolve_suite(void);
Suite *ring_suite(void);
Suite *rules_suite(void);
Suite *seccomp_suite(void);
Suite *settings_suite(void);
Suite *stacks_suite(void);
Suite *stall_clocks_suite(void);
Suite *status_line_suite(void);
Suite *store_suite(void);
Suite *symbolizer_suite(void);
Suite *table_stream_suite(void);
Suite *targets_suite(void);
Suite *unit_map_suite(void);
Suite *units_suite(void);
Suite *unwind_table_suite(void);
Suite *usage_suite(void);

#endif
