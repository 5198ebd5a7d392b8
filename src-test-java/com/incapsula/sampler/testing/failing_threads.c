/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failing_threads.c - preloaded into a JVM, refuses to start one of the sampler's threads: the one
 * that FAILING_THREAD counts to. The JVM's own threads are left alone.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static int is_samplers(void *(*work)(void *))
{
    Dl_info info = { 0 };
    void *address = NULL;

    memcpy(&address, &work, sizeof(address));
    return dladdr(address, &info) != 0 && info.dli_fname != NULL &&
           strstr(info.dli_fname, "libthreads-sampler") != NULL;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *),
                   void *argument)
{
    static int created;
    const char *failing = getenv("FAILING_THREAD");
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    create *real = NULL;

    memcpy(&real, &found, sizeof(real));
    if (is_samplers(work) && failing != NULL && ++created == atoi(failing))
        return EAGAIN;
    return real(thread, attributes, work, argument);
}
