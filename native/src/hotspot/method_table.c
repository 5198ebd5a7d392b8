/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/method_table.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "base/safe_read.h"
#include "hotspot/frame_cache_entry.h"
#include "hotspot/memory.h"

enum {
    ENTRY_BYTES = 32,
    ALIGNMENT = 4096, /* memory is returned to the system in pages */
    HALF_BITS = 32,
    /* One word says where the byte codes are: address, flag, length. */
    LENGTH_BITS = 16,
    ADDRESS_BITS = 48,
    NATIVE = 1 /* the addresses are aligned to words */
};

/*
 * Entries are read as those of frame_cache_entry.h. Each writing uses a new sequence number, also
 * after the table was emptied, because a reader may have been interrupted for that long.
 */
enum table_word { TABLE_SEQUENCE, TABLE_METHOD, TABLE_ID, TABLE_CODE, TABLE_WORDS };

struct table_entry {
    _Alignas(ENTRY_BYTES) _Atomic uint64_t words[TABLE_WORDS];
};

/* Zeros at first, so that only the used pages become real. */
static struct {
    _Alignas(ALIGNMENT) struct table_entry entries[SMP_METHOD_TABLE_ENTRIES];
    atomic_flag is_written;
    /* Used by the thread that writes. */
    size_t turn;
    uint64_t sequence; /* of the last writing */

    _Atomic int kind; /* enum id_kind */
} table;

enum id_kind { NOT_SEEN, POINTERS, OTHERS };

/* The layout may belong to an older JVM than the ids. So the first id that an event brings is read
 * safely, and the result is used for all others. */
static bool is_pointer_id(uint64_t id)
{
    uintptr_t word = 0;
    int kind = atomic_load_explicit(&table.kind, memory_order_relaxed);

    if (id == 0)
        return false;
    if (kind == NOT_SEEN) {
        kind = id % sizeof(word) == 0 && smp_safe_read(&word, (uintptr_t)id, sizeof(word))
                   ? POINTERS
                   : OTHERS;
        atomic_store_explicit(&table.kind, kind, memory_order_relaxed);
    }
    return kind == POINTERS && id % sizeof(word) == 0;
}

static uint64_t load_word(const struct table_entry *entry, enum table_word word)
{
    return atomic_load_explicit(&entry->words[word], memory_order_relaxed);
}

/* Returns the pair of entries, one of which may be the method's. */
static struct table_entry *pair_of_method(uintptr_t method)
{
    const uint64_t mixed = (method >> 3) * 0xd6e8feb86659fd93U;

    return &table.entries[(size_t)(mixed >> HALF_BITS) & (SMP_METHOD_TABLE_ENTRIES - 2)];
}

/* The id's word is never freed (see the header). An entry that was emptied while it was written may
 * have zeros. */
static bool is_alive(uint64_t id, uintptr_t method)
{
    return id != 0 && method != 0 && smp_load_word((uintptr_t)id) == method;
}

/* The id may be dereferenced only if the words come from one writing. */
static bool read_table_entry(const struct table_entry *entry, uintptr_t method,
                             struct smp_known_method *out)
{
    uint64_t words[TABLE_WORDS];

    if (!smp_entry_copy(entry->words, method, words, TABLE_WORDS) ||
        !is_alive(words[TABLE_ID], method))
        return false;
    const uint64_t code = words[TABLE_CODE];
    *out = (struct smp_known_method){
        .id = words[TABLE_ID],
        .const_method = (uintptr_t)(code >> LENGTH_BITS) & ~(sizeof(uintptr_t) - 1),
        .code_bytes = (uint16_t)code,
        .is_native = (code >> LENGTH_BITS & NATIVE) != 0,
    };
    return true;
}

bool smp_method_table_find(uintptr_t method, struct smp_known_method *out)
{
    const struct table_entry *pair = pair_of_method(method);

    for (size_t i = 0; i < 2; i++) {
        if (read_table_entry(&pair[i], method, out))
            return true;
    }
    return false;
}

/* Returns 0 if the byte codes are not known, or the address does not fit. */
static uint64_t code_word(const struct smp_known_method *known)
{
    const uintptr_t address = known->const_method;

    if (address == 0 || address >> ADDRESS_BITS != 0 || address % sizeof(address) != 0)
        return 0;
    return (uint64_t)(address | (known->is_native ? NATIVE : 0)) << LENGTH_BITS | known->code_bytes;
}

/* Returns this method's entry, else one that was never used, else NULL. Called by the thread that
 * writes. */
static struct table_entry *find_room(struct table_entry *pair, uintptr_t method)
{
    for (size_t i = 0; i < 2; i++) {
        if (load_word(&pair[i], TABLE_METHOD) == method)
            return &pair[i];
    }
    for (size_t i = 0; i < 2; i++) {
        if (load_word(&pair[i], TABLE_SEQUENCE) == 0)
            return &pair[i];
    }
    return NULL;
}

/* Returns which of two entries of other methods to replace: the one of a dead method, else each in
 * turn. */
static struct table_entry *choose_entry(struct table_entry *pair)
{
    for (size_t i = 0; i < 2; i++) {
        if (!is_alive(load_word(&pair[i], TABLE_ID), load_word(&pair[i], TABLE_METHOD)))
            return &pair[i];
    }
    return &pair[table.turn++ & 1];
}

static void write_table_entry(struct table_entry *entry, uintptr_t method, uint64_t id,
                              uint64_t code)
{
    const uint64_t sequence = table.sequence + 2;

    table.sequence = sequence;
    atomic_store_explicit(&entry->words[TABLE_SEQUENCE], sequence - 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&entry->words[TABLE_METHOD], method, memory_order_relaxed);
    atomic_store_explicit(&entry->words[TABLE_ID], id, memory_order_relaxed);
    atomic_store_explicit(&entry->words[TABLE_CODE], code, memory_order_relaxed);
    atomic_store_explicit(&entry->words[TABLE_SEQUENCE], sequence, memory_order_release);
}

static void keep(uintptr_t method, uint64_t id, uint64_t code, bool replaces)
{
    struct table_entry *const pair = pair_of_method(method);
    struct table_entry *entry = NULL;

    if (method == 0 || atomic_flag_test_and_set_explicit(&table.is_written, memory_order_acquire))
        return;
    entry = find_room(pair, method);
    if (entry == NULL && replaces)
        entry = choose_entry(pair);
    if (entry != NULL) {
        const bool is_same =
            load_word(entry, TABLE_METHOD) == method && load_word(entry, TABLE_ID) == id;
        if (!is_same || (code != 0 && code != load_word(entry, TABLE_CODE)))
            write_table_entry(entry, method, id, code);
    }
    atomic_flag_clear_explicit(&table.is_written, memory_order_release);
}

void smp_method_table_put(uintptr_t method, const struct smp_known_method *known)
{
    keep(method, known->id, code_word(known), true);
}

void smp_method_table_offer(uint64_t id)
{
    if (is_pointer_id(id))
        keep(smp_load_word((uintptr_t)id), id, 0, false);
}

void smp_method_table_add(uint64_t id)
{
    if (is_pointer_id(id))
        keep(smp_load_word((uintptr_t)id), id, 0, true);
}

/* Replaces the pages by pages of zeros. If that fails, writes zeros. */
void smp_method_table_empty(void)
{
    if (madvise(table.entries, sizeof(table.entries), MADV_DONTNEED) != 0)
        memset(table.entries, 0, sizeof(table.entries));
    atomic_store_explicit(&table.kind, NOT_SEEN, memory_order_relaxed);
}
