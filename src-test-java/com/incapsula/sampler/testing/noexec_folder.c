/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noexec_folder.c - preloaded into a JVM, makes NOEXEC_FOLDER look as if it were on a file system
 * that is mounted with noexec: no library is loaded from there, and its files cannot be executed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void *open_library(const char *, int);
typedef char *tell_error(void);
typedef int check_access(const char *, int);

static atomic_bool refused;

static int is_there(const char *path)
{
    const char *folder = getenv("NOEXEC_FOLDER");

    return path != NULL && folder != NULL && strncmp(path, folder, strlen(folder)) == 0 &&
           path[strlen(folder)] == '/';
}

void *dlopen(const char *path, int mode)
{
    void *found = dlsym(RTLD_NEXT, "dlopen");
    open_library *real = NULL;

    memcpy(&real, &found, sizeof(real));
    if (!is_there(path))
        return real(path, mode);
    atomic_store(&refused, 1);
    return NULL;
}

char *dlerror(void)
{
    static char text[] = "failed to map segment from shared object";
    void *found = dlsym(RTLD_NEXT, "dlerror");
    tell_error *real = NULL;

    memcpy(&real, &found, sizeof(real));
    return atomic_exchange(&refused, 0) ? text : real();
}

int access(const char *path, int mode)
{
    void *found = dlsym(RTLD_NEXT, "access");
    check_access *real = NULL;

    memcpy(&real, &found, sizeof(real));
    if ((mode & X_OK) != 0 && is_there(path)) {
        errno = EACCES;
        return -1;
    }
    return real(path, mode);
}
