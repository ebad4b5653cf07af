package dev.weir.traffic;

import dev.weir.rules.ValueErrors;
import dev.weir.traffic.GeneratorOptions.Kind;
import dev.weir.traffic.internal.generate.Visit;
import dev.weir.traffic.internal.generate.VisitWriter;
import dev.weir.traffic.internal.generate.Visitors;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A generator of traffic, by which everything here can be tried without an existing log. The same
 * options give the same bytes, on every machine.
 */
public final class Generator {
  /**
   * The instant from which on traffic of the longest duration would end beyond a limiter's last
   * time.
   */
  private static final Instant LATEST = Instant.parse("2078-01-01T00:00:00Z");

  private static final Duration MOST = Duration.ofDays(366);
  private static final Duration LEAST = Duration.ofMillis(1);
  private static final int BUFFER_BYTES = 1 << 16;

  private final GeneratorOptions options;
  private final PriorityQueue<Visitors> visitors =
      new PriorityQueue<>(Comparator.comparingLong(Visitors::nextNanos));
  private long made;

  Generator(GeneratorOptions options) {
    this.options = options;
    // Every kind has its own random numbers: adding a kind does not change the others.
    for (Kind kind : Kind.values()) {
      if (options.traffic().contains(kind)) {
        long seed = options.seed() ^ 0x9e3779b97f4a7c15L * kind.text().hashCode();
        visitors.add(Visitors.of(kind, options, new SplittableRandom(seed)));
      }
    }
  }

  public static long nanos(Instant instant) {
    return instant.getEpochSecond() * 1_000_000_000 + instant.getNano();
  }

  /** Returns the next request, or null if there is none left. */
  @Nullable Visit next() {
    Visitors first = visitors.poll();
    if (first == null || first.nextNanos() >= first.endNanos || made == options.maxRequests()) {
      return null;
    }
    made++;
    Visit visit = first.take();
    visitors.add(first);
    return visit;
  }

  /**
   * Writes traffic.
   *
   * @param format combined, csv, tsv or jsonl
   * @param out the stream, which is flushed and not closed
   * @return the number of requests
   * @throws TrafficException if the options are out of their ranges; its message lists all problems
   */
  public static long write(GeneratorOptions options, Format format, OutputStream out)
      throws IOException, TrafficException {
    check(options, format);
    BufferedOutputStream buffered = new BufferedOutputStream(out, BUFFER_BYTES);
    VisitWriter writer = new VisitWriter(format, buffered);
    Generator generator = new Generator(options);
    for (Visit visit = generator.next(); visit != null; visit = generator.next()) {
      writer.write(visit);
    }
    buffered.flush();
    return generator.made;
  }

  /**
   * Checks options without making anything.
   *
   * @throws TrafficException if they are out of their ranges; its message lists all problems
   */
  public static void check(GeneratorOptions options, Format format) throws TrafficException {
    List<String> problems = new ArrayList<>();
    range(problems, !options.traffic().isEmpty(), "traffic", "none", "one kind at least");
    range(
        problems, Format.WRITTEN.contains(format), "format", format, "combined, csv, tsv or jsonl");
    Instant start = options.start();
    range(
        problems,
        !start.isBefore(Instant.EPOCH) && start.isBefore(LATEST),
        "start",
        start,
        "from 1970 to 2077");
    duration(problems, "duration", options.duration());
    duration(problems, "window", options.window());
    double rate = options.rate();
    range(problems, rate > 0 && rate <= 1_000_000, "rate", rate, "above 0, at most 1000000");
    int clients = options.clients();
    range(problems, clients >= 1 && clients <= 1 << 24, "clients", clients, "1..16777216");
    double skew = options.skew();
    range(problems, skew >= 0 && skew <= 3, "skew", skew, "0..3");
    long most = options.maxRequests();
    range(problems, most >= 1, "requests", most, "at least 1");
    if (!problems.isEmpty()) {
      throw new TrafficException(problems);
    }
  }

  private static void duration(List<String> problems, String name, Duration value) {
    boolean right = value.compareTo(LEAST) >= 0 && value.compareTo(MOST) <= 0;
    range(problems, right, name, value, "1 ms to 366 days");
  }

  private static void range(
      List<String> problems, boolean right, String name, Object value, String expected) {
    if (!right) {
      problems.add(ValueErrors.line(name, value, expected));
    }
  }
}
