/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container_filter.c - preloaded into a JVM, filters its system calls as strict profiles of
 * containers do: what reads other processes, and what profilers of the kernel need, is refused.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REFUSED(name) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

static __attribute__((constructor)) void filter(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        REFUSED(process_vm_readv),
        REFUSED(process_vm_writev),
        REFUSED(ptrace),
        REFUSED(perf_event_open),
        REFUSED(bpf),
        REFUSED(memfd_create),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof(rules) / sizeof(rules[0]), rules };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(EXIT_FAILURE);
}
