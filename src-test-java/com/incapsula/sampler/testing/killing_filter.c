/* SPDX-License-Identifier: Apache-2.0 */
/*
 * killing_filter.c - preloaded into a JVM, ends it at one system call, as filters do that list what
 * they know: at timer_create where KILLING_FILTER is "timers", else at rt_tgsigqueueinfo.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static __attribute__((constructor)) void filter(void)
{
    const char *const wanted = getenv("KILLING_FILTER");
    const long number =
        wanted != NULL && strcmp(wanted, "timers") == 0 ? SYS_timer_create : SYS_rt_tgsigqueueinfo;
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof(rules) / sizeof(rules[0]), rules };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(EXIT_FAILURE);
}
