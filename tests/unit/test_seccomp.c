/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests the system-call policies as the kernel enforces them: children install the compiled filters and make
 * each call, which must work, fail or kill them. Also tests that the compiler refuses policies with mistakes.
 */
#define _GNU_SOURCE 1 /* struct ucred, pipe2() */

#include "common/base/cleanup.h"
#include "common/confine/seccomp.h"
#include "common/protocol/grant_counters.h"
#include "common/system/log.h"
#include "policy/bourdon-grant.h"
#include "policy/bourdon-load.h"
#include "policy/bourdond.h"
#include "policy/spawner.h"
#include "policy/symbolizer.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KILLED (-1)
#define PASSES (-2) /* the call reaches the kernel, which may refuse its arguments */
#define NO_FD 1000UL
#define NO_PROCESS 0x7fffffffUL
#define X32_BIT 0x40000000L

struct attempt {
	const char *what;
	long number;
	unsigned long arguments[6];
	int expected; /* KILLED, PASSES or an errno */
};

static const struct attempt bourdond_attempts[] = {
	{ "getpid", SYS_getpid, { 0 }, PASSES },
	{ "mmap read-write", SYS_mmap, { 0, 4096, PROT_READ | PROT_WRITE, 0x22, NO_FD }, PASSES },
	{ "mmap read-execute", SYS_mmap, { 0, 4096, PROT_READ | PROT_EXEC, 0x22, NO_FD }, KILLED },
	{ "mmap all", SYS_mmap, { 0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, 0x22, NO_FD }, KILLED },
	{ "mprotect read-write", SYS_mprotect, { 0, 0, PROT_READ | PROT_WRITE }, PASSES },
	{ "mprotect execute", SYS_mprotect, { 0, 0, PROT_EXEC }, KILLED },
	{ "pkey_mprotect", SYS_pkey_mprotect, { 0 }, KILLED },
	{ "memfd_create", SYS_memfd_create, { 0 }, KILLED },
	{ "execve", SYS_execve, { 0 }, KILLED },
	{ "execveat", SYS_execveat, { 0 }, KILLED },
	{ "clone like fork", SYS_clone, { SIGCHLD }, KILLED },
	{ "clone of a thread", SYS_clone, { CLONE_VM | CLONE_THREAD | CLONE_SIGHAND }, KILLED },
	{ "clone3", SYS_clone3, { 0 }, ENOSYS },
	{ "kill nobody", SYS_kill, { 0, 0 }, KILLED },
	{ "tgkill SIGTERM", SYS_tgkill, { 0, 0, SIGTERM }, KILLED },
	{ "tkill", SYS_tkill, { 0, SIGABRT }, KILLED },
	{ "rt_sigqueueinfo", SYS_rt_sigqueueinfo, { 0 }, KILLED },
	{ "pidfd_send_signal", SYS_pidfd_send_signal, { NO_FD }, KILLED },
	{ "ptrace", SYS_ptrace, { 0 }, KILLED },
	{ "process_vm_readv", SYS_process_vm_readv, { 0 }, KILLED },
	{ "pidfd_getfd", SYS_pidfd_getfd, { NO_FD }, KILLED },
	{ "socket AF_UNIX", SYS_socket, { AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC }, PASSES },
	{ "socket AF_INET", SYS_socket, { AF_INET, SOCK_STREAM }, KILLED },
	{ "socket AF_INET6", SYS_socket, { AF_INET6, SOCK_DGRAM }, KILLED },
	{ "socket AF_NETLINK", SYS_socket, { AF_NETLINK, SOCK_RAW }, KILLED },
	{ "socket AF_PACKET", SYS_socket, { AF_PACKET, SOCK_RAW }, KILLED },
	{ "socket AF_INET below rubbish", SYS_socket, { 1UL << 32 | AF_INET, SOCK_STREAM }, KILLED },
	{ "socketpair", SYS_socketpair, { AF_UNIX, SOCK_STREAM }, KILLED },
	{ "bind", SYS_bind, { NO_FD }, KILLED },
	{ "bpf look-up", SYS_bpf, { BPF_MAP_LOOKUP_ELEM }, PASSES },
	{ "bpf update", SYS_bpf, { BPF_MAP_UPDATE_ELEM }, PASSES },
	{ "bpf delete", SYS_bpf, { BPF_MAP_DELETE_ELEM }, PASSES },
	{ "bpf next key", SYS_bpf, { BPF_MAP_GET_NEXT_KEY }, PASSES },
	{ "bpf look-up batch", SYS_bpf, { BPF_MAP_LOOKUP_BATCH }, PASSES },
	{ "bpf info", SYS_bpf, { BPF_OBJ_GET_INFO_BY_FD }, PASSES },
	{ "bpf object get", SYS_bpf, { BPF_OBJ_GET }, KILLED },
	{ "bpf object pin", SYS_bpf, { BPF_OBJ_PIN }, KILLED },
	{ "bpf program load", SYS_bpf, { BPF_PROG_LOAD }, KILLED },
	{ "bpf map create", SYS_bpf, { BPF_MAP_CREATE }, KILLED },
	{ "bpf map freeze", SYS_bpf, { BPF_MAP_FREEZE }, KILLED },
	{ "bpf link create", SYS_bpf, { BPF_LINK_CREATE }, KILLED },
	{ "bpf link detach", SYS_bpf, { BPF_LINK_DETACH }, KILLED },
	{ "bpf map by id", SYS_bpf, { BPF_MAP_GET_FD_BY_ID }, KILLED },
	{ "perf_event_open", SYS_perf_event_open, { 0 }, KILLED },
	{ "fcntl F_SETLK", SYS_fcntl, { NO_FD, F_SETLK }, PASSES },
	{ "fcntl F_GETLK", SYS_fcntl, { NO_FD, F_GETLK }, PASSES },
	{ "fcntl F_SETFL", SYS_fcntl, { NO_FD, F_SETFL }, KILLED },
	{ "wait4", SYS_wait4, { 0 }, KILLED },
	{ "getsockopt", SYS_getsockopt, { NO_FD }, KILLED },
	{ "getsockopt SO_PEERCRED", SYS_getsockopt, { NO_FD, SOL_SOCKET, SO_PEERCRED }, PASSES },
	{ "getsockopt SO_PEERGROUPS", SYS_getsockopt, { NO_FD, SOL_SOCKET, SO_PEERGROUPS }, PASSES },
	{ "getsockopt SO_PEERSEC", SYS_getsockopt, { NO_FD, SOL_SOCKET, SO_PEERSEC }, KILLED },
	{ "getsockopt of another level", SYS_getsockopt, { NO_FD, 6, SO_PEERCRED }, KILLED },
	{ "sched_getaffinity", SYS_sched_getaffinity, { 0 }, PASSES },
	{ "sched_getaffinity of init", SYS_sched_getaffinity, { 1 }, KILLED },
	{ "fcntl F_SETOWN", SYS_fcntl, { NO_FD, F_SETOWN }, KILLED },
	{ "fcntl F_SETSIG", SYS_fcntl, { NO_FD, F_SETSIG }, KILLED },
	{ "flock", SYS_flock, { NO_FD }, KILLED },
	{ "ioctl", SYS_ioctl, { NO_FD }, KILLED },
	{ "open_by_handle_at", SYS_open_by_handle_at, { NO_FD }, KILLED },
	{ "name_to_handle_at", SYS_name_to_handle_at, { NO_FD }, KILLED },
	{ "mount", SYS_mount, { 0 }, KILLED },
	{ "fsopen", SYS_fsopen, { 0 }, KILLED },
	{ "unshare", SYS_unshare, { 0 }, KILLED },
	{ "setns", SYS_setns, { NO_FD }, KILLED },
	{ "chroot", SYS_chroot, { 0 }, KILLED },
	{ "fchmodat", SYS_fchmodat, { NO_FD }, KILLED },
	{ "fchmod", SYS_fchmod, { NO_FD, 0777 }, PASSES },
	{ "fchmod set-user-id", SYS_fchmod, { NO_FD, 04755 }, KILLED },
	{ "fchmod set-group-id", SYS_fchmod, { NO_FD, 02755 }, KILLED },
	{ "openat O_CREAT", SYS_openat, { NO_FD, 0, O_RDWR | O_CREAT, 0640 }, PASSES },
	{ "openat O_CREAT set-user-id", SYS_openat, { NO_FD, 0, O_RDWR | O_CREAT, 04755 }, KILLED },
	{ "openat O_TMPFILE set-user-id", SYS_openat, { NO_FD, 0, O_RDWR | O_TMPFILE, 04755 }, KILLED },
	{ "openat O_DIRECTORY, a mode left over", SYS_openat, { NO_FD, 0, O_DIRECTORY, 04755 }, PASSES },
	{ "fchownat", SYS_fchownat, { NO_FD }, KILLED },
	{ "renameat2", SYS_renameat2, { NO_FD, 0, NO_FD }, KILLED },
	{ "symlinkat", SYS_symlinkat, { 0, NO_FD }, KILLED },
	{ "linkat", SYS_linkat, { NO_FD, 0, NO_FD }, KILLED },
	{ "mknodat", SYS_mknodat, { NO_FD }, KILLED },
	{ "setuid", SYS_setuid, { 0 }, KILLED },
	{ "capset", SYS_capset, { 0 }, KILLED },
	{ "prctl", SYS_prctl, { PR_SET_DUMPABLE, 1 }, KILLED },
	{ "seccomp", SYS_seccomp, { 0 }, KILLED },
	{ "personality", SYS_personality, { 0 }, KILLED },
	{ "prlimit64", SYS_prlimit64, { 0 }, KILLED },
	{ "io_uring_setup", SYS_io_uring_setup, { 0 }, KILLED },
	{ "userfaultfd", SYS_userfaultfd, { 0 }, KILLED },
	{ "keyctl", SYS_keyctl, { 0 }, KILLED },
	{ "init_module", SYS_init_module, { 0 }, KILLED },
	{ "statx", SYS_statx, { NO_FD }, ENOSYS },
	{ "openat2", SYS_openat2, { NO_FD }, ENOSYS },
	{ "faccessat2", SYS_faccessat2, { NO_FD }, ENOSYS },
	{ "rseq", SYS_rseq, { 0 }, ENOSYS },
	{ "set_robust_list", SYS_set_robust_list, { 0 }, ENOSYS },
	{ "membarrier", SYS_membarrier, { 0 }, ENOSYS },
	{ "no such call", 4000, { 0 }, KILLED },
	{ "call -1", -1, { 0 }, KILLED },
#ifdef __x86_64__
	{ "getpid of the x32 ABI", X32_BIT | SYS_getpid, { 0 }, KILLED },
	{ "vfork", SYS_vfork, { 0 }, KILLED },
	{ "fork", SYS_fork, { 0 }, KILLED },
#endif
};

static const struct attempt spawner_attempts[] = {
	{ "socketpair AF_UNIX", SYS_socketpair, { AF_UNIX, SOCK_SEQPACKET }, PASSES },
	{ "socketpair AF_INET", SYS_socketpair, { AF_INET, SOCK_STREAM }, KILLED },
	{ "socket", SYS_socket, { AF_UNIX, SOCK_STREAM }, KILLED },
	{ "clone of a thread", SYS_clone, { CLONE_VM | CLONE_THREAD | CLONE_SIGHAND }, KILLED },
	{ "clone into a namespace", SYS_clone, { CLONE_NEWUSER | SIGCHLD }, KILLED },
	{ "prctl PR_SET_DUMPABLE", SYS_prctl, { PR_SET_DUMPABLE, 1 }, KILLED },
	{ "prlimit64 of itself", SYS_prlimit64, { 0, NO_FD }, PASSES },
	{ "prlimit64 of init", SYS_prlimit64, { 1, RLIMIT_CPU }, KILLED },
	{ "execve", SYS_execve, { 0 }, KILLED },
	{ "kill", SYS_kill, { 0, 0 }, KILLED },
	{ "bpf", SYS_bpf, { BPF_MAP_LOOKUP_ELEM }, KILLED },
	{ "openat", SYS_openat, { NO_FD }, ENOENT },
	{ "sendmsg to another socket", SYS_sendmsg, { NO_FD }, KILLED },
	{ "write to a file", SYS_write, { NO_FD }, KILLED },
	{ "dup3 over its socket", SYS_dup3, { NO_FD, 3, O_CLOEXEC }, PASSES },
	{ "dup3 over the log", SYS_dup3, { NO_FD, STDERR_FILENO, O_CLOEXEC }, KILLED },
};

/* Tried under the filter of the spawner and its own filter together. */
static const struct attempt symbolizer_attempts[] = {
	{ "pread64", SYS_pread64, { NO_FD }, PASSES },
	{ "read", SYS_read, { NO_FD }, PASSES },
	{ "write to the log", SYS_write, { STDERR_FILENO }, KILLED },
	{ "write to a file", SYS_write, { NO_FD }, KILLED },
	{ "dup3", SYS_dup3, { NO_FD, 3, O_CLOEXEC }, KILLED },
	{ "close", SYS_close, { NO_FD }, PASSES },
	{ "newfstatat", SYS_newfstatat, { NO_FD }, PASSES },
	{ "sendmsg", SYS_sendmsg, { 3 }, PASSES },
	{ "sendmsg to another socket", SYS_sendmsg, { NO_FD }, KILLED },
	{ "sendmsg to the log", SYS_sendmsg, { STDERR_FILENO }, KILLED },
	{ "recvmsg", SYS_recvmsg, { 3 }, PASSES },
	{ "recvmsg from another socket", SYS_recvmsg, { NO_FD }, KILLED },
	{ "brk", SYS_brk, { 0 }, PASSES },
	{ "munmap", SYS_munmap, { 0 }, PASSES },
	{ "mremap", SYS_mremap, { 1 }, PASSES },
	{ "madvise", SYS_madvise, { 0 }, PASSES },
	{ "mmap read-write", SYS_mmap, { 0, 4096, PROT_READ | PROT_WRITE, 0x22, NO_FD }, PASSES },
	{ "mmap execute", SYS_mmap, { 0, 4096, PROT_EXEC, 0x22, NO_FD }, KILLED },
	{ "mprotect", SYS_mprotect, { 0, 0, PROT_READ }, KILLED },
	{ "fcntl F_GETFD", SYS_fcntl, { NO_FD, F_GETFD }, PASSES },
	{ "fcntl F_SETFL", SYS_fcntl, { NO_FD, F_SETFL }, KILLED },
	{ "openat", SYS_openat, { NO_FD }, ENOENT },
#ifdef __x86_64__
	{ "open", SYS_open, { 0 }, KILLED },
	{ "readlink", SYS_readlink, { 0 }, ENOENT },
	{ "access", SYS_access, { 0 }, ENOENT },
#endif
	{ "socketpair", SYS_socketpair, { AF_UNIX, SOCK_STREAM }, KILLED },
	{ "clone like fork", SYS_clone, { SIGCHLD }, KILLED },
	{ "prctl", SYS_prctl, { PR_SET_NO_NEW_PRIVS, 1 }, KILLED },
	{ "seccomp", SYS_seccomp, { 0 }, KILLED },
	{ "tgkill", SYS_tgkill, { 0, 0, SIGABRT }, KILLED },
	{ "execve", SYS_execve, { 0 }, KILLED },
};

static const struct attempt grant_attempts[] = {
	{ "openat, a place", SYS_openat, { NO_FD, 0, O_PATH | O_CLOEXEC }, PASSES },
	{ "openat, a perf map", SYS_openat, { NO_FD, 0, O_PATH | O_NOFOLLOW | O_CLOEXEC }, PASSES },
	{ "openat, a directory", SYS_openat, { NO_FD, 0, O_PATH | O_DIRECTORY | O_CLOEXEC }, PASSES },
	{ "openat, /tmp", SYS_openat, { NO_FD, 0, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC }, PASSES },
	{ "openat, maps", SYS_openat, { NO_FD, 0, O_RDONLY | O_CLOEXEC }, PASSES },
	{ "openat, a text", SYS_openat, { NO_FD, 0, O_RDONLY | O_NOCTTY | O_CLOEXEC }, PASSES },
	{ "openat, passed back",
	  SYS_openat,
	  { NO_FD, 0, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC },
	  PASSES },
	{ "openat, cgroups", SYS_openat, { NO_FD, 0, O_RDONLY | O_DIRECTORY | O_CLOEXEC }, PASSES },
	{ "openat, pressure",
	  SYS_openat,
	  { NO_FD, 0, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC },
	  PASSES },
	{ "openat, libcap-ng", SYS_openat, { NO_FD, 0, O_RDONLY }, PASSES },
	{ "openat O_WRONLY", SYS_openat, { NO_FD, 0, O_WRONLY | O_CLOEXEC }, KILLED },
	{ "openat O_RDWR", SYS_openat, { NO_FD, 0, O_RDWR | O_CLOEXEC }, KILLED },
	{ "openat O_TRUNC", SYS_openat, { NO_FD, 0, O_RDONLY | O_TRUNC | O_CLOEXEC }, KILLED },
	{ "openat O_TRUNC alone", SYS_openat, { NO_FD, 0, O_TRUNC }, KILLED },
	{ "openat O_RDWR O_TRUNC, like pressure",
	  SYS_openat,
	  { NO_FD, 0, O_RDWR | O_TRUNC | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC },
	  KILLED },
	{ "openat O_APPEND", SYS_openat, { NO_FD, 0, O_RDWR | O_APPEND | O_CLOEXEC }, KILLED },
	{ "openat O_RDONLY, with more above it",
	  SYS_openat,
	  { NO_FD, 0, 0x100000000 | O_RDONLY | O_CLOEXEC },
	  KILLED },
	{ "open", SYS_open, { 0, O_RDONLY | O_CLOEXEC }, KILLED },
	{ "creat", SYS_creat, { 0 }, KILLED },
	{ "truncate", SYS_truncate, { 0 }, KILLED },
	{ "ftruncate", SYS_ftruncate, { GRANT_COUNTERS_FD }, KILLED },
	{ "fallocate", SYS_fallocate, { GRANT_COUNTERS_FD }, KILLED },
	{ "openat2", SYS_openat2, { NO_FD }, ENOSYS },
	{ "open_by_handle_at",
	  SYS_open_by_handle_at,
	  { NO_FD, 0, O_PATH | O_DIRECTORY | O_CLOEXEC },
	  PASSES },
	{ "open_by_handle_at O_RDONLY", SYS_open_by_handle_at, { NO_FD, 0, O_RDONLY }, KILLED },
	{ "open_by_handle_at O_TRUNC",
	  SYS_open_by_handle_at,
	  { NO_FD, 0, O_RDWR | O_TRUNC | O_CLOEXEC },
	  KILLED },
	{ "statx of a mount", SYS_statx, { NO_FD, 0, AT_EMPTY_PATH, STATX_MNT_ID }, PASSES },
	{ "statx of a path's mount", SYS_statx, { NO_FD, 0, 0, STATX_MNT_ID }, KILLED },
	{ "statx of everything", SYS_statx, { NO_FD, 0, AT_EMPTY_PATH, STATX_BASIC_STATS }, ENOSYS },
	{ "bpf object get", SYS_bpf, { BPF_OBJ_GET }, PASSES },
	{ "bpf look-up", SYS_bpf, { BPF_MAP_LOOKUP_ELEM }, PASSES },
	{ "bpf update", SYS_bpf, { BPF_MAP_UPDATE_ELEM }, KILLED },
	{ "bpf program load", SYS_bpf, { BPF_PROG_LOAD }, KILLED },
	{ "bpf link detach", SYS_bpf, { BPF_LINK_DETACH }, KILLED },
	{ "write to the log", SYS_write, { 2, 0, 0 }, PASSES },
	{ "write elsewhere", SYS_write, { NO_FD }, KILLED },
	{ "openat O_CREAT", SYS_openat, { NO_FD, 0, O_RDWR | O_CREAT }, KILLED },
	{ "openat O_TMPFILE", SYS_openat, { NO_FD, 0, O_RDWR | O_TMPFILE }, KILLED },
	{ "pwrite64 to the counters", SYS_pwrite64, { GRANT_COUNTERS_FD, 0, 0, 0 }, PASSES },
	{ "pwrite64 elsewhere", SYS_pwrite64, { 5, 0, 0, 0 }, KILLED },
	{ "pwrite64 to the lock", SYS_pwrite64, { GRANT_COUNTERS_LOCK_FD, 0, 0, 0 }, KILLED },
	{ "flock of the lock", SYS_flock, { GRANT_COUNTERS_LOCK_FD, LOCK_UN }, PASSES },
	{ "flock of another file", SYS_flock, { 5, LOCK_EX }, KILLED },
	/* writable memory must not become executable */
	{ "close 2", SYS_close, { 2 }, KILLED },
	{ "close 2, with more above it", SYS_close, { 0x100000002 }, KILLED },
	{ "close 3", SYS_close, { 3 }, PASSES },
	{ "close 4", SYS_close, { 4 }, PASSES },
	{ "close 11", SYS_close, { 11 }, PASSES },
	{ "close 15", SYS_close, { 15 }, PASSES },
	{ "close of the lock", SYS_close, { GRANT_COUNTERS_LOCK_FD }, KILLED },
	{ "close of the counters", SYS_close, { GRANT_COUNTERS_FD }, KILLED },
	{ "close of the counters, with more above", SYS_close, { 0x100000000 | GRANT_COUNTERS_FD }, KILLED },
	{ "dup3 over the counters", SYS_dup3, { 5, GRANT_COUNTERS_FD }, KILLED },
	{ "fcntl F_DUPFD", SYS_fcntl, { 5, F_DUPFD }, KILLED },
	{ "lseek", SYS_lseek, { NO_FD }, ESPIPE },
	{ "capset", SYS_capset, { 0 }, PASSES },
	{ "prctl PR_SET_NO_NEW_PRIVS", SYS_prctl, { PR_SET_NO_NEW_PRIVS, 1 }, PASSES },
	{ "prctl PR_SET_KEEPCAPS", SYS_prctl, { PR_SET_KEEPCAPS, 1 }, KILLED },
	{ "prctl PR_SET_DUMPABLE", SYS_prctl, { PR_SET_DUMPABLE, 1 }, KILLED },
	{ "ambient capabilities, asked", SYS_prctl, { PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET }, PASSES },
	{ "ambient capabilities, raised", SYS_prctl, { PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE }, KILLED },
	/* it must not be able to put off the alarm that ends it */
	{ "rt_sigprocmask", SYS_rt_sigprocmask, { SIG_BLOCK, 0, 0, 8 }, EPERM },
	{ "rt_sigreturn", SYS_rt_sigreturn, { 0 }, KILLED },
	{ "rt_sigaction", SYS_rt_sigaction, { SIGALRM, 0, 0, 8 }, KILLED },
	{ "setitimer", SYS_setitimer, { 0 }, KILLED },
	{ "ioctl TCGETS", SYS_ioctl, { NO_FD, TCGETS }, ENOTTY },
	{ "ioctl TIOCSTI", SYS_ioctl, { NO_FD, TIOCSTI }, KILLED },
	{ "execve", SYS_execve, { 0 }, KILLED },
	{ "clone like fork", SYS_clone, { SIGCHLD }, KILLED },
	{ "socket AF_UNIX", SYS_socket, { AF_UNIX, SOCK_STREAM }, KILLED },
	{ "socket AF_INET", SYS_socket, { AF_INET, SOCK_STREAM }, KILLED },
	{ "connect", SYS_connect, { NO_FD }, KILLED },
	{ "kill", SYS_kill, { 0, 0 }, KILLED },
	{ "ptrace", SYS_ptrace, { 0 }, KILLED },
	{ "process_vm_readv", SYS_process_vm_readv, { 0 }, KILLED },
	{ "setuid", SYS_setuid, { 0 }, KILLED },
	{ "mmap execute", SYS_mmap, { 0, 4096, PROT_EXEC, 0x22, NO_FD }, KILLED },
	{ "mprotect execute", SYS_mprotect, { 0, 0, PROT_EXEC }, KILLED },
	{ "unlinkat", SYS_unlinkat, { NO_FD }, KILLED },
	{ "renameat2", SYS_renameat2, { NO_FD, 0, NO_FD }, KILLED },
	{ "fchmod", SYS_fchmod, { NO_FD }, KILLED },
	{ "fchown", SYS_fchown, { NO_FD }, KILLED },
	{ "mount", SYS_mount, { 0 }, KILLED },
	{ "setns", SYS_setns, { NO_FD }, KILLED },
	{ "init_module", SYS_init_module, { 0 }, KILLED },
};

static const struct attempt load_attempts[] = {
	{ "bpf program load", SYS_bpf, { BPF_PROG_LOAD }, PASSES },
	{ "bpf map create", SYS_bpf, { BPF_MAP_CREATE }, PASSES },
	{ "bpf object pin", SYS_bpf, { BPF_OBJ_PIN }, PASSES },
	{ "bpf link create", SYS_bpf, { BPF_LINK_CREATE }, PASSES },
	{ "bpf link detach", SYS_bpf, { BPF_LINK_DETACH }, KILLED },
	{ "bpf program by id", SYS_bpf, { BPF_PROG_GET_FD_BY_ID }, KILLED },
	{ "bpf map by id", SYS_bpf, { BPF_MAP_GET_FD_BY_ID }, KILLED },
	{ "bpf program attach", SYS_bpf, { BPF_PROG_ATTACH }, KILLED },
	{ "perf_event_open", SYS_perf_event_open, { 0 }, PASSES },
	{ "ioctl enable", SYS_ioctl, { NO_FD, PERF_EVENT_IOC_ENABLE }, PASSES },
	{ "ioctl TCGETS", SYS_ioctl, { NO_FD, TCGETS }, ENOTTY },
	{ "ioctl TIOCSTI", SYS_ioctl, { NO_FD, TIOCSTI }, KILLED },
	{ "prlimit64 asked", SYS_prlimit64, { 0, RLIMIT_STACK, 0, 0 }, PASSES },
	{ "prlimit64 set", SYS_prlimit64, { 0, RLIMIT_STACK, 1, 0 }, KILLED },
	{ "prlimit64 of init", SYS_prlimit64, { 1, RLIMIT_STACK, 0, 0 }, KILLED },
	{ "kill with SIGTERM", SYS_kill, { 0, SIGTERM }, KILLED },
	{ "kill of a process", SYS_kill, { NO_PROCESS, SIGKILL }, PASSES },
	{ "kill of a group", SYS_kill, { -(unsigned long)NO_PROCESS, SIGKILL }, KILLED },
	{ "kill of a group, as an int", SYS_kill, { (unsigned int)-NO_PROCESS, SIGKILL }, KILLED },
	{ "mount", SYS_mount, { 0, 0, 0, MS_NOSUID | MS_NODEV | MS_NOEXEC }, PASSES },
	{ "mount without a flag", SYS_mount, { 0, 0, 0, MS_NOSUID | MS_NODEV }, KILLED },
	{ "mount --bind", SYS_mount, { 0, 0, 0, MS_BIND }, KILLED },
	{ "umount2 MNT_DETACH", SYS_umount2, { 0, MNT_DETACH }, PASSES },
	{ "umount2 MNT_FORCE", SYS_umount2, { 0, MNT_FORCE }, KILLED },
	{ "fchmod", SYS_fchmod, { NO_FD, 0750 }, PASSES },
	{ "fchmod set-uid", SYS_fchmod, { NO_FD, 04755 }, KILLED },
	{ "fchmodat set-gid", SYS_fchmodat, { NO_FD, 0, 02755 }, KILLED },
	{ "openat", SYS_openat, { NO_FD, 0, O_RDWR | O_CREAT, 0640 }, PASSES },
	{ "openat set-uid", SYS_openat, { NO_FD, 0, O_RDWR | O_CREAT, 04755 }, KILLED },
	{ "clone like fork into a namespace", SYS_clone, { CLONE_NEWNS | SIGCHLD }, KILLED },
	{ "execve", SYS_execve, { 0 }, KILLED },
	{ "execveat", SYS_execveat, { 0 }, KILLED },
	{ "socket AF_UNIX", SYS_socket, { AF_UNIX, SOCK_STREAM }, KILLED },
	{ "socket AF_INET", SYS_socket, { AF_INET, SOCK_STREAM }, KILLED },
	{ "socket AF_NETLINK", SYS_socket, { AF_NETLINK, SOCK_RAW }, KILLED },
	{ "ptrace", SYS_ptrace, { 0 }, KILLED },
	{ "process_vm_writev", SYS_process_vm_writev, { 0 }, KILLED },
	{ "setuid", SYS_setuid, { 0 }, KILLED },
	{ "capset", SYS_capset, { 0 }, KILLED },
	{ "mmap execute", SYS_mmap, { 0, 4096, PROT_EXEC, 0x22, NO_FD }, KILLED },
	{ "mprotect execute", SYS_mprotect, { 0, 0, PROT_EXEC }, KILLED },
	{ "setns", SYS_setns, { NO_FD }, KILLED },
	{ "unshare", SYS_unshare, { 0 }, KILLED },
	{ "pivot_root", SYS_pivot_root, { 0 }, KILLED },
	{ "init_module", SYS_init_module, { 0 }, KILLED },
	{ "finit_module", SYS_finit_module, { NO_FD }, KILLED },
	{ "kexec_load", SYS_kexec_load, { 0 }, KILLED },
	{ "mknodat", SYS_mknodat, { NO_FD }, KILLED },
	{ "symlinkat", SYS_symlinkat, { 0, NO_FD }, KILLED },
	{ "open_by_handle_at", SYS_open_by_handle_at, { NO_FD }, KILLED },
	{ "io_uring_setup", SYS_io_uring_setup, { 0 }, KILLED },
	{ "userfaultfd", SYS_userfaultfd, { 0 }, KILLED },
};

/* CHILD: no core file, no new privileges, then the filter. Each failure has an exit status of its own. */
static void confine(const struct seccomp_policy *policy)
{
	const struct rlimit none = { 0, 0 };

	if (setrlimit(RLIMIT_CORE, &none) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    seccomp_install(policy, true))
		_exit(255);
}

/* Runs `work` in a child and returns its wait status. */
static int in_child(void (*work)(const void *), const void *argument)
{
	pid_t child = fork();
	int status = 0;

	ck_assert_int_ge(child, 0);
	if (!child) {
		work(argument);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return status;
}

static bool was_killed(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

/* CHILD: exits with the errno of the call. */
static void try_call(const struct attempt *attempt)
{
	const unsigned long *arguments = attempt->arguments;

	if (syscall(attempt->number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
		    arguments[5]) < 0)
		_exit(errno);
	_exit(0);
}

static void try_as_bourdond(const void *attempt)
{
	confine(&bourdond_policy);
	try_call(attempt);
}

static void try_as_spawner(const void *attempt)
{
	confine(&spawner_policy);
	try_call(attempt);
}

static void try_as_symbolizer(const void *attempt)
{
	confine(&spawner_policy);
	confine(&symbolizer_policy);
	try_call(attempt);
}

static void try_as_grant(const void *attempt)
{
	confine(&bourdon_grant_policy);
	try_call(attempt);
}

static void try_as_load(const void *attempt)
{
	confine(&bourdon_load_policy);
	try_call(attempt);
}

static void check_attempt(const struct attempt *attempt, void (*work)(const void *))
{
	int status = in_child(work, attempt);

	if (attempt->expected == KILLED) {
		ck_assert_msg(was_killed(status), "%s: lives, wait status %#x", attempt->what, status);
		return;
	}
	ck_assert_msg(WIFEXITED(status), "%s: killed, wait status %#x", attempt->what, status);
	ck_assert_msg(WEXITSTATUS(status) != 255, "%s: could not confine itself", attempt->what);
	if (attempt->expected == PASSES)
		ck_assert_msg(WEXITSTATUS(status) != ENOSYS, "%s: refused", attempt->what);
	else
		ck_assert_msg(WEXITSTATUS(status) == attempt->expected, "%s: %s", attempt->what,
			      strerror(WEXITSTATUS(status)));
}

START_TEST(bourdond_attempt)
{
	check_attempt(&bourdond_attempts[_i], try_as_bourdond);
}
END_TEST

START_TEST(spawner_attempt)
{
	check_attempt(&spawner_attempts[_i], try_as_spawner);
}
END_TEST

START_TEST(symbolizer_attempt)
{
	check_attempt(&symbolizer_attempts[_i], try_as_symbolizer);
}
END_TEST

START_TEST(grant_attempt)
{
	check_attempt(&grant_attempts[_i], try_as_grant);
}
END_TEST

START_TEST(load_attempt)
{
	check_attempt(&load_attempts[_i], try_as_load);
}
END_TEST

/* CHILD: exits with the line of the first failed expectation. */
#define WORKS(expression)                                                                                    \
	do {                                                                                                 \
		if (!(expression))                                                                           \
			_exit(__LINE__ % 254 + 1);                                                           \
	} while (0)

static void use_files(int directory)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	int fd = openat(directory, "file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	char byte = 'x';
	DIR *listing;
	void *memory;

	WORKS(fd >= 0 && !fchmod(fd, 0640) && !ftruncate(fd, 4096));
	WORKS(fcntl(fd, F_SETLK, &lock) == 0 && fcntl(fd, F_GETLK, &lock) == 0);
	WORKS(pwrite(fd, &byte, 1, 7) == 1 && pread(fd, &byte, 1, 7) == 1 && !syscall(SYS_fdatasync, fd) &&
	      !syscall(SYS_fsync, fd));
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	WORKS(memory != MAP_FAILED && !munmap(memory, 4096) && !close(fd));
	listing = fdopendir(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	WORKS(listing && readdir(listing) && !closedir(listing));
}

static void use_events(int epoll, int signal)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	struct epoll_event event = { .events = EPOLLIN };
	struct pollfd ready = { .fd = signal, .events = POLLIN };

	WORKS(!epoll_pwait2(epoll, &event, 1, &moment, NULL) &&
	      !epoll_ctl(epoll, EPOLL_CTL_ADD, signal, &event));
	WORKS(!eventfd_write(signal, 1) && epoll_pwait2(epoll, &event, 1, &moment, NULL) == 1);
	WORKS(poll(&ready, 1, 0) == 1);
}

static void use_sockets(const int *pair)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 'x';
	struct iovec data = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	*header = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
	memcpy(CMSG_DATA(header), &pair[0], sizeof(int));
	WORKS(sendmsg(pair[0], &message, 0) == 1 && recvmsg(pair[1], &message, MSG_CMSG_CLOEXEC) == 1);
}

/*
 * A barrier, because glibc makes calls for a new thread (rseq, robust list) that have to come before the
 * filter.
 */
static pthread_barrier_t running;

static void *wait_for_mutex(void *mutex)
{
	pthread_barrier_wait(&running);
	pthread_mutex_lock(mutex);
	pthread_mutex_unlock(mutex);
	return NULL;
}

/* What the daemon does, through the C library, with a second thread that started before the filter. */
static void work_as_bourdond(const void *directory_path)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	int directory, epoll, signal, pair[2];
	pthread_t thread;
	char *large, *larger;

	directory = open(directory_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	signal = eventfd(0, EFD_CLOEXEC);
	WORKS(directory >= 0 && epoll >= 0 && signal >= 0);
	WORKS(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	pthread_mutex_lock(&mutex);
	pthread_barrier_init(&running, NULL, 2);
	WORKS(!pthread_create(&thread, NULL, wait_for_mutex, &mutex));
	pthread_barrier_wait(&running);
	confine(&bourdond_policy);
	use_files(directory);
	use_events(epoll, signal);
	use_sockets(pair);
	large = malloc(64 << 20);
	WORKS(large && (larger = realloc(large, 65 << 20)));
	free(larger);
	WORKS(!nanosleep(&moment, NULL));
	pthread_mutex_unlock(&mutex);
	WORKS(!pthread_join(thread, NULL));
}

START_TEST(bourdond_works)
{
	char directory[] = "/tmp/test_seccomp.XXXXXX", file[64];
	int status;

	ck_assert_ptr_nonnull(mkdtemp(directory));
	status = in_child(work_as_bourdond, directory);
	snprintf(file, sizeof(file), "%s/file", directory);
	unlink(file);
	rmdir(directory);
	ck_assert_msg(status == 0, "wait status %#x (the exit status is a line modulo 254, plus 1)", status);
}
END_TEST

static void abort_under(const void *policy)
{
	signal(SIGABRT, SIG_DFL);
	confine(policy);
	abort();
}

static const struct seccomp_policy *const may_abort[] = { &bourdond_policy, &bourdon_grant_policy,
							  &bourdon_load_policy };

START_TEST(confined_programs_may_abort)
{
	int status = in_child(abort_under, may_abort[_i]);

	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGABRT);
}
END_TEST

static void spawn_one(const void *unused)
{
	int status = 0;
	pid_t child;

	(void)unused;
	confine(&spawner_policy);
	child = fork();
	WORKS(child >= 0);
	if (!child) {
		confine(&symbolizer_policy);
		_exit(7);
	}
	WORKS(wait4(child, &status, 0, NULL) == child);
	WORKS(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

START_TEST(spawner_forks_a_symbolizer)
{
	ck_assert_int_eq(in_child(spawn_one, NULL), 0);
}
END_TEST

static void *forbidden_when_told(void *pipe_end)
{
	char byte;

	pthread_barrier_wait(&running);
	if (read(*(int *)pipe_end, &byte, 1) == 1)
		syscall(SYS_getppid);
	return NULL;
}

static void confine_two_threads(const void *unused)
{
	pthread_t thread;
	int ends[2];

	(void)unused;
	WORKS(!pipe2(ends, O_CLOEXEC));
	pthread_barrier_init(&running, NULL, 2);
	WORKS(!pthread_create(&thread, NULL, forbidden_when_told, &ends[0]));
	pthread_barrier_wait(&running);
	confine(&bourdond_policy);
	WORKS(write(ends[1], "x", 1) == 1);
	pthread_join(thread, NULL);
}

START_TEST(all_threads_are_confined)
{
	ck_assert(was_killed(in_child(confine_two_threads, NULL)));
}
END_TEST

struct own_filter {
	pthread_barrier_t installed, seen;
};

static void *install_own(void *argument)
{
	struct own_filter *own = argument;

	WORKS(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	WORKS(!seccomp_install(&bourdond_policy, false));
	pthread_barrier_wait(&own->installed);
	pthread_barrier_wait(&own->seen);
	return NULL;
}

static void confine_a_diverged_thread(const void *unused)
{
	struct own_filter own;
	pthread_t thread;

	(void)unused;
	pthread_barrier_init(&own.installed, NULL, 2);
	pthread_barrier_init(&own.seen, NULL, 2);
	WORKS(!pthread_create(&thread, NULL, install_own, &own));
	pthread_barrier_wait(&own.installed);
	WORKS(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	WORKS(seccomp_install(&bourdond_policy, true) == -EBUSY);
	WORKS(getppid() > 0); /* would kill the process if it were installed */
	pthread_barrier_wait(&own.seen);
	pthread_join(thread, NULL);
}

START_TEST(a_thread_that_cannot_follow_is_an_error)
{
	ck_assert_int_eq(in_child(confine_a_diverged_thread, NULL), 0);
}
END_TEST

START_TEST(impossible_lengths_are_refused)
{
	struct seccomp_policy policy = bourdond_policy;

	policy.length = 0;
	ck_assert_int_eq(seccomp_install(&policy, false), -EINVAL);
	policy.length = BPF_MAXINSNS + 1UL;
	ck_assert_int_eq(seccomp_install(&policy, false), -EINVAL);
}
END_TEST

struct policy_case {
	const char *policy;
	const char *says; /* NULL: compiles */
};

#ifdef __x86_64__
#define ON_X86_64(text) text
#define ON_AARCH64(text) NULL
#else
#define ON_X86_64(text) NULL
#define ON_AARCH64(text) text
#endif

static const struct policy_case policy_cases[] = {
	{ "group a\nallow read write # both\n\nallow socket if arg0 == AF_UNIX and arg2 == 0\n", NULL },
	{ "group a\nallow prctl if arg0 != 0x10\nerrno EPERM open_tree? no_such_call?\n", NULL },
	{ "group a\nerrno ENOTTY ioctl if arg1 == TCGETS\nallow ioctl if arg1 == 1\n", NULL },
	{ "group a\nerrno EPERM ioctl if arg1 == 1\nallow ioctl if arg1 == 1\n",
	  "test.seccomp:3: 'ioctl' is stated" },
	{ "group a\nallow fcntl if arg1 == 1\nallow fcntl if arg1 == 2\n", NULL },
	{ "group a\nallow clone if arg0 & 0xff == SIGCHLD\nallow clone if arg0 == SIGABRT|1\n", NULL },
	{ "", "test.seccomp:0: no system call is allowed" },
	{ "allow read\n", "test.seccomp:1: a 'group' line" },
	{ "group\n", "test.seccomp:1: 'group' needs words" },
	{ "group a\nallow\n", "test.seccomp:2: a system call's name is missing" },
	{ "group a\npermit read\n", "test.seccomp:2: expected 'group', 'allow' or 'errno', not 'permit'" },
	{ "group a\nallow raed\n", "test.seccomp:2: no system call 'raed'" },
	{ "group a\nallow fcntl64\n", "test.seccomp:2: no system call 'fcntl64'" },
	{ "group a\nallow read write if arg0 == 1\n", "test.seccomp:2: a condition belongs to one" },
	{ "group a\nallow read if\n", "test.seccomp:2: a condition is" },
	{ "group a\nallow read if arg0 ==\n", "test.seccomp:2: a condition is" },
	{ "group a\nallow read if arg6 == 1\n", "test.seccomp:2: a condition begins with arg0 to arg5" },
	{ "group a\nallow read if arg0 < 1\n", "test.seccomp:2: unknown operator '<'" },
	{ "group a\nallow read if arg0 & 1 != 1\n", "test.seccomp:2: unknown operator '!='" },
	{ "group a\nallow read if arg0 & 1 == 2\n", "test.seccomp:2: never true" },
	{ "group a\nallow read if arg0 == AF_UNXI\n", "test.seccomp:2: 'AF_UNXI' is neither" },
	{ "group a\nallow read if arg0 == 12x\n", "test.seccomp:2: '12x' is neither" },
	{ "group a\nallow read if arg0 == 99999999999999999999\n", "is neither" },
	{ "group a\nallow read if arg0 == 1 or arg1 == 1\n", "test.seccomp:2: expected 'and', not 'or'" },
	{ "group a\nallow read if arg0 == 1 and arg0 == 2\n", "test.seccomp:2: arg0 is compared twice" },
	{ "group a\nerrno AF_UNIX read\n", "test.seccomp:2: 'errno' takes" },
	{ "group a\nallow read\n\nallow read\n", "test.seccomp:4: 'read' is stated on line 2 already" },
	{ "group a\nallow read\nallow read if arg0 == 1\n", "test.seccomp:3: 'read' is stated on line 2" },
	{ "group a\nallow read if arg0 == 1\nallow read\n", "test.seccomp:3: 'read' is stated on line 2" },
	{ "group a\nallow read\nerrno EPERM read\n", "test.seccomp:3: 'read' is stated on line 2 already" },
	{ "group a\nallow read if arg0 == 1\nerrno EPERM read\n", "test.seccomp:3: 'read' is stated" },
	{ "group a\nallow read if arg0 == 1\nallow read if arg0 == 1\n", "test.seccomp:3: 'read' is stated" },
	{ "group a\nallow read\non aarch64 allow read if arg0 == 1\n",
	  ON_AARCH64("test.seccomp:3: 'read' is") },
	{ "group a\nallow read\non x86_64 allow read if arg0 == 1\n",
	  ON_X86_64("test.seccomp:3: 'read' is") },
	{ "group a\nallow read\non aarch64 errno EPERM raed\n", "test.seccomp:3: no system call 'raed'" },
	{ "group a\nallow read\non x86_64 errno EPERM raed\n", "test.seccomp:3: no system call 'raed'" },
	{ "group a\nallow read\non arm64 allow write\n", "test.seccomp:3: 'on' needs x86_64 or aarch64" },
	{ "group a\nallow read\non aarch64\n", "test.seccomp:3: 'on' needs x86_64 or aarch64" },
	{ "group a\nallow read\non aarch64 group b\n", "test.seccomp:3: expected 'group', 'allow' or" },
	{ "allow read\nfoo\ngroup a\nallow raed\n",
	  "test.seccomp:4:" }, /* the last mistake is shown as well */
};

/* Runs the compiler on `policy`, for `arch` if given. Returns its exit status, and its messages in `said`. */
static int compile_for(const char *arch, const char *policy, FILE *made, char *said, size_t said_room)
{
	const char *program = getenv("COMPILE_SECCOMP");
	_cleanup_file_ FILE *input = tmpfile();
	_cleanup_file_ FILE *errors = tmpfile();
	int status = 0;
	pid_t child;

	ck_assert(input && errors);
	fputs(policy, input);
	rewind(input);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		dup2(fileno(input), STDIN_FILENO);
		dup2(fileno(made), STDOUT_FILENO);
		dup2(fileno(errors), STDERR_FILENO);
		execl(program ? program : "build/compile_seccomp", "compile_seccomp", "test",
		      arch ? "--arch" : NULL, arch, NULL);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	rewind(errors);
	said[fread(said, 1, said_room - 1, errors)] = '\0';
	return WEXITSTATUS(status);
}

static int compile(const char *policy, FILE *made, char *said, size_t said_room)
{
	return compile_for(NULL, policy, made, said, said_room);
}

START_TEST(policy_is_judged)
{
	const struct policy_case *one = &policy_cases[_i];
	_cleanup_file_ FILE *made = tmpfile();
	char said[4096];
	int status;

	ck_assert_ptr_nonnull(made);
	status = compile(one->policy, made, said, sizeof(said));
	ck_assert_int_eq(fseek(made, 0, SEEK_END), 0);
	if (one->says) {
		ck_assert_msg(status == 1 && strstr(said, one->says), "exit %d, '%s' lacks '%s'", status,
			      said, one->says);
		ck_assert_int_eq(ftell(made), 0);
	} else {
		ck_assert_msg(status == 0 && !*said, "exit %d, '%s'", status, said);
		ck_assert_int_gt(ftell(made), 0);
	}
}
END_TEST

static const struct {
	const char *arch, *instruction;
} flags_cases[] = {
	{ "x86_64", "0x00030000 }" },
	{ "aarch64", "0x0000c000 }" },
};

START_TEST(flags_are_those_of_the_architecture)
{
	_cleanup_file_ FILE *made = tmpfile();
	char said[4096], text[4096];

	ck_assert_ptr_nonnull(made);
	ck_assert_int_eq(compile_for(flags_cases[_i].arch,
				     "group a\nallow openat if arg2 == O_DIRECTORY|O_NOFOLLOW\n", made, said,
				     sizeof(said)),
			 0);
	rewind(made);
	text[fread(text, 1, sizeof(text) - 1, made)] = '\0';
	ck_assert_ptr_nonnull(strstr(text, flags_cases[_i].instruction));
	ck_assert_int_eq(compile_for("i386", "group a\nallow read\n", made, said, sizeof(said)), EXIT_USAGE);
	ck_assert_ptr_nonnull(strstr(said, "expected x86_64 or aarch64"));
}
END_TEST

static TCase *enforced_case(void)
{
	TCase *enforced = tcase_create("enforced");

	tcase_add_loop_test(enforced, bourdond_attempt, 0, ARRAY_SIZE(bourdond_attempts));
	tcase_add_loop_test(enforced, spawner_attempt, 0, ARRAY_SIZE(spawner_attempts));
	tcase_add_loop_test(enforced, symbolizer_attempt, 0, ARRAY_SIZE(symbolizer_attempts));
	tcase_add_loop_test(enforced, grant_attempt, 0, ARRAY_SIZE(grant_attempts));
	tcase_add_loop_test(enforced, load_attempt, 0, ARRAY_SIZE(load_attempts));
	tcase_add_test(enforced, bourdond_works);
	tcase_add_loop_test(enforced, confined_programs_may_abort, 0, ARRAY_SIZE(may_abort));
	tcase_add_test(enforced, spawner_forks_a_symbolizer);
	tcase_add_test(enforced, all_threads_are_confined);
	tcase_add_test(enforced, a_thread_that_cannot_follow_is_an_error);
	return enforced;
}

SUITE(seccomp)
{
	Suite *suite = suite_create(SANITIZED ? "seccomp (compiler only, under a sanitizer)" : "seccomp");
	TCase *compiled = tcase_create("compiled");

	if (!SANITIZED)
		suite_add_tcase(suite, enforced_case());
	tcase_add_test(compiled, impossible_lengths_are_refused);
	tcase_add_loop_test(compiled, flags_are_those_of_the_architecture, 0, ARRAY_SIZE(flags_cases));
	tcase_add_loop_test(compiled, policy_is_judged, 0, ARRAY_SIZE(policy_cases));
	suite_add_tcase(suite, compiled);
	return suite;
}
