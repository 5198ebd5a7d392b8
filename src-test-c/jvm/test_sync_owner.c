/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of artificial locks of java.util.concurrent, behind functions of JNI. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jvm/agent/agent.h"
#include "jvm/locks/sync_owner.h"
#include "jvm/threads/threads.h"
#include "support/fake_vm.h"

#define LOCKS "java/util/concurrent/locks/"

enum { OWNER_ID = 100, CARRIER_ID = 101, UNKNOWN_ID = 999, ONE_READER = 1 << 16 };

#define ONE_LONG_READER (INT64_C(1) << 32)

/* The JDK classes that are looked up, as bits: an object may be an instance of several. */
enum {
    OWNABLE = 1,
    QUEUED = 2,
    READ_WRITE = 4,
    REENTRANT = 8,
    SEMAPHORE = 16,
    VIRTUAL = 32,
    LONG_QUEUED = 64,
    IN_QUEUE = OWNABLE | QUEUED,
    IN_LONG_QUEUE = OWNABLE | LONG_QUEUED
};

static struct {
    struct fake_object object;
    const char *name;
    unsigned bit;
} classes[] = {
    { { FAKE_CLASS }, LOCKS "AbstractOwnableSynchronizer", OWNABLE },
    { { FAKE_CLASS }, LOCKS "AbstractQueuedSynchronizer", QUEUED },
    { { FAKE_CLASS }, LOCKS "ReentrantReadWriteLock$Sync", READ_WRITE },
    { { FAKE_CLASS }, LOCKS "ReentrantLock$Sync", REENTRANT },
    { { FAKE_CLASS }, "java/util/concurrent/Semaphore$Sync", SEMAPHORE },
    { { FAKE_CLASS }, "java/lang/VirtualThread", VIRTUAL },
    { { FAKE_CLASS }, LOCKS "AbstractQueuedLongSynchronizer", LONG_QUEUED },
};

enum { CLASSES = sizeof(classes) / sizeof(classes[0]) };

struct fake_lock {
    struct fake_object object;
    unsigned bits;
    const char *signature;
    struct fake_thread *owner;
    jlong state;
};

/* Fields by name: their ids are these texts. */
static const char *const fields[] = { "parkBlocker", "exclusiveOwnerThread", "state",
                                      "carrierThread" };

enum { BLOCKER, OWNER, STATE, CARRIER, FIELDS };

static struct fake_vm_reader reader;

static struct {
    struct JNINativeInterface_ jni; /* those of the fake JVM, some of them replaced */
    const struct JNINativeInterface_ *fake;
    const struct jvmtiInterface_1_ *fake_jvmti;
    struct jvmtiInterface_1_ jvmti;
    char *signature; /* returned and not deallocated yet */
    bool refuses_signature;
    const char *absent; /* the class or field that this JDK lacks */
    struct fake_thread waiter;
    struct fake_thread owner;
    struct fake_thread carrier;
    struct fake_thread virtual;
    struct fake_thread *mounted_on; /* the carrier of the virtual thread */
    struct fake_lock lock;
    struct fake_lock *blocker;
    struct smp_lock_owner found;
} vm;

static bool is_absent(const char *name)
{
    return vm.absent != NULL && strcmp(name, vm.absent) == 0;
}

static jclass JNICALL find_class(JNIEnv *env, const char *name)
{
    for (size_t i = 0; i < CLASSES; i++) {
        if (strcmp(name, classes[i].name) == 0 && !is_absent(name))
            return fake_vm_local(&classes[i]);
    }
    return vm.fake->FindClass(env, is_absent(name) ? "there/is/none" : name);
}

static jfieldID JNICALL get_field_id(JNIEnv *env, jclass class, const char *name,
                                     const char *signature)
{
    for (size_t i = 0; i < FIELDS; i++) {
        if (strcmp(name, fields[i]) == 0 && !is_absent(name))
            return (jfieldID)(void *)(uintptr_t)fields[i];
    }
    return is_absent(name) ? NULL : vm.fake->GetFieldID(env, class, name, signature);
}

static bool is_field(jfieldID field, int which)
{
    return (const void *)field == (const void *)fields[which];
}

static jobject JNICALL get_object_field(JNIEnv *env, jobject object, jfieldID field)
{
    const struct fake_lock *lock = fake_vm_object(object);

    if (is_field(field, BLOCKER))
        return fake_vm_local(vm.blocker);
    if (is_field(field, OWNER))
        return fake_vm_local(lock->owner);
    if (is_field(field, CARRIER))
        return fake_vm_local(vm.mounted_on);
    return vm.fake->GetObjectField(env, object, field);
}

static jint JNICALL get_int_field(JNIEnv *env, jobject object, jfieldID field)
{
    const struct fake_lock *lock = fake_vm_object(object);

    return is_field(field, STATE) ? (jint)lock->state : vm.fake->GetIntField(env, object, field);
}

static jlong JNICALL get_long_field(JNIEnv *env, jobject object, jfieldID field)
{
    const struct fake_lock *lock = fake_vm_object(object);

    return is_field(field, STATE) ? lock->state : vm.fake->GetLongField(env, object, field);
}

static unsigned bits_of(const void *object)
{
    if (object == &vm.lock)
        return vm.lock.bits;
    return object == &vm.virtual ? VIRTUAL : 0;
}

static jboolean JNICALL is_instance_of(JNIEnv *env, jobject object, jclass class)
{
    for (size_t i = 0; i < CLASSES; i++) {
        if (fake_vm_object(class) == &classes[i])
            return (bits_of(fake_vm_object(object)) & classes[i].bit) != 0;
    }
    return vm.fake->IsInstanceOf(env, object, class);
}

static jclass JNICALL get_object_class(JNIEnv *env, jobject object)
{
    (void)env;
    return fake_vm_local(fake_vm_object(object));
}

static jvmtiError JNICALL get_signature(jvmtiEnv *env, jclass class, char **signature,
                                        char **generic)
{
    const struct fake_lock *lock = fake_vm_object(class);

    (void)env;
    assert_null(generic);
    if (vm.refuses_signature)
        return JVMTI_ERROR_OUT_OF_MEMORY;
    *signature = vm.signature = strdup(lock->signature);
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *memory)
{
    if (memory != (unsigned char *)vm.signature)
        return vm.fake_jvmti->Deallocate(env, memory);
    free(vm.signature);
    vm.signature = NULL;
    return JVMTI_ERROR_NONE;
}

/* Replaces functions of this thread's environment. */
static void take_over(void)
{
    JNIEnv *env = fake_vm_jni();
    jvmtiEnv *jvmti = fake_vm_jvmti();

    vm.fake = *env;
    vm.jni = **env;
    vm.jni.FindClass = find_class;
    vm.jni.GetFieldID = get_field_id;
    vm.jni.GetObjectField = get_object_field;
    vm.jni.GetIntField = get_int_field;
    vm.jni.GetLongField = get_long_field;
    vm.jni.IsInstanceOf = is_instance_of;
    vm.jni.GetObjectClass = get_object_class;
    *env = &vm.jni;
    vm.fake_jvmti = *jvmti;
    vm.jvmti = **jvmti;
    vm.jvmti.GetClassSignature = get_signature;
    vm.jvmti.Deallocate = deallocate;
    *jvmti = &vm.jvmti;
}

static void give_back(void)
{
    *fake_vm_jni() = vm.fake;
    *fake_vm_jvmti() = vm.fake_jvmti;
}

static void start_thread(struct fake_thread *thread, int64_t id)
{
    *thread = fake_vm.main_thread;
    thread->java_id = id;
    if (id != UNKNOWN_ID)
        fake_vm_thread_start(thread);
}

static uint64_t serial_of(int64_t id)
{
    for (size_t i = 0; i < reader.count; i++) {
        if (smp_threads_java_id(reader.threads[i]) == id)
            return reader.threads[i]->serial;
    }
    return 0;
}

static int setup(void **state)
{
    (void)state;
    memset(&vm, 0, sizeof(vm));
    fake_vm_setup();
    reader = (struct fake_vm_reader){ .accept = FAKE_VM_MAX_POLLED };
    if (smp_agent_open() != SMP_OK)
        return -1;
    start_thread(&vm.waiter, OWNER_ID + 50);
    start_thread(&vm.owner, OWNER_ID);
    start_thread(&vm.carrier, CARRIER_ID);
    start_thread(&vm.virtual, UNKNOWN_ID);
    fake_vm_poll(&reader);
    vm.lock = (struct fake_lock){ .object = { FAKE_CLASS },
                                  .bits = IN_QUEUE | REENTRANT,
                                  .signature = "Lcom/acme/Cart;" };
    vm.blocker = &vm.lock;
    take_over();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    give_back();
    fake_vm_drop_all(&reader);
    smp_agent_close();
    fake_vm_teardown();
    return 0;
}

static enum smp_owner_kind read_owner(void)
{
    jobject thread = fake_vm_local(&vm.waiter);

    smp_sync_owner_read(fake_vm_jni(), thread, &vm.found);
    vm.jni.DeleteLocalRef(fake_vm_jni(), thread);
    assert_null(vm.signature);
    return vm.found.kind;
}

static void the_owner_is_the_thread_in_the_lock(void **state)
{
    (void)state;
    vm.lock.owner = &vm.owner;
    assert_int_equal(read_owner(), SMP_OWNER_THREAD);
    assert_int_equal(vm.found.serial, serial_of(OWNER_ID));
    assert_string_equal(vm.found.lock, "com.acme.Cart");
    vm.owner.java_id = UNKNOWN_ID; /* not a sampled thread */
    assert_int_equal(read_owner(), SMP_OWNER_UNREAD);
}

static void a_virtual_owner_is_its_carrier(void **state)
{
    (void)state;
    vm.lock.owner = &vm.virtual;
    assert_int_equal(read_owner(), SMP_OWNER_UNMOUNTED);
    vm.mounted_on = &vm.carrier;
    assert_int_equal(read_owner(), SMP_OWNER_THREAD);
    assert_int_equal(vm.found.serial, serial_of(CARRIER_ID));
}

static void without_an_owner_the_state_shows_the_reason(void **state)
{
    static const struct {
        unsigned bits;
        jlong state;
        enum smp_owner_kind kind;
    } cases[] = {
        { IN_QUEUE | REENTRANT, 0, SMP_OWNER_NONE },
        { IN_QUEUE | REENTRANT, 1, SMP_OWNER_UNREAD }, /* acquired at this moment */
        { IN_QUEUE | READ_WRITE, ONE_READER, SMP_OWNER_READERS },
        { IN_QUEUE | READ_WRITE, 1, SMP_OWNER_UNREAD },
        { IN_QUEUE | READ_WRITE, 0, SMP_OWNER_NONE },
        { IN_LONG_QUEUE | READ_WRITE, ONE_LONG_READER, SMP_OWNER_READERS },
        { IN_LONG_QUEUE | READ_WRITE, ONE_READER, SMP_OWNER_UNREAD },
        { IN_LONG_QUEUE | READ_WRITE, 0, SMP_OWNER_NONE },
        { IN_QUEUE | SEMAPHORE, 0, SMP_OWNER_PERMITS },
        { IN_QUEUE | SEMAPHORE, 2, SMP_OWNER_NONE },
        { IN_QUEUE, 0, SMP_OWNER_NONE }, /* a lock of the user's own */
        { IN_QUEUE, 1, SMP_OWNER_UNKNOWN },
        { OWNABLE, 0, SMP_OWNER_UNKNOWN },
        { 0, 0, SMP_OWNER_UNKNOWN }, /* a StampedLock */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        vm.lock.bits = cases[i].bits;
        vm.lock.state = cases[i].state;
        assert_int_equal(read_owner(), cases[i].kind);
        assert_string_equal(vm.found.lock, "com.acme.Cart");
    }
}

static void a_thread_without_a_blocker_has_an_unknown_owner(void **state)
{
    (void)state;
    vm.blocker = NULL;
    assert_int_equal(read_owner(), SMP_OWNER_UNREAD);
    assert_string_equal(vm.found.lock, "");
}

static void internal_classes_of_jdk_locks_have_the_name_of_the_lock(void **state)
{
    static const struct {
        const char *signature;
        const char *name;
    } cases[] = {
        { "L" LOCKS "ReentrantLock$NonfairSync;", "java.util.concurrent.locks.ReentrantLock" },
        { "Ljava/util/concurrent/Semaphore$FairSync;", "java.util.concurrent.Semaphore" },
        { "Lcom/acme/Cart$Sync;", "com.acme.Cart$Sync" },
        { "[I", "" },
    };
    char longest[2 * SMP_LOCK_NAME_BYTES] = "L";

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        vm.lock.signature = cases[i].signature;
        (void)read_owner();
        assert_string_equal(vm.found.lock, cases[i].name);
    }
    memset(longest + 1, 'a', sizeof(longest) - 2);
    vm.lock.signature = longest;
    (void)read_owner();
    assert_int_equal(strlen(vm.found.lock), SMP_LOCK_NAME_BYTES - 1);
}

static void without_memory_for_its_name_a_lock_has_none(void **state)
{
    (void)state;
    vm.refuses_signature = true;
    vm.lock.owner = &vm.owner;
    assert_int_equal(read_owner(), SMP_OWNER_THREAD);
    assert_string_equal(vm.found.lock, "");
}

/* Look-ups are kept, so each JDK is tested in its own process. */
static void check_in_a_jdk(const char *absent, bool refuses_global, enum smp_owner_kind kind)
{
    const pid_t child = fork();
    int status = -1;

    assert_true(child >= 0);
    if (child == 0) {
        vm.absent = absent;
        fake_vm.refuse_global = refuses_global;
        vm.lock.owner = &vm.owner;
        smp_sync_owner_read(fake_vm_jni(), fake_vm_local(&vm.waiter), &vm.found);
        _exit(vm.found.kind == kind ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void without_the_fields_owners_are_unknown(void **state)
{
    (void)state;
    for (size_t i = 0; i < CLASSES; i++) {
        const bool is_needed = (classes[i].bit & (VIRTUAL | LONG_QUEUED)) == 0;
        check_in_a_jdk(classes[i].name, false, is_needed ? SMP_OWNER_UNKNOWN : SMP_OWNER_THREAD);
    }
    for (size_t i = 0; i < CARRIER; i++)
        check_in_a_jdk(fields[i], false, SMP_OWNER_UNKNOWN);
    check_in_a_jdk(NULL, true, SMP_OWNER_UNKNOWN);
}

/* The references that are kept last as long as the process. */
static int look_up(void **state)
{
    (void)state;
    memset(&vm, 0, sizeof(vm));
    fake_vm_reset();
    take_over();
    smp_sync_owner_read(fake_vm_jni(), NULL, &vm.found);
    give_back();
    fake_vm_detach();
    return vm.found.kind == SMP_OWNER_UNREAD ? 0 : -1;
}

static int forget(void **state)
{
    (void)state;
    fake_vm_free_globals();
    return 0;
}

int main(void)
{
    const struct CMUnitTest jdks[] = {
        cmocka_unit_test_setup_teardown(without_the_fields_owners_are_unknown, setup, teardown),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_owner_is_the_thread_in_the_lock, setup, teardown),
        cmocka_unit_test_setup_teardown(a_virtual_owner_is_its_carrier, setup, teardown),
        cmocka_unit_test_setup_teardown(without_an_owner_the_state_shows_the_reason, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_thread_without_a_blocker_has_an_unknown_owner, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(internal_classes_of_jdk_locks_have_the_name_of_the_lock,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(without_memory_for_its_name_a_lock_has_none, setup,
                                        teardown),
    };
    const int failed = cmocka_run_group_tests(jdks, NULL, NULL);

    return failed + cmocka_run_group_tests(tests, look_up, forget);
}
