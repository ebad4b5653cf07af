package dev.weir.siege;

import dev.weir.client.ClientMetrics;
import dev.weir.client.WeirClient;
import dev.weir.rules.Request;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A process that requests permits of a leased limit at a steady rate, and records when it was
 * admitted: begin and end of each admission, by the machine's monotonic clock, which all processes
 * share on Linux.
 */
final class LeaseClient {
  static final String DOMAIN = "siege";
  static final String KEY = "leased";

  /** The first word of the line that ends a report. */
  static final String LAST = "end";

  /** One admission. */
  record Admission(long fromNanos, long toNanos) {}

  /**
   * The results of a process.
   *
   * @param local the decisions that it made without a call
   * @param messages the messages that it sent
   */
  record Report(List<Admission> admissions, long asked, long local, long messages) {}

  private LeaseClient() {}

  /**
   * Runs the client. Arguments: gRPC port, nanoseconds between requests, seconds, file for the
   * report.
   */
  public static void main(String[] arguments) throws Exception {
    String target = "127.0.0.1:" + Integer.parseInt(arguments[0]);
    long gapNanos = Long.parseLong(arguments[1]);
    long forNanos = TimeUnit.SECONDS.toNanos(Long.parseLong(arguments[2]));
    Queue<Admission> admissions = new ConcurrentLinkedQueue<>();
    long asked = 0;
    ClientMetrics metrics;
    try (WeirClient weir = WeirClient.builder(target).build()) {
      boolean unused = weir.awaitAvailable(Duration.ofSeconds(20));
      long end = System.nanoTime() + forNanos;
      Request request = Request.of(DOMAIN, KEY, "one");
      for (long due = System.nanoTime(); System.nanoTime() - end < 0; due += gapNanos) {
        long wait = due - System.nanoTime();
        if (wait > 0) {
          LockSupport.parkNanos(wait);
        }
        long from = System.nanoTime();
        asked++;
        weir.decide(
            request,
            answer -> {
              if (answer.allowed()) {
                admissions.add(new Admission(from, System.nanoTime()));
              }
            });
      }
      metrics = weir.metrics();
    }
    write(Path.of(arguments[3]), admissions, asked, metrics);
  }

  private static void write(
      Path file, Queue<Admission> admissions, long asked, ClientMetrics metrics)
      throws IOException {
    StringBuilder lines = new StringBuilder();
    for (Admission each : admissions) {
      lines.append(each.fromNanos).append(' ').append(each.toNanos).append('\n');
    }
    long local = metrics.admittedLocally() + metrics.refusedLocally();
    lines.append(LAST).append(' ').append(asked).append(' ').append(local);
    lines.append(' ').append(metrics.messages()).append('\n');
    Files.writeString(file, lines);
  }

  /**
   * Reads the report of a process.
   *
   * @throws IOException if it is not complete
   */
  static Report read(Path file) throws IOException {
    List<Admission> admissions = new ArrayList<>();
    for (String line : Files.readAllLines(file)) {
      String[] words = line.split(" ", -1);
      if (words[0].equals(LAST)) {
        return new Report(
            admissions,
            Long.parseLong(words[1]),
            Long.parseLong(words[2]),
            Long.parseLong(words[3]));
      }
      admissions.add(new Admission(Long.parseLong(words[0]), Long.parseLong(words[1])));
    }
    throw new IOException(file + ": no last line (expected: a whole report)");
  }
}
