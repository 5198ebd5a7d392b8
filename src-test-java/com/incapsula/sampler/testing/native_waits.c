// SPDX-License-Identifier: Apache-2.0
/* The native methods of NativeWaits. Without jni.h: they use neither the environment nor objects. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define METHOD(name) Java_com_incapsula_sampler_testing_NativeWaits_##name

/* In the order of NativeWaits.Kind. */
enum { POLL, SELECT, EPOLL_WAIT, NANOSLEEP, SEM_TIMEDWAIT, READ, ACCEPT, CONNECT };

static struct {
    int epoll;
    sem_t semaphore;
    int pipe[2];
    struct sockaddr_un name[2]; /* of ACCEPT, of CONNECT */
    socklen_t size[2];
    int listener[2];
} waits;

static void listen_at(int which)
{
    socklen_t size = sizeof(sa_family_t); /* the system chooses a name */

    waits.name[which].sun_family = AF_UNIX;
    waits.listener[which] = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(waits.listener[which], (struct sockaddr *)&waits.name[which], size) != 0 ||
        listen(waits.listener[which], 0) != 0)
        abort();
    waits.size[which] = sizeof(waits.name[which]);
    (void)getsockname(waits.listener[which], (struct sockaddr *)&waits.name[which], &waits.size[which]);
}

void METHOD(open)(void *env, void *type)
{
    (void)env;
    (void)type;
    waits.epoll = epoll_create1(0);
    if (pipe(waits.pipe) != 0 || sem_init(&waits.semaphore, 0, 0) != 0)
        abort();
    listen_at(0);
    listen_at(1);
}

static int connect_to(int which, int flags)
{
    const int fd = socket(AF_UNIX, SOCK_STREAM | flags, 0);
    const int result = connect(fd, (struct sockaddr *)&waits.name[which], waits.size[which]);
    const int error = errno;

    close(fd);
    errno = error;
    return result;
}

static int accept_from(int which)
{
    const int fd = accept(waits.listener[which], NULL, NULL);

    if (fd >= 0)
        close(fd);
    return fd < 0 ? fd : 0;
}

static int wait_for(int kind, int millis)
{
    struct timespec span = { .tv_nsec = millis * 1000000L };
    struct timeval micros = { .tv_usec = millis * 1000L };
    struct epoll_event event;
    char byte;

    switch (kind) {
    case POLL:
        return poll(NULL, 0, millis);
    case SELECT:
        return select(0, NULL, NULL, NULL, &micros);
    case EPOLL_WAIT:
        return epoll_wait(waits.epoll, &event, 1, millis);
    case NANOSLEEP:
        return nanosleep(&span, NULL);
    case SEM_TIMEDWAIT:
        clock_gettime(CLOCK_REALTIME, &span);
        span.tv_nsec += millis * 1000000L;
        span.tv_sec += span.tv_nsec / 1000000000L;
        span.tv_nsec %= 1000000000L;
        return sem_timedwait(&waits.semaphore, &span) == 0 || errno == ETIMEDOUT ? 0 : -1;
    case READ:
        return read(waits.pipe[0], &byte, 1) == 1 ? 0 : -1;
    case ACCEPT:
        return accept_from(0);
    default:
        return connect_to(1, 0);
    }
}

/* 0, or what errno says. */
int METHOD(await)(void *env, void *type, int kind, int millis)
{
    (void)env;
    (void)type;
    errno = 0;
    return wait_for(kind, millis) < 0 ? errno : 0;
}

static int is_readable(int fd)
{
    struct pollfd watched = { .fd = fd, .events = POLLIN };

    return poll(&watched, 1, 0) > 0;
}

/* What the wait of that kind waits for. Does not wait itself. */
void METHOD(end)(void *env, void *type, int kind)
{
    (void)env;
    (void)type;
    if (kind == READ && !is_readable(waits.pipe[0]))
        (void)!write(waits.pipe[1], "", 1);
    else if (kind == ACCEPT)
        (void)connect_to(0, SOCK_NONBLOCK);
    else if (kind == CONNECT && is_readable(waits.listener[1]))
        (void)accept_from(1);
}

static int count_pending(void)
{
    sigset_t pending;
    int count = 0;

    sigpending(&pending);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        count += sigismember(&pending, number) == 1;
    return count;
}

/* All real-time ones, for ever, on this thread: the JVM needs others of its own. */
void METHOD(block)(void *env, void *type)
{
    sigset_t set;

    (void)env;
    (void)type;
    sigemptyset(&set);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        sigaddset(&set, number);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int METHOD(countPending)(void *env, void *type)
{
    (void)env;
    (void)type;
    return count_pending();
}

static _Atomic int phase;

void METHOD(tell)(void *env, void *type, int next)
{
    (void)env;
    (void)type;
    phase = next;
}

/* Runs until phase is 2, and blocks all signals from 1 on. */
static void run_blocking(sigset_t *old)
{
    sigset_t all;

    while (phase == 0)
        ;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, old);
    while (phase == 1)
        ;
}

/* Returns how many signals have come in phase 1. */
int METHOD(run)(void *env, void *type)
{
    sigset_t old;
    int count = 0;

    (void)env;
    (void)type;
    run_blocking(&old);
    count = count_pending();
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return count;
}

/* The new program prints which signals are pending; with one that is not blocked it does not run. */
void METHOD(replace)(void *env, void *type, unsigned char blocks)
{
    sigset_t old;

    (void)env;
    (void)type;
    if (blocks)
        run_blocking(&old);
    execl("/bin/grep", "grep", "SigPnd", "/proc/self/status", (char *)NULL);
    abort();
}
