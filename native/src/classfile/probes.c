/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/probes.h"

#include "classfile/class_file.h"
#include "classfile/opcodes.h"

enum { MOST_ICONST = 5, MOST_BIPUSH = 127, MOST_SIPUSH = 32767 };

/* What each constant of the pool is, from its first index on. */
enum {
    HOOK_NAME,
    HOOK_CLASS,
    HOOK_DESCRIPTOR,
    THROWABLE_NAME,
    THROWABLE_CLASS,
    STACK_MAP_NAME,
    HOOK_CALLS,
    CALL_CONSTANTS = 3, /* of one method of the hook: name, name and type, method */
    PAIR_CONSTANTS = 2 * CALL_CONSTANTS,
    HAND_CONSTANTS = CALL_CONSTANTS + 1, /* a descriptor of its own; of caught as well */
    MOST_CONSTANT_BYTES = 5              /* without a text */
};

#define HAND_DESCRIPTOR "(Ljava/lang/Object;Ljava/lang/Object;)V"
#define CAUGHT_DESCRIPTOR "(Ljava/lang/Object;I)V"

bool smp_probe_pool_init(struct smp_probe_pool *pool, const struct smp_probe_hook *hook,
                         uint32_t pool_count, struct smp_probe_needs needs)
{
    const uint32_t calls = pool_count + HOOK_CALLS;
    const uint32_t hands = calls + (needs.roots ? 2u : 1u) * PAIR_CONSTANTS;
    const uint32_t caught = hands + (needs.hands ? HAND_CONSTANTS : 0u);
    const uint32_t end = caught + (needs.catches ? HAND_CONSTANTS : 0u);

    *pool = (struct smp_probe_pool){ .hook = hook,
                                     .first = pool_count,
                                     .roots = needs.roots ? calls + PAIR_CONSTANTS : 0,
                                     .hands = needs.hands ? hands : 0,
                                     .caught = needs.catches ? caught : 0,
                                     .numbers = end,
                                     .end = end };
    return end <= SMP_CLASS_MAX_POOL;
}

bool smp_probe_is_number(int32_t id)
{
    return id > MOST_SIPUSH;
}

static uint32_t make_push(struct smp_probe_pool *pool, int32_t id, uint8_t *out)
{
    if (id <= MOST_ICONST) {
        out[0] = (uint8_t)(SMP_OP_ICONST_0 + id);
        return 1;
    }
    if (id <= MOST_BIPUSH) {
        out[0] = SMP_OP_BIPUSH;
        out[1] = (uint8_t)id;
        return 2;
    }
    out[0] = smp_probe_is_number(id) ? SMP_OP_LDC_W : SMP_OP_SIPUSH;
    smp_byte_writer_set_u2(out + 1, smp_probe_is_number(id) ? pool->end++ : (uint32_t)id);
    return 3;
}

static void make_call(uint8_t *out, uint32_t method)
{
    out[0] = SMP_OP_INVOKESTATIC;
    smp_byte_writer_set_u2(out + 1, method);
}

bool smp_probe_make(struct smp_probe_pool *pool, int32_t id, bool is_root, struct smp_probe *out)
{
    const uint32_t pair = is_root ? pool->roots : pool->first + HOOK_CALLS;

    if (smp_probe_is_number(id) && pool->end >= SMP_CLASS_MAX_POOL)
        return false;
    const uint32_t push = make_push(pool, id, out->enter);
    memcpy(out->exit, out->enter, push);
    make_call(out->enter + push, pair + CALL_CONSTANTS - 1);
    make_call(out->exit + push, pair + PAIR_CONSTANTS - 1);
    out->enter_length = push + 3;
    out->exit_length = push + 3;
    return true;
}

void smp_probe_add_hands(const struct smp_probe_pool *pool, enum smp_probe_hands hands,
                         struct smp_probe *out)
{
    uint8_t *const at = out->enter + out->enter_length;

    if (hands == SMP_HANDS_NOTHING)
        return;
    at[0] = SMP_OP_ALOAD_0;
    at[1] = hands == SMP_HANDS_THIS ? SMP_OP_ACONST_NULL : SMP_OP_ALOAD_1;
    make_call(at + 2, pool->hands + HAND_CONSTANTS - 1);
    out->enter_length += SMP_PROBE_HAND_BYTES;
}

void smp_probe_add_caught(const struct smp_probe_pool *pool, struct smp_probe *out)
{
    const uint32_t push = out->exit_length - 3;

    memcpy(out->caught + 1, out->exit, push);
    make_call(out->caught + 1 + push, pool->caught + HAND_CONSTANTS - 1);
    out->caught_length = out->exit_length + 1;
}

void smp_probe_caught_write(const struct smp_probe *probe, bool has_exception,
                            struct smp_byte_writer *writer)
{
    smp_byte_writer_u1(writer, has_exception ? SMP_OP_DUP : SMP_OP_ACONST_NULL);
    smp_byte_writer_put(writer, probe->caught + 1, probe->caught_length - 1);
}

static void write_text(struct smp_byte_writer *writer, const char *text)
{
    const size_t length = strlen(text);

    smp_byte_writer_u1(writer, SMP_CONSTANT_UTF8);
    smp_byte_writer_u2(writer, (uint32_t)length);
    smp_byte_writer_put(writer, text, length);
}

static void write_class(struct smp_byte_writer *writer, uint32_t name)
{
    smp_byte_writer_u1(writer, SMP_CONSTANT_CLASS);
    smp_byte_writer_u2(writer, name);
}

static void write_pair(struct smp_byte_writer *writer, uint8_t tag, uint32_t a, uint32_t b)
{
    smp_byte_writer_u1(writer, tag);
    smp_byte_writer_u2(writer, a);
    smp_byte_writer_u2(writer, b);
}

/* at: the index of the first of its constants. */
static void write_hook_method(const struct smp_probe_pool *pool, struct smp_byte_writer *writer,
                              uint32_t at, const char *name, uint32_t descriptor)
{
    write_text(writer, name);
    write_pair(writer, SMP_CONSTANT_NAME_AND_TYPE, at, descriptor);
    write_pair(writer, SMP_CONSTANT_METHOD, pool->first + HOOK_CLASS, at + 1);
}

void smp_probe_pool_write(const struct smp_probe_pool *pool, struct smp_byte_writer *writer)
{
    const uint32_t calls = pool->first + HOOK_CALLS;
    const uint32_t descriptor = pool->first + HOOK_DESCRIPTOR;

    write_text(writer, pool->hook->class_name);
    write_class(writer, pool->first + HOOK_NAME);
    write_text(writer, "(I)V");
    write_text(writer, "java/lang/Throwable");
    write_class(writer, pool->first + THROWABLE_NAME);
    write_text(writer, "StackMapTable");
    write_hook_method(pool, writer, calls, pool->hook->enter, descriptor);
    write_hook_method(pool, writer, calls + CALL_CONSTANTS, pool->hook->exit, descriptor);
    if (pool->roots != 0) {
        write_hook_method(pool, writer, pool->roots, pool->hook->enter_root, descriptor);
        write_hook_method(pool, writer, pool->roots + CALL_CONSTANTS, pool->hook->exit_root,
                          descriptor);
    }
    if (pool->hands != 0) {
        write_text(writer, HAND_DESCRIPTOR);
        write_hook_method(pool, writer, pool->hands + 1, pool->hook->reflected, pool->hands);
    }
    if (pool->caught != 0) {
        write_text(writer, CAUGHT_DESCRIPTOR);
        write_hook_method(pool, writer, pool->caught + 1, pool->hook->caught, pool->caught);
    }
}

size_t smp_probe_pool_bytes(const struct smp_probe_pool *pool)
{
    const struct smp_probe_hook *hook = pool->hook;
    const char *const texts[] = { hook->class_name, hook->enter,     hook->exit,
                                  hook->enter_root, hook->exit_root, hook->reflected,
                                  hook->caught,     "(I)V",          "java/lang/Throwable",
                                  "StackMapTable",  HAND_DESCRIPTOR, CAUGHT_DESCRIPTOR };
    size_t bytes = (size_t)(pool->end - pool->first) * MOST_CONSTANT_BYTES;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        bytes += strlen(texts[i]);
    return bytes;
}

void smp_probe_number_write(int32_t id, struct smp_byte_writer *writer)
{
    smp_byte_writer_u1(writer, SMP_CONSTANT_INTEGER);
    smp_byte_writer_u4(writer, (uint32_t)id);
}

uint32_t smp_probe_pool_throwable(const struct smp_probe_pool *pool)
{
    return pool->first + THROWABLE_CLASS;
}

uint32_t smp_probe_pool_stack_map(const struct smp_probe_pool *pool)
{
    return pool->first + STACK_MAP_NAME;
}
