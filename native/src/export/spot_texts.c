/* SPDX-License-Identifier: Apache-2.0 */
#include "export/spot_texts.h"

#include <inttypes.h>
#include <string.h>

#include "export/cells.h"
#include "export/hot_groups.h"
#include "model/escape.h"

enum {
    PLACE_WIDTH = 60, /* the most for a place, unless file and line alone are longer */
    MOST_PLACE = 92,  /* the most in that case */
    LOCK_WIDTH = 6    /* the least for a lock's class */
};

static const char *without_package(const char *class_name)
{
    const char *const dot = strrchr(class_name, '.');

    return dot == NULL || class_name[0] == '[' ? class_name : dot + 1;
}

/* "StockLedger.audit" */
static void put_short_method(struct smp_bytes *cell, const struct smp_profile *profile,
                             uint32_t location)
{
    struct smp_location_view view;

    smp_profile_view(profile, location, &view);
    smp_escape_put(cell, without_package(view.class_name));
    if (view.method_name == NULL)
        return;
    smp_bytes_puts(cell, ".");
    smp_escape_put(cell, view.method_name);
}

size_t smp_spot_text_place(struct smp_bytes *cell, const struct smp_profile *profile,
                           uint32_t location)
{
    struct smp_bytes frame;
    size_t width;

    smp_bytes_restart(cell);
    smp_profile_method_text(profile, location, cell);
    const size_t method_length = cell->length;
    smp_bytes_restart(cell);
    put_short_method(cell, profile, location);
    smp_bytes_init(&frame, cell->quota, SMP_MAX_FRAME_TEXT_BYTES);
    smp_profile_frame_text(profile, location, &frame);
    const char *const file_and_line =
        smp_bytes_text(&frame) + (frame.status == SMP_OK ? method_length : 0);
    width = smp_fitted_columns(file_and_line) + 1;
    smp_bytes_puts(cell, file_and_line);
    if (cell->status == SMP_OK)
        cell->status = frame.status;
    smp_bytes_fini(&frame);
    if (width < PLACE_WIDTH)
        return PLACE_WIDTH;
    return width < MOST_PLACE ? width : MOST_PLACE;
}

void smp_spot_text_callee(struct smp_bytes *cell, const struct smp_profile *profile,
                          const struct smp_hot_spot *spot)
{
    smp_bytes_restart(cell);
    if (spot->callee != 0)
        put_short_method(cell, profile, spot->callee);
}

static void put_group_name(struct smp_bytes *cell, const struct smp_profile *profile,
                           uint32_t index)
{
    smp_escape_put(cell, smp_hot_group_name(smp_profile_group_info(profile, index)));
}

void smp_spot_text_group(struct smp_bytes *cell, const struct smp_profile *profile,
                         const struct smp_hot_spot *spot)
{
    smp_bytes_restart(cell);
    put_group_name(cell, profile, spot->group);
    if (spot->group_count > 1)
        smp_bytes_printf(cell, " and %" PRIu32 " more", spot->group_count - 1);
}

/* Writes ", held in line 52" for the same class, ", held in Other.java:99", ", held in Other.run",
 * or the pseudo-frame of a holder: ", [readers of the lock]". */
static void put_holding(struct smp_bytes *cell, const struct smp_profile *profile,
                        const struct smp_hot_spot *spot)
{
    struct smp_location_view place;
    struct smp_location_view holding;

    smp_profile_view(profile, spot->place, &place);
    smp_profile_view(profile, spot->holding, &holding);
    smp_bytes_puts(cell, holding.is_pseudo ? ", " : ", held in ");
    const bool is_same_class = strcmp(place.class_name, holding.class_name) == 0;
    if (holding.is_pseudo || holding.line <= 0 || (!is_same_class && holding.file == NULL)) {
        put_short_method(cell, profile, spot->holding);
    } else if (is_same_class) {
        smp_bytes_printf(cell, "line %" PRId32, holding.line);
    } else {
        smp_escape_put(cell, holding.file);
        smp_bytes_printf(cell, ":%" PRId32, holding.line);
    }
}

/* Writes "lock of StockLedger" in this number of columns, but at least LOCK_WIDTH of the class. */
static void put_lock_class(struct smp_bytes *cell, const struct smp_profile *profile,
                           const struct smp_hot_spot *spot, size_t columns)
{
    const char *const label = "lock of ";
    struct smp_location_view view;
    struct smp_bytes name;

    smp_profile_view(profile, spot->lock, &view);
    smp_bytes_init(&name, cell->quota, SMP_MAX_FRAME_TEXT_BYTES);
    smp_escape_put(&name, without_package(view.class_name));
    if (view.class_name[0] != '[') {
        smp_bytes_puts(cell, label);
        columns = columns > strlen(label) ? columns - strlen(label) : 0;
    }
    smp_fitted_put_begin(cell, smp_bytes_text(&name), columns > LOCK_WIDTH ? columns : LOCK_WIDTH);
    if (cell->status == SMP_OK)
        cell->status = name.status;
    smp_bytes_fini(&name);
}

void smp_spot_text_lock(struct smp_bytes *cell, const struct smp_profile *profile,
                        const struct smp_hot_spot *spot, size_t columns)
{
    struct smp_location_view view;
    size_t held;

    smp_bytes_restart(cell);
    put_holding(cell, profile, spot);
    held = smp_fitted_columns(smp_bytes_text(cell)) + 1; /* "…" if its group is cut */
    smp_bytes_restart(cell);
    put_lock_class(cell, profile, spot, columns > held ? columns - held : 0);
    put_holding(cell, profile, spot);
    smp_profile_view(profile, spot->holding, &view);
    if (!spot->has_holder || view.is_pseudo)
        return;
    smp_bytes_puts(cell, " by ");
    put_group_name(cell, profile, spot->holder);
}
