// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import com.incapsula.sampler.bench.peer.Frame;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.bench.peer.Profile;
import com.incapsula.sampler.bench.peer.SamplerPeer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.runner.IterationType;

/**
 * A JMH profiler that gives each iteration to another profiler, in turn, in one JVM, so all of them sample the same
 * compiled code. Their stacks are judged here and written to a file, one line per profiler and turn.
 */
public final class TurnTaking implements InternalProfiler {

    static final String FILE = "bench.file";
    static final String SOURCES = "bench.sources";
    private static final int EXAMPLES = 3;

    private final List<String> names = Peer.forRunning();
    private int turn;
    private Peer current;

    @Override
    public String getDescription() {
        return "one profiler per iteration, in turn";
    }

    /** Creates the profiler, both in the measuring JVM and in the one that starts it. */
    public TurnTaking() {
        if (System.getProperty(FILE) != null) {
            SamplerPeer.keepExactLines();
        }
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        if (iteration.getType() == IterationType.WARMUP) {
            return;
        }
        current = Peer.of(names.get(turn % names.size()));
        try {
            current.start();
        } catch (Exception e) {
            throw new IllegalStateException(names.get(turn % names.size()), e);
        }
    }

    @Override
    public Collection<? extends Result<?>> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        if (iteration.getType() == IterationType.WARMUP) {
            return List.of();
        }
        String name = names.get(turn++ % names.size());
        try {
            Profile profile = current.stop(thread -> thread.contains("-jmh-worker-"));
            String method = benchmark.getBenchmark();
            write(name, method.substring(method.lastIndexOf('.') + 1), profile);
        } catch (Exception e) {
            throw new IllegalStateException(name, e);
        }
        return List.of();
    }

    private void write(String name, String benchmark, Profile profile) throws IOException {
        Truth truth = Truth.of(Path.of(System.getProperty(SOURCES)), benchmark);
        Map<Truth.Verdict, Double> sums = new EnumMap<>(Truth.Verdict.class);
        for (Truth.Verdict verdict : Truth.Verdict.values()) {
            sums.put(verdict, 0.0);
        }
        profile.stacks().forEach((stack, weight) -> sums.merge(truth.judge(stack), weight, Double::sum));
        String line = benchmark + "\t" + name + "\t"
                + sums.values().stream().map(String::valueOf).collect(Collectors.joining("\t"))
                + "\t" + engine() + "\t" + examples(truth, profile);
        Files.writeString(Path.of(System.getProperty(FILE)), line + "\n", StandardOpenOption.APPEND);
    }

    private String engine() {
        return current instanceof SamplerPeer ours ? ours.statistics().getEngine() : "";
    }

    /* The heaviest wrong stacks, as examples. */
    private static String examples(Truth truth, Profile profile) {
        return profile.stacks().entrySet().stream()
                .filter(entry -> truth.judge(entry.getKey()).compareTo(Truth.Verdict.SKIPPED) > 0)
                .filter(entry -> truth.judge(entry.getKey()).compareTo(Truth.Verdict.LINE) < 0)
                .sorted(Map.Entry.<List<Frame>, Double>comparingByValue().reversed())
                .limit(EXAMPLES)
                .map(entry -> Math.round(entry.getValue()) + " x "
                        + entry.getKey().stream()
                                .limit(EXAMPLES)
                                .map(Frame::toString)
                                .collect(Collectors.joining(" < ")))
                .collect(Collectors.joining("; "));
    }
}
