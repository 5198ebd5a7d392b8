// SPDX-License-Identifier: Apache-2.0
package counted;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** A Java agent that changes Work as other agents do, and has its classes retransformed continually. */
public final class OtherAgent {

    static final AtomicLong TRANSFORMED = new AtomicLong();
    /* By name, because Instrumentation's own list of classes is too long for -Xcheck:jni. */
    private static final Set<String> SEEN = ConcurrentHashMap.newKeySet();
    static final AtomicLong RETRANSFORMED = new AtomicLong();
    static volatile boolean ends;

    private OtherAgent() {}

    public static void premain(String arguments, Instrumentation instrumentation) {
        instrumentation.addTransformer(new Transformer(), true);
        Thread thread = new Thread(() -> retransform(instrumentation), "other-agent");
        thread.setDaemon(true);
        thread.start();
    }

    private static final class Transformer implements ClassFileTransformer {
        @Override
        public byte[] transform(
                ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
            if (name == null || !name.startsWith("counted/Work")) {
                return null;
            }
            TRANSFORMED.incrementAndGet();
            SEEN.add(name.replace('/', '.'));
            return changed(bytes.clone());
        }
    }

    /* The number in Work.marked shows the program that the agent has changed the class. */
    private static byte[] changed(byte[] bytes) {
        for (int i = 0; i + 4 < bytes.length; i++) {
            if (bytes[i] == 3
                    && bytes[i + 1] == 0x12
                    && bytes[i + 2] == 0x34
                    && bytes[i + 3] == 0x56
                    && bytes[i + 4] == 0x77) {
                bytes[i + 4] = 0x78;
            }
        }
        return bytes;
    }

    private static void retransform(Instrumentation instrumentation) {
        try {
            while (!ends) {
                List<Class<?>> own = new ArrayList<>();
                for (String name : SEEN) {
                    own.add(Class.forName(name, false, OtherAgent.class.getClassLoader()));
                }
                if (!own.isEmpty()) {
                    instrumentation.retransformClasses(own.toArray(new Class<?>[0]));
                    RETRANSFORMED.incrementAndGet();
                }
                Thread.sleep(5);
            }
        } catch (Exception e) {
            e.printStackTrace();
        }
    }
}
