/* SPDX-License-Identifier: Apache-2.0 */
/* The number of system calls to see a return address or a method for the first time: each call
 * costs more than all else that a walk does for a frame. The numbers are part of the contract
 * (frames.h); a change that increases one must change it here, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/random.h"
#include "base/safe_read.h"
#include "hotspot/code_copies.h"
#include "hotspot/frame_cache.h"
#include "hotspot/frames.h"
#include "hotspot/method.h"
#include "hotspot/method_table.h"
#include "support/fake_code.h"

static const int versions[] = { 17, 21, 25 };
enum {
    VERSION_COUNT = sizeof(versions) / sizeof(versions[0]),
    OUTSIDE_FROM = 25, /* from this JDK on, debug data are outside the code heap */
    NUMBERS_FROM = 26, /* from this JDK on, ids are numbers */
    METHODS = 8,
    CAPACITY = 64,
    CALL_PC = 20,
    SMALL = 60,   /* records of a method that is copied completely */
    MEDIUM = 150, /* records of a method that is copied, but not on the stack */
    /* records of a method that is not copied; its deoptimisation handler is unknown */
    LARGE = 360,
    FRAMES = 5,
    FULL_METHOD = 6, /* the maximum for a method of which nothing is known, including its id */
    CODE_ALONE = 2,
    COPY_MOST = 9
};

/* A JVM with some methods, and the frames of a walk. */
static struct {
    struct fake_code *code;
    struct smp_layout layout;
    struct smp_frames_cache *cache;
    uintptr_t words[METHODS]; /* the addresses of these words are ids */
    uintptr_t methods[METHODS];
    struct smp_raw_frame raw[CAPACITY];
    uint64_t ids[CAPACITY];
    struct smp_frames out;
    _Atomic uint64_t calls;
} vm;

static uint64_t id_of(size_t i)
{
    return vm.layout.version < NUMBERS_FROM ? (uint64_t)(uintptr_t)&vm.words[i] : 1000 + i;
}

static void begin(int version)
{
    vm.code = fake_code_create(version < NUMBERS_FROM ? version : 25);
    vm.layout = *fake_code_layout(vm.code);
    vm.layout.version = version;
    for (size_t i = 0; i < METHODS; i++) {
        vm.methods[i] = fake_code_method(vm.code, "app/Main", "run", 0);
        fake_code_set_id(vm.code, vm.methods[i], id_of(i));
        vm.words[i] = vm.methods[i];
    }
    smp_method_table_empty();
    smp_frames_set_virtual_root(0);
    assert_int_equal(smp_frames_cache_create(&vm.cache), SMP_OK);
    atomic_store(&vm.calls, 0);
    smp_safe_read_count_calls(&vm.calls);
}

static void end(void)
{
    smp_safe_read_count_calls(NULL);
    smp_frames_cache_destroy(vm.cache);
    fake_code_destroy(vm.code);
}

static void know_methods(void)
{
    for (size_t i = 0; i < METHODS; i++)
        smp_method_table_offer(id_of(i));
}

/* Returns the system calls of one walk to the root. */
static uint64_t walk_with(struct smp_frames_cache *cache, size_t frames)
{
    vm.out = (struct smp_frames){ .raw = vm.raw, .ids = vm.ids, .capacity = CAPACITY };
    atomic_store(&vm.calls, 0);
    smp_frames_walk(&vm.layout, cache, fake_stack_start(vm.code), fake_stack_high(vm.code),
                    &vm.out);
    assert_int_equal(vm.out.end, SMP_FRAMES_ROOT);
    assert_int_equal(vm.out.count, frames);
    return atomic_load(&vm.calls);
}

/* Compiles a method that has inlined the others in turn at each of this many pcs. */
static uintptr_t compile(size_t count)
{
    struct fake_record *records = calloc(count, sizeof(*records));
    uintptr_t start = 0;

    assert_non_null(records);
    for (size_t i = 0; i < count; i++) {
        records[i].pc = CALL_PC + (int32_t)i;
        records[i].count = FRAMES;
        for (size_t k = 0; k < FRAMES; k++)
            records[i].frames[k] = (struct smp_raw_frame){ .method = vm.methods[(i + k) % METHODS],
                                                           .bci = (int32_t)(i % 7 + k) };
    }
    start = fake_code_compile(vm.code, vm.methods[0], 10, records, count);
    free(records);
    return start;
}

static void expect_compiled(size_t place)
{
    for (size_t k = 0; k < FRAMES; k++) {
        assert_int_equal(vm.raw[k].method, vm.methods[(place + k) % METHODS]);
        assert_int_equal(vm.raw[k].bci, place % 7 + k);
        assert_int_equal(vm.ids[k], id_of((place + k) % METHODS));
    }
}

static uint64_t see_place(uintptr_t start, size_t i)
{
    fake_stack_begin(vm.code);
    fake_stack_enter(vm.code);
    fake_stack_compiled(vm.code, start + CALL_PC + i);
    const uint64_t calls = walk_with(vm.cache, FRAMES);
    expect_compiled(i);
    return calls;
}

struct calls {
    uint64_t least;
    uint64_t most;
};

/* Walks to each pc of a method in turn; none was seen before. first: the calls for the first
 * one. */
static void see_places(uintptr_t start, size_t count, struct calls first, struct calls others)
{
    for (size_t i = 0; i < count; i++) {
        const struct calls expected = i == 0 ? first : others;
        assert_in_range(see_place(start, i), expected.least, expected.most);
        /* The second time nothing needs to be read. */
        assert_int_equal(walk_with(vm.cache, FRAMES), 0);
        expect_compiled(i);
    }
}

static void system_calls_for_a_return_address_of_known_methods(void **state)
{
    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        const bool is_outside = versions[v] >= OUTSIDE_FROM;
        begin(versions[v]);
        know_methods();
        const struct calls none = { 0, 0 };
        const struct calls one = is_outside ? (struct calls){ 1, 1 } : none;
        const struct calls some = is_outside ? (struct calls){ 2, 3 } : none;
        see_places(compile(SMALL), SMALL, one, none);
        see_places(compile(MEDIUM), MEDIUM, one, none);
        see_places(compile(LARGE), LARGE, some, some);
        end();
    }
}

/* The data of a method are kept only after it is installed, and as long as it exists. */
static void data_of_installed_methods_are_kept(void **state)
{
    (void)state;
    begin(OUTSIDE_FROM);
    know_methods();
    const uintptr_t start = compile(SMALL);
    const uintptr_t blob = fake_code_blob(vm.code, start);
    signed char *const is_installed = (signed char *)(blob + vm.layout.nmethod.state);
    *is_installed = -1;
    assert_int_equal(see_place(start, 0), 1);
    assert_int_equal(see_place(start, 1), 1);
    *is_installed = 1; /* not entered any more, but still on stacks */
    assert_int_equal(see_place(start, 2), 1);
    assert_int_equal(see_place(start, 3), 0);
    fake_code_set_compile_id(vm.code, start, 4711);
    assert_int_equal(see_place(start, 4), 1);
    assert_int_equal(see_place(start, 5), 0);
    /* Other threads use both possible copies. */
    struct smp_code_copy *taken = smp_code_copies_take(blob);
    struct smp_code_copy *other = smp_code_copies_take(blob);
    assert_non_null(taken);
    assert_non_null(other);
    assert_null(smp_code_copies_take(blob));
    assert_int_equal(see_place(start, 6), 1);
    smp_code_copies_empty(); /* except those in use */
    smp_code_copies_give_back(taken);
    smp_code_copies_give_back(other);
    assert_int_equal(see_place(start, 7), 0);
    smp_code_copies_empty();
    assert_int_equal(see_place(start, 8), 1);
    /* If the JDK does not show whether the method is installed, no data are kept. */
    vm.layout.nmethod.state = 0;
    smp_code_copies_empty();
    assert_int_equal(see_place(start, 9), 1);
    assert_int_equal(see_place(start, 10), 1);
    end();
}

/* There is less room on the stack. */
static void a_walk_manages_without_a_copy(void **state)
{
    (void)state;
    begin(OUTSIDE_FROM);
    know_methods();
    const uintptr_t start = compile(MEDIUM);
    struct smp_code_copy *taken = smp_code_copies_take(fake_code_blob(vm.code, start));
    struct smp_code_copy *other = smp_code_copies_take(fake_code_blob(vm.code, start));
    assert_true(taken != NULL && other != NULL && taken != other);
    const struct calls two = { 2, 2 };
    see_places(start, MEDIUM, two, two);
    smp_code_copies_give_back(taken);
    smp_code_copies_give_back(other);
    end();
}

/* Methods of one stack that are copied to the same place do not replace each other in turn. */
static void two_methods_with_the_same_places_both_stay_copied(void **state)
{
    struct smp_code_copy *first = NULL;
    struct smp_code_copy *second = NULL;

    (void)state;
    smp_code_copies_empty();
    for (uintptr_t blob = 0x1000; blob < 0x1000 + 64 * SMP_CODE_COPIES; blob += 64) {
        struct smp_code_copy *copy = smp_code_copies_take(blob);
        assert_non_null(copy);
        copy->key = (struct smp_code_copy_key){ .blob = blob, .compile_id = 1 };
        smp_code_copies_give_back(copy);
    }
    /* A method is in its place, or one of two others replaced it: then both of the pair differ. */
    for (uintptr_t blob = 0x1000; blob < 0x1000 + 64 * SMP_CODE_COPIES; blob += 64) {
        first = smp_code_copies_take(blob);
        second = smp_code_copies_take(blob);
        assert_true(first->key.blob == blob || second->key.blob != blob);
        assert_true(first->key.blob != second->key.blob || first->key.blob == 0);
        smp_code_copies_give_back(first);
        smp_code_copies_give_back(second);
    }
    smp_code_copies_empty();
}

/* Many methods with at most one copy each: each finds its own frames. */
static void methods_that_share_a_copy_find_their_own_frames(void **state)
{
    enum { MANY = 3 * SMP_CODE_COPIES };
    uintptr_t starts[MANY];

    (void)state;
    begin(OUTSIDE_FROM);
    know_methods();
    for (size_t i = 0; i < MANY; i++)
        starts[i] = compile(3 + i % 5);
    for (size_t place = 0; place < 3; place++) {
        for (size_t i = 0; i < MANY; i++)
            assert_in_range(see_place(starts[i], place), 0, 1);
    }
    end();
}

/* As above, for the first record at or after a pc, as for an interrupted leaf. */
static void a_pc_between_two_records(void **state)
{
    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        begin(versions[v]);
        know_methods();
        const uintptr_t start = compile(LARGE);
        for (size_t i = 0; i < LARGE; i += 13) {
            struct smp_raw_frame frames[SMP_CODE_MAX_FRAMES];
            struct smp_blob blob;
            assert_true(smp_blob_find(&vm.layout, start, &blob));
            atomic_store(&vm.calls, 0);
            assert_int_equal(smp_code_frames_near(&vm.layout, &blob, start + CALL_PC + i, frames,
                                                  SMP_CODE_MAX_FRAMES),
                             FRAMES);
            assert_int_equal(frames[0].method, vm.methods[i % METHODS]);
            assert_in_range(atomic_load(&vm.calls), 0, versions[v] >= OUTSIDE_FROM ? 3 : 0);
        }
        end();
    }
}

/* Only this walk has seen anything of the method. */
static void system_calls_for_a_new_method(void **state)
{
    static const int all[] = { 17, 21, 25, 26 };

    (void)state;
    for (size_t v = 0; v < sizeof(all) / sizeof(all[0]); v++) {
        begin(all[v]);
        const uintptr_t start = compile(SMALL);
        fake_stack_enter(vm.code);
        fake_stack_compiled(vm.code, start + CALL_PC);
        assert_in_range(walk_with(vm.cache, FRAMES), 1, FRAMES * FULL_METHOD + 1);
        expect_compiled(0);
        /* At another pc they are known; from JDK 26 on each is checked, in one call. */
        fake_stack_begin(vm.code);
        fake_stack_enter(vm.code);
        fake_stack_compiled(vm.code, start + CALL_PC + METHODS);
        assert_in_range(walk_with(vm.cache, FRAMES), 0, all[v] < NUMBERS_FROM ? 1 : FRAMES + 1);
        expect_compiled(METHODS);
        end();
    }
}

/* -------------------------------------------------------------------------- threads at once */

enum { THREADS = 3, SHARED = 2 * SMP_CODE_COPIES, ROUNDS = 2000 };
static uintptr_t shared[SHARED];

/* Walks methods whose copies other threads use, replace and empty. */
static void *see_shared(void *self)
{
    struct smp_raw_frame frames[SMP_CODE_MAX_FRAMES];
    struct smp_blob blob;
    uint64_t random = (uintptr_t)self;
    size_t wrong = 0;

    for (size_t round = 0; round < ROUNDS; round++) {
        const size_t place = smp_random_next(&random) % SMALL;
        const uintptr_t start = shared[smp_random_next(&random) % SHARED];
        if (!smp_blob_find(&vm.layout, start, &blob) ||
            smp_code_frames(&vm.layout, &blob, start + CALL_PC + place, frames,
                            SMP_CODE_MAX_FRAMES) != FRAMES)
            wrong++;
        for (size_t k = 0; k < FRAMES; k++)
            wrong += frames[k].method == vm.methods[(place + k) % METHODS] ? 0 : 1;
        if (round % 256 == 0)
            smp_code_copies_empty();
    }
    return (void *)wrong; /* NOLINT(performance-no-int-to-ptr) */
}

static void threads_share_copies(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    begin(OUTSIDE_FROM);
    for (size_t i = 0; i < SHARED; i++)
        shared[i] = compile(SMALL);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, see_shared, (void *)(i + 1)), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *wrong = NULL;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    end();
}

static void system_calls_for_an_interpreted_frame(void **state)
{
    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        begin(versions[v]);
        know_methods();
        fake_stack_enter(vm.code);
        fake_stack_interpreted(vm.code, vm.methods[1], 7, 0);
        fake_stack_interpreted(vm.code, vm.methods[2], 9, 0);
        assert_in_range(walk_with(vm.cache, 2), 2, 2 * CODE_ALONE);
        assert_int_equal(vm.raw[0].bci, 9);
        assert_int_equal(vm.raw[1].bci, 7);
        assert_int_equal(vm.ids[1], id_of(1));
        assert_int_equal(walk_with(vm.cache, 2), 0);
        assert_int_equal(walk_with(NULL, 2), 0);
        assert_int_equal(vm.raw[0].bci, 9);
        end();
    }
}

/* Without a cache nothing is kept, so that a check reads the real data. */
static void a_walk_without_a_cache_keeps_nothing(void **state)
{
    (void)state;
    begin(17);
    fake_stack_enter(vm.code);
    fake_stack_interpreted(vm.code, vm.methods[1], 7, 0);
    const uint64_t first = walk_with(NULL, 1);
    assert_in_range(first, CODE_ALONE + 1, FULL_METHOD);
    assert_int_equal(walk_with(NULL, 1), first);
    end();
}

/* A native method that is not the root of virtual threads, which is recognised by its id. */
static void system_calls_for_a_native_method(void **state)
{
    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        begin(versions[v]);
        know_methods();
        const uintptr_t native = fake_code_native(vm.code, vm.methods[3], 8);
        fake_stack_enter(vm.code);
        fake_stack_compiled(vm.code, native + 9);
        smp_frames_set_virtual_root(id_of(4));
        assert_int_equal(walk_with(vm.cache, 1), 0);
        assert_int_equal(vm.ids[0], id_of(3));
        end();
    }
}

static void the_root_of_virtual_threads_is_known_by_its_id(void **state)
{
    (void)state;
    begin(25);
    know_methods();
    const uintptr_t native = fake_code_native(vm.code, vm.methods[3], 8);
    const uintptr_t start = compile(SMALL);
    smp_frames_set_virtual_root(id_of(3));
    fake_stack_enter(vm.code);
    fake_stack_compiled(vm.code, native + 9);
    fake_stack_compiled(vm.code, start + CALL_PC);
    vm.out = (struct smp_frames){ .raw = vm.raw, .ids = vm.ids, .capacity = CAPACITY };
    smp_frames_walk(&vm.layout, vm.cache, fake_stack_start(vm.code), fake_stack_high(vm.code),
                    &vm.out);
    assert_int_equal(vm.out.end, SMP_FRAMES_VIRTUAL_ROOT);
    assert_int_equal(vm.out.count, FRAMES);
    smp_frames_set_virtual_root(0);
    end();
}

static void system_calls_for_the_names_of_a_method_without_an_id(void **state)
{
    static _Alignas(uintptr_t) char room[1024];
    const struct smp_line line = { 0, 12 };

    (void)state;
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        begin(versions[v]);
        fake_code_set_file(vm.code, vm.methods[0], "Main.java");
        fake_code_set_lines(vm.code, vm.methods[0], &line, 1);
        assert_true(smp_method_copy(&vm.layout, vm.methods[0], 3, room, sizeof(room)) > 0);
        assert_in_range(atomic_load(&vm.calls), 1, COPY_MOST);
        end();
    }
}

/* A method and its ConstMethod side by side are read together, wherever the method is in its page;
 * the memory before the page may not be mapped. */
static void system_calls_for_a_method_at_the_start_of_its_page(void **state)
{
    enum { PAGE = 4096, PLACES = 64 };
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages, PAGE, PROT_NONE), 0);
    begin(25);
    const uint32_t header = vm.layout.const_method.bytes;
    const uintptr_t from = *(uintptr_t *)(vm.methods[0] + vm.layout.method.const_method);
    for (uintptr_t at = 0; at < PLACES; at++) {
        struct smp_method_code code;
        const uintptr_t method = (uintptr_t)pages + PAGE + 16 * at;
        const uintptr_t constant = method - header;
        const bool is_before = constant >= (uintptr_t)pages + PAGE;
        memcpy((void *)method, (void *)vm.methods[0], vm.layout.method.bytes);
        if (is_before) {
            memcpy((void *)constant, (void *)from, header);
            *(uintptr_t *)(method + vm.layout.method.const_method) = constant;
        }
        atomic_store(&vm.calls, 0);
        assert_true(smp_method_byte_codes(&vm.layout, method, &code));
        assert_int_equal(code.const_method, is_before ? constant : from);
        assert_int_equal(code.code_bytes, FAKE_BYTE_CODES);
        assert_int_equal(atomic_load(&vm.calls), is_before ? 1 : 2);
    }
    end();
    (void)munmap(pages, 2 * PAGE);
}

static int allow_reads(void **state)
{
    (void)state;
    return smp_safe_read_refusal() == NULL ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(system_calls_for_a_return_address_of_known_methods),
        cmocka_unit_test(data_of_installed_methods_are_kept),
        cmocka_unit_test(a_walk_manages_without_a_copy),
        cmocka_unit_test(two_methods_with_the_same_places_both_stay_copied),
        cmocka_unit_test(methods_that_share_a_copy_find_their_own_frames),
        cmocka_unit_test(a_pc_between_two_records),
        cmocka_unit_test(system_calls_for_a_new_method),
        cmocka_unit_test(threads_share_copies),
        cmocka_unit_test(system_calls_for_an_interpreted_frame),
        cmocka_unit_test(a_walk_without_a_cache_keeps_nothing),
        cmocka_unit_test(system_calls_for_a_native_method),
        cmocka_unit_test(the_root_of_virtual_threads_is_known_by_its_id),
        cmocka_unit_test(system_calls_for_the_names_of_a_method_without_an_id),
        cmocka_unit_test(system_calls_for_a_method_at_the_start_of_its_page),
    };

    return cmocka_run_group_tests(tests, allow_reads, NULL);
}
