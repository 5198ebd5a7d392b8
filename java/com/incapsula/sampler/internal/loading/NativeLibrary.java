// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.loading;

import com.incapsula.sampler.internal.report.LibraryLog;
import com.incapsula.sampler.internal.report.Resource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * Finds and loads the native library, or reports why that is not possible.
 *
 * <ol>
 * <li>{@code -Dcom.incapsula.sampler.library=PATH}: only that file is tried.</li>
 * <li>If the JVM has loaded the library as an agent, with {@code -agentpath} or because a command line attached, the
 * methods are bound already. A file of another version is replaced by loading the right one.</li>
 * <li>The library in the jar is written to the first usable folder of {@code -Dcom.incapsula.sampler.workdir},
 * {@code java.io.tmpdir} and the user's cache, under a name made of version and content. The first folder is trusted;
 * the others are used only if no other user can replace files there.</li> </ol>
 *
 * <p>The JVM loads a path for one class loader only, and a redeployed application has a new class loader before the old
 * one is collected. So if the file is in use, a copy of it is loaded, {@code NAME-2.so} and so on. Files of collected
 * class loaders are reused. The copy that is loaded first is the core of all copies: {@code join} connects the others
 * with it. Its file stays mapped, because a signal handler must stay at its address.
 *
 * <p>Loading opens no JVMTI environment.
 *
 * <p>Threads: any.
 */
public final class NativeLibrary {

    static final String LIBRARY_PROPERTY = "com.incapsula.sampler.library";

    /** The system property with a trusted folder for the library. */
    public static final String WORKDIR_PROPERTY = "com.incapsula.sampler.workdir";

    /** Replaces the file's name if the JVM has loaded the library itself. */
    static final String AGENT = "-agentpath";

    private static final int HASH_DIGITS = 8; // of each of two figures

    /* All versions must have the same text. */
    private static final String LOCK = "com.incapsula.sampler.loading";

    /** Limit of copies, one for each class loader that has not been collected. */
    static final int MAX_COPIES = 64;

    /** The JVM and the system, which tests replace. */
    interface Surroundings {

        Properties properties();

        @Nullable
        String environment(String name);

        /** Finds a file of the jar. @return null if there is none */
        @Nullable
        Resource resource(String name) throws IOException;

        String version();

        void load(String path);
    }

    /** The methods of the library that these classes are bound to. */
    public interface Bound {

        /**
         * The library's version of the interface between Java and C.
         *
         * @throws UnsatisfiedLinkError if no library is bound
         */
        int abi();

        /**
         * Connects the classes with the one core of the JVM, once, after a load. @return why that is not possible, or
         * null
         */
        @Nullable
        String join();
    }

    /** This folder cannot be used, but the next one may be. */
    private static final class FolderUnusable extends Exception {

        private static final long serialVersionUID = 1L;

        FolderUnusable(String reason, @Nullable Throwable cause) {
            super(reason, cause);
        }
    }

    private final Surroundings world;
    private final int neededAbi;
    private final Bound bound;
    private @Nullable String loaded; // the file, or AGENT

    NativeLibrary(Surroundings world, int neededAbi, Bound bound) {
        this.world = world;
        this.neededAbi = neededAbi;
        this.bound = bound;
    }

    /**
     * Creates the library of these classes, not loaded yet.
     *
     * @param neededAbi the version of the interface between Java and C that the classes need
     * @return a new object; a class loader should have only one
     */
    public static NativeLibrary ofThisJvm(int neededAbi, Bound bound) {
        return new NativeLibrary(new ThisJvm(), neededAbi, bound);
    }

    /** Finds the library and loads it. @throws UnsupportedOperationException with a message for the user */
    public void load() {
        load(null);
    }

    /**
     * Finds the library and loads it.
     *
     * @param attached a file that the JVM has loaded as an agent and whose methods are not bound yet, or null
     * @throws UnsupportedOperationException with a message for the user
     */
    public void load(@Nullable String attached) {
        String platform = Platform.require(world.properties());
        String explicit = property(LIBRARY_PROPERTY);
        synchronized (lock()) {
            if (explicit != null) {
                loadExactly(Path.of(explicit).toAbsolutePath());
            } else if (attached != null) {
                loadAttached(Path.of(attached), platform);
            } else if (isBoundAlready()) {
                loaded = AGENT;
            } else {
                loadContent(ofJar(platform));
            }
            String refusal = bound.join();
            if (refusal != null) {
                throw new UnsupportedOperationException(loaded + " cannot be used: " + refusal);
            }
        }
    }

    /**
     * Ensures that there is a file of the library, for another JVM of this user. Loads nothing.
     *
     * @return the file, in the first folder of {@link #load()} that allows execution
     * @throws UnsupportedOperationException with a message for the user
     */
    public Path place() {
        String platform = Platform.require(world.properties());
        String explicit = property(LIBRARY_PROPERTY);
        if (explicit != null) {
            return Path.of(explicit).toAbsolutePath();
        }
        return inAFolder(ofJar(platform), false);
    }

    /** @return a string constant, which is the same object in all class loaders: a lock for the whole JVM */
    private static Object lock() {
        return LOCK;
    }

    /** @return the file that was loaded, or {@link #AGENT}; null before */
    @Nullable
    String loaded() {
        return loaded;
    }

    private boolean isBoundAlready() {
        try {
            return bound.abi() == neededAbi; // throws if nothing is bound
        } catch (UnsatisfiedLinkError notYet) {
            return false;
        }
    }

    private void loadExactly(Path file) {
        String what = property(LIBRARY_PROPERTY) == null ? file.toString() : "-D" + LIBRARY_PROPERTY + "=" + file;
        if (!Files.isRegularFile(file)) {
            throw new UnsupportedOperationException(what + ": there is no such file");
        }
        try {
            if (!loadFile(file)) {
                loadContent(contentOf(file));
            }
        } catch (UnsatisfiedLinkError e) {
            throw new UnsupportedOperationException(what + ": " + e.getMessage(), e);
        }
    }

    /* The file is of another version if the application has another version on its class path, whose classes come
     * first. */
    private void loadAttached(Path file, String platform) {
        try {
            loadExactly(file);
        } catch (UnsupportedOperationException unusable) {
            loadContent(ofJar(platform));
        }
    }

    private static Resource contentOf(Path file) {
        try {
            return Resource.of(Files.readAllBytes(file));
        } catch (IOException e) {
            throw new UnsupportedOperationException(file + " cannot be read: " + e.getMessage(), e);
        }
    }

    private void loadContent(Resource content) {
        inAFolder(content, true);
    }

    /*
     * Writes a file with this content to the first usable folder, and loads it, or only checks that it can be executed.
     * Returns the file, or a copy of it.
     */
    private Path inAFolder(Resource content, boolean loads) {
        String name = "libthreads-sampler-" + PrivateFolder.asName(world.version()) + "-" + hash(content);
        List<String> refusals = new ArrayList<>();
        UnsupportedOperationException refusal = null;
        String user = world.properties().getProperty("user.name", "unknown");
        for (Base base : bases()) {
            String shown = base.folder();
            try {
                Path path = base.path();
                shown = path.toString();
                PrivateFolder folder = new PrivateFolder(path, user, base.isNamed());
                Path file = loads ? loadFrom(folder, name, content) : placeExecutable(folder, name, content);
                warnOfRefused(refusals, path);
                return file;
            } catch (FolderUnusable e) {
                refusals.add(shown + ": " + e.getMessage());
                refusal = new UnsupportedOperationException(
                        "no folder can be used for the native library ("
                                + String.join("; ", refusals)
                                + "); name one that can be written to and that allows execution"
                                + " with -D" + WORKDIR_PROPERTY + "=FOLDER, or the library itself with -D"
                                + LIBRARY_PROPERTY
                                + "=FILE",
                        e);
            }
        }
        throw refusal;
    }

    private static Path placeExecutable(PrivateFolder folder, String name, Resource content) throws FolderUnusable {
        Path file = placeIn(folder, name + ".so", content);
        if (!Files.isExecutable(file)) {
            throw noexec(folder, file, null);
        }
        return file;
    }

    private Path loadFrom(PrivateFolder folder, String name, Resource content) throws FolderUnusable {
        for (int copy = 1; copy <= MAX_COPIES; copy++) {
            Path file = placeIn(folder, name + (copy == 1 ? "" : "-" + copy) + ".so", content);
            if (loadFrom(folder, file)) {
                return file;
            }
        }
        throw new UnsupportedOperationException(MAX_COPIES + " copies of threads-sampler are loaded in this JVM, by"
                + " other class loaders that have not been collected: keep one copy, in a class loader that all its"
                + " users share");
    }

    /* Returns false if another class loader has loaded the file. */
    private boolean loadFrom(PrivateFolder folder, Path file) throws FolderUnusable {
        try {
            return loadFile(file);
        } catch (UnsatisfiedLinkError e) {
            /* The file was made executable for its owner; if it is not, the mount forbids execution. */
            if (!Files.isExecutable(file)) {
                throw noexec(folder, file, e);
            }
            throw new UnsupportedOperationException(file + " cannot be loaded: " + e.getMessage(), e);
        }
    }

    private static Path placeIn(PrivateFolder folder, String name, Resource content) throws FolderUnusable {
        try {
            return folder.place(name, content);
        } catch (IOException e) {
            throw new FolderUnusable("cannot be used: " + e.getMessage(), e);
        }
    }

    private static FolderUnusable noexec(PrivateFolder folder, Path file, @Nullable Throwable cause) {
        folder.discard(file);
        return new FolderUnusable("is on a file system that does not allow execution (noexec)", cause);
    }

    /* Returns false if another class loader has loaded the file; a copy of it can be loaded then. */
    private boolean loadFile(Path file) {
        try {
            world.load(file.toString());
            checkAbi(file.toString());
            loaded = file.toString();
            return true;
        } catch (UnsatisfiedLinkError e) {
            if (e.getMessage() != null && e.getMessage().contains("already loaded in another classloader")) {
                return false;
            }
            throw e;
        } catch (IllegalCallerException e) {
            throw new UnsupportedOperationException(
                    "this JVM forbids native access: start it with" + " --enable-native-access=" + moduleName(), e);
        }
    }

    private static String moduleName() {
        Module module = NativeLibrary.class.getModule();
        return module.isNamed() ? module.getName() : "ALL-UNNAMED";
    }

    private void checkAbi(String library) {
        int found;
        try {
            found = bound.abi();
        } catch (UnsatisfiedLinkError e) {
            throw new UnsupportedOperationException(library + " is not the library of threads-sampler", e);
        }
        if (found != neededAbi) {
            throw new UnsupportedOperationException(library + " is stale: it was built for version " + found
                    + " of the seam between Java and C, these classes need version " + neededAbi);
        }
    }

    /** A parent for the private folder; isNamed: the user has named it. */
    private record Base(String folder, boolean isNamed) {

        Path path() throws FolderUnusable {
            try {
                return Path.of(folder).toAbsolutePath();
            } catch (InvalidPathException e) {
                throw new FolderUnusable("is no path in this locale", e); // a path with an umlaut, with LANG=C
            }
        }
    }

    private List<Base> bases() {
        List<Base> bases = new ArrayList<>();
        add(bases, property(WORKDIR_PROPERTY), true);
        add(bases, property("java.io.tmpdir"), false);
        String cache = world.environment("XDG_CACHE_HOME");
        add(bases, cache == null || cache.isBlank() ? cacheAtHome() : cache, false);
        if (bases.isEmpty()) {
            throw new UnsupportedOperationException(
                    "no folder for the native library is known: name one with -D" + WORKDIR_PROPERTY + "=FOLDER");
        }
        return bases;
    }

    private static void add(List<Base> bases, @Nullable String folder, boolean isNamed) {
        if (folder != null) {
            bases.add(new Base(folder, isNamed));
        }
    }

    /* Null if there is none. If the system does not know the user, as in many containers, user.home is "?". */
    private @Nullable String cacheAtHome() {
        String home = property("user.home");
        return home != null && home.startsWith("/") ? home + "/.cache" : null;
    }

    /* Warns only if the user has named a folder, which then could not be used. */
    private void warnOfRefused(List<String> refusals, Path used) {
        if (!refusals.isEmpty() && property(WORKDIR_PROPERTY) != null) {
            LibraryLog.log(
                    System.Logger.Level.WARNING,
                    "the native library was loaded from " + used + " because " + String.join("; ", refusals),
                    null);
        }
    }

    private @Nullable String property(String name) {
        String value = world.properties().getProperty(name);
        return value == null || value.isBlank() ? null : value;
    }

    private Resource ofJar(String platform) {
        String resource = "/META-INF/native/" + platform + "/libthreads-sampler.so";
        try {
            Resource content = world.resource(resource);
            if (content == null) {
                throw new UnsupportedOperationException("the jar of threads-sampler carries no library for this"
                        + " platform: " + resource + " is missing");
            }
            return content;
        } catch (IOException e) {
            throw new UnsupportedOperationException(resource + " cannot be read: " + e.getMessage(), e);
        }
    }

    /* Distinguishes builds. The jar stores both figures, so nothing is unpacked for them, which would take 20 ms in
     * a new JVM, or 50 ms with a cryptographic hash. */
    private static String hash(Resource content) {
        return hex(content.crc()) + hex(content.size());
    }

    private static String hex(long number) {
        String digits = Long.toHexString(number);
        return "0".repeat(Math.max(0, HASH_DIGITS - digits.length())) + digits;
    }

    private static final class ThisJvm implements Surroundings {

        @Override
        public Properties properties() {
            return System.getProperties();
        }

        @Override
        public @Nullable String environment(String name) {
            return System.getenv(name);
        }

        @Override
        public @Nullable Resource resource(String name) throws IOException {
            return Resource.find(name);
        }

        @Override
        public String version() {
            String ofJar = NativeLibrary.class.getPackage().getImplementationVersion();
            if (ofJar != null) {
                return ofJar;
            }
            Module module = NativeLibrary.class.getModule();
            return module.isNamed() ? module.getDescriptor().rawVersion().orElse("dev") : "dev";
        }

        @Override
        public void load(String path) {
            System.load(path);
        }
    }
}
