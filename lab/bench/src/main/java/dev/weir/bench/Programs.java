package dev.weir.bench;

import dev.weir.testkit.ChildProcess;
import dev.weir.wire.testkit.RedisServer;
import java.io.IOException;
import java.time.Duration;
import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;

/** The programs that a benchmark runs beside itself. Safe for use by many threads. */
public final class Programs implements AutoCloseable {
  private static final Duration LONGEST_END = Duration.ofSeconds(20);

  private record Program(ProcessHandle process, Runnable end) {}

  private final Deque<Program> all = new ConcurrentLinkedDeque<>();

  /** Starts a program, and returns at once. */
  public ChildProcess start(ChildProcess.Builder program) throws IOException {
    ChildProcess started = program.start();
    all.push(new Program(started.handle(), () -> end(started)));
    return started;
  }

  /** Adds a server that has been started. */
  public RedisServer add(RedisServer started) {
    all.push(new Program(started.handle(), started::close));
    return started;
  }

  /** Returns the processor time of all programs, in nanoseconds. */
  public long cpuNanos() {
    return all.stream().mapToLong(each -> cpuNanos(each.process)).sum();
  }

  /**
   * Returns the processor time of a process, in nanoseconds, to a hundredth of a second; 0 if it is
   * not known.
   */
  public static long cpuNanos(ProcessHandle process) {
    return process.info().totalCpuDuration().map(Duration::toNanos).orElse(0L);
  }

  /** Ends a program in order, so that it can write its last files, such as a profile. */
  private static void end(ChildProcess program) {
    program.terminate();
    boolean unused = program.endsWithin(LONGEST_END);
    program.close();
  }

  /** Ends all programs, the last one first. Others can be started afterwards. */
  @Override
  public void close() {
    for (Program each = all.poll(); each != null; each = all.poll()) {
      each.end.run();
    }
  }
}
