package dev.weir.bench;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Processor time of each stage at the leader of a group and at one of its followers: so much each
 * time, and so much for each decision that is with it.
 *
 * @param leader by stage
 * @param follower by stage; what its door takes is for its own clients
 * @param generator for each look at its connections, and for a decision
 * @param pauseNanos for how long the generator pauses where nothing is due
 * @param flush how long the disk takes to flush an entry, without processor time
 * @param collectionNanos how long a collection stops a member
 * @param wakeNanos from when a thread is handed work until an idle processor runs it
 */
record ClusterCosts(
    Map<ClusterStage, Cost> leader,
    Map<ClusterStage, Cost> follower,
    Cost generator,
    double pauseNanos,
    Flush flush,
    double collectionNanos,
    double wakeNanos) {
  private static final int MEMBERS = 3;
  private static final int FLUSHES = 300;
  private static final int PAUSES = 500;
  private static final int WAKES = 2_000;
  private static final Pattern THREAD = Pattern.compile("^\"([^\"]+)\".* cpu=([0-9.]+)ms");

  /**
   * Nanoseconds of a processor.
   *
   * @param onceNanos each time: for a read of a connection at the door, a message between members,
   *     a call where members ask, a second of {@link ClusterStage#OTHER}, and an entry everywhere
   *     else
   * @param decisionNanos for each decision that is with it
   */
  record Cost(double onceNanos, double decisionNanos) {
    double of(double decisions) {
      return onceNanos + decisions * decisionNanos;
    }

    Cost times(double share) {
      return new Cost(onceNanos * share, decisionNanos * share);
    }

    /**
     * Returns the cost that explains two measurements, each of what was done once with so many
     * decisions; no part of it is negative.
     */
    static Cost through(double few, double fewNanos, double many, double manyNanos) {
      double decision = (manyNanos - fewNanos) / (many - few);
      double once = fewNanos - few * decision;
      if (decision < 0 || many == few) {
        return new Cost((fewNanos + manyNanos) / 2, 0);
      }
      return once < 0 ? new Cost(0, manyNanos / many) : new Cost(once, decision);
    }

    /** Returns the cost that explains two measurements. */
    static Cost through(Taken few, Taken many) {
      return through(
          few.decisions / few.times,
          few.nanos / few.times,
          many.decisions / many.times,
          many.nanos / many.times);
    }
  }

  /** What a stage took: nanoseconds, for so many times and decisions. */
  record Taken(double times, double decisions, double nanos) {}

  /**
   * How long a flush takes.
   *
   * @param otherNanos how much longer for each other flush that is under way
   */
  record Flush(double aloneNanos, double otherNanos) {
    double of(int others) {
      return aloneNanos + others * otherNanos;
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
   * What was counted in a run of three members with one group.
   *
   * @param entries that the log got
   * @param calls of members to the leader, its own included
   * @param reads of connections, by members
   */
  record Counts(double entries, double calls, double reads, double decisions, double seconds) {
    /** Returns how often a member did something, and with how many decisions. */
    Taken taken(ClusterStage stage, boolean leader, double nanos) {
      return switch (stage) {
        case DOOR -> new Taken(reads / MEMBERS, decisions / MEMBERS, nanos);
        case ASKING ->
            leader
                ? new Taken(calls, decisions, nanos)
                : new Taken(calls / MEMBERS, decisions / MEMBERS, nanos);
        case PEER -> {
          // An entry and what a follower says to it, and a call and its reply, for each other.
          double messages = 2 * entries + 2 * calls / MEMBERS;
          double decisionsWithThem = decisions + 2 * decisions / MEMBERS;
          int others = leader ? MEMBERS - 1 : 1;
          yield new Taken(others * messages, others * decisionsWithThem, nanos);
        }
        case OTHER -> new Taken(seconds, decisions, nanos);
        default -> new Taken(entries, decisions, nanos);
      };
    }
  }

  /** Returns what explains two runs of a member, with few decisions in an entry and with many. */
  static Map<ClusterStage, Cost> explaining(
      boolean leader,
      Counts few,
      Map<ClusterStage, Double> fewNanos,
      Counts many,
      Map<ClusterStage, Double> manyNanos) {
    Map<ClusterStage, Cost> costs = new EnumMap<>(ClusterStage.class);
    for (ClusterStage each : ClusterStage.values()) {
      costs.put(
          each,
          Cost.through(
              few.taken(each, leader, fewNanos.getOrDefault(each, 0.0)),
              many.taken(each, leader, manyNanos.getOrDefault(each, 0.0))));
    }
    return costs;
  }

  /** Returns how long this disk takes to flush a few kilobytes at the end of a file. */
  static Flush flushing() throws IOException, InterruptedException {
    double alone = flush(1);
    return new Flush(alone, Math.max(0, (flush(MEMBERS) - alone) / (MEMBERS - 1)));
  }

  /** Returns how long a flush takes where so many threads flush a file of their own each. */
  private static double flush(int threads) throws IOException, InterruptedException {
    List<Double> took = Collections.synchronizedList(new ArrayList<>());
    List<IOException> problems = Collections.synchronizedList(new ArrayList<>());
    List<Thread> all = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Thread thread =
          new Thread(
              () -> {
                try {
                  flush(took);
                } catch (IOException e) {
                  problems.add(e);
                }
              });
      thread.start();
      all.add(thread);
    }
    for (Thread each : all) {
      each.join();
    }
    if (!problems.isEmpty()) {
      throw problems.get(0);
    }
    return ClusterFigures.median(took, each -> each);
  }

  private static void flush(List<Double> took) throws IOException {
    Path file = Files.createTempFile("weir-flush", "");
    ThreadMXBean processor = ManagementFactory.getThreadMXBean();
    try (RandomAccessFile log = new RandomAccessFile(file.toFile(), "rw")) {
      log.getChannel().write(ByteBuffer.allocate(FLUSHES * 4_096), 0);
      log.getChannel().force(true);
      for (int i = 0; i < FLUSHES; i++) {
        log.getChannel().write(ByteBuffer.allocate(4_096), i * 4_096L);
        long begun = System.nanoTime();
        long used = processor.getCurrentThreadCpuTime();
        log.getChannel().force(false);
        used = processor.getCurrentThreadCpuTime() - used;
        took.add((double) (System.nanoTime() - begun - used));
      }
    }
    Files.delete(file);
  }

  /** Returns how long a pause takes that is to take so long. */
  static double pause(long nanos) {
    List<Double> took = new ArrayList<>();
    for (int i = 0; i < PAUSES; i++) {
      long begun = System.nanoTime();
      LockSupport.parkNanos(nanos);
      took.add((double) (System.nanoTime() - begun));
    }
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
