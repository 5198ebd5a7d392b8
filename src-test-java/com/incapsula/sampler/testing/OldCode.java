// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

/** Code that class files without stack maps could have: the class is defined with such a version. */
public final class OldCode {

    private final int value;

    private OldCode(int value) {
        super();
        if (value < 0) {
            throw new IllegalArgumentException();
        }
        this.value = value;
    }

    /** @return a result that must not change */
    public static String run() {
        StringBuilder out = new StringBuilder();
        for (int i = -2; i < 4; i++) {
            try {
                out.append(new OldCode(i).value);
                out.append(choose(i));
            } catch (RuntimeException e) {
                out.append('!');
            } finally {
                out.append(';');
            }
        }
        return out.toString();
    }

    static int choose(int n) {
        switch (n) {
            case 0:
                return 10;
            case 1:
                return 20;
            case 1000:
                return 30;
            default:
                break;
        }
        if (n > 2) {
            throw new IllegalStateException();
        }
        do {
            n += 3;
        } while (n < 50);
        return n;
    }
}
