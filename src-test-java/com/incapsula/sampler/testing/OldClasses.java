// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.IOException;
import java.io.InputStream;

/** Defines copies of classes with the class file version of Java 5, which has no stack maps. */
final class OldClasses extends ClassLoader {

    private static final int MAJOR_AT = 7;
    private static final byte JAVA_5 = 49;

    private OldClasses() {
        super(OldClasses.class.getClassLoader());
    }

    static Class<?> define(Class<?> type) throws IOException {
        String file = type.getName().substring(type.getName().lastIndexOf('.') + 1) + ".class";
        try (InputStream in = type.getResourceAsStream(file)) {
            byte[] bytes = in.readAllBytes();
            bytes[MAJOR_AT] = JAVA_5;
            return new OldClasses().defineClass(type.getName(), bytes, 0, bytes.length);
        }
    }
}
