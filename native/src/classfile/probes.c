/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/probes.h"

#include <string.h>

#include "classfile/class_file.h"
#include "classfile/opcodes.h"

enum { MOST_ICONST = 5, MOST_BIPUSH = 127, MOST_SIPUSH = 32767, CALL_BYTES = 3 };

/* --- constants --- */

static uint32_t add_utf8(struct smp_probe_pool *pool, struct smp_bytes *out, const char *text)
{
    smp_class_put_u1(out, SMP_CONSTANT_UTF8);
    smp_class_put_u2(out, (uint32_t)strlen(text));
    smp_bytes_puts(out, text);
    return pool->end++;
}

static uint32_t add_class(struct smp_probe_pool *pool, struct smp_bytes *out, const char *name)
{
    const uint32_t text = add_utf8(pool, out, name);

    smp_class_put_u1(out, SMP_CONSTANT_CLASS);
    smp_class_put_u2(out, text);
    return pool->end++;
}

static uint32_t add_pair(struct smp_probe_pool *pool, struct smp_bytes *out, uint8_t tag,
                         uint32_t first, uint32_t second)
{
    smp_class_put_u1(out, tag);
    smp_class_put_u2(out, first);
    smp_class_put_u2(out, second);
    return pool->end++;
}

static uint32_t add_hook_method(struct smp_probe_pool *pool, struct smp_bytes *out,
                                const char *name, uint32_t descriptor)
{
    const uint32_t text = add_utf8(pool, out, name);
    const uint32_t pair = add_pair(pool, out, SMP_CONSTANT_NAME_AND_TYPE, text, descriptor);

    return add_pair(pool, out, SMP_CONSTANT_METHOD, pool->hook, pair);
}

void smp_probe_pool_write(struct smp_probe_pool *pool, const struct smp_probe_hook *hook,
                          struct smp_probe_needs needs, struct smp_bytes *out)
{
    pool->hook = add_class(pool, out, hook->class_name);
    const uint32_t of_id = add_utf8(pool, out, "(I)V");
    pool->throwable = add_class(pool, out, "java/lang/Throwable");
    pool->stack_map = add_utf8(pool, out, "StackMapTable");
    pool->enter = add_hook_method(pool, out, hook->enter, of_id);
    pool->exit = add_hook_method(pool, out, hook->exit, of_id);
    if (needs.roots) {
        pool->enter_root = add_hook_method(pool, out, hook->enter_root, of_id);
        pool->exit_root = add_hook_method(pool, out, hook->exit_root, of_id);
    }
    if (needs.hands) {
        const uint32_t of_two = add_utf8(pool, out, "(Ljava/lang/Object;Ljava/lang/Object;)V");
        pool->reflected = add_hook_method(pool, out, hook->reflected, of_two);
    }
    if (needs.catches) {
        const uint32_t of_both = add_utf8(pool, out, "(Ljava/lang/Object;I)V");
        pool->caught = add_hook_method(pool, out, hook->caught, of_both);
    }
    pool->number = pool->end;
}

void smp_probe_number_write(struct smp_probe_pool *pool, int32_t id, struct smp_bytes *out)
{
    if (id <= MOST_SIPUSH || pool->end >= SMP_CLASS_MAX_POOL)
        return;
    smp_class_put_u1(out, SMP_CONSTANT_INTEGER);
    smp_class_put_u4(out, (uint32_t)id);
    pool->end++;
}

/* --- probes --- */

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
    out[0] = id <= MOST_SIPUSH ? SMP_OP_SIPUSH : SMP_OP_LDC_W;
    smp_class_set_u2(out + 1, id <= MOST_SIPUSH ? (uint32_t)id : pool->number++);
    return 3;
}

bool smp_probe_make(struct smp_probe_pool *pool, int32_t id, bool is_root,
                    enum smp_probe_hands hands, struct smp_probe *out)
{
    *out = (struct smp_probe){ .enter = is_root ? pool->enter_root : pool->enter,
                               .exit = is_root ? pool->exit_root : pool->exit,
                               .caught = pool->caught,
                               .reflected = pool->reflected,
                               .hands = hands };
    if (pool->end > SMP_CLASS_MAX_POOL || (id > MOST_SIPUSH && pool->number == pool->end))
        return false;
    if (id >= 0)
        out->push_length = make_push(pool, id, out->push);
    return true;
}

static void write_call(struct smp_bytes *out, const uint8_t *push, uint32_t push_length,
                       uint32_t method)
{
    smp_class_put(out, push, push_length);
    smp_class_put_u1(out, SMP_OP_INVOKESTATIC);
    smp_class_put_u2(out, method);
}

void smp_probe_enter_write(const struct smp_probe *probe, struct smp_bytes *out)
{
    const uint8_t handed[] = { SMP_OP_ALOAD_0, probe->hands == SMP_HANDS_THIS ? SMP_OP_ACONST_NULL
                                                                              : SMP_OP_ALOAD_1 };

    if (probe->push_length > 0)
        write_call(out, probe->push, probe->push_length, probe->enter);
    if (probe->hands != SMP_HANDS_NOTHING)
        write_call(out, handed, sizeof(handed), probe->reflected);
}

void smp_probe_exit_write(const struct smp_probe *probe, struct smp_bytes *out)
{
    if (probe->push_length > 0)
        write_call(out, probe->push, probe->push_length, probe->exit);
}

void smp_probe_caught_write(const struct smp_probe *probe, bool has_exception,
                            struct smp_bytes *out)
{
    smp_class_put_u1(out, has_exception ? SMP_OP_DUP : SMP_OP_ACONST_NULL);
    write_call(out, probe->push, probe->push_length, probe->caught);
}

uint32_t smp_probe_caught_length(const struct smp_probe *probe)
{
    return 1 + probe->push_length + CALL_BYTES;
}
