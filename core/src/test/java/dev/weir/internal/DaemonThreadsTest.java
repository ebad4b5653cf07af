package dev.weir.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DaemonThreadsTest {
  @Test
  void threads_areDaemonsOfTheirNameAndNotStarted() {
    List<Thread> threads =
        List.of(
            DaemonThreads.create("one", () -> {}),
            DaemonThreads.named("one").newThread(() -> {}),
            DaemonThreads.numbered("one").newThread(() -> {}));

    assertThat(threads).allMatch(Thread::isDaemon).noneMatch(Thread::isAlive);
    assertThat(threads).extracting(Thread::getName).containsExactly("one", "one", "one-1");
  }

  @Test
  void numbered_countsTheThreadsOfEachFactory() {
    ThreadFactory factory = DaemonThreads.numbered("pool");

    assertThat(Stream.generate(() -> factory.newThread(() -> {}).getName()).limit(3))
        .containsExactly("pool-1", "pool-2", "pool-3");
    assertThat(DaemonThreads.numbered("pool").newThread(() -> {}).getName()).isEqualTo("pool-1");
  }

  @Test
  void task_runsOnTheThread() throws InterruptedException {
    StringBuilder ran = new StringBuilder();
    Thread thread = DaemonThreads.create("one", () -> ran.append(Thread.currentThread().getName()));
    thread.start();
    thread.join();

    assertThat(ran).hasToString("one");
  }
}
