// SPDX-License-Identifier: Apache-2.0
package counted;

import java.util.Map;

/** Counts calls while another agent changes the same classes. Argument: the library. */
public final class BesideProgram {

    private BesideProgram() {}

    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        Work.run(1);
        check("the other agent's change is there before");
        for (int scheme = Counting.LAZY; scheme <= Counting.TOTAL; scheme++) {
            Counting.startFine("counted.Work.run", scheme, false);
            Counting.settle(() -> Work.run(1));
            Counting.counts();
            Counting.reset();
            Tally.reset();
            long before = OtherAgent.RETRANSFORMED.get();
            while (OtherAgent.RETRANSFORMED.get() < before + 20) {
                Work.run(5);
            }
            Map<String, Long> found = Counting.counts();
            CountedProgram.check(found.equals(Tally.counts()), "counted " + found + "\ncalled " + Tally.counts());
            check("and while calls are counted");
            Counting.stop();
            Work.run(1);
            check("and after that");
        }
        CountedProgram.check(OtherAgent.TRANSFORMED.get() > 100, "the other agent has worked");
        OtherAgent.ends = true;
        System.out.println("fine");
    }

    private static void check(String what) throws InterruptedException {
        long before = OtherAgent.RETRANSFORMED.get();
        while (OtherAgent.RETRANSFORMED.get() < before + 2) {
            Thread.sleep(1);
        }
        CountedProgram.check(Work.marked() == 0x12345678, what + ": " + Integer.toHexString(Work.marked()));
    }
}
