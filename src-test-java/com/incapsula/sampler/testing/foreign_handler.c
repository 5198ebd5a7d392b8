/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign_handler.c - preloaded into a JVM, installs the first handler of the signal FOREIGN_SIGNAL,
 * and says on the standard output which of its signals this is; loaded later, it takes the signal.
 * With FOREIGN_KEEPS in its environment it takes the signal anew all the time.
 * The thread that loads it blocks the signal BLOCKED_SIGNAL, and so do those that it starts.
 */
#include <errno.h>
#include <pthread.h>
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

static void take(const char *number)
{
    const struct sigaction action = { .sa_sigaction = tell, .sa_flags = SA_SIGINFO | SA_RESTART };

    if (sigaction(atoi(number), &action, NULL) != 0)
        _exit(1);
}

static void *keep(void *number)
{
    for (;;) {
        (void)usleep(1000);
        take(number);
    }
    return NULL;
}

__attribute__((constructor)) static void install(void)
{
    char *number = getenv("FOREIGN_SIGNAL");
    const char *blocked = getenv("BLOCKED_SIGNAL");
    sigset_t set;
    pthread_t keeper;

    (void)sigemptyset(&set);
    if (blocked != NULL)
        (void)sigaddset(&set, atoi(blocked));
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (number != NULL)
        take(number);
    if (getenv("FOREIGN_KEEPS") != NULL && pthread_create(&keeper, NULL, keep, number) != 0)
        _exit(1);
}
