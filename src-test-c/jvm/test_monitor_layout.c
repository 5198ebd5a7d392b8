/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of monitors and their owners, as a fake libjvm exports it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <string.h>

#include "base/safe_read.h"
#include "hotspot/monitor_layout.h"
#include "support/fake_libjvm.h"

enum { JAVA_ID = 42, FLAGS = 8, Z_SHIFT = 13, KLASS_SHIFT = 42, NARROW_AT = 64 };

struct flag {
    uint64_t padding;
    const char *name;
    const void *address;
};

/* The JVM's thread structure of the calling thread, and its Thread object and class. */
static struct {
    uintptr_t padding;
    uintptr_t pending;
    uintptr_t waiting;
    int64_t owner_id;
    uint32_t top; /* the LockStack begins here */
    uint32_t gap;
    uintptr_t base[8];
    uintptr_t handle;
} java_thread;

static struct {
    uintptr_t mark;
    uint32_t narrow;
    uint32_t gap;
} thread_object;

static struct {
    _Alignas(64) uintptr_t padding[3];
    uintptr_t name;
} thread_class;

static struct {
    uint32_t hash;
    uint16_t length;
    char body[32];
} symbol;

static struct {
    struct fake_libjvm *libjvm;
    struct flag flags[FLAGS];
    struct flag *flags_variable;
    uint64_t flag_count;
    uint8_t is_set;
    uintptr_t narrow_base;
    int narrow_shift;
    uintptr_t reference; /* the Thread object's, in a handle */
    uintptr_t bad_mask;
    uintptr_t load_shift;
    uintptr_t z_table[4];
    uintptr_t *z_instance;
} vm;

#define AT(of, member) ((uint64_t)((char *)&(of).member - (char *)&(of)))

static void add(const char *type, const char *name, const char *type_string, bool is_static,
                uint64_t value)
{
    const struct smp_export entry = { type, name, type_string, is_static, value };

    fake_libjvm_add(vm.libjvm, &entry);
}

static void add_static(const char *type, const char *name, const void *variable)
{
    add(type, name, NULL, true, (uint64_t)(uintptr_t)variable);
}

static void set_flag(const char *name)
{
    vm.flags[vm.flag_count++] = (struct flag){ .name = name, .address = &vm.is_set };
}

static void add_flags(void)
{
    vm.flags_variable = vm.flags;
    add("JVMFlag", "flags", "JVMFlag*", true, (uint64_t)(uintptr_t)&vm.flags_variable);
    add("JVMFlag", "numFlags", "size_t", true, (uint64_t)(uintptr_t)&vm.flag_count);
    add("JVMFlag", "_name", "const char*", false, offsetof(struct flag, name));
    add("JVMFlag", "_addr", "void*", false, offsetof(struct flag, address));
    add("JVMFlag", NULL, NULL, false, sizeof(struct flag));
}

static void add_objects(int version)
{
    static const char *const names[] = { "_narrow_klass._base", "_narrow_klass._shift", "_base",
                                         "_shift" };
    const size_t at = version == 17 ? 0 : 2;

    add("oopDesc", "_metadata._compressed_klass", "narrowKlass", false, AT(thread_object, narrow));
    add("oopDesc", "_metadata._klass", "Klass*", false, AT(thread_object, narrow));
    add_static("CompressedKlassPointers", names[at], &vm.narrow_base);
    add_static("CompressedKlassPointers", names[at + 1], &vm.narrow_shift);
    add(NULL, "markWord::klass_shift", NULL, false, KLASS_SHIFT);
    add("JavaThread", "_threadObj", "OopHandle", false, AT(java_thread, handle));
}

static void add_monitors(int version)
{
    add("JavaThread", "_current_pending_monitor", "ObjectMonitor*", false,
        AT(java_thread, pending));
    add("JavaThread", "_current_waiting_monitor", "ObjectMonitor*", false,
        AT(java_thread, waiting));
    add("ObjectMonitor", "_owner", version == 17 ? "void*" : "int64_t", false, 64);
    add("ObjectMonitor", "_object", "WeakHandle", false, 8);
    if (version == 17)
        return;
    add("JavaThread", "_monitor_owner_id", "int64_t", false, AT(java_thread, owner_id));
    add("JavaThread", "_lock_stack", "LockStack", false, AT(java_thread, top));
    add("LockStack", "_top", "uint32_t", false, 0);
    add("LockStack", "_base[0]", "oop", false, AT(java_thread, base) - AT(java_thread, top));
    add("ObjectMonitor", "_stack_locker", "BasicLock*", false, 24);
}

static void set_memory(void)
{
    memset(&java_thread, 0, sizeof(java_thread));
    java_thread.owner_id = JAVA_ID;
    java_thread.top = (uint32_t)(AT(java_thread, base) + 2 * sizeof(uintptr_t));
    java_thread.handle = (uintptr_t)&vm.reference;
    vm.reference = (uintptr_t)&thread_object;
    symbol.length = (uint16_t)strlen("java/lang/Thread");
    memcpy(symbol.body, "java/lang/Thread", symbol.length);
    thread_class.name = (uintptr_t)&symbol;
    vm.narrow_base = (uintptr_t)&thread_class - NARROW_AT;
    thread_object.narrow = NARROW_AT;
    thread_object.mark = (uintptr_t)NARROW_AT << KLASS_SHIFT;
    vm.is_set = 1;
}

/* The fake libjvm already has these two: the fields of a class and of a symbol have its
 * offsets. */
static void place_names(void)
{
    fake_libjvm_entry(vm.libjvm, "Klass", "_name")->value = AT(thread_class, name);
    fake_libjvm_entry(vm.libjvm, "Symbol", "_length")->value = AT(symbol, length);
    fake_libjvm_entry(vm.libjvm, "Symbol", "_body[0]")->value = AT(symbol, body);
}

static void make_jvm(int version)
{
    fake_libjvm_destroy(vm.libjvm);
    memset(&vm, 0, sizeof(vm));
    vm.libjvm = fake_libjvm_create(version);
    set_memory();
    place_names();
    add_monitors(version);
    add_flags();
    add_objects(version);
    set_flag("UseCompressedClassPointers");
}

static int teardown(void **state)
{
    (void)state;
    fake_libjvm_destroy(vm.libjvm);
    vm.libjvm = NULL;
    return 0;
}

static bool find(struct smp_monitor_layout *out)
{
    const struct smp_exports exports = fake_libjvm_exports(vm.libjvm);

    return smp_monitor_layout_find(&exports, (uintptr_t)&java_thread, JAVA_ID, out);
}

static void owners_are_pointers_if_the_field_is_one(void **state)
{
    struct smp_monitor_layout layout;

    (void)state;
    make_jvm(17);
    assert_true(find(&layout));
    assert_false(layout.is_id);
    assert_int_equal(layout.pending, AT(java_thread, pending));
    assert_int_equal(layout.waiting, AT(java_thread, waiting));
    assert_int_equal(layout.owner, 64);
    assert_int_equal(layout.object, 8);
    assert_int_equal(layout.owner_id, 0);
    assert_int_equal(layout.lock_stack_top, 0);
    assert_int_equal(layout.stack_locker, 0);
}

static void owners_are_ids_if_the_field_is_a_number(void **state)
{
    struct smp_monitor_layout layout;

    (void)state;
    make_jvm(25);
    assert_true(find(&layout));
    assert_true(layout.is_id);
    assert_int_equal(layout.owner_id, AT(java_thread, owner_id));
    assert_int_equal(layout.lock_stack_top, AT(java_thread, top));
    assert_int_equal(layout.lock_stack_base, AT(java_thread, base));
    assert_int_equal(layout.stack_locker, 24);
    fake_libjvm_entry(vm.libjvm, "ObjectMonitor", "_owner")->type_string = "jlong";
    assert_false(find(&layout));
}

static void a_missing_field_disables_the_layout(void **state)
{
    static const struct {
        const char *type;
        const char *name;
    } needed[] = {
        { "JavaThread", "_current_pending_monitor" },
        { "JavaThread", "_current_waiting_monitor" },
        { "ObjectMonitor", "_owner" },
        { "ObjectMonitor", "_object" },
    };
    struct smp_monitor_layout layout;

    (void)state;
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        make_jvm(25);
        fake_libjvm_entry(vm.libjvm, needed[i].type, needed[i].name)->name = "_other";
        assert_false(find(&layout));
        make_jvm(25);
        fake_libjvm_entry(vm.libjvm, needed[i].type, needed[i].name)->value = SMP_EXPORT_MAX_OFFSET;
        assert_false(find(&layout));
    }
    make_jvm(25);
    fake_libjvm_hide_symbol(vm.libjvm, "gHotSpotVMStructs");
    assert_false(find(&layout));
}

/* The calling thread waits for no monitor, is itself, and has locked almost nothing. */
static void wrong_values_of_the_caller_disable_the_layout(void **state)
{
    struct smp_monitor_layout layout;

    (void)state;
    make_jvm(25);
    java_thread.pending = 8;
    assert_false(find(&layout));
    make_jvm(25);
    java_thread.waiting = 8;
    assert_false(find(&layout));
    make_jvm(25);
    java_thread.owner_id = JAVA_ID + 1;
    assert_false(find(&layout));
    make_jvm(25);
    java_thread.top--;
    assert_false(find(&layout));
    make_jvm(25);
    java_thread.top = (uint32_t)AT(java_thread, base) - 8;
    assert_false(find(&layout));
    make_jvm(25);
    java_thread.top = (uint32_t)(AT(java_thread, base) + 8 * (SMP_LOCK_STACK_MOST + 1));
    assert_false(find(&layout));
    assert_false(smp_monitor_layout_find(NULL, 0, JAVA_ID, &layout));
}

static bool refuse(const char **refusal)
{
    *refusal = "a test refuses";
    return false;
}

static void missing_safe_reads_disable_the_layout(void **state)
{
    struct smp_monitor_layout layout;

    (void)state;
    make_jvm(25);
    smp_safe_read_set_trial(refuse);
    assert_false(find(&layout));
    smp_safe_read_set_trial(NULL);
    assert_true(find(&layout));
}

static void the_collector_decides_how_references_are_read(void **state)
{
    static const char *const plain[] = { "UseSerialGC", "UseParallelGC", "UseG1GC" };
    struct smp_monitor_layout layout;

    (void)state;
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        make_jvm(25);
        set_flag(plain[i]);
        assert_true(find(&layout));
        assert_int_equal(layout.objects.references, SMP_REFERENCE_PLAIN);
    }
    make_jvm(25);
    set_flag("UseShenandoahGC");
    assert_true(find(&layout));
    assert_int_equal(layout.objects.references, SMP_REFERENCE_UNKNOWN);
    make_jvm(25);
    fake_libjvm_entry(vm.libjvm, "JVMFlag", "numFlags")->name = "_other";
    assert_true(find(&layout));
    assert_int_equal(layout.objects.references, SMP_REFERENCE_UNKNOWN);
    assert_int_equal(layout.objects.classes, SMP_CLASS_UNKNOWN);
}

/* The addresses of the variables are in the JVM's table. */
static void use_z(int version, const char *mask, bool is_shifted)
{
    make_jvm(version);
    set_flag("UseZGC");
    vm.z_instance = vm.z_table;
    vm.z_table[1] = (uintptr_t)&vm.bad_mask;
    vm.z_table[2] = (uintptr_t)&vm.load_shift;
    vm.load_shift = Z_SHIFT;
    if (is_shifted)
        vm.reference <<= Z_SHIFT;
    add_static("ZGlobalsForVMStructs", "_instance_p", &vm.z_instance);
    add("ZGlobalsForVMStructs", mask, "uintptr_t*", false, sizeof(uintptr_t));
    if (is_shifted)
        add("ZGlobalsForVMStructs", "_ZPointerLoadShift", "size_t*", false, 2 * sizeof(uintptr_t));
}

static void zgc_references_are_coloured(void **state)
{
    struct smp_monitor_layout layout;

    (void)state;
    use_z(17, "_ZAddressBadMask", false);
    assert_true(find(&layout));
    assert_int_equal(layout.objects.references, SMP_REFERENCE_MASKED);
    assert_int_equal(layout.objects.bad_mask, (uintptr_t)&vm.bad_mask);

    use_z(25, "_ZPointerLoadBadMask", true);
    assert_true(find(&layout));
    assert_int_equal(layout.objects.references, SMP_REFERENCE_SHIFTED);
    assert_int_equal(layout.objects.load_shift, (uintptr_t)&vm.load_shift);

    use_z(21, "_ZPointerLoadBadMask", true);
    vm.flags[vm.flag_count++] = (struct flag){ .name = "ZGenerational", .address = &vm.bad_mask };
    assert_true(find(&layout)); /* not the generational collector */
    assert_int_equal(layout.objects.references, SMP_REFERENCE_UNKNOWN);

    use_z(25, "_ZPointerLoadBadMask", true);
    vm.z_instance = NULL;
    assert_true(find(&layout));
    assert_int_equal(layout.objects.references, SMP_REFERENCE_UNKNOWN);
}

static enum smp_class_kind class_kind(void)
{
    struct smp_monitor_layout layout;

    assert_true(find(&layout));
    return layout.objects.classes;
}

static void the_header_decides_where_the_class_is(void **state)
{
    (void)state;
    make_jvm(17);
    set_flag("UseG1GC");
    assert_int_equal(class_kind(), SMP_CLASS_NARROW);
    make_jvm(25);
    set_flag("UseG1GC");
    assert_int_equal(class_kind(), SMP_CLASS_NARROW);
    make_jvm(25);
    set_flag("UseG1GC");
    set_flag("UseCompactObjectHeaders");
    assert_int_equal(class_kind(), SMP_CLASS_IN_MARK);
    fake_libjvm_entry(vm.libjvm, "Klass", "_name")->name = "_other";
    assert_int_equal(class_kind(), SMP_CLASS_UNKNOWN);
}

/* A pointer occupies the word of which the narrow class is one half. */
static void uncompressed_classes_are_pointers(void **state)
{
    const uintptr_t class = (uintptr_t)&thread_class;

    (void)state;
    make_jvm(25);
    vm.flag_count = 0;
    set_flag("UseSerialGC");
    memcpy((char *)&thread_object + AT(thread_object, narrow), &class, sizeof(class));
    assert_int_equal(class_kind(), SMP_CLASS_POINTER);
}

static void a_wrong_class_of_the_caller_disables_lock_names(void **state)
{
    (void)state;
    make_jvm(25);
    set_flag("UseG1GC");
    symbol.body[0] = 'x';
    assert_int_equal(class_kind(), SMP_CLASS_UNKNOWN);
    symbol.body[0] = 'j';
    assert_int_equal(class_kind(), SMP_CLASS_NARROW);
    vm.reference = 0; /* a reference that is not understood now proves nothing */
    assert_int_equal(class_kind(), SMP_CLASS_NARROW);
    fake_libjvm_entry(vm.libjvm, "JavaThread", "_threadObj")->name = "_other";
    assert_int_equal(class_kind(), SMP_CLASS_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(owners_are_pointers_if_the_field_is_one, teardown),
        cmocka_unit_test_teardown(owners_are_ids_if_the_field_is_a_number, teardown),
        cmocka_unit_test_teardown(a_missing_field_disables_the_layout, teardown),
        cmocka_unit_test_teardown(wrong_values_of_the_caller_disable_the_layout, teardown),
        cmocka_unit_test_teardown(missing_safe_reads_disable_the_layout, teardown),
        cmocka_unit_test_teardown(the_collector_decides_how_references_are_read, teardown),
        cmocka_unit_test_teardown(zgc_references_are_coloured, teardown),
        cmocka_unit_test_teardown(the_header_decides_where_the_class_is, teardown),
        cmocka_unit_test_teardown(uncompressed_classes_are_pointers, teardown),
        cmocka_unit_test_teardown(a_wrong_class_of_the_caller_disables_lock_names, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
