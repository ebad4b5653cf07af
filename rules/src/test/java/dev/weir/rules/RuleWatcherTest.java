package dev.weir.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.rules.internal.parse.FolderEvents;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class RuleWatcherTest {
  @TempDir Path folder;

  private final List<Rules.LoadResult> reported = new ArrayList<>();

  @Test
  void unchangedFiles_areNotReported() throws IOException {
    Path file = write("rules.yaml", "domain: a\n");
    try (RuleWatcher watcher = watcher(file)) {
      assertThat(watcher.poll()).isFalse();
      write("rules.yaml", "domain: a\n");
      assertThat(watcher.poll()).isFalse();
      assertThat(reported).isEmpty();
    }
  }

  @Test
  void edit_isReportedOnceItIsTheSameTwice() throws IOException {
    Path file = write("rules.yaml", "domain: a\n");
    try (RuleWatcher watcher = watcher(file)) {
      write("rules.yaml", "domain: b\n");
      assertThat(watcher.poll()).isTrue();
      assertThat(reported).isEmpty();
      assertThat(watcher.poll()).isFalse();
      assertThat(domains()).containsExactly("b");
      assertThat(watcher.poll()).isFalse();
      assertThat(reported).hasSize(1);
    }
  }

  @Test
  void fileBeingWritten_isLeftAlone() throws IOException {
    Path file = write("rules.yaml", "domain: a\n");
    try (RuleWatcher watcher = watcher(file)) {
      write("rules.yaml", "");
      assertThat(watcher.poll()).isTrue();
      write("rules.yaml", "dom");
      assertThat(watcher.poll()).isTrue();
      write("rules.yaml", "domain: b\n");
      assertThat(watcher.poll()).isTrue();
      assertThat(reported).isEmpty();
      watcher.poll();
      assertThat(domains()).containsExactly("b");
    }
  }

  @Test
  void changeThatIsTakenBackAtOnce_isNotReported() throws IOException {
    Path file = write("rules.yaml", "domain: a\n");
    try (RuleWatcher watcher = watcher(file)) {
      write("rules.yaml", "domain: b\n");
      assertThat(watcher.poll()).isTrue();
      write("rules.yaml", "domain: a\n");
      assertThat(watcher.poll()).isFalse();
      write("rules.yaml", "domain: b\n");
      assertThat(watcher.poll()).isTrue();
      assertThat(reported).isEmpty();
    }
  }

  @Test
  void brokenContent_isReportedOnceAndSoIsItsRepair() throws IOException {
    Path file = write("rules.yaml", "domain: a\n");
    try (RuleWatcher watcher = watcher(file)) {
      write("rules.yaml", "domian: a\n");
      settle(watcher);
      settle(watcher);
      assertThat(reported).hasSize(1);
      assertThat(reported.get(0).ruleSet()).isNull();
      assertThat(reported.get(0).problems()).isNotEmpty();
      write("rules.yaml", "domain: a\n");
      settle(watcher);
      assertThat(reported).hasSize(2);
      assertThat(domains()).containsExactly("a");
    }
  }

  @Test
  void atomicRename_isReported() throws IOException {
    Path file = write("rules.yaml", "domain: a\n");
    try (RuleWatcher watcher = watcher(file)) {
      Path next = write("next", "domain: b\n");
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      settle(watcher);
      assertThat(domains()).containsExactly("b");
    }
  }

  @Test
  void swappedLinkAsKubernetesDoesIt_isReported() throws IOException {
    version("v1", "domain: a\n");
    Path data = folder.resolve("..data");
    Files.createSymbolicLink(data, Path.of("v1"));
    Files.createSymbolicLink(folder.resolve("rules.yaml"), Path.of("..data", "rules.yaml"));
    try (RuleWatcher watcher = watcher(folder)) {
      version("v2", "domain: b\n");
      swap(data, "v2");
      settle(watcher);
      assertThat(domains()).containsExactly("b");
    }
  }

  @Test
  void addedAndRemovedFiles_areReported() throws IOException {
    write("a.yaml", "domain: a\n");
    try (RuleWatcher watcher = watcher(folder)) {
      Path b = write("b.yaml", "domain: b\n");
      settle(watcher);
      assertThat(domains()).containsExactly("a", "b");
      Files.delete(b);
      settle(watcher);
      assertThat(domains()).containsExactly("a");
      Files.delete(folder.resolve("a.yaml"));
      settle(watcher);
      assertThat(reported).hasSize(3);
      assertThat(reported.get(2).ruleSet()).isNull();
    }
  }

  @Test
  void changeBetweenLoadingAndWatching_isReported() throws IOException {
    Path file = write("rules.yaml", "domain: a\n");
    RuleSet current = load(file);
    write("rules.yaml", "domain: b\n");
    try (RuleWatcher watcher = unstarted(file, current, reported::add)) {
      settle(watcher);
      assertThat(domains()).containsExactly("b");
    }
  }

  @Test
  void throwingReceiver_isNotCalledAgainForTheSameContent() throws IOException {
    Path file = write("rules.yaml", "domain: a\n");
    RuleWatcher watcher =
        unstarted(
            file,
            RuleSet.EMPTY,
            loaded -> {
              reported.add(loaded);
              throw new IllegalStateException("refused");
            });
    try (watcher) {
      assertThat(watcher.poll()).isTrue();
      assertThatThrownBy(watcher::poll).hasMessage("refused");
      assertThat(watcher.poll()).isFalse();
      assertThat(reported).hasSize(1);
    }
  }

  /** Uses a receiver without memory for the content: it gets it once more, and others after it. */
  @Test
  @Timeout(60)
  void errorOfTheReceiver_isReportedAndTheContentComesAgain() throws Exception {
    Path file = write("rules.yaml", "domain: a\n");
    AtomicInteger calls = new AtomicInteger();
    RuleWatcher watcher =
        unstarted(
            file,
            RuleSet.EMPTY,
            loaded -> {
              if (calls.incrementAndGet() == 1) {
                throw new OutOfMemoryError("pretended");
              }
              reported.add(loaded);
            });
    try (watcher) {
      assertThat(watcher.poll()).isTrue();
      assertThatThrownBy(watcher::poll).isInstanceOf(OutOfMemoryError.class);
      settle(watcher);
      assertThat(domains()).containsExactly("a");
    }
  }

  @Test
  @Timeout(60)
  void runningWatcher_goesOnAfterAnyError() throws Exception {
    Path file = write("rules.yaml", "domain: a\n");
    BlockingQueue<Throwable> errors = new LinkedBlockingQueue<>();
    BlockingQueue<Rules.LoadResult> queue = new LinkedBlockingQueue<>();
    RuleSet current = load(file);
    write("rules.yaml", "domain: b\n");
    AtomicInteger calls = new AtomicInteger();
    Consumer<Rules.LoadResult> changed =
        loaded -> {
          if (calls.incrementAndGet() == 1) {
            throw new StackOverflowError("pretended");
          }
          queue.add(loaded);
        };
    Consumer<Throwable> failed =
        e -> {
          errors.add(e);
          throw new OutOfMemoryError("pretended, in the callback");
        };
    try (RuleWatcher watcher = RuleWatcher.start(List.of(file), current, changed, failed)) {
      assertThat(watcher).isNotNull();
      assertThat(errors.poll(50, TimeUnit.SECONDS)).isInstanceOf(StackOverflowError.class);
      write("rules.yaml", "domain: c\n");
      assertThat(next(queue).domains()).containsExactly("c");
    }
  }

  @Test
  void closedWatcher_reportsNothing() throws IOException {
    Path file = write("rules.yaml", "domain: a\n");
    RuleWatcher watcher = watcher(file);
    watcher.close();
    write("rules.yaml", "domain: b\n");
    settle(watcher);
    assertThat(reported).isEmpty();
  }

  @Test
  @Timeout(60)
  void runningWatcher_noticesEditsRenamesAndSwaps() throws Exception {
    version("v1", "domain: a\n");
    Path data = folder.resolve("..data");
    Files.createSymbolicLink(data, Path.of("v1"));
    Files.createSymbolicLink(folder.resolve("rules.yaml"), Path.of("..data", "rules.yaml"));
    Path file = folder.resolve("rules.yaml");
    BlockingQueue<Rules.LoadResult> queue = new LinkedBlockingQueue<>();
    try (RuleWatcher watcher = RuleWatcher.start(List.of(file), load(file), queue::add)) {
      assertThat(watcher).isNotNull();
      version("v2", "domain: b\n");
      swap(data, "v2");
      assertThat(next(queue).domains()).containsExactly("b");
      Files.writeString(folder.resolve("v2").resolve("rules.yaml"), "domain: c\n");
      assertThat(next(queue).domains()).containsExactly("c");
    }
    assertThat(queue).isEmpty();
  }

  private static RuleSet next(BlockingQueue<Rules.LoadResult> queue) throws InterruptedException {
    Rules.LoadResult loaded = Objects.requireNonNull(queue.poll(50, TimeUnit.SECONDS), "no report");
    return Objects.requireNonNull(loaded.ruleSet());
  }

  private RuleWatcher watcher(Path path) {
    return unstarted(path, load(path), reported::add);
  }

  private static RuleWatcher unstarted(
      Path path, RuleSet current, Consumer<Rules.LoadResult> changed) {
    return new RuleWatcher(List.of(path), current, changed, e -> {}, FolderEvents::open);
  }

  private static RuleSet load(Path path) {
    return Objects.requireNonNull(Rules.load(List.of(path)).ruleSet());
  }

  private static void settle(RuleWatcher watcher) {
    if (watcher.poll()) {
      watcher.poll();
    }
  }

  private Iterable<String> domains() {
    Rules.LoadResult last = reported.get(reported.size() - 1);
    return Objects.requireNonNull(last.ruleSet()).domains();
  }

  private Path write(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }

  private void version(String name, String text) throws IOException {
    Path version = Files.createDirectory(folder.resolve(name));
    Files.writeString(version.resolve("rules.yaml"), text);
  }

  private void swap(Path link, String target) throws IOException {
    Path next = Files.createSymbolicLink(folder.resolve("..data_tmp"), Path.of(target));
    Files.move(next, link, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
