// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Boot's shutdown hook, which closes contexts when the JVM exits.
 *
 * <p>Threads: any.
 */
final class ShutdownHook {

    private ShutdownHook() {}

    /**
     * {@return true if Boot closes a context at the exit; false also if it is not known} Boot does not with
     * {@code spring.main.register-shutdown-hook=false}, in an application server, or in most tests. There is no public
     * API for this.
     */
    static boolean closes(ApplicationContext context) {
        try {
            Field field = SpringApplication.class.getDeclaredField("shutdownHook");
            field.setAccessible(true);
            Object hook = field.get(null);
            Method asks = hook.getClass()
                    .getDeclaredMethod("isApplicationContextRegistered", ConfigurableApplicationContext.class);
            asks.setAccessible(true);
            return context instanceof ConfigurableApplicationContext && (boolean) asks.invoke(hook, context);
        } catch (ReflectiveOperationException | RuntimeException unknown) {
            return false;
        }
    }
}
