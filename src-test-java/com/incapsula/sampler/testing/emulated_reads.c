/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded on an emulated processor, see .ci/aarch64.sh: qemu-user 7.2 does not have the system call
 * process_vm_readv, without which the library does not walk by itself. Here it is made of reads of
 * /proc/self/mem, which is the emulator's memory: addresses are the same.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef __aarch64__
#error "for AArch64 only"
#endif

enum { ARGUMENTS = 6, MOST_ERRORS = 4095 };

static int memory = -1;

static __attribute__((constructor)) void open_memory(void)
{
    memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
}

/* Our callers give as many parts as they want, of the same sizes. */
static long read_parts(const struct iovec *into, const struct iovec *from, long count)
{
    const int saved = errno;
    ssize_t sum = 0;

    for (long i = 0; i < count; i++) {
        const ssize_t size =
            pread(memory, into[i].iov_base, from[i].iov_len, (off_t)from[i].iov_base);
        if (size > 0)
            sum += size;
        if (size < 0 || (size_t)size < from[i].iov_len)
            break;
    }
    errno = sum > 0 ? saved : EFAULT;
    return sum > 0 ? sum : -1;
}

static long call_system(long number, const long *arguments)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = arguments[0];
    register long x1 __asm__("x1") = arguments[1];
    register long x2 __asm__("x2") = arguments[2];
    register long x3 __asm__("x3") = arguments[3];
    register long x4 __asm__("x4") = arguments[4];
    register long x5 __asm__("x5") = arguments[5];

    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

/* In front of the C library's. */
long syscall(long number, ...)
{
    long arguments[ARGUMENTS];
    va_list list;
    long result = 0;

    va_start(list, number);
    for (int i = 0; i < ARGUMENTS; i++)
        arguments[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_process_vm_readv)
        return read_parts((const struct iovec *)arguments[1], (const struct iovec *)arguments[3],
                          arguments[2]);
    result = call_system(number, arguments);
    if (result >= 0 || result < -MOST_ERRORS)
        return result;
    errno = (int)-result;
    return -1;
}
