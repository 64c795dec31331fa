/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_functions.h numbers the kernel functions (kfuncs) that bpf/ calls and that an older kernel lacks. The
 * programs call these numbers, as they call helpers; bourdon-load replaces each with the function's BTF id.
 *
 * libbpf can do that, too (__ksym __weak). But when a kernel lacks the function, libbpf looks for it in the BTF of all
 * modules (load_module_btfs() in libbpf.c), and to list these takes CAP_SYS_ADMIN.
 */
#ifndef BOURDON_COMMON_KERNEL_KERNEL_FUNCTIONS_H
#define BOURDON_COMMON_KERNEL_KERNEL_FUNCTIONS_H

/* Since Linux 6.7 (4ac454682158). No helper has such a number. */
#define KERNEL_FUNCTION_TASK_VMA_NEW 0x626f0001
#define KERNEL_FUNCTION_TASK_VMA_NEXT 0x626f0002
#define KERNEL_FUNCTION_TASK_VMA_DESTROY 0x626f0003

#endif
