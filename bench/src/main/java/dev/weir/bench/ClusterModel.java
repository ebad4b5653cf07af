package dev.weir.bench;

import dev.weir.bench.ClusterCosts.Cost;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;

/**
 * A cluster by its costs: decisions come to members, wait for a call, a bundle, a log and a
 * majority, and each step takes a thread and a processor for as long as it was measured to. Nothing
 * is refused, nothing fails, no collector stops anybody.
 */
final class ClusterModel {
  /*
   * What is taken from the code, and what is left out? Two calls of a server for a group are under
   * way at most, and one entry of a group's; what comes meanwhile shares the next. An entry is
   * committed when the leader's disk and one follower's have it; the leader decides it then and
   * answers, and followers decide it as well. Each step is done by the thread that does it in a
   * member, one after the other, and takes its turn for a processor of its machine. What a stage
   * takes was measured as a whole; where a member comes by that stage several times for an entry,
   * each time takes an equal part.
   *
   * Left out are collections, which stop a member now and then, elections, snapshots, and
   * everything that members do by the clock: so what one in a hundred waits for is too short.
   */

  private static final int MEMBERS = 3;
  private static final int CALLS = 2;
  private static final double POLL_NANOS = 500_000;
  private static final long MOST_NANOS = 60_000_000_000L;

  /**
   * A cluster and its load.
   *
   * @param processors of each machine
   * @param apart whether each member has a machine of its own, and the generator too
   * @param hopNanos how long a message is on its way between machines
   * @param perSecond what is asked in all; infinite if {@code inFlight} bounds it
   * @param inFlight how many decisions are under way at most
   */
  record Setting(
      int groups, int processors, boolean apart, double hopNanos, double perSecond, int inFlight) {}

  /**
   * What came of it.
   *
   * @param memberMicros processor time of members for a decision
   * @param busiest how much of a machine's processors was taken, 0 to 1, where it was most
   */
  record Outcome(
      double perSecond,
      double p50Millis,
      double p99Millis,
      double memberMicros,
      double inEntry,
      double busiest) {}

  private final ClusterCosts costs;
  private final Setting setting;
  private final Simulated time;
  private final SplittableRandom random = new SplittableRandom(20_261_125);
  private final List<Simulated.Machine> machines = new ArrayList<>();
  private final Server[] servers = new Server[MEMBERS];
  private final Group[] groups;
  private final Histogram latencies = new Histogram(1, MOST_NANOS, 3);
  private final Simulated.Worker generator;
  private final List<double[]> read = new ArrayList<>();
  private double measuredFrom = Double.POSITIVE_INFINITY;
  private double memberNanos;
  private long decided;
  private long entries;
  private long asked;
  private int underWay;

  private ClusterModel(ClusterCosts costs, Setting setting) {
    this.costs = costs;
    this.setting = setting;
    time = new Simulated(costs.wakeNanos());
    for (int i = 0; i < (setting.apart ? MEMBERS + 1 : 1); i++) {
      machines.add(time.new Machine(i == MEMBERS ? 64 : setting.processors));
    }
    generator = time.new Worker(machines.get(machines.size() - 1));
    for (int i = 0; i < MEMBERS; i++) {
      servers[i] = new Server(i);
    }
    groups = new Group[setting.groups];
    for (int i = 0; i < setting.groups; i++) {
      groups[i] = new Group(i);
    }
  }

  /** Lets a cluster run for some seconds of its own time, after a second that is not measured. */
  static Outcome run(ClusterCosts costs, Setting setting, double seconds) {
    ClusterModel model = new ClusterModel(costs, setting);
    model.poll();
    model.time.runUntil(1e9);
    double[] used = model.machines.stream().mapToDouble(Simulated.Machine::usedNanos).toArray();
    model.measuredFrom = model.time.now();
    model.time.runUntil((1 + seconds) * 1e9);
    double busiest = 0;
    for (int i = 0; i < Math.min(MEMBERS, used.length); i++) {
      double took = model.machines.get(i).usedNanos() - used[i];
      busiest = Math.max(busiest, took / seconds / 1e9 / setting.processors);
    }
    return new Outcome(
        model.decided / seconds,
        model.latencies.getValueAtPercentile(50) / 1e6,
        model.latencies.getValueAtPercentile(99) / 1e6,
        model.memberNanos / 1e3 / model.decided,
        (double) model.decided / model.entries,
        busiest);
  }

  private boolean measured() {
    return time.now() >= measuredFrom;
  }

  /** Has a member's thread do something. */
  private void member(Simulated.Worker worker, double nanos, Runnable then) {
    memberNanos += measured() ? nanos : 0;
    worker.does(nanos, then);
  }

  /** Sends what is due, and reads what has come. */
  private void poll() {
    double now = time.now();
    List<double[]> replies = new ArrayList<>(read);
    read.clear();
    long replied = replies.stream().mapToLong(each -> each.length).sum();
    underWay -= (int) replied;
    boolean open = !Double.isInfinite(setting.perSecond);
    long due =
        open
            ? (long) (now / 1e9 * setting.perSecond) - asked
            : Math.max(0, setting.inFlight - underWay);
    due = Math.min(due, Math.max(0, setting.inFlight - underWay));
    List<double[]> sent = new ArrayList<>();
    for (int i = 0; i < MEMBERS; i++) {
      double[] dues = new double[(int) (due * (i + 1) / MEMBERS - due * i / MEMBERS)];
      for (int k = 0; k < dues.length; k++) {
        dues[k] = open ? asked++ * 1e9 / setting.perSecond : now;
      }
      sent.add(dues);
    }
    underWay += (int) due;
    generator.does(
        (due + replied) / 2.0 * costs.generatorNanos(),
        () -> {
          for (double[] each : replies) {
            for (double since : each) {
              replied(since);
            }
          }
          for (int i = 0; i < MEMBERS; i++) {
            double[] dues = sent.get(i);
            if (dues.length > 0) {
              Server to = servers[i];
              hop(-1, i, () -> to.asked(dues));
            }
          }
          time.after(POLL_NANOS, this::poll);
        });
  }

  private void replied(double since) {
    if (measured()) {
      decided++;
      latencies.recordValue((long) Math.max(1, Math.min(MOST_NANOS, time.now() - since)));
    }
  }

  /** Has a message travel; the generator is -1. */
  private void hop(int from, int to, Runnable then) {
    if (setting.apart && from != to) {
      time.after(setting.hopNanos, then);
    } else {
      then.run();
    }
  }

  private static double[] joined(List<double[]> parts) {
    return parts.stream().flatMapToDouble(Arrays::stream).toArray();
  }

  /** A member: what all its groups share. */
  private final class Server {
    private final int number;
    private final Simulated.Machine machine;
    private final Simulated.Worker[] doors;
    private final Simulated.Worker[] peers;
    private final Simulated.Worker[] asking;
    private final List<List<double[]>> waiting = new ArrayList<>();
    private final int[] calls;
    private int turn;

    Server(int number) {
      this.number = number;
      machine = machines.get(setting.apart ? number : 0);
      int loops = Math.max(2, setting.processors);
      doors = workers(loops);
      peers = workers(2);
      asking = workers(4);
      calls = new int[setting.groups];
      for (int i = 0; i < setting.groups; i++) {
        waiting.add(new ArrayList<>());
      }
    }

    private Simulated.Worker[] workers(int count) {
      Simulated.Worker[] all = new Simulated.Worker[count];
      Arrays.setAll(all, i -> time.new Worker(machine));
      return all;
    }

    Simulated.Worker one(Simulated.Worker[] of) {
      return of[turn++ % of.length];
    }

    Cost cost(Group group, ClusterStage stage) {
      return group.leader == this ? costs.led(stage) : costs.followed(stage);
    }

    /** Takes decisions from clients, and spreads them over the groups. */
    void asked(double[] dues) {
      List<List<Double>> parts = new ArrayList<>();
      for (int i = 0; i < setting.groups; i++) {
        parts.add(new ArrayList<>());
      }
      for (double due : dues) {
        parts.get(random.nextInt(setting.groups)).add(due);
      }
      double nanos = dues.length * door();
      member(
          one(doors),
          nanos,
          () -> {
            for (int i = 0; i < setting.groups; i++) {
              if (!parts.get(i).isEmpty()) {
                waiting.get(i).add(parts.get(i).stream().mapToDouble(due -> due).toArray());
                call(groups[i]);
              }
            }
          });
    }

    /** What half of a decision takes at the door: on the way in, or out. */
    private double door() {
      double all =
          costs.led(ClusterStage.DOOR).decisionNanos()
              + 2 * costs.followed(ClusterStage.DOOR).decisionNanos();
      double other =
          costs.led(ClusterStage.OTHER).decisionNanos()
              + 2 * costs.followed(ClusterStage.OTHER).decisionNanos();
      return (all + other) / 2;
    }

    private void call(Group group) {
      List<double[]> all = waiting.get(group.number);
      if (calls[group.number] >= CALLS || all.isEmpty()) {
        return;
      }
      calls[group.number]++;
      double[] dues = joined(all);
      all.clear();
      if (group.leader == this) {
        group.asked(this, dues);
      } else {
        member(
            one(peers),
            cost(group, ClusterStage.PEER).times(1.0 / 4).of(dues.length),
            () -> hop(number, group.leader.number, () -> group.received(this, dues)));
      }
    }

    /** Hands replies back to clients, and asks again. */
    void answered(Group group, double[] dues) {
      Cost own = cost(group, ClusterStage.ASKING);
      double doorEntry = cost(group, ClusterStage.DOOR).entryNanos();
      member(
          one(asking),
          own.times(group.leader == this ? 1.0 / 2 : 1).of(dues.length),
          () -> {
            calls[group.number]--;
            call(group);
            member(
                one(doors),
                doorEntry + dues.length * door(),
                () -> hop(number, -1, () -> read.add(dues)));
          });
    }
  }

  /** A call that waits for an entry. */
  @SuppressWarnings("ArrayRecordComponent") // Compared by nobody.
  private record Call(Server from, double[] dues) {}

  /** A log. */
  private final class Group {
    private final int number;
    private final Server leader;
    private final Queue<Call> waiting = new ArrayDeque<>();
    private final Simulated.Worker append;
    private final Simulated.Worker[] logs = new Simulated.Worker[MEMBERS];
    private final Simulated.Worker[] applies = new Simulated.Worker[MEMBERS];
    private final Simulated.Worker[] sends = new Simulated.Worker[MEMBERS];
    private boolean entryUnderWay;

    Group(int number) {
      this.number = number;
      leader = servers[number % MEMBERS];
      append = time.new Worker(leader.machine);
      for (int i = 0; i < MEMBERS; i++) {
        Simulated.Machine at = servers[i].machine;
        logs[i] = time.new Worker(at);
        applies[i] = time.new Worker(at);
        sends[i] = time.new Worker(i == leader.number ? at : leader.machine);
      }
    }

    private Cost led(ClusterStage stage) {
      return costs.led(stage);
    }

    /** Reads a call of another member. */
    void received(Server from, double[] dues) {
      member(
          leader.one(leader.peers),
          led(ClusterStage.PEER).times(1.0 / 4).of(dues.length),
          () -> asked(from, dues));
    }

    void asked(Server from, double[] dues) {
      member(
          leader.one(leader.asking),
          led(ClusterStage.ASKING).times(1.0 / 2).of(dues.length),
          () -> {
            waiting.add(new Call(from, dues));
            pump();
          });
    }

    private void pump() {
      if (entryUnderWay || waiting.isEmpty()) {
        return;
      }
      entryUnderWay = true;
      List<Call> calls = new ArrayList<>(waiting);
      waiting.clear();
      int count = calls.stream().mapToInt(each -> each.dues.length).sum();
      entries += measured() ? 1 : 0;
      int[] copies = {0};
      boolean[] own = {false};
      Runnable stored =
          () -> {
            if (own[0] && copies[0] == 1) {
              copies[0]++;
              commit(calls, count);
            }
          };
      member(
          append,
          led(ClusterStage.APPEND).of(count) + led(ClusterStage.OTHER).entryNanos(),
          () -> {
            store(
                leader,
                led(ClusterStage.LOG).of(count),
                () -> {
                  own[0] = true;
                  stored.run();
                });
            for (Server each : servers) {
              if (each != leader) {
                replicate(
                    each,
                    count,
                    () -> {
                      if (copies[0] == 0) {
                        copies[0] = 1;
                        stored.run();
                      }
                    });
              }
            }
          });
    }

    private void store(Server at, double nanos, Runnable then) {
      memberNanos += measured() ? nanos : 0;
      logs[at.number].doesAndWaits(nanos, costs.flushNanos(), then);
    }

    /** Has a follower store an entry and say so, and later decide it as well. */
    private void replicate(Server to, int count, Runnable stored) {
      Cost followers = costs.followed(ClusterStage.PEER).times(1.0 / 4);
      Cost leaders = led(ClusterStage.PEER).times(1.0 / 8);
      member(
          sends[to.number],
          led(ClusterStage.REPLICATE).times(1.0 / 2).of(count),
          () ->
              member(
                  leader.one(leader.peers),
                  leaders.of(count),
                  () ->
                      hop(
                          leader.number,
                          to.number,
                          () -> arrived(to, count, followers, leaders, stored))));
    }

    private void arrived(Server at, int count, Cost peer, Cost leaders, Runnable stored) {
      double take =
          costs.followed(ClusterStage.REPLICATE).of(count)
              + costs.followed(ClusterStage.APPEND).of(count)
              + costs.followed(ClusterStage.OTHER).entryNanos();
      member(
          at.one(at.peers),
          peer.of(count) + take,
          () ->
              store(
                  at,
                  costs.followed(ClusterStage.LOG).of(count),
                  () -> {
                    member(
                        at.one(at.peers),
                        peer.of(count),
                        () ->
                            hop(
                                at.number,
                                leader.number,
                                () -> member(leader.one(leader.peers), leaders.of(count), stored)));
                    member(
                        applies[at.number], costs.followed(ClusterStage.APPLY).of(count), () -> {});
                  }));
    }

    private void commit(List<Call> calls, int count) {
      member(
          applies[leader.number],
          led(ClusterStage.APPLY).of(count),
          () -> {
            entryUnderWay = false;
            pump();
            calls.forEach(this::reply);
          });
    }

    private void reply(Call call) {
      if (call.from == leader) {
        leader.answered(this, call.dues);
        return;
      }
      int count = call.dues.length;
      member(
          leader.one(leader.asking),
          led(ClusterStage.ASKING).times(1.0 / 2).of(count),
          () ->
              member(
                  leader.one(leader.peers),
                  led(ClusterStage.PEER).times(1.0 / 4).of(count),
                  () ->
                      hop(
                          leader.number,
                          call.from.number,
                          () ->
                              member(
                                  call.from.one(call.from.peers),
                                  costs.followed(ClusterStage.PEER).times(1.0 / 4).of(count),
                                  () -> call.from.answered(this, call.dues)))));
    }
  }
}
