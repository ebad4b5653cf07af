package dev.weir.bench;

import static dev.weir.bench.ClusterFigures.progress;
import static dev.weir.bench.ClusterFigures.say;

import dev.weir.bench.ClusterCosts.Cost;
import dev.weir.bench.ClusterCosts.Counts;
import dev.weir.bench.ClusterCosts.Taken;
import dev.weir.bench.ClusterModel.Outcome;
import dev.weir.bench.ClusterModel.Setting;
import dev.weir.bench.LargeClusters.Bytes;
import dev.weir.bench.LargeClusters.Range;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.LongFunction;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * What a large cluster would do, by a model whose costs are measured here and now on one group, and
 * which is compared with what real members of 1, 2 and 4 groups do, here and now.
 *
 * <p>Members of each number of groups are started, warmed, and asked as fast as they answer and at
 * a fixed rate. Those of one group are asked with few decisions under way as well: what their
 * threads took with few and with many says what an entry takes and what a decision takes. Then the
 * model is run with each setting that was measured, for as long and from the same beginning, and
 * what it says is printed beside what was so. How far that is apart is the range of what follows
 * for large clusters.
 */
final class ClusterScale {
  /** What a prediction may be off by. */
  private static final double MOST_OFF = 0.2;

  private static final String COLLECTIONS = "jvm_gc_collection_seconds";
  private static final int MEMBERS = 3;
  private static final int CONNECTIONS = 4;
  private static final int KEYS = 1_000_000;
  private static final long PAUSE_NANOS = 500_000;
  private static final double WARM_UP_SECONDS = 6;

  /** Members are warm when so little of what they take is for anything but decisions. */
  private static final double MOST_BESIDE = 0.1;

  private static final int MOST_WARM_UPS = 15;

  private final String home;
  private final double seconds;
  private final boolean tls;
  private final int processors = Runtime.getRuntime().availableProcessors();
  private final SplittableRandom random = new SplittableRandom(20_261_125);

  /** A load: open, or as fast as it is answered. */
  private record Load(String name, double perSecond, int inFlight) {
    boolean flatOut() {
      return Double.isInfinite(perSecond);
    }
  }

  private static final Load FEW = new Load("100 under way", Double.POSITIVE_INFINITY, 100);
  private static final Load OPEN = new Load("20,000/s", 20_000, 1 << 18);
  private static final Load FLAT_OUT = new Load("1,000 under way", Double.POSITIVE_INFINITY, 1_000);

  /** What real members did. */
  private record Real(
      double perSecond,
      double p50,
      double p99,
      double micros,
      double inEntry,
      double callsInEntry) {}

  /**
   * A run.
   *
   * @param nanos what each member's threads took, by stage
   * @param collectionNanos how long a collection took
   */
  private record Measured(
      Real real,
      Counts counts,
      List<Map<ClusterStage, Double>> nanos,
      Taken generator,
      double collectionNanos,
      double networkBytes,
      double diskBytes) {}

  /** What was predicted, and what was so. */
  private record Compared(int groups, Load load, Real real, Outcome model) {
    double off() {
      return DoubleStream.of(
              off(real.perSecond, model.perSecond()),
              off(real.p50, model.p50Millis()),
              off(real.micros, model.memberMicros()))
          .max()
          .orElseThrow();
    }

    private static double off(double real, double model) {
      return Math.abs(model - real) / real;
    }
  }

  private ClusterScale(String home, double seconds, boolean tls) {
    this.home = home;
    this.seconds = seconds;
    this.tls = tls;
  }

  /** Arguments: the folder of Weir, seconds of a run, "tls" or "plain". */
  public static void main(String[] arguments) throws Exception {
    new ClusterScale(arguments[0], Double.parseDouble(arguments[1]), arguments[2].equals("tls"))
        .all();
  }

  private void all() throws IOException, InterruptedException {
    ClusterCosts costs = null;
    Bytes bytes = null;
    List<Compared> compared = new ArrayList<>();
    for (int groups : new int[] {1, 2, 4}) {
      progress(groups + " groups: members start");
      try (ClusterMembers members =
          new ClusterMembers(home, MEMBERS, groups, tls, ClusterFigures.RULES)) {
        int leader = members.leader();
        warmUp(members);
        Measured many = measured(members, FLAT_OUT);
        Measured atRate = measured(members, OPEN);
        if (costs == null) {
          Measured few = measured(members, FEW);
          costs = costs(few, many, leader);
          bytes = bytes(few, many);
          table(costs, bytes);
          headings();
        }
        compared.add(compared(costs, groups, OPEN, atRate.real));
        compared.add(compared(costs, groups, FLAT_OUT, many.real));
      }
    }
    if (costs != null && bytes != null) {
      boolean valid = compared.stream().allMatch(each -> each.off() <= MOST_OFF);
      say("");
      say(
          valid
              ? "All predictions are within 20 %."
              : "A prediction is off by more than 20 %: what follows is no better than its"
                  + " ranges.");
      say("");
      large(costs, bytes, compared).table();
    }
  }

  private byte[] strict(long number) {
    return OpenLoad.command("CL.THROTTLE", "k" + random.nextInt(KEYS), "999999", "1000000", "60");
  }

  private OpenLoad.Result measure(ClusterMembers members, Load load, double lasting)
      throws IOException {
    LongFunction<byte[]> command = this::strict;
    try (OpenLoad asking = new OpenLoad(members.ports(), CONNECTIONS, ":0")) {
      return load.flatOut()
          ? asking.flatOut(load.inFlight, 0, lasting, command)
          : asking.run(load.perSecond, 0, lasting, command);
    }
  }

  /** Asks members until they hardly compile any more, for three minutes at most. */
  private void warmUp(ClusterMembers members) throws IOException {
    double beside = 1;
    for (int i = 0; i < MOST_WARM_UPS && beside > MOST_BESIDE; i++) {
      double[] before = cpu(members);
      double deciding = deciding(taken(members));
      OpenLoad.Result open = measure(members, OPEN, WARM_UP_SECONDS);
      OpenLoad.Result flatOut = measure(members, FLAT_OUT, WARM_UP_SECONDS);
      double took = DoubleStream.of(cpu(members)).sum() - DoubleStream.of(before).sum();
      beside = 1 - (deciding(taken(members)) - deciding) / took;
      progress(
          String.format(
              Locale.ROOT,
              "warm-up: %,d and %,d decisions, %.0f %% of what members took was for compiling"
                  + " and the like",
              open.due(),
              flatOut.due(),
              100 * beside));
    }
  }

  /** Returns the processor time of all that has to do with decisions. */
  private static double deciding(List<Map<ClusterStage, Double>> members) {
    return members.stream()
        .flatMap(each -> each.entrySet().stream())
        .filter(each -> each.getKey() != ClusterStage.OTHER)
        .mapToDouble(Map.Entry::getValue)
        .sum();
  }

  private static double calls(ClusterMembers members) throws IOException, InterruptedException {
    return members.metric("weir_cluster_batch_charges_count");
  }

  private Measured measured(ClusterMembers members, Load load)
      throws IOException, InterruptedException {
    progress(load.name);
    OpenLoad.Result unused = measure(members, load, 1);
    List<Map<ClusterStage, Double>> nanos = taken(members);
    double entries = members.committed();
    double calls = calls(members);
    double collections = members.metric(COLLECTIONS + "_count");
    double collected = members.metric(COLLECTIONS + "_sum");
    double disk = ClusterMembers.diskBytes();
    double network = ClusterMembers.networkBytes();
    double[] cpu = cpu(members);
    long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    OpenLoad.Result got = measure(members, load, seconds);
    double generator = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before;
    double[] cpuAfter = cpu(members);
    network = ClusterMembers.networkBytes() - network;
    disk = ClusterMembers.diskBytes() - disk;
    collections = members.metric(COLLECTIONS + "_count") - collections;
    collected = members.metric(COLLECTIONS + "_sum") - collected;
    calls = calls(members) - calls;
    entries = members.committed() - entries;
    List<Map<ClusterStage, Double>> after = taken(members);
    double took = 0;
    for (int i = 0; i < MEMBERS; i++) {
      double own = cpuAfter[i] - cpu[i];
      took += own;
      Map<ClusterStage, Double> each = nanos.get(i);
      after.get(i).forEach((stage, until) -> each.merge(stage, -until, Double::sum));
      each.replaceAll((stage, negative) -> -negative);
      // Its threads were looked at earlier and later than it was asked: what is done for decisions
      // was done in between, and the rest is of the run's own time.
      each.put(ClusterStage.OTHER, 0.0);
      each.put(
          ClusterStage.OTHER,
          Math.max(0, own - each.values().stream().mapToDouble(nano -> nano).sum()));
    }
    double decisions = got.admitted() + got.refused();
    Measured run =
        new Measured(
            new Real(
                got.perSecond(),
                got.millis(50),
                got.millis(99),
                took / 1e3 / decisions,
                decisions / entries,
                calls / entries),
            new Counts(entries, calls, got.reads(), decisions, got.seconds()),
            nanos,
            new Taken(got.passes(), decisions, generator),
            1e9 * collected / Math.max(1, collections),
            network,
            disk);
    progress(load.name + ": " + run + ", errors " + got.errors() + " " + got.firstError());
    return run;
  }

  private static double[] cpu(ClusterMembers members) {
    return IntStream.range(0, MEMBERS).mapToDouble(members::cpuNanos).toArray();
  }

  private static List<Map<ClusterStage, Double>> taken(ClusterMembers members) throws IOException {
    List<Map<ClusterStage, Double>> all = new ArrayList<>();
    for (int i = 0; i < MEMBERS; i++) {
      all.add(ClusterCosts.taken(members.pid(i)));
    }
    return all;
  }

  private static ClusterCosts costs(Measured few, Measured many, int leader)
      throws IOException, InterruptedException {
    return new ClusterCosts(
        ClusterCosts.explaining(
            true, few.counts, few.nanos.get(leader), many.counts, many.nanos.get(leader)),
        ClusterCosts.explaining(
            false, few.counts, followers(few, leader), many.counts, followers(many, leader)),
        Cost.through(few.generator, many.generator),
        ClusterCosts.pause(PAUSE_NANOS),
        ClusterCosts.flushing(),
        many.collectionNanos,
        ClusterCosts.wake());
  }

  /** Returns the mean of both followers. */
  private static Map<ClusterStage, Double> followers(Measured run, int leader) {
    Map<ClusterStage, Double> mean = new EnumMap<>(ClusterStage.class);
    for (int i = 1; i < MEMBERS; i++) {
      run.nanos
          .get((leader + i) % MEMBERS)
          .forEach((stage, took) -> mean.merge(stage, took / (MEMBERS - 1), Double::sum));
    }
    return mean;
  }

  private static Bytes bytes(Measured few, Measured many) {
    return new Bytes(
        bytes(few, few.networkBytes, many, many.networkBytes),
        bytes(few, few.diskBytes, many, many.diskBytes));
  }

  private static Cost bytes(Measured few, double fewBytes, Measured many, double manyBytes) {
    return Cost.through(
        new Taken(few.counts.entries(), few.counts.decisions(), fewBytes),
        new Taken(many.counts.entries(), many.counts.decisions(), manyBytes));
  }

  private static void table(ClusterCosts costs, Bytes bytes) {
    say(
        "| stage | leader: us each time | ns a decision | follower: us each time | ns a decision"
            + " |");
    say("|---|---|---|---|---|");
    for (ClusterStage each : ClusterStage.values()) {
      say(
          String.format(
              Locale.ROOT,
              "| %s | %.1f | %.0f | %.1f | %.0f |",
              each.name().toLowerCase(Locale.ROOT),
              costs.led(each).onceNanos() / 1e3,
              costs.led(each).decisionNanos(),
              costs.followed(each).onceNanos() / 1e3,
              costs.followed(each).decisionNanos()));
    }
    say(
        String.format(
            Locale.ROOT,
            "%nThe generator takes %.1f us a look and %.0f ns a decision, and pauses for %.0f us; a"
                + " flush takes %.0f us, and %.0f us more for each other that is under way; a"
                + " collection takes %.0f us; an idle processor runs a thread after %.0f us. An"
                + " entry takes %,.0f bytes on the network and %,.0f on disks, and %.0f and %.0f"
                + " more for each decision.%n",
            costs.generator().onceNanos() / 1e3,
            costs.generator().decisionNanos(),
            costs.pauseNanos() / 1e3,
            costs.flush().aloneNanos() / 1e3,
            costs.flush().otherNanos() / 1e3,
            costs.collectionNanos() / 1e3,
            costs.wakeNanos() / 1e3,
            bytes.network().onceNanos(),
            bytes.disk().onceNanos(),
            bytes.network().decisionNanos(),
            bytes.disk().decisionNanos()));
  }

  private static void headings() {
    say(
        "| groups | load | decided/s: real, model | p50 ms | p99 ms | processor us a decision |"
            + " decisions an entry | calls an entry | off by at most |");
    say("|---|---|---|---|---|---|---|---|---|");
  }

  private Compared compared(ClusterCosts costs, int groups, Load load, Real is) {
    Outcome said =
        ClusterModel.run(
            costs,
            new Setting(groups, processors, false, 0, load.perSecond, load.inFlight, CONNECTIONS),
            0,
            seconds);
    Compared both = new Compared(groups, load, is, said);
    say(
        String.format(
            Locale.ROOT,
            "| %d | %s | %,.0f, %,.0f | %.1f, %.1f | %.1f, %.1f | %.1f, %.1f | %.0f, %.0f |"
                + " %.1f, %.1f | %.0f %% |",
            groups,
            load.name,
            is.perSecond,
            said.perSecond(),
            is.p50,
            said.p50Millis(),
            is.p99,
            said.p99Millis(),
            is.micros,
            said.memberMicros(),
            is.inEntry,
            said.inEntry(),
            is.callsInEntry,
            said.callsInEntry(),
            100 * both.off()));
    return both;
  }

  private static LargeClusters large(ClusterCosts costs, Bytes bytes, List<Compared> compared) {
    return new LargeClusters(
        costs,
        bytes,
        range(compared, Real::micros, Outcome::memberMicros),
        range(compared, Real::p50, Outcome::p50Millis),
        range(compared, Real::p99, Outcome::p99Millis));
  }

  /** Returns by what share what was so was more or less than what the model had said. */
  private static Range range(
      List<Compared> all, ToDoubleFunction<Real> real, ToDoubleFunction<Outcome> model) {
    return Range.of(
        all.stream()
            .mapToDouble(each -> real.applyAsDouble(each.real) / model.applyAsDouble(each.model))
            .toArray());
  }
}
