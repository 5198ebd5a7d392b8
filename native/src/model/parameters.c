/* SPDX-License-Identifier: Apache-2.0 */
#include "model/parameters.h"

#include <string.h>

struct parameters {
    char *out;
    size_t size;
    size_t length; /* past size: it did not fit */
};

static void put_type_text(struct parameters *parameters, const char *text, size_t length)
{
    if (parameters->length + length <= parameters->size)
        memcpy(parameters->out + parameters->length, text, length);
    parameters->length += length;
}

static void put_word(struct parameters *parameters, const char *text)
{
    put_type_text(parameters, text, strlen(text));
}

static const char *primitive_name(char code)
{
    static const struct {
        char code;
        const char *name;
    } names[] = { { 'B', "byte" }, { 'C', "char" }, { 'D', "double" }, { 'F', "float" },
                  { 'I', "int" },  { 'J', "long" }, { 'S', "short" },  { 'Z', "boolean" } };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].code == code)
            return names[i].name;
    }
    return NULL;
}

/* The type at *at, which moves behind it. False: there is none. */
static bool put_type(struct parameters *parameters, const char **at)
{
    const size_t dimensions = strspn(*at, "[");
    const char *const type = *at + dimensions;

    if (*type == 'L') {
        const char *const end = strchr(type, ';');
        const char *const slash = end == NULL ? NULL : memrchr(type, '/', (size_t)(end - type));
        const char *const name = slash == NULL ? type + 1 : slash + 1;
        if (end == NULL)
            return false;
        put_type_text(parameters, name, (size_t)(end - name));
        *at = end + 1;
    } else {
        const char *const name = primitive_name(*type);
        if (name == NULL)
            return false;
        put_word(parameters, name);
        *at = type + 1;
    }
    for (size_t i = 0; i < dimensions; i++)
        put_word(parameters, "[]");
    return true;
}

bool smp_parameters_text(char *out, size_t size, const char *descriptor)
{
    struct parameters parameters = { .out = out, .size = size };
    const char *at = descriptor + 1;

    if (descriptor[0] != '(')
        return false;
    put_word(&parameters, "(");
    while (*at != ')') {
        if (at > descriptor + 1)
            put_word(&parameters, ", ");
        if (!put_type(&parameters, &at))
            return false;
    }
    put_type_text(&parameters, ")", sizeof(")")); /* with the end of the text */
    return parameters.length <= size;
}
