package dev.weir.core.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.MemoryStore;
import dev.weir.StateFolder;
import dev.weir.Ticker;
import dev.weir.testkit.ChildProcess;
import dev.weir.testkit.DiskFile;
import dev.weir.testkit.Trials;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of counts whose machine loses power: a copy of a real disk at any moment, on which the
 * system has written what was flushed, and some of the rest.
 */
@Tag("model")
class PowerLossTest {
  private static final int MEGABYTES = 96;

  /** The longest time between two losses of power. */
  private static final int LONGEST_MILLIS = 60;

  /** The losses within which a program that does not keep its promise is found out. */
  private static final int KNOWN_BAD = 60;

  @TempDir private Path folder;

  /** The result of some losses of power. */
  private record Losses(int tried, long answered, @Nullable String broken) {}

  /**
   * Runs a program whose machine loses power, so many times or until its counts are wrong; null if
   * that cannot be tried here.
   */
  private @Nullable Losses lose(int times, SplittableRandom random, String how, boolean otherBoot)
      throws Exception {
    Path place = Files.createDirectory(folder.resolve("disk"));
    DiskFile disk = DiskFile.make(folder.resolve("disk.image"), MEGABYTES, place);
    if (disk == null) {
      return null; // The kit has said so.
    }
    Path boot = otherBoot ? Files.writeString(folder.resolve("boot"), "another\n") : null;
    Path answers = folder.resolve("answers");
    ClientCounts counted = new ClientCounts(answers);
    try (ChildProcess program =
        ChildProcess.java(
                PoweredProcess.class,
                place.resolve("state").toString(),
                answers.toString(),
                how,
                Long.toString(random.nextLong()))
            .options("-Dweir.state.journal-bytes=100000")
            .within(disk.within(place, boot))
            .start()) {
      program.await("begun");
      for (int i = 1; i <= times; i++) {
        if (program.endsWithin(Duration.ofMillis(random.nextInt(LONGEST_MILLIS)))) {
          throw new IOException("ended by itself\n" + program.output());
        }
        program.signal("STOP");
        // A file of its own each time: the system may still have the last one.
        Path image = folder.resolve("lost-" + i + ".image");
        DiskFile lost = disk.copy(image);
        counted.read(); // Now all threads have stopped.
        program.signal("CONT");
        String broken = broken(lost, counted);
        Files.delete(image);
        if (broken != null) {
          return new Losses(i, counted.answered(), broken);
        }
      }
    }
    return new Losses(times, counted.answered(), null);
  }

  /** Returns the first count that is wrong after the next start; null if there is none. */
  private @Nullable String broken(DiskFile lost, ClientCounts counted) throws IOException {
    Path place = folder.resolve("after");
    if (Files.notExists(place)) {
      Files.createDirectory(place);
    }
    Log log = new Log();
    try (DiskFile.MountedDisk mounted = lost.mount(place);
        StateFolder state = StateFolder.builder(mounted.path().resolve("state")).log(log).open()) {
      Ticker ticker = state.ticker();
      MemoryStore store =
          state.store(
              PoweredProcess.STORE,
              PoweredProcess.KEYS,
              PoweredProcess.MOST_KEYS,
              PoweredProcess.MOST_BYTES);
      long now = ticker.nanos();
      List<Binding> bindings = PoweredProcess.bind(store, now);
      for (ClientCounts.Key key : counted.keys()) {
        Charges peek = new Charges().add(bindings.get(key.policy()), key.fingerprint(), 1).peek();
        store.decide(peek, now);
        long charged = PoweredProcess.LIMIT - peek.remaining(0);
        ClientCounts.Bounds bounds = counted.bounds(key);
        if (charged < bounds.least() || charged > bounds.most()) {
          return "%s of %s: %d charged (expected: %s)%n%s"
              .formatted(key, bindings.get(key.policy()).policy(), charged, bounds, log);
        }
      }
      return log.warned() ? "no warning (expected), but: " + log : null;
    }
  }

  @Test
  @Tag("sample")
  void whatWasAnswered_isCountedAfterALossOfPower() throws Exception {
    int times = Trials.runs(12, 100);
    SplittableRandom random = Trials.random("losses of power", times);
    Losses losses = lose(times, random, "answering", true);
    if (losses != null) {
      System.out.println(losses);
      assertThat(losses.broken()).as("-Dweir.seed=%s: %s", Trials.SEED, losses).isNull();
      assertThat(losses.answered()).isGreaterThan(times);
    }
  }

  @Test
  void answersBeforeTheFlush_areFoundOut() throws Exception {
    Losses losses = lose(KNOWN_BAD, Trials.random("answers too early"), "early", true);
    if (losses != null) {
      System.out.println(losses);
      assertThat(losses.broken()).as("%s", losses).isNotNull();
    }
  }

  @Test
  void journalOfTheProcessTakenForOneOfTheMachine_isFoundOut() throws Exception {
    Losses losses = lose(KNOWN_BAD, Trials.random("same boot"), "process", false);
    if (losses != null) {
      System.out.println(losses);
      assertThat(losses.broken()).as("%s", losses).isNotNull();
    }
  }

  /** The lines of a start. */
  private static final class Log implements StateFolder.Log {
    private final StringBuilder lines = new StringBuilder();
    private boolean warned;

    @Override
    public void info(String line) {
      lines.append(line).append('\n');
    }

    @Override
    public void warning(String line) {
      info(line);
      warned = true;
    }

    boolean warned() {
      return warned;
    }

    @Override
    public String toString() {
      return lines.toString();
    }
  }
}
