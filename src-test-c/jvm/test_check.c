/* SPDX-License-Identifier: Apache-2.0 */
/* The JVM's records of compiled methods and the layouts read from them, right and wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <jvmti.h>
#include <jvmticmlr.h>
#include <pthread.h>
#include <string.h>

#include "base/safe_read.h"
#include "hotspot/code.h"
#include "jvm/check/check.h"
#include "jvm/check/check_code.h"
#include "support/fake_code.h"
#include "support/fake_vm.h"

enum { PCS = 3, FRAME_WORDS = 6, MAIN_ID = 100, HELPER_ID = 200, LEAF_BCI = 7, ROOT_BCI = 40 };

static const int versions[] = { 17, 21, 25 };

/* A method of a fake JVM, its record as reported by the event, and the result of the check. */
static struct {
    struct fake_code *code;
    struct smp_layout layout;
    uintptr_t start;
    uintptr_t other; /* another method's code */
    jmethodID methods[2];
    jint bcis[2];
    PCStackInfo pcs[PCS];
    jvmtiCompiledMethodLoadInlineRecord record;
    struct smp_check_method event;
    uint64_t frames;
} jvm;

static jmethodID id_of(uint64_t id)
{
    return (jmethodID)(uintptr_t)id; /* NOLINT(performance-no-int-to-ptr) */
}

/* Writes the JVM's code for deoptimisation, and the jump to it in the handler of a method. */
static void put_jump(uintptr_t start, uintptr_t to)
{
#if defined(__x86_64__)
    const uint8_t jump = 0xe9;
    const int32_t distance = (int32_t)(to - (start + FAKE_DEOPT_OFFSET) - 5);
    memcpy((void *)(start + FAKE_DEOPT_OFFSET), &jump, 1);
    memcpy((void *)(start + FAKE_DEOPT_OFFSET + 1), &distance, sizeof(distance));
#else
    const uint32_t jump =
        0x14000000U | (((uint32_t)(to - (start + FAKE_DEOPT_OFFSET)) >> 2) & 0x03ffffffU);
    memcpy((void *)(start + FAKE_DEOPT_OFFSET), &jump, sizeof(jump));
#endif
}

static void put_u32(uintptr_t at, uint32_t value)
{
    memcpy((void *)at, &value, sizeof(value)); /* NOLINT(performance-no-int-to-ptr) */
}

static void put_original_pc(uintptr_t start, uint32_t words_below_the_end)
{
    put_u32(fake_code_blob(jvm.code, start) + jvm.layout.nmethod.original_pc,
            (FRAME_WORDS - words_below_the_end) * (uint32_t)sizeof(uintptr_t));
}

static uintptr_t compile(uint64_t id, uintptr_t inlined)
{
    const uintptr_t method = fake_code_method(jvm.code, "app/Main", "main", id);
    struct fake_record records[PCS];

    for (int i = 0; i < PCS; i++)
        records[i] = (struct fake_record){ .pc = 16 * (i + 1),
                                           .count = 2,
                                           .frames = { { .method = inlined, .bci = LEAF_BCI },
                                                       { .method = method, .bci = ROOT_BCI } } };
    const uintptr_t start = fake_code_compile(jvm.code, method, FRAME_WORDS, records, PCS);
    put_original_pc(start, 4);
    return start;
}

static void make_record(void)
{
    jvm.methods[0] = id_of(HELPER_ID);
    jvm.methods[1] = id_of(MAIN_ID);
    jvm.bcis[0] = LEAF_BCI;
    jvm.bcis[1] = ROOT_BCI;
    for (uintptr_t i = 0; i < PCS; i++)
        jvm.pcs[i] = (PCStackInfo){ .pc = (void *)(jvm.start + 16 * (i + 1)),
                                    .numstackframes = 2,
                                    .methods = jvm.methods,
                                    .bcis = jvm.bcis };
    jvm.record = (jvmtiCompiledMethodLoadInlineRecord){
        .header = { .kind = JVMTI_CMLR_INLINE_INFO }, .numpcs = PCS, .pcinfo = jvm.pcs
    };
    jvm.event = (struct smp_check_method){
        .method = id_of(MAIN_ID), .start = jvm.start, .size = FAKE_CODE_BYTES, .info = &jvm.record
    };
}

static void begin(int version)
{
    jvm.code = fake_code_create(version);
    jvm.layout = *fake_code_layout(jvm.code);
    const uintptr_t helper = fake_code_method(jvm.code, "app/Main", "help", HELPER_ID);
    const uintptr_t deopt = fake_code_stub(jvm.code, "DeoptimizationBlob", FRAME_WORDS);
    jvm.start = compile(MAIN_ID, helper);
    jvm.other = compile(MAIN_ID + 1, helper);
    put_jump(jvm.start, deopt);
    put_jump(jvm.other, deopt);
    jvm.frames = 0;
    make_record();
    smp_check_forget();
}

static void end(void)
{
    fake_code_destroy(jvm.code);
    smp_hotspot_forget();
}

static const char *check(void)
{
    return smp_check_method(&jvm.layout, &jvm.event, &jvm.frames);
}

/* The change is found in each version. */
static void each_version_finds(void (*change)(void), const char *reason)
{
    for (size_t v = 0; v < sizeof(versions) / sizeof(versions[0]); v++) {
        begin(versions[v]);
        assert_null(check());
        make_record();
        change();
        const char *found = check();
        assert_non_null(found);
        assert_string_equal(found, reason);
        end();
    }
}

static int allow_reads(void **state)
{
    (void)state;
    return smp_safe_read_refusal() == NULL ? 0 : -1;
}

static uintptr_t blob(void)
{
    return fake_code_blob(jvm.code, jvm.start);
}

static void equal_records_are_equal(void **state)
{
    (void)state;
    for (size_t v = 0; v < sizeof(versions) / sizeof(versions[0]); v++) {
        begin(versions[v]);
        assert_null(check());
        assert_int_equal(jvm.frames, 2 * PCS);
        jvm.event.info = NULL; /* without a record, the method itself is compared */
        assert_null(check());
        assert_int_equal(jvm.frames, 2 * PCS);
        end();
    }
}

static void change_bci(void)
{
    jvm.bcis[1]++;
}

static void change_method(void)
{
    jvm.methods[0] = id_of(HELPER_ID + 1);
}

static void change_count(void)
{
    jvm.pcs[1].numstackframes = 1;
}

static void change_pc(void)
{
    jvm.pcs[2].pc = (char *)jvm.pcs[2].pc + 1;
}

static void another_byte_code_is_a_difference(void **state)
{
    (void)state;
    each_version_finds(change_bci, "a frame of a compiled method is at another byte code");
}

static void another_method_is_a_difference(void **state)
{
    (void)state;
    each_version_finds(change_method, "a frame of a compiled method is of another method");
}

static void another_depth_is_a_difference(void **state)
{
    (void)state;
    each_version_finds(change_count, "a compiled method has another number of frames");
}

static void a_pc_without_a_record_is_a_difference(void **state)
{
    (void)state;
    each_version_finds(change_pc, "the frames of a compiled method are not found");
}

/* At its entry, a method has no byte code yet: the JVM records -1, JVMTI says 0. */
static void the_entry_of_a_method_counts_as_byte_code_0(void **state)
{
    (void)state;
    begin(17);
    const uintptr_t method = fake_code_method(jvm.code, "app/Main", "main", MAIN_ID);
    const struct fake_record record = { .pc = 16,
                                        .count = 1,
                                        .frames = { { .method = method, .bci = -1 } } };
    const uintptr_t deopt = fake_code_stub(jvm.code, "DeoptimizationBlob", FRAME_WORDS);
    jvm.start = fake_code_compile(jvm.code, method, FRAME_WORDS, &record, 1);
    put_jump(jvm.start, deopt);
    put_original_pc(jvm.start, 4);
    make_record();
    jvm.record.numpcs = 1;
    jvm.pcs[0].numstackframes = 1;
    jvm.methods[0] = id_of(MAIN_ID);
    jvm.bcis[0] = -1;
    assert_null(check());
    assert_int_equal(jvm.frames, 1);
    end();
}

static void change_owner(void)
{
    jvm.event.method = id_of(MAIN_ID + 1);
}

static void change_start(void)
{
    jvm.event.start += 16;
}

static void change_size(void)
{
    jvm.event.size = FAKE_CODE_BYTES + 1;
}

static void change_place(void)
{
    jvm.event.start = 4096;
}

static void mark_unused(void)
{
    *(char *)(blob() - jvm.layout.heap.block_bytes + jvm.layout.heap.block_used) = 2;
}

static void a_method_at_another_address_is_a_difference(void **state)
{
    (void)state;
    each_version_finds(change_owner, "compiled code is of another method");
    each_version_finds(change_start, "a compiled method has other bounds");
    each_version_finds(change_size, "a compiled method has other bounds");
    each_version_finds(change_place, "a compiled method is not found");
    each_version_finds(mark_unused, "a compiled method is not in use");
}

static void give_no_compile_id(void)
{
    fake_code_set_compile_id(jvm.code, jvm.start, 0);
}

static void give_equal_compile_ids(void)
{
    fake_code_set_compile_id(jvm.code, jvm.start, 77);
    fake_code_set_compile_id(jvm.code, jvm.other, 77);
    assert_null(check());
    jvm.event.start = jvm.other;
    jvm.event.method = id_of(MAIN_ID + 1);
    jvm.event.info = NULL;
}

static void a_compile_id_belongs_to_one_method(void **state)
{
    (void)state;
    each_version_finds(give_no_compile_id, "a compiled method has no compile id");
    each_version_finds(give_equal_compile_ids, "two compiled methods have one compile id");
}

/* From JDK 26 on the JVM may move a method's code. */
static void a_copy_of_the_code_has_the_same_compile_id(void **state)
{
    (void)state;
    begin(25);
    const uintptr_t deopt = fake_code_stub(jvm.code, "DeoptimizationBlob", FRAME_WORDS);
    const uintptr_t method = fake_code_method(jvm.code, "app/Main", "main", MAIN_ID);
    const struct fake_record record = { .pc = 16, .count = 1, .frames = { { method, ROOT_BCI } } };
    jvm.event.info = NULL;
    for (int i = 0; i < 2; i++) {
        jvm.event.start = fake_code_compile(jvm.code, method, FRAME_WORDS, &record, 1);
        put_jump(jvm.event.start, deopt);
        put_original_pc(jvm.event.start, 4);
        fake_code_set_compile_id(jvm.code, jvm.event.start, 77);
        assert_null(check());
    }
    end();
}

static void lead_handler_elsewhere(void)
{
    put_jump(jvm.start, jvm.other);
}

static void put_handler_outside(void)
{
    if (jvm.layout.nmethod.deopt != 0)
        *(uintptr_t *)(blob() + jvm.layout.nmethod.deopt) = jvm.other;
    else
        put_u32(blob() + jvm.layout.nmethod.deopt_offset, 1 << 20);
}

static void put_second_handler_first(void)
{
    if (jvm.layout.nmethod.deopt_mh != 0)
        *(uintptr_t *)(blob() + jvm.layout.nmethod.deopt_mh) = jvm.start;
    else
        put_u32(blob() + jvm.layout.nmethod.deopt_mh_offset, 8);
}

static void put_original_pc_above(void)
{
    put_original_pc(jvm.start, 0);
}

static void put_original_pc_at_the_return_address(void)
{
    put_original_pc(jvm.start, 1);
}

/* In a field that is 0 in each method. */
static void put_original_pc_at_the_bottom(void)
{
    put_original_pc(jvm.start, FRAME_WORDS);
}

static void put_original_pc_between_words(void)
{
    put_u32(blob() + jvm.layout.nmethod.original_pc, (FRAME_WORDS - 3) * sizeof(uintptr_t) - 4);
}

static void deoptimised_frames_are_understood(void **state)
{
    static const char elsewhere[] =
        "the original pc of deoptimised frames is elsewhere in the frame";

    (void)state;
    each_version_finds(lead_handler_elsewhere, "the handler of deoptimised frames is another one");
    each_version_finds(put_handler_outside,
                       "the handler of deoptimised frames is not in its method");
    each_version_finds(put_second_handler_first,
                       "the handler of deoptimised frames is another one");
    each_version_finds(put_original_pc_above, elsewhere);
    each_version_finds(put_original_pc_at_the_return_address, elsewhere);
    each_version_finds(put_original_pc_at_the_bottom, elsewhere);
    each_version_finds(put_original_pc_between_words, elsewhere);
}

/* Below the return address and the caller's frame pointer; on JDK 28 there may be more in
 * between. */
static void the_original_pc_is_at_the_top_of_the_frame(void **state)
{
    (void)state;
    begin(25);
    for (uint32_t words = 2; words <= 4; words++) {
        put_original_pc(jvm.start, words);
        assert_null(check());
    }
    put_original_pc(jvm.start, FRAME_WORDS);
    assert_non_null(check());
    jvm.layout.version = 28;
    assert_null(check());
    end();
}

#if defined(__x86_64__)
/* push %rbp; sub $n, %rsp */
static void make_frame(uint8_t bytes)
{
    const uint8_t code[] = { 0x55, 0x48, 0x83, 0xec, bytes };

    memcpy((void *)jvm.start, code, sizeof(code)); /* NOLINT(performance-no-int-to-ptr) */
}

static void make_other_frame(void)
{
    make_frame(FRAME_WORDS * sizeof(uintptr_t));
}

static void make_frame_complete_early(void)
{
    make_frame(FRAME_WORDS * sizeof(uintptr_t) - 16);
    assert_null(check()); /* unchanged */
    if (jvm.layout.blob.frame_complete_short != 0)
        memset((char *)blob() + jvm.layout.blob.frame_complete_short, 0, 2);
    else
        put_u32(blob() + jvm.layout.blob.frame_complete, 0);
}

static void the_frame_size_matches_the_code(void **state)
{
    (void)state;
    each_version_finds(make_other_frame, "the frame of a compiled method has another size");
    each_version_finds(make_frame_complete_early,
                       "the frame of a compiled method is complete elsewhere");
}
#endif

/* --- where the code is --- */

static void heaps_are_checked_before_they_are_read(void **state)
{
    (void)state;
    for (size_t v = 0; v < sizeof(versions) / sizeof(versions[0]); v++) {
        begin(versions[v]);
        assert_null(smp_check_heaps(&jvm.layout));
        struct smp_layout wrong = jvm.layout;
        wrong.heap.list = 8; /* not mapped */
        assert_string_equal(smp_check_heaps(&wrong),
                            "the list of code heaps is not where it should be");
        wrong = jvm.layout;
        wrong.heap.memory += 4096;
        assert_string_equal(smp_check_heaps(&wrong), "a code heap is not what it should be");
        wrong = jvm.layout;
        wrong.heap.low = wrong.heap.high;
        assert_string_equal(smp_check_heaps(&wrong), "a code heap is not what it should be");
        uintptr_t elsewhere = (uintptr_t)&jvm;
        wrong = jvm.layout;
        wrong.entry.return_pc = (uintptr_t)&elsewhere;
        assert_string_equal(smp_check_heaps(&wrong), "the entry into Java is in no code heap");
        wrong = jvm.layout;
        wrong.interpreter.code = 16;
        assert_string_equal(smp_check_heaps(&wrong), "the interpreter is not where it should be");
        end();
    }
}

/* --- the switch --- */

static char refusal[SMP_LAYOUT_REASON_BYTES];

static void record(void)
{
    smp_hotspot_record(fake_vm_jvmti(), jvm.event.method, jvm.event.start, jvm.event.size,
                       jvm.event.info);
}

static struct smp_check_counts counts(void)
{
    struct smp_check_counts now;

    smp_hotspot_get_counts(&now);
    return now;
}

static void find(void)
{
    fake_vm_reset();
    begin(17);
    const struct smp_exports exports = fake_code_exports(jvm.code);
    assert_int_equal(smp_hotspot_find(&exports, 17), SMP_OK);
}

static void missing_fields_disable_the_layout(void **state)
{
    (void)state;
    assert_null(smp_hotspot_layout());
    record(); /* without a record to compare with */
    assert_int_equal(smp_hotspot_find(NULL, 17), SMP_EUNSUPPORTED);
    assert_false(smp_hotspot_is_usable());
    smp_hotspot_refusal(refusal);
    assert_string_equal(refusal, "libjvm does not export its fields");
    assert_int_equal(smp_hotspot_find(NULL, 17), SMP_EUNSUPPORTED);
    assert_int_equal(smp_hotspot_prove(NULL), SMP_EUNSUPPORTED);
    smp_hotspot_forget();
}

static void a_layout_is_not_usable_before_it_is_checked(void **state)
{
    (void)state;
    find();
    assert_false(smp_hotspot_is_usable());
    assert_non_null(smp_hotspot_layout());
    smp_hotspot_refusal(refusal);
    assert_string_equal(refusal, "");
    end();
}

static void the_first_thousand_records_are_compared_then_one_in_a_hundred(void **state)
{
    (void)state;
    find();
    for (int i = 0; i < SMP_CHECK_ALL_RECORDS; i++)
        record();
    assert_int_equal(counts().records, SMP_CHECK_ALL_RECORDS);
    assert_int_equal(counts().frames, (uint64_t)SMP_CHECK_ALL_RECORDS * 2 * PCS);
    for (int i = 0; i < 10 * SMP_CHECK_ONE_IN; i++)
        record();
    assert_int_equal(counts().records, SMP_CHECK_ALL_RECORDS + 10);
    assert_int_equal(counts().refusals, 0);
    end();
}

static void only_the_first_records_of_a_replay_are_compared(void **state)
{
    (void)state;
    find();
    smp_hotspot_replay(true);
    for (int i = 0; i < 2 * SMP_CHECK_REPLAYED; i++)
        record();
    smp_hotspot_replay(false);
    assert_int_equal(counts().records, SMP_CHECK_REPLAYED);
    record();
    assert_int_equal(counts().records, SMP_CHECK_REPLAYED + 1);
    end();
}

static void one_difference_disables_the_layout_for_good(void **state)
{
    (void)state;
    find();
    record();
    change_bci();
    record();
    make_record();
    record();
    assert_int_equal(counts().records, 2);
    assert_int_equal(counts().refusals, 1);
    assert_false(smp_hotspot_is_usable());
    smp_hotspot_refuse("another reason");
    smp_hotspot_refusal(refusal);
    assert_string_equal(refusal, "a frame of a compiled method is at another byte code");
    assert_int_equal(smp_hotspot_find(NULL, 17), SMP_EUNSUPPORTED);
    end();
}

/* --- methods that are redefined meanwhile --- */

static void set_use(int8_t use)
{
    memcpy((char *)blob() + jvm.layout.nmethod.state, &use, 1);
}

static void find_with_an_equal_record(void)
{
    find();
    record();
    assert_int_equal(counts().records, 1);
}

static void end_safepoint(enum fake_call call)
{
    if (call == FAKE_GetMethodName)
        set_use(2);
}

/* The ids have changed, but the code is not deoptimised before the safepoint ends. */
static void a_method_redefined_in_between_is_no_difference(void **state)
{
    (void)state;
    find_with_an_equal_record();
    change_method();
    fake_vm.before = end_safepoint;
    record();
    assert_int_equal(fake_vm.calls[FAKE_GetMethodName], 1);
    assert_int_equal(counts().given_up, 1);
    assert_int_equal(counts().records, 1);
    assert_int_equal(counts().refusals, 0);
    fake_vm.before = NULL;
    set_use(0);
    make_record();
    record();
    assert_int_equal(counts().records, 2);
    assert_int_equal(fake_vm_live_pieces(), 0);
    end();
}

static void restore_record(enum fake_call call)
{
    if (call == FAKE_GetMethodName)
        make_record();
}

static void a_record_equal_at_the_second_reading_is_no_difference(void **state)
{
    (void)state;
    find_with_an_equal_record();
    change_method();
    fake_vm.before = restore_record;
    record();
    assert_int_equal(counts().records, 2);
    assert_int_equal(counts().given_up, 0);
    assert_int_equal(counts().refusals, 0);
    end();
}

/* A difference counts if the code is in use, or if no code was ever seen in use. */
static void nothing_else_excuses_a_difference(void **state)
{
    (void)state;
    find_with_an_equal_record();
    change_method();
    record();
    assert_int_equal(fake_vm.calls[FAKE_GetMethodName], 2);
    assert_int_equal(counts().refusals, 1);
    end();
    find();
    set_use(2); /* each method has this value where the wrong offset reads */
    record();
    change_method();
    record();
    assert_int_equal(counts().refusals, 1);
    assert_int_equal(counts().given_up, 0);
    end();
}

static void the_interpreter_is_where_its_event_reports_it(void **state)
{
    (void)state;
    find();
    const struct smp_code_range range = smp_code_interpreter(&jvm.layout);
    smp_hotspot_record_stub("Interpreter", range.low, range.high - range.low);
    smp_hotspot_record_stub("jbyte_arraycopy", 4096, 8);
    assert_int_equal(counts().refusals, 0);
    smp_hotspot_record_stub("Interpreter", range.low, range.high - range.low + 1);
    assert_int_equal(counts().refusals, 1);
    smp_hotspot_refusal(refusal);
    assert_string_equal(refusal, "the interpreter has other bounds");
    end();
}

static void *record_many(void *self)
{
    (void)self;
    for (int i = 0; i < 300; i++)
        record();
    return NULL;
}

static void *refuse_once(void *self)
{
    smp_hotspot_refuse(self);
    return NULL;
}

static void threads_may_record_and_refuse_at_once(void **state)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];

    (void)state;
    find();
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL,
                                        i < THREADS - 1 ? record_many : refuse_once,
                                        "reported by one of them"),
                         0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    smp_hotspot_refusal(refusal);
    assert_string_equal(refusal, "reported by one of them");
    assert_int_equal(counts().refusals, 1);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_records_are_equal),
        cmocka_unit_test(another_byte_code_is_a_difference),
        cmocka_unit_test(another_method_is_a_difference),
        cmocka_unit_test(another_depth_is_a_difference),
        cmocka_unit_test(a_pc_without_a_record_is_a_difference),
        cmocka_unit_test(the_entry_of_a_method_counts_as_byte_code_0),
        cmocka_unit_test(a_method_at_another_address_is_a_difference),
        cmocka_unit_test(a_compile_id_belongs_to_one_method),
        cmocka_unit_test(a_copy_of_the_code_has_the_same_compile_id),
        cmocka_unit_test(deoptimised_frames_are_understood),
        cmocka_unit_test(the_original_pc_is_at_the_top_of_the_frame),
#if defined(__x86_64__)
        cmocka_unit_test(the_frame_size_matches_the_code),
#endif
        cmocka_unit_test(heaps_are_checked_before_they_are_read),
        cmocka_unit_test(missing_fields_disable_the_layout),
        cmocka_unit_test(a_layout_is_not_usable_before_it_is_checked),
        cmocka_unit_test(the_first_thousand_records_are_compared_then_one_in_a_hundred),
        cmocka_unit_test(only_the_first_records_of_a_replay_are_compared),
        cmocka_unit_test(one_difference_disables_the_layout_for_good),
        cmocka_unit_test(a_method_redefined_in_between_is_no_difference),
        cmocka_unit_test(a_record_equal_at_the_second_reading_is_no_difference),
        cmocka_unit_test(nothing_else_excuses_a_difference),
        cmocka_unit_test(the_interpreter_is_where_its_event_reports_it),
        cmocka_unit_test(threads_may_record_and_refuse_at_once),
    };
    return cmocka_run_group_tests(tests, allow_reads, NULL);
}
