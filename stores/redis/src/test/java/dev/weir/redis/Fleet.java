package dev.weir.redis;

import dev.weir.redis.FleetMember.Answer;
import dev.weir.redis.FleetMember.Load;
import dev.weir.testkit.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Separate processes that share a store, each with a clock of its own. Not safe for use by several
 * threads.
 */
final class Fleet implements AutoCloseable {
  /** The clocks' offsets, and their drifts in parts of a million: a bad crystal's. */
  private static final long[][] CLOCKS = {
    {0, 0},
    {-TimeUnit.HOURS.toNanos(3), 100},
    {TimeUnit.MINUTES.toNanos(7), -100},
    {TimeUnit.DAYS.toNanos(400), 0}
  };

  /** The time for all processes to read a task before it begins. */
  private static final long LEAD_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private final Path directory;
  private final List<ChildProcess> members = new ArrayList<>();

  private Fleet(Path directory) {
    this.directory = directory;
  }

  /** Starts that many processes, and returns when all of them are connected. */
  static Fleet start(int size, String uri) {
    try {
      Fleet fleet = new Fleet(Files.createTempDirectory("weir-fleet"));
      try {
        for (int i = 0; i < size; i++) {
          fleet.launch(i, uri);
        }
        for (int i = 0; i < size; i++) {
          fleet.expect(i, "ready");
        }
        return fleet;
      } catch (IOException | RuntimeException e) {
        fleet.close();
        throw e;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void launch(int index, String uri) throws IOException {
    long[] clock = CLOCKS[index % CLOCKS.length];
    members.add(
        ChildProcess.java(
                FleetMember.class, uri, String.valueOf(clock[0]), String.valueOf(clock[1]))
            .options("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
            .errors(Redirect.to(errors(index).toFile()))
            .start());
  }

  private Path errors(int index) {
    return directory.resolve("errors-" + index + ".txt");
  }

  private Path output(int index) {
    return directory.resolve("answers-" + index + ".txt");
  }

  private void tell(int index, String task) throws IOException {
    members.get(index).write(task + "\n");
  }

  private String expect(int index, String expected) throws IOException {
    try {
      String line = members.get(index).line();
      if (line.startsWith(expected)) {
        return line;
      }
      throw new IOException(line + " (expected: " + expected + ")");
    } catch (IOException e) {
      throw new IOException("process " + index + ": " + Files.readString(errors(index)), e);
    }
  }

  /** Returns the current reading of the process's monotonic clock. */
  long nanoTime(int index) {
    try {
      tell(index, "time");
      return Long.parseLong(expect(index, ""));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Makes all processes send requests for that long, and returns the answers. */
  List<Answer> fetch(List<Load> loads, Duration duration) {
    return perform("ask", loads, duration);
  }

  /** Does the same as {@link #fetch}, with a limiter that reads, compares and writes. */
  List<Answer> race(Load load, Duration duration) {
    return perform("race", List.of(load), duration);
  }

  /** Runs a task, which begins in the middle of a window that is aligned to the clock. */
  private List<Answer> perform(String task, List<Load> loads, Duration duration) {
    try {
      long window = loads.get(0).windowMillis();
      long earliest = System.currentTimeMillis() + TimeUnit.NANOSECONDS.toMillis(LEAD_NANOS);
      long toMiddle = Math.floorMod(window / 2 - earliest, window);
      long start = System.nanoTime() + LEAD_NANOS + TimeUnit.MILLISECONDS.toNanos(toMiddle);
      long end = start + duration.toNanos();
      String text = loads.stream().map(Load::toString).collect(Collectors.joining(";"));
      for (int i = 0; i < members.size(); i++) {
        tell(i, task + " " + start + " " + end + " " + output(i) + " " + text);
      }
      List<Answer> answers = new ArrayList<>();
      for (int i = 0; i < members.size(); i++) {
        expect(i, "done");
        Files.readAllLines(output(i)).forEach(line -> answers.add(Answer.parse(line)));
      }
      return answers;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ends all processes and leaves nothing on disk. */
  @Override
  public void close() {
    members.forEach(ChildProcess::close);
    try {
      try (Stream<Path> files = Files.list(directory)) {
        for (Path file : files.toList()) {
          Files.delete(file);
        }
      }
      Files.delete(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
