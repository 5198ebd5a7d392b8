/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include "base/hash_map.h"
#include "base/random.h"
#include "support/failing_alloc.h"

enum { KEYS = 300, NUMBERS = 40, IDS = 3000, IDS_PER_HASH = 3, STEPS = 4000 };

/* Pointers eight bytes apart, like jmethodIDs. */
static uint64_t key_of(uint64_t k)
{
    return 0x7f0012345678u + 8 * k;
}

/* Few hashes, with equal low bits. */
static uint32_t hash_of(uint32_t id)
{
    return id / IDS_PER_HASH << 20;
}

static void test_every_pair_is_found(void **state)
{
    struct smp_quota quota;
    struct smp_memory_budget budget = { .quota = &quota, .max_bytes = 1 << 20 };
    struct smp_hash_map map = { 0 };

    (void)state;
    smp_quota_init(&quota, SIZE_MAX);
    assert_int_equal(smp_hash_pairs_find(&map, 1, 1), 0);
    for (uint32_t k = 0; k < KEYS; k++) {
        for (int32_t n = -1; n < NUMBERS; n++) {
            assert_int_equal(smp_hash_pairs_find(&map, key_of(k), n), 0);
            assert_true(smp_hash_map_reserve(&map, &smp_hash_pairs, &budget, 1));
            smp_hash_pairs_put(&map, key_of(k), n, 1 + k * 100 + (uint32_t)(n + 1));
        }
    }
    for (uint32_t k = 0; k < KEYS; k++) {
        for (int32_t n = -1; n < NUMBERS; n++)
            assert_int_equal(smp_hash_pairs_find(&map, key_of(k), n),
                             1 + k * 100 + (uint32_t)(n + 1));
        assert_int_equal(smp_hash_pairs_find(&map, key_of(k), NUMBERS), 0);
        assert_int_equal(smp_hash_pairs_find(&map, key_of(k), INT32_MIN), 0);
    }
    assert_int_equal(smp_hash_pairs_find(&map, 0, 0), 0);
    assert_int_equal(map.count, KEYS * (NUMBERS + 1));
    assert_int_equal(budget.used_bytes,
                     smp_hash_map_slot_count(&map) * sizeof(struct smp_hash_pair));
    smp_hash_map_fini(&map, &smp_hash_pairs, &budget);
    assert_int_equal(budget.used_bytes, 0);
    assert_int_equal(smp_quota_used(&quota), 0);
}

static void test_key_and_number_zero(void **state)
{
    struct smp_memory_budget budget = { .max_bytes = 1 << 20 };
    struct smp_hash_map map = { 0 };

    (void)state;
    assert_true(smp_hash_map_reserve(&map, &smp_hash_pairs, &budget, 1));
    assert_int_equal(smp_hash_pairs_find(&map, 0, 0), 0);
    smp_hash_pairs_put(&map, 0, 0, 7);
    assert_int_equal(smp_hash_pairs_find(&map, 0, 0), 7);
    smp_hash_map_fini(&map, &smp_hash_pairs, &budget);
}

static void test_all_ids_of_a_hash_are_found(void **state)
{
    struct smp_memory_budget budget = { .max_bytes = 1 << 20 };
    struct smp_hash_map map = { 0 };
    size_t step = 0;
    uint32_t id;

    (void)state;
    assert_int_equal(smp_hash_ids_next(&map, 5, &step), 0);
    for (id = IDS_PER_HASH; id < IDS; id++) {
        assert_true(smp_hash_map_reserve(&map, &smp_hash_ids, &budget, 1));
        smp_hash_ids_put(&map, hash_of(id), id);
    }
    for (uint32_t first = IDS_PER_HASH; first < IDS; first += IDS_PER_HASH) {
        unsigned found = 0;
        step = 0;
        while ((id = smp_hash_ids_next(&map, hash_of(first), &step)) != 0) {
            assert_in_range(id, first, first + IDS_PER_HASH - 1);
            found |= 1u << (id - first);
        }
        assert_int_equal(found, (1u << IDS_PER_HASH) - 1);
    }
    step = 0;
    assert_int_equal(smp_hash_ids_next(&map, hash_of(IDS), &step), 0);
    smp_hash_map_fini(&map, &smp_hash_ids, &budget);
    assert_int_equal(budget.used_bytes, 0);
}

/* Compared with an array of the ids present. Few hashes make long runs of slots. */
static void test_ids_are_removed(void **state)
{
    struct smp_memory_budget budget = { .max_bytes = 1 << 20 };
    struct smp_hash_map map = { 0 };
    bool is_there[KEYS + 1] = { false };
    uint64_t random = 5;
    size_t count = 0;

    (void)state;
    for (unsigned i = 0; i < 10 * STEPS; i++) {
        const uint32_t id = 1 + (uint32_t)(smp_random_next(&random) % KEYS);
        const uint32_t hash = id % NUMBERS * 0x01000193u;
        size_t step = 0;
        uint32_t found = 0;

        do
            found = smp_hash_ids_next(&map, hash, &step);
        while (found != 0 && found != id);
        assert_int_equal(found == id, is_there[id]);
        is_there[id] = !is_there[id];
        count += is_there[id] ? 1 : -(size_t)1;
        if (is_there[id]) {
            assert_true(smp_hash_map_reserve(&map, &smp_hash_ids, &budget, 1));
            smp_hash_ids_put(&map, hash, id);
        } else {
            smp_hash_ids_remove(&map, hash, id);
        }
        assert_int_equal(map.count, count);
    }
    smp_hash_map_fini(&map, &smp_hash_ids, &budget);
}

/* The reference implementation: the entries in the order in which they were put. */
static void test_random_pairs_against_a_list(void **state)
{
    static struct smp_hash_pair list[STEPS];
    struct smp_memory_budget budget = { .max_bytes = 1 << 20 };
    struct smp_hash_map map = { 0 };
    uint64_t random = 42;
    size_t count = 0;

    (void)state;
    for (uint32_t step = 1; step <= STEPS; step++) {
        const struct smp_hash_pair pair = { .key = smp_random_next(&random) % 64,
                                            .number = (int32_t)(smp_random_next(&random) % 64),
                                            .value = step };
        uint32_t expected = 0;
        for (size_t i = 0; i < count; i++) {
            if (list[i].key == pair.key && list[i].number == pair.number)
                expected = list[i].value;
        }
        assert_int_equal(smp_hash_pairs_find(&map, pair.key, pair.number), expected);
        if (expected != 0)
            continue;
        assert_true(smp_hash_map_reserve(&map, &smp_hash_pairs, &budget, 1));
        smp_hash_pairs_put(&map, pair.key, pair.number, pair.value);
        list[count++] = pair;
        assert_int_equal(map.count, count);
    }
    smp_hash_map_fini(&map, &smp_hash_pairs, &budget);
}

struct wide {
    char text[20];
    uint32_t number; /* 0: free */
};

static uint64_t wide_key(const void *slot)
{
    return ((const struct wide *)slot)->number;
}

static void test_slots_can_belong_to_the_caller(void **state)
{
    static const struct smp_hash_slots type = { .bytes = sizeof(struct wide),
                                                .used_at = offsetof(struct wide, number),
                                                .eighths = 4,
                                                .key = wide_key };
    struct smp_memory_budget budget = { .max_bytes = 1 << 20 };
    struct smp_hash_map map = { 0 };

    (void)state;
    assert_null(smp_hash_map_find(&map, &type, 1));
    for (uint32_t number = 1; number <= KEYS; number++) {
        assert_true(smp_hash_map_reserve(&map, &type, &budget, 1));
        struct wide *slot = smp_hash_map_put(&map, &type, number);
        *slot = (struct wide){ .text = { (char)number }, .number = number };
        assert_true(2 * map.count <= smp_hash_map_slot_count(&map));
    }
    for (uint32_t number = 1; number <= KEYS; number++) {
        const struct wide *slot = smp_hash_map_find(&map, &type, number);
        assert_non_null(slot);
        assert_int_equal(slot->text[0], (char)number);
    }
    assert_null(smp_hash_map_find(&map, &type, KEYS + 1));
    smp_hash_map_fini(&map, &type, &budget);
}

/* Many of these keys hash to the same slots. */
static void test_scattered_keys_are_found(void **state)
{
    static const struct smp_hash_slots type = { .bytes = sizeof(struct wide),
                                                .used_at = offsetof(struct wide, number),
                                                .eighths = 7,
                                                .key = wide_key };
    struct smp_memory_budget budget = { .max_bytes = 1 << 20 };
    struct smp_hash_map map = { 0 };
    uint64_t random = 7;

    (void)state;
    for (uint32_t i = 0; i < STEPS; i++) {
        const uint32_t number = (uint32_t)smp_random_next(&random) | 1;
        assert_true(smp_hash_map_reserve(&map, &type, &budget, 1));
        *(struct wide *)smp_hash_map_put(&map, &type, number) = (struct wide){ .number = number };
    }
    random = 7;
    for (uint32_t i = 0; i < STEPS; i++) {
        const uint32_t number = (uint32_t)smp_random_next(&random) | 1;
        const struct wide *slot = smp_hash_map_find(&map, &type, number);
        assert_non_null(slot);
        assert_int_equal(slot->number, number);
        assert_null(smp_hash_map_find(&map, &type, number - 1));
    }
    smp_hash_map_fini(&map, &type, &budget);
}

/* Equal hashes cost a comparison of texts for each look-up. */
static void test_hashes_of_short_texts_differ(void **state)
{
    enum { LETTERS = 26, TEXTS = LETTERS * LETTERS };
    struct smp_memory_budget budget = { .max_bytes = 1 << 20 };
    struct smp_hash_map map = { 0 };

    (void)state;
    assert_true(smp_hash_map_reserve(&map, &smp_hash_ids, &budget, 2 * TEXTS));
    for (uint32_t i = 0; i < TEXTS; i++) {
        const char text[] = { (char)('a' + i / LETTERS), (char)('a' + i % LETTERS) };
        const uint32_t hash = smp_hash_bytes(SMP_HASH_START, text, sizeof(text));
        size_t step = 0;
        assert_int_equal(smp_hash_ids_next(&map, hash, &step), 0);
        smp_hash_ids_put(&map, hash, i + 1);
        step = 0;
        assert_int_equal(smp_hash_ids_next(&map, smp_hash_u32(SMP_HASH_START, i), &step), 0);
        smp_hash_ids_put(&map, smp_hash_u32(SMP_HASH_START, i), i + 1);
    }
    smp_hash_map_fini(&map, &smp_hash_ids, &budget);
}

static void test_a_map_that_may_not_grow_stays_as_it_was(void **state)
{
    struct smp_memory_budget budget = { .max_bytes = 64 * sizeof(struct smp_hash_pair) };
    struct smp_hash_map map = { 0 };
    struct failing_alloc failing;

    (void)state;
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    assert_false(smp_hash_map_reserve(&map, &smp_hash_pairs, &budget, 1));
    (void)failing_alloc_disarm(&failing);
    assert_true(smp_hash_map_reserve(&map, &smp_hash_pairs, &budget, 40));
    for (uint32_t k = 1; k <= 40; k++)
        smp_hash_pairs_put(&map, k, 0, k);
    assert_false(smp_hash_map_reserve(&map, &smp_hash_pairs, &budget, 1));
    for (uint32_t k = 1; k <= 40; k++)
        assert_int_equal(smp_hash_pairs_find(&map, k, 0), k);
    smp_hash_map_fini(&map, &smp_hash_pairs, &budget);
}

static void test_an_index_holds_three_quarters_of_its_slots(void **state)
{
    struct smp_memory_budget budget = { .max_bytes = 64 * sizeof(struct smp_hash_id) };
    struct smp_hash_map map = { 0 };

    (void)state;
    assert_true(smp_hash_map_reserve(&map, &smp_hash_ids, &budget, 48));
    for (uint32_t id = 1; id <= 48; id++)
        smp_hash_ids_put(&map, id, id);
    assert_false(smp_hash_map_reserve(&map, &smp_hash_ids, &budget, 1));
    for (uint32_t id = 1; id <= 48; id++) {
        size_t step = 0;
        assert_int_equal(smp_hash_ids_next(&map, id, &step), id);
    }
    smp_hash_map_fini(&map, &smp_hash_ids, &budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pair_is_found),
        cmocka_unit_test(test_key_and_number_zero),
        cmocka_unit_test(test_all_ids_of_a_hash_are_found),
        cmocka_unit_test(test_ids_are_removed),
        cmocka_unit_test(test_random_pairs_against_a_list),
        cmocka_unit_test(test_slots_can_belong_to_the_caller),
        cmocka_unit_test(test_scattered_keys_are_found),
        cmocka_unit_test(test_hashes_of_short_texts_differ),
        cmocka_unit_test(test_a_map_that_may_not_grow_stays_as_it_was),
        cmocka_unit_test(test_an_index_holds_three_quarters_of_its_slots),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
