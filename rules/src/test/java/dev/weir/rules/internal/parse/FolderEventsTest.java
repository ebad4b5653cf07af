package dev.weir.rules.internal.parse;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.rules.RuleSet;
import dev.weir.rules.RuleWatcher;
import dev.weir.rules.Rules;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The times at which a watcher polls: after events of the file system, and in spite of events that
 * hang.
 */
class FolderEventsTest {
  @TempDir private Path folder;
  private final BlockingQueue<Rules.LoadResult> queue = new LinkedBlockingQueue<>();

  /** Events like the JDK's when the thread that they all wait for has died. */
  private static class DeadEvents implements FolderEvents {
    final CountDownLatch never = new CountDownLatch(1);

    @Override
    public void follow(Set<Path> folders) {
      hang();
    }

    @Override
    public boolean follows(Set<Path> folders) {
      return false;
    }

    @Override
    public void await(long millis) throws InterruptedException {
      boolean unused = never.await(millis, TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
      hang();
    }

    void hang() {
      try {
        never.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  @Test
  @Timeout(60)
  void eventsThatHang_areReplacedByOthers() throws Exception {
    Path file = write("rules.yaml", "domain: a\n");
    DeadEvents dead = new DeadEvents();
    Queue<FolderEvents> events = new ConcurrentLinkedQueue<>(List.of(dead));
    RuleWatcher watcher =
        new RuleWatcher(
            List.of(file),
            load(file),
            queue::add,
            e -> {},
            () -> events.isEmpty() ? FolderEvents.open() : events.remove());
    try (watcher) {
      watcher.start();
      write("rules.yaml", "domain: b\n");
      assertThat(next().domains()).containsExactly("b");
      write("rules.yaml", "domain: c\n");
      assertThat(next().domains()).containsExactly("c");
      assertThat(events).isEmpty();
    } finally {
      dead.never.countDown();
    }
  }

  /** Uses events that register nothing and hang when they are closed. */
  @Test
  @Timeout(60)
  void eventsThatDoNotClose_areLeftBehind() throws Exception {
    Path file = write("rules.yaml", "domain: a\n");
    CountDownLatch awaited = new CountDownLatch(1);
    DeadEvents dead =
        new DeadEvents() {
          @Override
          public boolean follows(Set<Path> folders) {
            return true;
          }

          @Override
          public void await(long millis) throws InterruptedException {
            awaited.countDown();
            super.await(millis);
          }
        };
    RuleWatcher watcher =
        new RuleWatcher(List.of(file), load(file), queue::add, e -> {}, () -> dead);
    watcher.start();
    awaited.await();
    watcher.close(); // It must not reach the test's time limit.
    dead.never.countDown();
    assertThat(queue).isEmpty();
  }

  /** Edits each file in place, two links away from the rules' folder. */
  @Test
  @Timeout(60)
  void editBehindLinksInsideAFolder_isNoticedByItsEvent() throws Exception {
    Path cm = Files.createDirectory(folder.resolve("cm"));
    Path version = Files.createDirectory(cm.resolve("..2024_2"));
    Files.writeString(version.resolve("r.yaml"), "domain: a\n");
    Files.createSymbolicLink(cm.resolve("..data"), Path.of("..2024_2"));
    Files.createSymbolicLink(cm.resolve("r.yaml"), Path.of("..data", "r.yaml"));
    Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
    Path far = Files.writeString(elsewhere.resolve("far.yaml"), "domain: x\n");
    Files.createSymbolicLink(folder.resolve("hop"), far);
    Files.createSymbolicLink(cm.resolve("s.yaml"), Path.of("..", "hop"));

    assertThat(Links.folders(List.of(cm)))
        .containsExactlyInAnyOrder(
            folder.toRealPath(), cm.toRealPath(), version.toRealPath(), elsewhere.toRealPath());

    EventsAlone events = new EventsAlone();
    RuleWatcher watcher = new RuleWatcher(List.of(cm), load(cm), queue::add, e -> {}, () -> events);
    try (watcher) {
      watcher.start();
      events.waiting.acquire();
      Files.writeString(version.resolve("r.yaml"), "domain: b\n");
      assertThat(next().domains()).containsExactlyInAnyOrder("b", "x");
      Files.writeString(far, "domain: y\n");
      assertThat(next().domains()).containsExactlyInAnyOrder("b", "y");
    }
  }

  /**
   * The file system's events without the slow poll: every change that is noticed comes from an
   * event.
   */
  private static final class EventsAlone implements FolderEvents {
    final Semaphore waiting = new Semaphore(0);
    private final FolderEvents real;

    EventsAlone() throws IOException {
      real = FolderEvents.open();
    }

    @Override
    public void follow(Set<Path> folders) {
      real.follow(folders);
    }

    @Override
    public boolean follows(Set<Path> folders) {
      return real.follows(folders);
    }

    @Override
    public void await(long millis) throws InterruptedException {
      waiting.release();
      real.await(millis < RuleWatcher.RECHECK_MILLIS ? millis : TimeUnit.DAYS.toMillis(1));
    }

    @Override
    public void close() throws IOException {
      real.close();
    }
  }

  @Test
  void linksThatLeadRoundOrNowhere_endTheWay() throws Exception {
    Files.createSymbolicLink(folder.resolve("a.yaml"), Path.of("b.yaml"));
    Files.createSymbolicLink(folder.resolve("b.yaml"), Path.of("a.yaml"));
    Files.createSymbolicLink(folder.resolve("c.yaml"), Path.of("..", "none", "c.yaml"));
    assertThat(Links.folders(List.of(folder)))
        .containsExactlyInAnyOrder(folder.toRealPath(), folder.toRealPath().getParent());
    assertThat(Links.folders(List.of(folder.resolve("none").resolve("r.yaml")))).isEmpty();
  }

  private RuleSet next() throws InterruptedException {
    Rules.LoadResult loaded = Objects.requireNonNull(queue.poll(50, TimeUnit.SECONDS), "no report");
    return Objects.requireNonNull(loaded.ruleSet());
  }

  private static RuleSet load(Path path) {
    return Objects.requireNonNull(Rules.load(List.of(path)).ruleSet());
  }

  private Path write(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }
}
