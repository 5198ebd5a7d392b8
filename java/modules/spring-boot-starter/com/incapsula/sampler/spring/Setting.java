// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import com.incapsula.sampler.internal.options.Values;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Passes values to setters, which check them.
 *
 * <p>Errors: if a setter refuses a value, an {@link IllegalArgumentException} begins with the property's name.
 *
 * @param group the text between {@code threads-sampler.} and the name, with a dot at its end, or an empty text
 */
record Setting(String group) {

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
        set(name, time, value -> setter.accept(Values.wholeMillis(name, value)));
    }

    void setIntMillis(String name, Duration time, IntConsumer setter) {
        setMillis(name, time, millis -> setter.accept(clamped(millis)));
    }

    void setSeconds(String name, Duration time, LongConsumer setter) {
        set(name, time, value -> setter.accept(Values.wholeSeconds(name, value)));
    }

    void setIntSeconds(String name, Duration time, IntConsumer setter) {
        setSeconds(name, time, seconds -> setter.accept(clamped(seconds)));
    }

    /* A number too large for the setter's type is out of the property's range, too. */
    private static int clamped(long value) {
        return (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, value));
    }

    private IllegalArgumentException wrong(String name, String problem, Exception cause) {
        return new IllegalArgumentException(
                ThreadsSamplerProperties.PREFIX + "." + group + name + ": " + problem, cause);
    }
}
