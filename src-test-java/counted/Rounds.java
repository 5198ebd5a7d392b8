// SPDX-License-Identifier: Apache-2.0
package counted;

import java.io.IOException;

/** Calls {@link #round} repeatedly until its standard input ends. */
public final class Rounds {

    private static final int STEPS = 3;
    private static volatile long steps;

    private Rounds() {}

    /** Runs the program. */
    public static void main(String[] arguments) throws IOException {
        Thread worker = new Thread(Rounds::work, "rounds");
        worker.setDaemon(true);
        worker.start();
        System.out.println("ready");
        while (System.in.read() >= 0) {
            // until the input ends
        }
    }

    private static void work() {
        while (true) {
            for (int i = 0; i < 100; i++) {
                round();
            }
            pause();
        }
    }

    private static void pause() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void round() {
        for (int i = 0; i < STEPS; i++) {
            step();
        }
    }

    private static void step() {
        steps++;
    }
}
