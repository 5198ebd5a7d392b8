// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Hands values to setters, which check them.
 *
 * <p>Errors: what a setter refuses is an {@link IllegalArgumentException} that begins with the property's name.
 *
 * @param group what stands between {@code threads-sampler.} and the name, with a dot at its end, or an empty text
 */
record Setting(String group) {

    private static final int NANOS_PER_MILLI = 1_000_000;

    <T> void set(String name, T value, Consumer<? super T> setter) {
        try {
            setter.accept(value);
        } catch (IllegalArgumentException e) {
            throw wrong(name, String.valueOf(e.getMessage()), e);
        }
    }

    <T> void setIfPresent(String name, @Nullable T value, Consumer<? super T> setter) {
        if (value != null) {
            set(name, value, setter);
        }
    }

    void setMillis(String name, Duration time, LongConsumer setter) {
        if (time.toNanosPart() % NANOS_PER_MILLI != 0) {
            throw wrong(name, "must be whole milliseconds, got " + time, null);
        }
        set(name, time.toMillis(), setter::accept);
    }

    void setIntMillis(String name, Duration time, IntConsumer setter) {
        setMillis(name, time, millis -> setter.accept(clamped(millis)));
    }

    void setSeconds(String name, Duration time, LongConsumer setter) {
        if (time.getNano() != 0) {
            throw wrong(name, "must be whole seconds, got " + time, null);
        }
        set(name, time.getSeconds(), setter::accept);
    }

    void setIntSeconds(String name, Duration time, IntConsumer setter) {
        setSeconds(name, time, seconds -> setter.accept(clamped(seconds)));
    }

    /* A number that is too large for the setter's type is out of its range as well. */
    private static int clamped(long value) {
        return (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, value));
    }

    private IllegalArgumentException wrong(String name, String problem, @Nullable Exception cause) {
        return new IllegalArgumentException(
                ThreadsSamplerProperties.PREFIX + "." + group + name + ": " + problem, cause);
    }
}
