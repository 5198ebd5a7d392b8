/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vm_fixture.h - a fake JVM with the usual threads, for the tests of jvm/.
 *
 * Owns     the fake threads.
 * Threads  the test's own.
 * Errors   a failed assertion.
 * Cost     none that matters.
 */
#ifndef SMP_TEST_VM_FIXTURE_H
#define SMP_TEST_VM_FIXTURE_H

#include "engine/jvm.h"
#include "support/fake_jvmti.h"

struct vm_fixture {
    struct fake_group main_group;
    struct fake_thread main_thread; /* Java id 1, in the main group */
    struct fake_string main_name;
    long refs_before;
};

/* A live JVM with main_thread; nothing open yet. */
void vm_fixture_setup(struct vm_fixture *fixture);
/* Asserts that no byte, reference or piece of JVMTI's memory is left, but for references to a
 * JVM that died; the library is unloaded. */
void vm_fixture_teardown(struct vm_fixture *fixture);

/* Of a group of tests, its set-up and tear-down: the JVM has virtual threads. What is known of
 * their classes lasts as long as the process, and so do the references. */
int vm_fixture_know_virtual_threads(void **state);
int vm_fixture_forget_virtual_threads(void **state);

/* A thread in the main group which the next scan will find. */
void vm_fixture_add(struct vm_fixture *fixture, struct fake_thread *thread, int64_t java_id,
                    const char *name);

/* What one poll handed out. */
enum { VM_FIXTURE_MAX_THREADS = 4096 };
struct vm_fixture_reader {
    uint64_t cursor;
    uint64_t unseen;
    size_t accept; /* refuses when it has so many */
    size_t count;
    struct smp_thread *threads[VM_FIXTURE_MAX_THREADS];
};
void vm_fixture_poll(struct vm_fixture_reader *reader);
void vm_fixture_drop_all(struct vm_fixture_reader *reader);

#endif
