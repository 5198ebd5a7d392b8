// SPDX-License-Identifier: Apache-2.0

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.ObjectName;

/**
 * The tids found for threads that are older than the library, against what the JVM prints in a thread dump: none may
 * be wrong. Arguments: library, ignored, parked threads, running threads.
 */
public final class TidsDriver {

    private static volatile boolean stop;
    private static volatile long sink;

    private TidsDriver() {
    }

    private static Map<String, Integer> printed() throws Exception {
        String dump = (String) ManagementFactory.getPlatformMBeanServer().invoke(
                new ObjectName("com.sun.management:type=DiagnosticCommand"), "threadPrint",
                new Object[] {new String[0]}, new String[] {String[].class.getName()});
        Map<String, Integer> tids = new HashMap<>();
        Matcher line = Pattern.compile("^\"([^\"]+)\" #.* nid=(\\S+)", Pattern.MULTILINE).matcher(dump);
        while (line.find()) {
            tids.put(line.group(1), Integer.decode(line.group(2)));
        }
        return tids;
    }

    private static Thread start(String name, boolean runs) {
        Thread thread = new Thread(() -> {
            while (!stop) {
                if (runs) {
                    sink++;
                } else {
                    LockSupport.parkNanos(10_000_000_000L);
                }
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static int[] compare(List<Thread> threads, Map<String, Integer> printed) {
        int[] counts = new int[3];
        for (Thread thread : threads) {
            int found = AsyncDriver.tid(thread.getId());
            int right = printed.get(thread.getName());
            counts[found == right ? 0 : found == 0 ? 1 : 2]++;
        }
        return counts;
    }

    /** Runs it. */
    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        int parked = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 300;
        int running = arguments.length > 3 ? Integer.parseInt(arguments[3]) : 4;
        List<Thread> threads = new ArrayList<>();
        threads.add(Thread.currentThread());
        for (int i = 0; i < parked + running; i++) {
            threads.add(start("older-" + i, i < running));
        }
        Thread.sleep(500);
        System.out.println(System.getProperty("java.version") + ": " + AsyncDriver.open());
        List<Thread> younger = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            younger.add(start("younger-" + i, false));
        }
        Thread.sleep(100);
        Map<String, Integer> printed = printed();
        boolean ok = true;
        for (int look = 0; look < 4; look++) {
            int[] older = compare(threads, printed);
            int[] others = compare(younger, printed);
            System.out.printf("older: %d right %d unknown %d wrong; younger: %d right %d unknown %d wrong%n", older[0],
                    older[1], older[2], others[0], others[1], others[2]);
            ok &= older[2] + others[1] + others[2] == 0;
            Thread.sleep(300);
        }
        stop = true;
        AsyncDriver.close();
        System.exit(ok ? 0 : 1);
    }
}
