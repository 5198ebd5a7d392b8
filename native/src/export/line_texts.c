/* SPDX-License-Identifier: Apache-2.0 */
#include "export/line_texts.h"

#include <string.h>

#include "base/sort.h"
#include "model/escape.h"

#define NO_PACKAGE "[no package]"

/* Replaces each ';' of the text that starts at from with its escape, in the style of escape.h. */
static void escape_separators(struct smp_bytes *bytes, size_t from)
{
    static const char escape[] = "\\u003b";
    const size_t length = sizeof(escape) - 1;
    size_t at = bytes->length; /* the text before it has not moved yet */

    for (size_t i = from; i < at; i++) {
        if (bytes->data[i] == ';')
            smp_bytes_put(bytes, escape, length - 1); /* extends the text */
    }
    if (bytes->status != SMP_OK)
        return;
    for (size_t end = bytes->length; end > at;) {
        const char byte = bytes->data[--at];
        const size_t size = byte == ';' ? length : 1;
        end -= size;
        memcpy(bytes->data + end, byte == ';' ? escape : &byte, size);
    }
}

/* Finishes a text that starts at from: escapes each ';' in it and appends a ';'. */
static void end_text(struct smp_bytes *bytes, size_t from)
{
    escape_separators(bytes, from);
    smp_bytes_put(bytes, ";", 1);
}

/* The text begins with the class name. Escapes contain no dot, so the first dots of the text are
 * those of the class name. */
static void slash_class(struct smp_bytes *bytes, size_t from, const char *class_name)
{
    size_t dots = 0;

    for (const char *at = class_name; *at != '\0'; at++)
        dots += *at == '.' ? 1 : 0;
    for (size_t i = from; i < bytes->length && dots > 0; i++) {
        if (bytes->data[i] == '.') {
            bytes->data[i] = '/';
            dots--;
        }
    }
}

/* Cuts "com.acme.Order$Line" to "com.acme". */
static void keep_package(struct smp_bytes *bytes, size_t from)
{
    if (bytes->status != SMP_OK)
        return;
    const char *const name = smp_bytes_text(bytes) + from;
    const char *const last = strrchr(name, '.');

    smp_bytes_truncate(bytes, from + (last == NULL ? 0 : (size_t)(last - name)));
    if (last == NULL)
        smp_bytes_puts(bytes, NO_PACKAGE);
}

static void put_frame(struct smp_bytes *bytes, struct smp_line_form form,
                      const struct smp_location_view *view)
{
    const size_t from = bytes->length;

    if (view->is_pseudo || form.unit == SMP_LINE_FRAME)
        smp_location_frame_text(view, bytes);
    else if (form.unit == SMP_LINE_METHOD)
        smp_location_method_text(view, bytes);
    else
        smp_escape_put(bytes, view->class_name);
    if (!view->is_pseudo && form.unit == SMP_LINE_PACKAGE)
        keep_package(bytes, from);
    if (!view->is_pseudo && form.slashes)
        slash_class(bytes, from, view->class_name);
    if (!view->is_pseudo && form.types)
        smp_bytes_puts(bytes, "_[j]");
}

/* The locations and their names. */
struct line_names {
    const struct smp_methods *methods;
    const struct smp_overloads *overloads; /* NULL: names without parameters */
    const uint32_t *locations;             /* NULL: location n has number n */
};

static enum smp_status make_line_texts(struct smp_line_texts *texts, struct smp_line_form form,
                                       struct smp_quota *quota, const struct line_names *names,
                                       uint32_t count)
{
    enum smp_status status = SMP_ENOMEM;

    smp_bytes_init(&texts->bytes, quota, SMP_MAX_LINE_TEXTS_BYTES);
    texts->starts = smp_alloc(quota, ((size_t)count + 1) * sizeof(*texts->starts));
    if (texts->starts == NULL)
        goto done;
    for (uint32_t i = 0; i < count; i++) {
        struct smp_location_view view;
        texts->starts[i] = texts->bytes.length;
        smp_overloads_view(names->overloads, names->methods,
                           names->locations == NULL ? i : names->locations[i], &view);
        put_frame(&texts->bytes, form, &view);
        if (form.is_plain)
            smp_bytes_put(&texts->bytes, "", 1);
        else
            end_text(&texts->bytes, texts->starts[i]);
    }
    texts->starts[count] = texts->bytes.length;
    status = texts->bytes.status;
done:
    if (status != SMP_OK)
        smp_line_texts_fini(texts);
    return status;
}

enum smp_status smp_line_texts_init(struct smp_line_texts *texts, struct smp_quota *quota,
                                    const struct smp_methods *methods, uint32_t count)
{
    const struct line_names names = { .methods = methods };

    return make_line_texts(texts, (struct smp_line_form){ 0 }, quota, &names, count);
}

enum smp_status smp_line_texts_init_as(struct smp_line_texts *texts, struct smp_line_form form,
                                       struct smp_quota *quota, const struct smp_profile *profile,
                                       const uint32_t *locations, uint32_t count)
{
    const struct line_names names = { .methods = profile->methods,
                                      .overloads = &profile->overloads,
                                      .locations = locations };

    return make_line_texts(texts, form, quota, &names, count);
}

void smp_line_texts_fini(struct smp_line_texts *texts)
{
    smp_free(texts->bytes.quota, texts->starts);
    smp_bytes_fini(&texts->bytes);
    *texts = (struct smp_line_texts){ 0 };
}

int smp_line_texts_compare(const struct smp_line_texts *texts, uint32_t a, uint32_t b)
{
    const size_t left = smp_line_text_length(texts, a);
    const size_t right = smp_line_text_length(texts, b);
    const int order =
        memcmp(smp_line_text(texts, a), smp_line_text(texts, b), left < right ? left : right);

    return order != 0 ? order : (left > right) - (left < right);
}

static bool is_text_before(const void *context, uint32_t a, uint32_t b)
{
    return smp_line_texts_compare(context, a, b) < 0;
}

uint32_t smp_line_texts_number(const struct smp_line_texts *texts, uint32_t count,
                               uint32_t *numbers, uint32_t *order)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    smp_sort(order, order + count, count, is_text_before, texts);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t text = order[i];
        if (next == 0 || smp_line_texts_compare(texts, order[next - 1], text) != 0)
            order[next++] = text;
        numbers[text] = next - 1;
    }
    return next;
}

void smp_stack_line_init(struct smp_stack_line *line, struct smp_quota *quota)
{
    *line = (struct smp_stack_line){ 0 };
    smp_bytes_init(&line->text, quota, SMP_MAX_LINE_TEXTS_BYTES);
}

void smp_stack_line_fini(struct smp_stack_line *line)
{
    smp_bytes_fini(&line->text);
}

void smp_stack_line_begin(struct smp_stack_line *line, const char *group)
{
    smp_bytes_clear(&line->text);
    smp_escape_put(&line->text, group);
    end_text(&line->text, 0);
    line->depth = 0;
}

void smp_stack_line_put(struct smp_stack_line *line, size_t depth,
                        const struct smp_line_texts *texts, uint32_t number)
{
    struct smp_bytes *const text = &line->text;
    size_t length = text->length;

    /* The last frame begins after the last ';' but one. */
    for (; line->depth >= depth; line->depth--) {
        const char *const end = memrchr(text->data, ';', length - 1);
        length = (size_t)(end - text->data) + 1;
    }
    smp_bytes_truncate(text, length);
    smp_bytes_put(text, smp_line_text(texts, number), smp_line_text_length(texts, number) + 1);
    line->depth = depth;
}
