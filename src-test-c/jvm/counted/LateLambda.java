// SPDX-License-Identifier: Apache-2.0
package counted;

import java.util.function.IntUnaryOperator;

/** Not loaded before it is used. */
final class LateLambda {

    private LateLambda() {}

    static IntUnaryOperator make() {
        return n -> {
            Tally.hit("counted.LateLambda.lambda");
            return n - 1;
        };
    }
}
