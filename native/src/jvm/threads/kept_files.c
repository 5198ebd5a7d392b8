/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/kept_files.h"

#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/task_file.h"

/* Number of files that all samplers of the process keep. */
static _Atomic uint32_t kept_count;

/* A system call, because the C library has this function only since 2.33. */
static bool read_status(int fd, struct stat *out)
{
    return syscall(SYS_fstat, fd, out) == 0;
}

/* Returns false if the process has closed the file. Its number then belongs to another file, which
 * we must not close. Some programs close all files that they did not open. */
static bool is_still_ours(const struct smp_kept_file *file)
{
    struct stat found;

    return read_status(file->fd, &found) && found.st_dev == file->device &&
           found.st_ino == file->inode;
}

static void close_file(struct smp_kept_file *file)
{
    if (file->tid != 0) {
        if (is_still_ours(file))
            (void)close(file->fd);
        atomic_fetch_sub(&kept_count, 1);
    }
    *file = (struct smp_kept_file){ 0 };
}

/* Returns false if the file cannot be opened, or no more files may be kept. */
static bool keep_file(const struct smp_kept_files *files, struct smp_kept_file *file, int32_t tid)
{
    struct stat opened;
    int fd = -1;

    if (atomic_fetch_add(&kept_count, 1) < files->most)
        fd = smp_task_file_open(tid, files->name);
    if (fd < 0 || !read_status(fd, &opened)) {
        if (fd >= 0)
            (void)close(fd);
        atomic_fetch_sub(&kept_count, 1);
        return false;
    }
    *file = (struct smp_kept_file){
        .tid = tid, .fd = fd, .device = opened.st_dev, .inode = opened.st_ino, .used = files->reads
    };
    return true;
}

/* Returns the thread's file, or the one of its set that was not read for the longest time. */
static struct smp_kept_file *choose_file(struct smp_kept_files *files, int32_t tid)
{
    struct smp_kept_file *const set =
        &files->files[(uint32_t)tid % files->sets * SMP_KEPT_FILES_WAYS];
    struct smp_kept_file *chosen = set;

    for (int i = 0; i < SMP_KEPT_FILES_WAYS; i++) {
        if (set[i].tid == tid)
            return &set[i];
        if (set[i].used < chosen->used)
            chosen = &set[i];
    }
    return chosen;
}

bool smp_kept_files_read(struct smp_kept_files *files, int32_t tid, char *out, size_t size)
{
    struct smp_kept_file *file;

    if (files->sets == 0)
        return smp_task_file_read(tid, files->name, out, size);
    file = choose_file(files, tid);
    file->used = ++files->reads;
    if (file->tid == tid && (files->reads % SMP_KEPT_FILES_CHECK != 0 || is_still_ours(file)) &&
        smp_open_file_read(file->fd, out, size) > 0)
        return true;
    /* The file belongs to another thread, or to an ended thread with the same tid. */
    close_file(file);
    return keep_file(files, file, tid) ? smp_open_file_read(file->fd, out, size) > 0
                                       : smp_task_file_read(tid, files->name, out, size);
}

static uint32_t most_files(void)
{
    struct rlimit limit = { 0 };
    uint64_t most = SMP_KEPT_FILES;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    if (limit.rlim_cur / SMP_KEPT_FILES_LIMIT_SHARE < most)
        most = limit.rlim_cur / SMP_KEPT_FILES_LIMIT_SHARE;
    return (uint32_t)most;
}

void smp_kept_files_init(struct smp_kept_files *files, const char *name)
{
    *files = (struct smp_kept_files){ .name = name, .most = most_files() };
    files->sets = files->most / SMP_KEPT_FILES_WAYS;
}

void smp_kept_files_fini(struct smp_kept_files *files)
{
    for (int i = 0; i < SMP_KEPT_FILES; i++)
        close_file(&files->files[i]);
}
