package dev.weir.bench;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.SynchronousQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Processor time of each stage at the leader of a group and at one of its followers: so much for an
 * entry, and so much for each decision in it.
 *
 * @param leader by stage
 * @param follower by stage; what its door takes is for its own clients
 * @param generatorNanos what the generator takes for a decision
 * @param flushNanos how long the disk takes to flush an entry, without processor time
 * @param wakeNanos from when a thread is handed work until it runs
 */
record ClusterCosts(
    Map<ClusterStage, Cost> leader,
    Map<ClusterStage, Cost> follower,
    double generatorNanos,
    double flushNanos,
    double wakeNanos) {
  private static final int FLUSHES = 300;
  private static final int WAKES = 2_000;
  private static final Pattern THREAD = Pattern.compile("^\"([^\"]+)\".* cpu=([0-9.]+)ms");

  /** Nanoseconds of a processor. */
  record Cost(double entryNanos, double decisionNanos) {
    double of(double decisions) {
      return entryNanos + decisions * decisionNanos;
    }

    Cost times(double share) {
      return new Cost(entryNanos * share, decisionNanos * share);
    }

    /**
     * Returns the cost that explains two measurements of an entry, with few decisions and with
     * many; no part of it is negative.
     */
    static Cost through(double few, double fewNanos, double many, double manyNanos) {
      double decision = (manyNanos - fewNanos) / (many - few);
      double entry = fewNanos - few * decision;
      if (decision < 0) {
        return new Cost((fewNanos + manyNanos) / 2, 0);
      }
      return entry < 0 ? new Cost(0, manyNanos / many) : new Cost(entry, decision);
    }
  }

  Cost led(ClusterStage stage) {
    return Objects.requireNonNull(leader.get(stage));
  }

  Cost followed(ClusterStage stage) {
    return Objects.requireNonNull(follower.get(stage));
  }

  /** What a member's threads have taken so far, by stage, in nanoseconds. */
  static Map<ClusterStage, Double> taken(long pid) throws IOException {
    Map<ClusterStage, Double> stages = new EnumMap<>(ClusterStage.class);
    for (ClusterStage each : ClusterStage.values()) {
      stages.put(each, 0.0);
    }
    String said;
    try {
      said = Program.run(List.of("jcmd", Long.toString(pid), "Thread.print"));
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
    said.lines()
        .forEach(
            line -> {
              Matcher thread = THREAD.matcher(line);
              if (thread.find()) {
                double nanos = 1e6 * Double.parseDouble(thread.group(2));
                stages.merge(ClusterStage.of(thread.group(1)), nanos, Double::sum);
              }
            });
    return stages;
  }

  /**
   * What one of several members took in a run.
   *
   * @param entries that the log got meanwhile
   * @param decisions that were made meanwhile
   */
  record Run(double entries, double decisions, Map<ClusterStage, Double> nanos) {
    double inEntry() {
      return decisions / entries;
    }

    double forEntry(ClusterStage stage) {
      return nanos.getOrDefault(stage, 0.0) / entries;
    }
  }

  /** Returns what explains two runs of a member, with few decisions in an entry and with many. */
  static Map<ClusterStage, Cost> explaining(Run few, Run many) {
    Map<ClusterStage, Cost> costs = new HashMap<>();
    for (ClusterStage each : ClusterStage.values()) {
      costs.put(
          each,
          Cost.through(few.inEntry(), few.forEntry(each), many.inEntry(), many.forEntry(each)));
    }
    return costs;
  }

  /** Returns how long this disk takes to flush a few kilobytes at the end of a file. */
  static double flush() throws IOException {
    Path file = Files.createTempFile("weir-flush", "");
    List<Double> took = new ArrayList<>();
    try (RandomAccessFile log = new RandomAccessFile(file.toFile(), "rw")) {
      log.getChannel().write(ByteBuffer.allocate(FLUSHES * 4_096), 0);
      log.getChannel().force(true);
      for (int i = 0; i < FLUSHES; i++) {
        log.getChannel().write(ByteBuffer.allocate(4_096), i * 4_096L);
        long begun = System.nanoTime();
        log.getChannel().force(false);
        took.add((double) (System.nanoTime() - begun));
      }
    }
    Files.delete(file);
    return ClusterFigures.median(took, each -> each);
  }

  /** Returns how long it takes until a thread runs that waits for another. */
  static double wake() throws InterruptedException {
    SynchronousQueue<Long> there = new SynchronousQueue<>();
    SynchronousQueue<Long> back = new SynchronousQueue<>();
    Thread echo =
        new Thread(
            () -> {
              try {
                for (int i = 0; i < WAKES; i++) {
                  back.put(there.take());
                }
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    echo.start();
    List<Double> took = new ArrayList<>();
    for (int i = 0; i < WAKES; i++) {
      Thread.sleep(0, 200_000);
      long begun = System.nanoTime();
      there.put(begun);
      long unused = back.take();
      took.add((System.nanoTime() - begun) / 2.0);
    }
    echo.join();
    return ClusterFigures.median(took, each -> each);
  }
}
