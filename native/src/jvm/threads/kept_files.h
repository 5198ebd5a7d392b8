/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_files.h - one file of each thread in /proc, read again and again ("schedstat", "stat").
 *
 * Reading an open file costs a sixth to a half of opening, reading and closing it, so files that
 * were read lately are kept open. All samplers of a process together keep at most SMP_KEPT_FILES,
 * and at most a quarter of the files that the process may have open. Other files are opened and
 * closed for each read. If the process closes a kept file, a check notices, and leaves alone the
 * file that has got its number.
 *
 * Owns     the open files; programs that the process starts do not get them.
 * Threads  one at a time.
 * Errors   false: there is no such thread, or the system does not let it be read.
 * Cost     the kernel's, 0.4 to 2.5 us; with a file that has to be opened 3 to 4 us more.
 */
#ifndef SMP_JVM_THREADS_KEPT_FILES_H
#define SMP_JVM_THREADS_KEPT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    SMP_KEPT_FILES = 256,
    SMP_KEPT_FILES_LIMIT_SHARE = 4, /* of the process's limit for open files */
    SMP_KEPT_FILES_WAYS = 2,        /* files that compete for one place */
    SMP_KEPT_FILES_CHECK = 64       /* one in this many reads checks that the file is still ours */
};

struct smp_kept_file {
    int32_t tid; /* 0: none */
    int fd;
    dev_t device; /* device and inode identify the open file */
    ino_t inode;
    uint64_t used; /* when it was read last */
};

struct smp_kept_files {
    const char *name;
    uint32_t most; /* files that all of them may keep together */
    uint32_t sets; /* sets of SMP_KEPT_FILES_WAYS files; 0: none is kept */
    uint64_t reads;
    struct smp_kept_file files[SMP_KEPT_FILES];
};

/* name: static. */
void smp_kept_files_init(struct smp_kept_files *files, const char *name);
void smp_kept_files_fini(struct smp_kept_files *files);

/* Reads the beginning of the thread's file, and appends a NUL. */
bool smp_kept_files_read(struct smp_kept_files *files, int32_t tid, char *out, size_t size);

#endif
