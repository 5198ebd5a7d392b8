/* SPDX-License-Identifier: Apache-2.0 */
/* Which cache entries are valid: for return addresses, and for methods whose ids are numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include "base/safe_read.h"
#include "hotspot/frame_cache.h"
#include "hotspot/frames.h"
#include "support/fake_code.h"

enum { ID = 0x3c6c, OTHER_ID = 0x3c6d };

/* A method in a JVM whose ids are numbers. */
static struct {
    struct fake_code *code;
    struct smp_layout layout;
    struct smp_frames_cache *cache;
    uint64_t safepoints;
    uintptr_t method;
    uintptr_t other;
} vm;

static int setup(void **state)
{
    (void)state;
    vm.code = fake_code_create(25);
    vm.layout = *fake_code_layout(vm.code);
    vm.layout.version = 26;
    vm.safepoints = 5;
    vm.layout.safepoints = &vm.safepoints;
    vm.method = fake_code_method(vm.code, "app/Main", "run", ID);
    vm.other = fake_code_method(vm.code, "app/Other", "run", OTHER_ID);
    return smp_safe_read_refusal() == NULL && smp_frames_cache_create(&vm.cache) == SMP_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    smp_frames_cache_destroy(vm.cache);
    fake_code_destroy(vm.code);
    return 0;
}

static uint64_t find(bool *is_unsure)
{
    struct smp_method_code code;
    uint64_t id = 0;

    assert_true(smp_frame_cache_method(vm.cache, &vm.layout, vm.method, &code, &id));
    *is_unsure = code.is_unsure;
    return id;
}

static void confirm(uint64_t id)
{
    struct smp_raw_frame raw = { .method = vm.method };
    const struct smp_frames frames = {
        .raw = &raw, .ids = &id, .count = 1, .safepoints = vm.safepoints, .unsure = 1
    };

    smp_frames_confirm(vm.cache, &frames);
}

static void assert_found(uint64_t expected, bool is_unsure)
{
    bool unsure = false;

    assert_int_equal(find(&unsure), expected);
    assert_int_equal(unsure, is_unsure);
}

/* A stack that changes while it is read may contain any word as a return address. 0 is also the
 * content of an entry that was never written; its blob does not exist. */
static void an_empty_cache_finds_no_word(void **state)
{
    static const uintptr_t words[] = { 0, 1, UINTPTR_MAX, (uintptr_t)1 << 57, (uintptr_t)1 << 63 };
    const struct smp_layout layout = { .version = 17 };
    struct smp_known_code found;

    (void)state;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        assert_false(smp_frame_cache_find(vm.cache, &layout, words[i], &found));
}

/* Many addresses, each with the maximum number of frames: few replace each other. */
static void all_frames_of_deep_inlining_are_found(void **state)
{
    enum { ADDRESSES = 64, MOST_LOST = ADDRESSES / 8 };
    const uintptr_t start = 0x7f1200001000;
    static char block[4096]; /* a used block of the code heap, whose blob has compile id 0 */
    const uintptr_t blob = (uintptr_t)block + vm.layout.heap.block_bytes;
    struct smp_raw_frame raw[SMP_CODE_MAX_FRAMES];
    uint64_t ids[SMP_CODE_MAX_FRAMES];
    struct smp_known_code code = {
        .blob = blob, .frame_bytes = 64, .count = SMP_CODE_MAX_FRAMES, .frames = raw, .ids = ids
    };
    size_t found = 0;

    (void)state;
    assert_true(vm.layout.nmethod.compile_id < sizeof(block) / 2);
    block[vm.layout.heap.block_used] = 1;
    for (uintptr_t a = 0; a < ADDRESSES; a++) {
        assert_false(smp_frame_cache_find(vm.cache, &vm.layout, start + 16 * a, &code));
        code.blob = blob;
        code.compile_id = 0;
        code.frame_bytes = 64;
        code.count = SMP_CODE_MAX_FRAMES;
        for (size_t i = 0; i < SMP_CODE_MAX_FRAMES; i++) {
            raw[i] = (struct smp_raw_frame){ .method = 1000 * a + i, .bci = (int32_t)i };
            ids[i] = 1 + i;
        }
        smp_frame_cache_put(vm.cache, start + 16 * a, &code);
    }
    for (uintptr_t a = 0; a < ADDRESSES; a++) {
        if (!smp_frame_cache_find(vm.cache, &vm.layout, start + 16 * a, &code))
            continue;
        found++;
        assert_int_equal(code.count, SMP_CODE_MAX_FRAMES);
        for (size_t i = 0; i < SMP_CODE_MAX_FRAMES; i++) {
            assert_int_equal(raw[i].method, 1000 * a + i);
            assert_int_equal(raw[i].bci, i);
            assert_int_equal(ids[i], 1 + i);
        }
    }
    assert_in_range(found, ADDRESSES - MOST_LOST, ADDRESSES);
}

static void a_method_is_checked_until_it_is_confirmed(void **state)
{
    (void)state;
    assert_found(ID, true);
    fake_code_set_id(vm.code, vm.method, OTHER_ID);
    assert_found(OTHER_ID, true);
    confirm(ID); /* the walked method is not the kept one */
    fake_code_set_id(vm.code, vm.method, ID);
    assert_found(ID, true);
    confirm(ID);
    assert_found(ID, false);
}

/* Without a safepoint no method on a stack is freed, so a confirmed entry is not read again. */
static void a_confirmed_method_is_valid_until_the_next_safepoint(void **state)
{
    (void)state;
    assert_found(ID, true);
    confirm(ID);
    fake_code_set_id(vm.code, vm.method, OTHER_ID);
    assert_found(ID, false);
    vm.safepoints++;
    assert_found(OTHER_ID, true);
    vm.safepoints++; /* between the walk and its proof */
    confirm(OTHER_ID);
    fake_code_set_id(vm.code, vm.method, ID);
    assert_found(ID, true);
}

static void without_a_safepoint_count_each_find_is_checked(void **state)
{
    (void)state;
    vm.layout.safepoints = NULL;
    assert_found(ID, false);
    confirm(ID);
    fake_code_set_id(vm.code, vm.method, OTHER_ID);
    assert_found(OTHER_ID, false);
    vm.layout.safepoints = &vm.safepoints;
    vm.safepoints = 0; /* not available */
    confirm(OTHER_ID);
    fake_code_set_id(vm.code, vm.method, ID);
    assert_found(ID, false);
}

static uintptr_t *word_at(uintptr_t object, uint32_t offset)
{
    return (uintptr_t *)(object + offset); /* NOLINT(performance-no-int-to-ptr) */
}

static uint16_t *short_at(uintptr_t object, uint32_t offset)
{
    return (uint16_t *)(object + offset); /* NOLINT(performance-no-int-to-ptr) */
}

/* The cache finds what a read without it finds, whichever word has changed. */
static void assert_as_read_anew(void)
{
    struct smp_method_code kept;
    struct smp_method_code anew;
    uint64_t kept_id = 0;
    uint64_t anew_id = 0;
    const bool is_method = smp_frame_cache_method(NULL, &vm.layout, vm.method, &anew, &anew_id);

    assert_int_equal(smp_frame_cache_method(vm.cache, &vm.layout, vm.method, &kept, &kept_id),
                     is_method);
    if (!is_method)
        return;
    assert_int_equal(kept_id, anew_id);
    assert_int_equal(kept.code, anew.code);
    assert_int_equal(kept.code_bytes, anew.code_bytes);
    assert_int_equal(kept.is_native, anew.is_native);
}

static void each_word_on_the_way_to_the_id_is_checked(void **state)
{
    const struct smp_layout *layout = &vm.layout;
    uintptr_t *to_const = word_at(vm.method, layout->method.const_method);
    uintptr_t *to_pool = word_at(*to_const, layout->const_method.pool);
    uintptr_t *to_holder = word_at(*to_pool, layout->pool.holder);
    uintptr_t *to_ids = word_at(*to_holder, layout->klass.ids);
    uint16_t *shorts[] = { short_at(vm.method, layout->method.flags),
                           short_at(*to_const, layout->const_method.code_bytes),
                           short_at(*to_const, layout->const_method.number) };
    uintptr_t *links[] = { to_const, to_pool, to_holder, to_ids };
    const uintptr_t other_const = *word_at(vm.other, layout->method.const_method);
    const uintptr_t other_pool = *word_at(other_const, layout->const_method.pool);
    const uintptr_t other_holder = *word_at(other_pool, layout->pool.holder);
    const uintptr_t others[] = { other_const, other_pool, other_holder,
                                 *word_at(other_holder, layout->klass.ids) };

    (void)state;
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        const uintptr_t saved = *links[i];
        assert_found(ID, true);
        *links[i] = others[i];
        assert_as_read_anew();
        *links[i] = 0;
        assert_as_read_anew();
        *links[i] = saved;
    }
    for (size_t i = 0; i < sizeof(shorts) / sizeof(shorts[0]); i++) {
        const uint16_t saved = *shorts[i];
        assert_found(ID, true);
        *shorts[i] ^= 0x101; /* native; longer; another number */
        assert_as_read_anew();
        *shorts[i] = saved;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_empty_cache_finds_no_word, setup, teardown),
        cmocka_unit_test_setup_teardown(all_frames_of_deep_inlining_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(a_method_is_checked_until_it_is_confirmed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_confirmed_method_is_valid_until_the_next_safepoint, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(without_a_safepoint_count_each_find_is_checked, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(each_word_on_the_way_to_the_id_is_checked, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
