// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import com.incapsula.sampler.bench.Jvm;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Processes that keep a processor busy each, until this is closed or the process that started them ends. */
final class Load implements AutoCloseable {

    private static volatile long sink;
    private final List<Process> processes = new ArrayList<>();

    private Load() {
    }

    static Load of(int processes) throws IOException {
        Load load = new Load();
        for (int i = 0; i < processes; i++) {
            load.processes.add(new ProcessBuilder(Jvm.executable(Path.of(System.getProperty("java.home"))), "-Xmx16m",
                    "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
                    Load.class.getName()).redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD).start());
        }
        return load;
    }

    /** The busy program; it ends when its standard input does. */
    public static void main(String... arguments) throws IOException {
        Thread busy = new Thread(() -> {
            while (true) {
                sink += sink * 31 + 1;
            }
        });
        busy.setDaemon(true);
        busy.start();
        while (System.in.read() >= 0) {
            /* Nothing is said: only the end counts. */
        }
    }

    @Override
    public void close() throws IOException {
        for (Process process : processes) {
            process.destroy();
            process.getOutputStream().close();
        }
    }
}
