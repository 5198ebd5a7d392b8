/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/attribution/wait_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_FRAMES = 12, NAME_BYTES = 128 };

/* A stack as text, "class.method" leaf first, and its state. native: the leaf is native. */
struct judged_case {
    const char *frames;
    bool native;
    enum smp_wait_word word;
    enum smp_thread_state state;
};

#define PARK "jdk.internal.misc.Unsafe.park java.util.concurrent.locks.LockSupport.park "
#define AQS "java.util.concurrent.locks.AbstractQueuedSynchronizer"
#define APP " com.acme.Work.run"
#define POOL " java.util.concurrent.ThreadPoolExecutor.runWorker java.lang.Thread.run"

static const struct judged_case cases[] = {
    { "com.acme.Work.enter" APP, false, SMP_WORD_AT_MONITOR, SMP_STATE_BLOCKED },
    { "com.acme.Work.enter" APP, false, SMP_WORD_UNKNOWN, SMP_STATE_BLOCKED },
    { "com.acme.Work.enter" APP, false, SMP_WORD_RUNS, SMP_STATE_RUNNING },
    { "com.acme.Work.enter" APP, false, SMP_WORD_RUNNABLE, SMP_STATE_RUNNING },
    { "com.acme.Driver.read0" APP, true, SMP_WORD_RUNNABLE, SMP_STATE_WAITING },
    { "sun.nio.ch.SocketDispatcher.read0" APP, true, SMP_WORD_RUNNABLE, SMP_STATE_IO },
    { "com.acme.Work.enter" APP, false, SMP_WORD_STOPPED, SMP_STATE_RUNNABLE },
    { "java.lang.Object.wait0 java.lang.Object.wait" APP, true, SMP_WORD_WAITS, SMP_STATE_WAITING },
    { "java.lang.Object.wait0 java.lang.Object.wait" APP, true, SMP_WORD_AT_MONITOR,
      SMP_STATE_BLOCKED },
    { "java.lang.Thread.sleep0 java.lang.Thread.sleep" APP, true, SMP_WORD_WAITS,
      SMP_STATE_WAITING },
    { PARK AQS ".acquire " AQS ".acquire java.util.concurrent.locks.ReentrantLock$Sync.lock" APP,
      true, SMP_WORD_WAITS, SMP_STATE_BLOCKED },
    { PARK AQS ".acquire " AQS ".acquireShared java.util.concurrent.Semaphore.acquire" APP, true,
      SMP_WORD_WAITS, SMP_STATE_BLOCKED },
    { PARK AQS ".acquire " AQS ".acquireSharedInterruptibly "
               "java.util.concurrent.CountDownLatch.await" APP,
      true, SMP_WORD_WAITS, SMP_STATE_WAITING },
    { PARK AQS ".acquire " AQS ".acquire com.acme.Mutex.lock" APP, true, SMP_WORD_WAITS,
      SMP_STATE_BLOCKED },
    { PARK AQS "$ConditionObject.await" APP, true, SMP_WORD_WAITS, SMP_STATE_WAITING },
    { PARK AQS ".acquire " AQS "$ConditionObject.await" APP, true, SMP_WORD_WAITS,
      SMP_STATE_BLOCKED },
    { PARK AQS "$ConditionObject.await java.util.concurrent.LinkedBlockingQueue.take" APP, true,
      SMP_WORD_WAITS, SMP_STATE_IDLE },
    { PARK AQS "$ConditionObject.await java.util.concurrent.ArrayBlockingQueue.put" APP, true,
      SMP_WORD_WAITS, SMP_STATE_WAITING },
    { PARK AQS "$ConditionObject.await java.util.concurrent.LinkedBlockingQueue.take "
               "java.util.concurrent.ExecutorCompletionService.take" APP,
      true, SMP_WORD_WAITS, SMP_STATE_WAITING },
    { PARK "java.util.concurrent.SynchronousQueue$TransferStack.transfer "
           "java.util.concurrent.SynchronousQueue.take" APP,
      true, SMP_WORD_WAITS, SMP_STATE_IDLE },
    /* Taking a connection from a pool is no work. */
    { PARK "java.util.concurrent.SynchronousQueue$TransferQueue.transfer "
           "java.util.concurrent.SynchronousQueue.poll "
           "com.zaxxer.hikari.util.ConcurrentBag.borrow" APP,
      true, SMP_WORD_WAITS, SMP_STATE_WAITING },
    /* The JVM lets the thread wait for a garbage collection. */
    { "com.acme.Work.enter" APP, false, SMP_WORD_WAITS, SMP_STATE_RUNNABLE },
    { PARK "java.util.concurrent.FutureTask.awaitDone java.util.concurrent.FutureTask.get" APP,
      true, SMP_WORD_WAITS, SMP_STATE_WAITING },
    /* The same without a frame of the application. */
    { PARK "java.util.concurrent.FutureTask.awaitDone java.util.concurrent.FutureTask.get" POOL,
      true, SMP_WORD_WAITS, SMP_STATE_IDLE },
    { PARK "org.springframework.core.Task.await" POOL, true, SMP_WORD_WAITS, SMP_STATE_IDLE },
    { "sun.nio.ch.SocketDispatcher.read0 sun.nio.ch.SocketDispatcher.read" APP, true,
      SMP_WORD_IN_NATIVE, SMP_STATE_IO },
    { "sun.nio.ch.SocketDispatcher.read0 sun.nio.ch.SocketDispatcher.read" POOL, true,
      SMP_WORD_IN_NATIVE, SMP_STATE_IO },
    { "sun.nio.ch.Net.poll sun.nio.ch.NioSocketImpl.park sun.nio.ch.NioSocketImpl.implRead" APP,
      true, SMP_WORD_IN_NATIVE, SMP_STATE_IO },
    { "sun.nio.ch.Net.poll sun.nio.ch.NioSocketImpl.park sun.nio.ch.NioSocketImpl.timedAccept" APP,
      true, SMP_WORD_IN_NATIVE, SMP_STATE_IDLE },
    { "sun.nio.ch.EPoll.wait sun.nio.ch.EPollSelectorImpl.doSelect" APP, true, SMP_WORD_IN_NATIVE,
      SMP_STATE_IDLE },
    /* Work does I/O: the loop that called it is not waiting at the moment. */
    { "java.io.FileInputStream.readBytes java.io.FileInputStream.read" APP
      " java.util.TimerThread.mainLoop java.util.TimerThread.run",
      true, SMP_WORD_IN_NATIVE, SMP_STATE_IO },
    { "sun.nio.ch.SocketDispatcher.read0" APP " java.util.concurrent.ForkJoinPool.runWorker", true,
      SMP_WORD_IN_NATIVE, SMP_STATE_IO },
    /* Parked virtual threads. */
    { "jdk.internal.vm.Continuation.yield0 java.lang.VirtualThread.park "
      "java.util.concurrent.locks.LockSupport.park sun.nio.ch.Poller.poll "
      "sun.nio.ch.NioSocketImpl.park" APP,
      false, SMP_WORD_UNKNOWN, SMP_STATE_IO },
    { "jdk.internal.vm.Continuation.yield0 java.lang.VirtualThread.park "
      "java.util.concurrent.locks.LockSupport.park sun.nio.ch.Poller.poll "
      "sun.nio.ch.NioSocketImpl.park sun.nio.ch.NioSocketImpl.accept" APP,
      false, SMP_WORD_UNKNOWN, SMP_STATE_IDLE },
    { "jdk.internal.vm.Continuation.yield0 java.lang.VirtualThread.park "
      "java.util.concurrent.locks.LockSupport.park sun.nio.ch.Poller.pollSelector "
      "sun.nio.ch.EPollSelectorImpl.doSelect" APP,
      false, SMP_WORD_UNKNOWN, SMP_STATE_IDLE },
    { "jdk.internal.vm.Continuation.run java.lang.VirtualThread.runContinuation "
      "java.util.concurrent.ForkJoinPool.runWorker",
      false, SMP_WORD_IN_IO, SMP_STATE_IO },
    { "jdk.internal.vm.Continuation.run java.lang.VirtualThread.runContinuation "
      "java.util.concurrent.ForkJoinPool.runWorker",
      false, SMP_WORD_WAITS, SMP_STATE_WAITING },
    { "jdk.internal.vm.Continuation.yield0 java.lang.VirtualThread.tryYield "
      "java.lang.Thread.yield" APP,
      false, SMP_WORD_UNKNOWN, SMP_STATE_RUNNABLE },
    { "java.lang.VirtualThread.takeVirtualThreadListToUnblock java.lang.Thread.run", true,
      SMP_WORD_STOPPED, SMP_STATE_IDLE },
    /* Native methods of other libraries. */
    { "com.acme.Driver.read0" APP, true, SMP_WORD_IN_NATIVE, SMP_STATE_WAITING },
    { "com.acme.Driver.read0" APP, true, SMP_WORD_IN_IO, SMP_STATE_IO },
    { "com.db.Driver.call0" APP, true, SMP_WORD_IN_NATIVE, SMP_STATE_IO },
    { PARK "com.acme.Loop.next" APP, true, SMP_WORD_WAITS, SMP_STATE_IDLE },
    { "sun.nio.ch.SocketDispatcher.read0 com.acme.Loop.next" APP, true, SMP_WORD_IN_NATIVE,
      SMP_STATE_IDLE },
    { "com.acme.Driver.read0 com.acme.Loop.next" APP, true, SMP_WORD_IN_IO, SMP_STATE_IDLE },
    { PARK AQS ".acquire " AQS ".acquire java.util.concurrent.locks.ReentrantLock$Sync.lock "
               "com.acme.Loop.next" APP,
      true, SMP_WORD_WAITS, SMP_STATE_BLOCKED },
    { "", false, SMP_WORD_WAITS, SMP_STATE_IDLE },
};

struct text_stack {
    char names[MAX_FRAMES][NAME_BYTES];
    size_t count;
};

static enum smp_status resolve(void *self, uint64_t method, struct smp_method_info *info)
{
    static char class_name[NAME_BYTES];
    const struct text_stack *stack = self;
    const char *name = stack->names[method - 1];
    const char *dot = strrchr(name, '.');

    (void)snprintf(class_name, sizeof(class_name), "%.*s", (int)(dot - name), name);
    *info = (struct smp_method_info){ .class_name = class_name, .method_name = dot + 1 };
    return SMP_OK;
}

static void release(void *self, struct smp_method_info *info)
{
    (void)self;
    (void)info;
}

static enum smp_thread_state state_of(const struct judged_case *judged,
                                      const struct smp_wait_rules *rules)
{
    struct text_stack stack = { .count = 0 };
    const struct smp_name_source names = { .resolve = resolve, .release = release, .self = &stack };
    struct smp_frame frames[MAX_FRAMES];
    uint32_t locations[MAX_FRAMES];
    struct smp_methods *methods = NULL;
    const char *at = judged->frames;
    struct smp_sample sample = { .frames = frames };
    struct smp_wait_verdict verdict;

    assert_int_equal(smp_methods_create(NULL, SMP_METHODS_MIN_BYTES, NULL, &methods), SMP_OK);
    smp_methods_set_wait_rules(methods, rules);
    while (*at != '\0') {
        const size_t length = strcspn(at, " ");
        (void)snprintf(stack.names[stack.count], NAME_BYTES, "%.*s", (int)length, at);
        frames[stack.count] =
            (struct smp_frame){ .method = stack.count + 1,
                                .bci = stack.count == 0 && judged->native ? -1 : 0 };
        locations[stack.count] = smp_methods_locate(methods, &names, &frames[stack.count]);
        stack.count++;
        at += length + strspn(at + length, " ");
    }
    sample.count = sample.leaf_count = stack.count;
    verdict = smp_wait_verdict_find(methods, &sample, locations, stack.count);
    smp_methods_release(methods);
    return smp_wait_state(verdict, judged->word);
}

static void each_stack_has_its_state(void **state)
{
    struct smp_wait_rules *rules = NULL;

    (void)state;
    assert_int_equal(smp_wait_rules_create(NULL, "com.db", "com.acme.Loop.next", "", &rules),
                     SMP_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (state_of(&cases[i], rules) != cases[i].state)
            fail_msg("%s: %d, expected %d", cases[i].frames, (int)state_of(&cases[i], rules),
                     (int)cases[i].state);
    }
    smp_wait_rules_destroy(rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_stack_has_its_state) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
