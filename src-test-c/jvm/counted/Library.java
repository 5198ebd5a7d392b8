// SPDX-License-Identifier: Apache-2.0
package counted;

import java.lang.reflect.Method;

/** What the filter excludes: its calls are not looked at. */
final class Library {

    private Library() {}

    static int call(Method method, Object receiver, int n) {
        try {
            return (Integer) method.invoke(receiver, n);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
