// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import java.util.concurrent.TimeUnit;
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * Programs of which it is known where their time goes, and of which profilers that sample at safepoints tell
 * something else. The buffer is so large that a call, a return and JMH's own loop take less than half a percent.
 *
 * <p>A sample is right when the top row of this class on the stack is the benchmark itself, on a line marked "hot",
 * with nothing above it but what that line calls:
 * <ul>
 * <li>loops: both lines of the loop, because the counter, the compare and the load are one unrolled block of machine
 * code in which a line is a matter of a few instructions; nothing above;
 * <li>intrinsics: the line of the call; above it the callee's Java methods, and as leaf the stub of the JVM.
 * </ul>
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class SafepointBias {

    private static final int SIZE = 50_000;
    /**
     * A stub copies {@link #SIZE} bytes in about a microsecond, so that one sample in 25 would be in JMH's own loop.
     */
    private static final int LARGE_SIZE = 1_000_000;

    private byte[] buffer;
    private byte[] target;
    private byte[] largeBuffer;
    private byte[] largeTarget;
    private boolean result;
    private Adler32 adler;
    private CRC32 crc;

    /** Fills the buffers. */
    @Setup
    public void setup() {
        buffer = new byte[SIZE];
        target = new byte[SIZE];
        for (int i = 0; i < SIZE; i++) {
            buffer[i] = (byte) (i * 31);
        }
        largeBuffer = new byte[LARGE_SIZE];
        largeTarget = new byte[LARGE_SIZE];
        adler = new Adler32();
        crc = new CRC32();
    }

    /** A loop that is inlined: its only safepoint poll is in the caller's loop. */
    @Benchmark
    public void meSoHotInline() {
        byte sum = 0;
        for (int i = 0; i < buffer.length; i++) { // hot: meSoHotInline
            sum += buffer[i]; // hot: meSoHotInline
        }
        result = sum == 1;
    }

    /** The same loop in a method of its own. Its poll is at the return, so the caller is blamed. */
    @Benchmark
    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    public void meSoHotNoInline() {
        byte sum = 0;
        for (int i = 0; i < buffer.length; i++) { // hot: meSoHotNoInline
            sum += buffer[i]; // hot: meSoHotNoInline
        }
        result = sum == 1;
    }

    /** The next safepoint poll after the loop is in a setter that does nothing. */
    @Benchmark
    public void blameSetResult() {
        byte sum = 0;
        for (int i = 0; i < buffer.length; i++) { // hot: blameSetResult
            sum += buffer[i]; // hot: blameSetResult
        }
        setResult(sum);
    }

    /** The next safepoint poll after the loop is nine calls deeper. */
    @Benchmark
    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    public void blameSetResultDeeper() {
        byte sum = 0;
        for (int i = 0; i < buffer.length; i++) { // hot: blameSetResultDeeper
            sum += buffer[i]; // hot: blameSetResultDeeper
        }
        setResult8(sum);
    }

    private void setResult8(byte sum) {
        setResult7(sum);
    }

    private void setResult7(byte sum) {
        setResult6(sum);
    }

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private void setResult6(byte sum) {
        setResult5(sum);
    }

    private void setResult5(byte sum) {
        setResult4(sum);
    }

    private void setResult4(byte sum) {
        setResult3(sum);
    }

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private void setResult3(byte sum) {
        setResult2(sum);
    }

    private void setResult2(byte sum) {
        setResult(sum);
    }

    private void setResult(byte sum) {
        setResult(sum == 1);
    }

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private void setResult(boolean value) {
        result = value;
    }

    /** A copy by hand. A compiler may recognise it and call the stub of {@link System#arraycopy}. */
    @Benchmark
    public void copy() {
        for (int i = 0; i < buffer.length; i++) { // hot: copy
            target[i] = buffer[i]; // hot: copy
        }
        result = target[SIZE - 1] == 1;
    }

    /** A stub of the JVM, called without a frame that the JVM's own stack walker recognises. */
    @Benchmark
    public int systemArrayCopy() {
        System.arraycopy(largeBuffer, 0, largeTarget, 0, largeBuffer.length); // hot: systemArrayCopy
        return largeTarget[LARGE_SIZE - 1];
    }

    /** Native code or a stub, depending on the processor. */
    @Benchmark
    public long adler32() {
        adler.update(buffer); // hot: adler32
        return adler.getValue();
    }

    /** A stub of the JVM. */
    @Benchmark
    public long crc32() {
        crc.update(buffer); // hot: crc32
        return crc.getValue();
    }

    /* Uses the value, so that the compiler keeps the computation. */
    boolean result() {
        return result;
    }
}
