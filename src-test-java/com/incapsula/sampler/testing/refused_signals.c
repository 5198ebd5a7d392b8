/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refused_signals.c - preloaded into a JVM, refuses handlers on the
 * sampler's signal. The JDK has one on another real-time signal, 62. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

typedef int set_action(int, const struct sigaction *, struct sigaction *);

int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    void *found = dlsym(RTLD_NEXT, "sigaction");
    set_action *real = NULL;

    memcpy(&real, &found, sizeof(real));
    if (number == 38 && action != NULL) {
        errno = EINVAL;
        return -1;
    }
    return real(number, action, old);
}
