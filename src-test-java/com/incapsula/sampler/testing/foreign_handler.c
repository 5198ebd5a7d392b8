/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign_handler.c - preloaded into a JVM, installs the first handler of the signal FOREIGN_SIGNAL,
 * and says on the standard output which of its signals this is; loaded later, it takes the signal.
 * The thread that loads it blocks the signal BLOCKED_SIGNAL, and so do those that it starts.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int count;

static void tell(int number, siginfo_t *info, void *context)
{
    const int saved = errno;
    char text[] = "foreign 000\n";
    const int now = atomic_fetch_add(&count, 1) + 1;

    (void)number;
    (void)info;
    (void)context;
    text[8] = (char)('0' + now / 100 % 10);
    text[9] = (char)('0' + now / 10 % 10);
    text[10] = (char)('0' + now % 10);
    if (write(STDOUT_FILENO, text, strlen(text)) < 0)
        _exit(1);
    errno = saved;
}

__attribute__((constructor)) static void install(void)
{
    const char *number = getenv("FOREIGN_SIGNAL");
    struct sigaction action = { .sa_sigaction = tell, .sa_flags = SA_SIGINFO | SA_RESTART };

    const char *blocked = getenv("BLOCKED_SIGNAL");
    sigset_t set;

    (void)sigemptyset(&set);
    if (blocked != NULL)
        (void)sigaddset(&set, atoi(blocked));
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (number != NULL && sigaction(atoi(number), &action, NULL) != 0)
        _exit(1);
}
