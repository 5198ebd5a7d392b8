/* SPDX-License-Identifier: Apache-2.0 */
#include "support/vm_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after those four */
#include <cmocka.h>

#include "base/alloc.h"
#include "jvm/agent/agent.h"
#include "jvm/loaded.h"
#include "jvm/threads/threads.h"
#include "jvm/threads/virtual_threads.h"

void vm_fixture_setup(struct vm_fixture *fixture)
{
    fake_jni_reset();
    fake_jvmti_reset();
    *fixture = (struct vm_fixture){ 0 };
    fixture->refs_before = fake_jni_live_refs();
    fixture->main_group = (struct fake_group){ { FAKE_GROUP }, "main", &fake_jvmti.system };
    fake_string_set(&fixture->main_name, "main");
    vm_fixture_add(fixture, &fixture->main_thread, 1, "main");
    fixture->main_thread.name = &fixture->main_name;
    smp_jvm_loaded(fake_jni_java_vm());
}

void vm_fixture_teardown(struct vm_fixture *fixture)
{
    smp_agent_unloaded();
    if (fake_jvmti.phase == JVMTI_PHASE_DEAD)
        fake_jni_free_globals();
    assert_int_equal(smp_alloc_live_bytes(), 0);
    assert_int_equal(fake_jni_live_refs(), fixture->refs_before);
    assert_int_equal(fake_jvmti_live_pieces(), 0);
    fake_jni_detach();
}

void vm_fixture_add(struct vm_fixture *fixture, struct fake_thread *thread, int64_t java_id,
                    const char *name)
{
    *thread = (struct fake_thread){ .object = { FAKE_THREAD },
                                    .java_id = java_id,
                                    .jvmti_name = name,
                                    .group = &fixture->main_group,
                                    .depth = 3 };
    fake_jvmti.threads[fake_jvmti.thread_count++] = thread;
}

static bool started(void *context, struct smp_thread *thread)
{
    struct vm_fixture_reader *reader = context;

    if (reader->count == reader->accept || reader->count == VM_FIXTURE_MAX_THREADS)
        return false;
    reader->threads[reader->count++] = thread;
    return true;
}

void vm_fixture_poll(struct vm_fixture_reader *reader)
{
    const struct smp_thread_source source = smp_threads_source();

    assert_int_equal(source.poll(source.self, &reader->cursor, &reader->unseen, started, reader),
                     SMP_OK);
}

void vm_fixture_drop_all(struct vm_fixture_reader *reader)
{
    const struct smp_thread_source source = smp_threads_source();

    for (size_t i = 0; i < reader->count; i++)
        source.drop(source.self, reader->threads[i]);
    reader->count = 0;
}

int vm_fixture_know_virtual_threads(void **state)
{
    (void)state;
    fake_jni_reset();
    fake_jni.has_virtual_threads = true;
    return smp_virtual_threads_init(fake_jni_env()) ? 0 : -1;
}

int vm_fixture_forget_virtual_threads(void **state)
{
    (void)state;
    fake_jni_detach();
    fake_jni_free_globals();
    return 0;
}
