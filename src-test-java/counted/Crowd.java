// SPDX-License-Identifier: Apache-2.0
package counted;

/** More methods than are counted. Each is called twice as often as the previous one, and calls the busiest one. */
public final class Crowd {

    /** The number of numbered methods, which are counted from 1. */
    public static final int METHODS = 12;

    private static int sink;

    private Crowd() {}

    /** @return how often a call of the root calls the method with this number */
    public static int callsOf(int number) {
        return 1 << number - 1;
    }

    /** The root method. */
    public static void root() {
        for (int i = 0; i < 1; i++) {
            m1();
        }
        for (int i = 0; i < 2; i++) {
            m2();
        }
        for (int i = 0; i < 4; i++) {
            m3();
        }
        for (int i = 0; i < 8; i++) {
            m4();
        }
        for (int i = 0; i < 16; i++) {
            m5();
        }
        for (int i = 0; i < 32; i++) {
            m6();
        }
        for (int i = 0; i < 64; i++) {
            m7();
        }
        for (int i = 0; i < 128; i++) {
            m8();
        }
        for (int i = 0; i < 256; i++) {
            m9();
        }
        for (int i = 0; i < 512; i++) {
            m10();
        }
        for (int i = 0; i < 1024; i++) {
            m11();
        }
        for (int i = 0; i < 2048; i++) {
            m12();
        }
    }

    private static void m1() {
        sink += 1;
        busiest();
    }

    private static void m2() {
        sink += 2;
        busiest();
    }

    private static void m3() {
        sink += 3;
        busiest();
    }

    private static void m4() {
        sink += 4;
        busiest();
    }

    private static void m5() {
        sink += 5;
        busiest();
    }

    private static void m6() {
        sink += 6;
        busiest();
    }

    private static void m7() {
        sink += 7;
        busiest();
    }

    private static void m8() {
        sink += 8;
        busiest();
    }

    private static void m9() {
        sink += 9;
        busiest();
    }

    private static void m10() {
        sink += 10;
        busiest();
    }

    private static void m11() {
        sink += 11;
        busiest();
    }

    private static void m12() {
        sink += 12;
        busiest();
    }

    private static void busiest() {
        sink ^= 31;
        sink <<= 1;
    }
}
