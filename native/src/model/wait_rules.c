/* SPDX-License-Identifier: Apache-2.0 */
#include "model/wait_rules.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { METHOD_BYTES = 512 };

struct smp_wait_rules {
    struct smp_quota *quota;
    struct smp_filter *io;
    struct smp_filter *idle;
    struct smp_filter *own;
};

/* clang-format off */

/*
 * X(class, method, kind): the first rule that matches decides. A star at the end of a class or a
 * method matches any rest.
 */
#define QUEUE(X, name)     \
    X(name, "take*", WORK) \
    X(name, "poll*", WORK)

#define RULES(X)                                                                                   \
    X("java.lang.VirtualThread", "tryYield", YIELD)                                                \
    X("java.lang.Thread", "yield*", YIELD)                                                         \
    X("jdk.internal.vm.Continuation", "run", CARRIER)                                              \
    X("jdk.internal.vm.Continuation", "enter*", CARRIER)                                           \
    /* parking, waiting, sleeping */                                                               \
    X("jdk.internal.misc.Unsafe", "park", PASS)                                                    \
    X("java.util.concurrent.locks.LockSupport", "*", PASS)                                         \
    X("java.lang.VirtualThread", "*", PASS)                                                        \
    X("java.lang.BaseVirtualThread", "*", PASS)                                                    \
    X("java.lang.ThreadBuilders$BoundVirtualThread", "park*", PASS)                                \
    X("java.lang.System$*", "parkVirtualThread", PASS)                                             \
    X("jdk.internal.vm.Continuation*", "*", PASS)                                                  \
    X("java.lang.Object", "wait*", PASS)                                                           \
    X("java.lang.Thread", "sleep*", PASS)                                                          \
    X("java.util.concurrent.ForkJoinPool", "managedBlock", PASS)                                   \
    X("java.util.concurrent.ForkJoinPool", "unmanagedBlock", PASS)                                 \
    X("java.util.concurrent.ForkJoinPool", "compensatedBlock", PASS)                               \
    X("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionNode", "*", PASS)            \
    X("java.util.concurrent.locks.AbstractQueuedLongSynchronizer$ConditionNode", "*", PASS)        \
    X("java.lang.ProcessHandleImpl", "waitForProcessExit*", PASS)                                  \
    /* locks and what is built of them */                                                          \
    X("java.util.concurrent.locks.AbstractQueuedSynchronizer", "acquireShared*", SHARED)           \
    X("java.util.concurrent.locks.AbstractQueuedSynchronizer", "tryAcquireShared*", SHARED)        \
    X("java.util.concurrent.locks.AbstractQueuedSynchronizer", "acquire*", ACQUIRE)                \
    X("java.util.concurrent.locks.AbstractQueuedSynchronizer", "tryAcquireNanos", ACQUIRE)         \
    X("java.util.concurrent.locks.AbstractQueuedLongSynchronizer", "acquireShared*", SHARED)       \
    X("java.util.concurrent.locks.AbstractQueuedLongSynchronizer", "tryAcquireShared*", SHARED)    \
    X("java.util.concurrent.locks.AbstractQueuedLongSynchronizer", "acquire*", ACQUIRE)            \
    X("java.util.concurrent.locks.AbstractQueuedLongSynchronizer", "tryAcquireNanos", ACQUIRE)     \
    X("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject", "*", CONDITION)     \
    X("java.util.concurrent.locks.AbstractQueuedLongSynchronizer$ConditionObject", "*", CONDITION) \
    X("java.util.concurrent.locks.Reentrant*", "*", LOCK)                                          \
    X("java.util.concurrent.locks.StampedLock*", "*", LOCK)                                        \
    X("java.util.concurrent.Semaphore*", "*", LOCK)                                                \
    /* work */                                                                                     \
    X("java.util.concurrent.ExecutorCompletionService", "*", RESULT)                               \
    X("com.zaxxer.hikari.util.ConcurrentBag", "borrow", RESULT)                                    \
    X("java.util.concurrent.SynchronousQueue$*", "*", PASS)                                        \
    X("java.util.concurrent.SynchronousQueue", "xfer*", PASS)                                      \
    X("java.util.concurrent.LinkedTransferQueue$*", "*", PASS)                                     \
    X("java.util.concurrent.LinkedTransferQueue", "xfer*", PASS)                                   \
    X("java.util.concurrent.LinkedTransferQueue", "await*", PASS)                                  \
    QUEUE(X, "java.util.concurrent.ArrayBlockingQueue")                                            \
    QUEUE(X, "java.util.concurrent.LinkedBlockingQueue")                                           \
    QUEUE(X, "java.util.concurrent.LinkedBlockingDeque")                                           \
    QUEUE(X, "java.util.concurrent.PriorityBlockingQueue")                                         \
    QUEUE(X, "java.util.concurrent.DelayQueue")                                                    \
    QUEUE(X, "java.util.concurrent.SynchronousQueue")                                              \
    QUEUE(X, "java.util.concurrent.LinkedTransferQueue")                                           \
    QUEUE(X, "java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue")                  \
    X("java.util.concurrent.ThreadPoolExecutor", "getTask", WORK)                                  \
    X("java.util.concurrent.ForkJoinPool", "awaitWork", WORK)                                      \
    X("java.util.concurrent.ForkJoinPool", "deactivate", WORK)                                     \
    X("java.util.concurrent.ForkJoinPool", "runWorker", WORK)                                      \
    X("java.util.TimerThread", "mainLoop", WORK)                                                   \
    X("java.lang.ref.ReferenceQueue*", "*", WORK)                                                  \
    X("java.lang.ref.Reference", "waitForReferencePendingList", WORK)                              \
    X("java.lang.ref.NativeReferenceQueue", "*", WORK)                                             \
    X("sun.nio.ch.EPoll", "wait", WORK)                                                            \
    X("sun.nio.ch.SelectorImpl", "*", WORK)                                                        \
    X("sun.nio.ch.EPollSelectorImpl", "*", WORK)                                                   \
    X("sun.nio.ch.PollSelectorImpl", "*", WORK)                                                    \
    X("sun.nio.fs.LinuxWatchService*", "poll*", WORK)                                              \
    X("sun.nio.fs.AbstractWatchService", "*", WORK)                                                \
    X("io.netty.channel.epoll.Native", "epollWait*", WORK)                                         \
    X("io.netty.channel.epoll.Native", "epollBusyWait*", WORK)                                     \
    X("io.netty.channel.uring.Native", "ioUringEnter*", WORK)                                      \
    X("sun.nio.ch.Net", "accept", WORK)                                                            \
    X("sun.nio.ch.UnixDomainSockets", "accept0", WORK)                                             \
    X("java.net.PlainSocketImpl", "socketAccept", WORK)                                            \
    X("sun.nio.ch.NioSocketImpl", "timedAccept", ACCEPT)                                           \
    X("sun.nio.ch.NioSocketImpl", "accept*", ACCEPT)                                               \
    X("sun.nio.ch.ServerSocketChannelImpl", "*", ACCEPT)                                           \
    /* files, pipes, sockets, names */                                                             \
    X("sun.nio.ch.SocketDispatcher", "*", IO)                                                      \
    X("sun.nio.ch.Net", "poll", IO)                                                                \
    X("sun.nio.ch.Net", "connect0", IO)                                                            \
    X("sun.nio.ch.Net", "pollConnect", IO)                                                         \
    X("sun.nio.ch.NioSocketImpl", "park", IO)                                                      \
    X("sun.nio.ch.SelChImpl", "park", IO)                                                          \
    X("sun.nio.ch.Poller*", "*", IO)                                                               \
    X("sun.nio.ch.DatagramChannelImpl", "receive0", IO)                                            \
    X("sun.nio.ch.DatagramChannelImpl", "send0", IO)                                               \
    X("sun.nio.ch.DatagramDispatcher", "*", IO)                                                    \
    X("sun.nio.ch.DatagramDispatcherImpl", "*", IO)                                                \
    X("sun.nio.ch.UnixDomainSockets", "connect0", IO)                                              \
    X("sun.nio.ch.FileDispatcherImpl", "*", IO)                                                    \
    X("sun.nio.ch.UnixFileDispatcherImpl", "*", IO)                                                \
    X("sun.nio.ch.UnixDispatcher", "*", IO)                                                        \
    X("java.io.FileInputStream", "*", IO)                                                          \
    X("java.io.FileOutputStream", "*", IO)                                                         \
    X("java.io.RandomAccessFile", "*", IO)                                                         \
    X("java.io.FileDescriptor", "sync*", IO)                                                       \
    X("java.io.UnixFileSystem", "*", IO)                                                           \
    X("sun.nio.fs.UnixNativeDispatcher", "*", IO)                                                  \
    X("sun.nio.fs.LinuxNativeDispatcher", "*", IO)                                                 \
    X("java.net.Inet4AddressImpl", "*", IO)                                                        \
    X("java.net.Inet6AddressImpl", "*", IO)                                                        \
    X("java.net.NetworkInterface", "*", IO)

/* X(class, method): methods that wait for other threads to finish, or for their results. */
#define FOR_OTHERS(X)                                                \
    X("java.lang.Thread", "join*")                                   \
    X("java.util.concurrent.FutureTask", "get")                      \
    X("java.util.concurrent.CompletableFuture", "get")               \
    X("java.util.concurrent.CompletableFuture", "join")              \
    X("java.util.concurrent.ForkJoinTask", "get*")                   \
    X("java.util.concurrent.ForkJoinTask", "join")                   \
    X("java.util.concurrent.ForkJoinTask", "invoke*")                \
    X("java.util.concurrent.ForkJoinTask", "quietly*")               \
    X("java.util.concurrent.AbstractExecutorService", "invoke*")     \
    X("java.util.concurrent.ForkJoinPool", "invoke*")                \
    X("java.util.concurrent.ForkJoinPool", "awaitTermination")       \
    X("java.util.concurrent.ForkJoinPool", "close")                  \
    X("java.util.concurrent.ThreadPoolExecutor", "awaitTermination") \
    X("java.util.concurrent.ThreadPerTaskExecutor", "*")             \
    X("java.util.concurrent.ExecutorService", "close")               \
    X("java.util.concurrent.ExecutorCompletionService", "*")         \
    X("java.util.concurrent.StructuredTaskScope*", "join*")

/* Packages that are not the application's, if the application is guessed. */
#define JDK(X) X("java.") X("javax.") X("jdk.") X("sun.") X("com.sun.")
#define JDK_AND_FRAMEWORKS(X) \
    JDK(X) X("org.ietf.jgss.") X("org.w3c.dom.") X("org.xml.sax.") X("jakarta.") \
    X("com.fasterxml.") X("com.github.benmanes.caffeine.") X("com.google.common.") \
    X("com.google.gson.") X("com.google.inject.") X("com.google.protobuf.") X("com.ibm.db2.") \
    X("com.microsoft.sqlserver.") X("com.mongodb.") X("com.mysql.") X("com.netflix.") \
    X("com.rabbitmq.") X("com.zaxxer.hikari.") X("akka.") X("ch.qos.logback.") X("groovy.") \
    X("groovyjarjar") X("io.grpc.") X("io.ktor.") X("io.lettuce.") X("io.micrometer.") \
    X("io.micronaut.") X("io.netty.") X("io.opentelemetry.") X("io.prometheus.") \
    X("io.quarkus.") X("io.reactivex.") X("io.smallrye.") X("io.undertow.") X("io.vertx.") \
    X("junit.") X("kotlin.") X("kotlinx.") X("net.bytebuddy.") X("net.sf.ehcache.") \
    X("okhttp3.") X("okio.") X("oracle.jdbc.") X("oracle.net.") X("org.apache.") \
    X("org.aspectj.") X("org.codehaus.") X("org.eclipse.") X("org.ehcache.") \
    X("org.glassfish.") X("org.h2.") X("org.hibernate.") X("org.hsqldb.") X("org.infinispan.") \
    X("org.jboss.") X("org.jetbrains.") X("org.jooq.") X("org.junit.") X("org.mariadb.jdbc.") \
    X("org.mockito.") X("org.mybatis.") X("org.postgresql.") X("org.quartz.") \
    X("org.redisson.") X("org.slf4j.") X("org.springframework.") X("org.testng.") \
    X("org.wildfly.") X("org.xnio.") X("reactor.") X("redis.clients.") X("retrofit2.") \
    X("rx.") X("scala.")

/* clang-format on */

struct rule {
    const char *class_name;
    const char *method_name;
    enum smp_wait_kind kind;
};

static const struct rule rules_of_names[] = {
#define X(class_name, method_name, kind) { class_name, method_name, SMP_WAIT_##kind },
    RULES(X)
#undef X
};

static const struct rule rules_for_others[] = {
#define X(class_name, method_name) { class_name, method_name, SMP_WAIT_OTHER },
    FOR_OTHERS(X)
#undef X
};

enum {
#define X(prefix) +1
    JDK_PREFIXES = 0 JDK(X)
#undef X
};

static const char *const not_application[] = {
#define X(prefix) prefix,
    JDK_AND_FRAMEWORKS(X)
#undef X
};

static bool is_match(const char *pattern, const char *name)
{
    const size_t length = strlen(pattern);

    if (length > 0 && pattern[length - 1] == '*')
        return strncmp(pattern, name, length - 1) == 0;
    return strcmp(pattern, name) == 0;
}

/* A list of methods is read like a list of prefixes: com.acme.Driver.read matches that method. */
static bool is_in_list(const struct smp_filter *filter, const char *class_name,
                       const char *method_name)
{
    char text[METHOD_BYTES];
    int length;

    if (filter == NULL)
        return false;
    length = snprintf(text, sizeof(text), "%s.%s", class_name, method_name);
    return length > 0 && (size_t)length < sizeof(text) && smp_filter_monitors(filter, text);
}

static const struct rule *find_rule(const struct rule *rules, size_t count, const char *class_name,
                                    const char *method_name)
{
    for (size_t i = 0; i < count; i++) {
        if (is_match(rules[i].class_name, class_name) &&
            is_match(rules[i].method_name, method_name))
            return &rules[i];
    }
    return NULL;
}

bool smp_wait_rules_is_for_others(const char *class_name, const char *method_name)
{
    return find_rule(rules_for_others, sizeof(rules_for_others) / sizeof(rules_for_others[0]),
                     class_name, method_name) != NULL;
}

enum smp_wait_kind smp_wait_rules_kind_of(const struct smp_wait_rules *rules,
                                          const char *class_name, const char *method_name)
{
    const struct rule *rule;

    if (rules != NULL && is_in_list(rules->io, class_name, method_name))
        return SMP_WAIT_USER_IO;
    if (rules != NULL && is_in_list(rules->idle, class_name, method_name))
        return SMP_WAIT_USER_IDLE;
    rule = find_rule(rules_of_names, sizeof(rules_of_names) / sizeof(rules_of_names[0]), class_name,
                     method_name);
    return rule == NULL ? SMP_WAIT_OTHER : rule->kind;
}

/* Returns whether one of the first count prefixes matches. */
static bool has_prefix(const char *class_name, size_t count)
{
    bool is_found = false;

    for (size_t i = 0; i < count && !is_found; i++)
        is_found = strncmp(class_name, not_application[i], strlen(not_application[i])) == 0;
    return is_found;
}

bool smp_wait_rules_is_jdk(const char *class_name)
{
    return has_prefix(class_name, JDK_PREFIXES);
}

bool smp_wait_rules_is_application(const struct smp_wait_rules *rules,
                                   const struct smp_filter *filter, const char *class_name)
{
    if (filter != NULL && !smp_filter_is_open(filter))
        return smp_filter_monitors(filter, class_name);
    if (rules != NULL && rules->own != NULL && smp_filter_monitors(rules->own, class_name))
        return true;
    return !has_prefix(class_name, sizeof(not_application) / sizeof(not_application[0]));
}

/* An empty list becomes NULL, because an empty filter would match everything. */
static enum smp_status read_list(struct smp_quota *quota, const char *list, struct smp_filter **out)
{
    enum smp_status status = smp_filter_create(quota, list, out);

    if (status == SMP_OK && smp_filter_is_open(*out)) {
        smp_filter_destroy(*out);
        *out = NULL;
    }
    return status;
}

enum smp_status smp_wait_rules_create(struct smp_quota *quota, const char *io_methods,
                                      const char *idle_methods, const char *own,
                                      struct smp_wait_rules **out)
{
    struct smp_wait_rules *rules = smp_alloc(quota, sizeof(*rules));
    enum smp_status status;

    if (rules == NULL)
        return SMP_ENOMEM;
    rules->quota = quota;
    status = read_list(quota, io_methods, &rules->io);
    if (status == SMP_OK)
        status = read_list(quota, idle_methods, &rules->idle);
    if (status == SMP_OK)
        status = read_list(quota, own, &rules->own);
    if (status == SMP_OK)
        *out = rules;
    else
        smp_wait_rules_destroy(rules);
    return status;
}

void smp_wait_rules_destroy(struct smp_wait_rules *rules)
{
    if (rules == NULL)
        return;
    smp_filter_destroy(rules->io);
    smp_filter_destroy(rules->idle);
    smp_filter_destroy(rules->own);
    smp_free(rules->quota, rules);
}
