// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A file in a folder of another user, who replaces everything that this user may rename by links. */
class WholeFileTest {

    private static final String VICTIM = "not to be touched";

    @TempDir
    Path base;

    private Path folder; // belongs to the other user
    private Path elsewhere; // belongs to this user
    private Path victim;

    @BeforeEach
    void makeFiles() throws IOException {
        folder = Files.createDirectory(base.resolve("folder"));
        elsewhere = Files.createDirectory(base.resolve("elsewhere"));
        victim = Files.writeString(elsewhere.resolve("victim"), VICTIM);
    }

    private static Writable text(String text) {
        return out -> out.write(text.getBytes(StandardCharsets.UTF_8));
    }

    private static List<Path> filesIn(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }

    private static void replaceByLinks(Path folder, Path target) throws IOException {
        for (Path file : filesIn(folder)) {
            Files.deleteIfExists(file);
            Files.createSymbolicLink(file, target);
        }
    }

    private void write(String name, Writable content) throws IOException {
        new FileSeries(folder.resolve(name).toString()).write(Instant.EPOCH, content);
    }

    /** Replaces the file after its creation, before a byte is written. */
    @ParameterizedTest
    @ValueSource(strings = {"report.txt", "report-%n.txt"})
    void aLinkInThePlaceOfTheTemporaryFileIsNotFollowed(String name) throws IOException {
        write(name, out -> {
            replaceByLinks(folder, victim);
            text("report").writeTo(out);
        });
        assertThat(victim).hasContent(VICTIM);
        assertThat(filesIn(elsewhere)).containsExactly(victim);
    }

    /** The file stays in the folder in which it was created. */
    @ParameterizedTest
    @ValueSource(strings = {"victim", "victim-%n"})
    void aLinkInThePlaceOfTheFolderIsNotFollowed(String name) throws IOException {
        Path moved = base.resolve("moved");
        Files.writeString(elsewhere.resolve("victim-1"), VICTIM);
        write(name, out -> {
            Files.move(folder, moved);
            for (Path file : filesIn(moved)) {
                Files.writeString(elsewhere.resolve(file.getFileName()), "of the other user");
            }
            Files.createSymbolicLink(folder, elsewhere);
            text("report").writeTo(out);
        });
        assertThat(victim).hasContent(VICTIM);
        assertThat(elsewhere.resolve("victim-1")).hasContent(VICTIM);
        assertThat(filesIn(moved))
                .singleElement()
                .satisfies(file -> assertThat(file).hasContent("report"));
    }

    /** The attacker replaces files at random moments. */
    @Test
    void linksAreNeverFollowed() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Void> attacker = CompletableFuture.runAsync(() -> {
            while (!over.get()) {
                try {
                    replaceByLinks(folder, victim);
                } catch (IOException theFileWasFaster) {
                    // the next attempt may succeed
                }
            }
        });
        for (int i = 0; i < 2_000; i++) {
            try {
                write("report.txt", text("x"));
            } catch (IOException e) {
                assertThat(e).hasMessageStartingWith("cannot write ");
            }
        }
        over.set(true);
        attacker.join();
        assertThat(victim).hasContent(VICTIM);
    }

    @Test
    void anInterruptOnlyMakesItBeWrittenOnceMore() throws IOException {
        Path file = folder.resolve("report.txt");
        AtomicInteger times = new AtomicInteger();
        WholeFile.write(file, out -> {
            if (times.incrementAndGet() == 1) {
                Thread.currentThread().interrupt();
            }
            text("report").writeTo(out);
        });
        assertThat(Thread.interrupted()).isTrue();
        assertThat(file).hasContent("report");
        assertThat(times).hasValue(2);
        assertThat(filesIn(folder)).containsExactly(file);
    }

    /** The second interrupt is swallowed by the code that writes; the first one is not forgotten. */
    @Test
    void interruptsThatTheWriterSwallowsHaveTheSameEffect() throws IOException {
        Path file = folder.resolve("report.txt");
        AtomicInteger times = new AtomicInteger();
        WholeFile.write(file, out -> {
            if (times.incrementAndGet() == 1) {
                interruptAndSwallow(out);
            }
            text("first").writeTo(out);
        });
        assertThat(Thread.interrupted()).isFalse();
        assertThat(file).hasContent("first");
        times.set(0);
        WholeFile.write(file, out -> {
            if (times.incrementAndGet() == 1) {
                Thread.currentThread().interrupt();
            } else if (times.get() == 2) {
                interruptAndSwallow(out);
            }
            text("second").writeTo(out);
        });
        assertThat(Thread.interrupted()).isTrue();
        assertThat(file).hasContent("second");
        assertThat(times).hasValue(3);
        assertThat(filesIn(folder)).containsExactly(file);
    }

    private static void interruptAndSwallow(OutputStream out) throws IOException {
        Thread.currentThread().interrupt();
        try {
            out.write('x');
            out.flush();
        } finally {
            Thread.interrupted();
        }
    }

    /** Another process begins to write the file after its name was chosen. */
    @Test
    void aNameThatIsReservedMeanwhileIsNotUsed() throws IOException {
        Iterator<String> names = List.of("a", "b").iterator();
        Path written = WholeFile.writeNew(
                folder,
                taken -> {
                    String name = names.next();
                    if (name.equals("a")) {
                        assertThat(taken).isEmpty();
                        Files.writeString(folder.resolve(".a.0.tmp"), "another's");
                    } else {
                        assertThat(taken).containsExactlyInAnyOrder("a", ".a.0.tmp");
                    }
                    return name;
                },
                text("ours"));
        assertThat(written).isEqualTo(folder.resolve("b")).hasContent("ours");
        assertThat(folder.resolve(".a.0.tmp")).hasContent("another's");
        assertThat(filesIn(folder)).hasSize(2);
    }

    @Test
    void namesThatAreAlwaysTakenAreAFailure() throws IOException {
        Path taken = Files.writeString(folder.resolve("a"), "another's");
        assertThatIOException()
                .isThrownBy(() -> WholeFile.writeNew(folder, names -> "a", text("ours")))
                .withMessage("cannot write " + taken + ": java.nio.file.FileAlreadyExistsException: " + taken);
        assertThat(taken).hasContent("another's");
        assertThat(filesIn(folder)).containsExactly(taken);
    }

    @Test
    void aFolderIsNotReplaced() throws IOException {
        Path inside = Files.createDirectory(folder.resolve("reports"));
        for (Path path : List.of(Path.of("/"), inside)) {
            assertThatIOException()
                    .isThrownBy(() -> WholeFile.write(path, text("report")))
                    .withMessage("cannot write " + path + ": it is a folder");
            assertThatIOException().isThrownBy(() -> WholeFile.check(path)).withMessage("it is a folder");
        }
        assertThat(filesIn(folder)).containsExactly(inside);
    }

    @Test
    void interruptsWithoutAnEndAreAFailure() throws IOException {
        Path file = folder.resolve("report.txt");
        assertThatIOException()
                .isThrownBy(() -> WholeFile.write(file, out -> {
                    Thread.currentThread().interrupt();
                    text("report").writeTo(out);
                }))
                .withMessage("cannot write " + file + ": the thread is interrupted again and again");
        assertThat(Thread.interrupted()).isTrue();
        assertThat(filesIn(folder)).isEmpty();
    }

    @Test
    void temporaryNamesAreKnown() {
        assertThat(WholeFile.targetOf(".a.b.0.tmp")).isEqualTo("a.b");
        assertThat(WholeFile.targetOf(".a.0123456789abcdef.tmp")).isEqualTo("a");
        List<String> others = new ArrayList<>(
                List.of("", ".tmp", ".a.tmp", "a.0.tmp", "..0.tmp", ".a.g.tmp", ".a..tmp", ".a.0.tmpx"));
        others.add(".a.0123456789abcdef0.tmp");
        assertThat(others)
                .allSatisfy(name -> assertThat(WholeFile.targetOf(name)).isNull());
    }
}
