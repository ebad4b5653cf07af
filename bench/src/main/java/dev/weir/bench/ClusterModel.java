package dev.weir.bench;

import dev.weir.bench.ClusterCosts.Cost;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;

/**
 * A cluster by its costs: decisions come to members, wait for a call, a bundle, a log and a
 * majority, and each step takes a thread and a processor for as long as it was measured to. Nothing
 * is refused, and nothing fails.
 */
final class ClusterModel {
  /*
   * What is taken from the code?
   *
   * A connection is read only when all that was read before is answered: what it has read is decided
   * together, in all groups that its keys are in, and answered together, when the last of these
   * groups has answered. So the more groups there are, the longer a connection waits, and the less
   * is under way in each group. What comes meanwhile is the next read's. A client that sends as much
   * as is answered thus has two parts under way in turn for a long time, once its first read has not
   * taken all: they become one only if the client is answered and sends again before the thread that
   * has answered reads on.
   *
   * Two calls of a member to a group are under way at most. What was read together goes together,
   * and all that comes while there are two, until one of these is answered, shares the next. One
   * entry of a group is under way; calls that come meanwhile share the next. What a follower is
   * sent, and has not yet on its disk, keeps what comes meanwhile waiting for the next message to
   * it. An entry is committed when the leader's disk and one follower's have it.
   *
   * Each step is done by the thread that does it in a member, one after the other, and needs a
   * processor of its machine. Threads take turns where there are more of them than processors, and
   * a read takes what has come by the time at which its thread has a processor.
   *
   * What a stage takes was measured as a whole; where a member comes by that stage several times
   * for an entry, each time takes an equal part.
   *
   * A collection stops all threads of a member, each time for as long as was measured.
   *
   * Left out are elections, snapshots, and whatever else takes place so seldom: so what one in a
   * hundred waits for is too short.
   */

  private static final int MEMBERS = 3;
  private static final int CALLS = 2;
  private static final int MOST_IN_A_READ = 128;

  /** A new connection is read by 2 KB; from the second read on by more. */
  private static final int MOST_IN_THE_FIRST_READ = 30;

  private static final int MOST_IN_A_CALL = 4_096;
  private static final int PEER_LOOPS = 2;
  private static final int ASKING_THREADS = 4;
  private static final int POOL_THREADS = 2;
  private static final double TICK_SECONDS = 0.01;
  private static final long MOST_NANOS = 60_000_000_000L;

  /** How often what is due from many clients is sent. */
  private static final double CLIENTS_NANOS = 50_000;

  /**
   * A cluster and its load.
   *
   * @param processors of each machine
   * @param apart whether each member has a machine of its own, and clients have others; else the
   *     one machine has the generator as well
   * @param hopNanos how long a message is on its way between machines
   * @param perSecond what is asked in all; infinite if {@code inFlight} bounds it
   * @param inFlight how many decisions are under way at most
   * @param connections of clients to each member
   */
  record Setting(
      int groups,
      int processors,
      boolean apart,
      double hopNanos,
      double perSecond,
      int inFlight,
      int connections) {}

  /**
   * What came of it.
   *
   * @param memberMicros processor time of members for a decision
   * @param inEntry decisions in an entry
   * @param callsInEntry calls in an entry
   * @param busiest how much of a machine's processors was taken, 0 to 1, where it was most
   */
  record Outcome(
      double perSecond,
      double p50Millis,
      double p99Millis,
      double memberMicros,
      double inEntry,
      double callsInEntry,
      double busiest) {}

  private final ClusterCosts costs;
  private final Setting setting;
  private final Simulated time;
  private final SplittableRandom random = new SplittableRandom(20_261_125);
  private final List<Simulated.Machine> machines = new ArrayList<>();
  private final List<Server> servers = new ArrayList<>();
  private final List<Connection> connections = new ArrayList<>();
  private final List<Group> groups = new ArrayList<>();
  private final Histogram latencies = new Histogram(1, MOST_NANOS, 3);
  private final Simulated.Worker generator;
  private final int[] flushes;
  private List<Read> replies = new ArrayList<>();
  private double measuredFrom = Double.POSITIVE_INFINITY;
  private double memberNanos;
  private long decided;
  private long entries;
  private long calls;
  private long asked;
  private int turn;

  private ClusterModel(ClusterCosts costs, Setting setting) {
    this.costs = costs;
    this.setting = setting;
    time = new Simulated(costs.wakeNanos());
    for (int i = 0; i < (setting.apart ? MEMBERS : 1); i++) {
      machines.add(time.new Machine(setting.processors));
    }
    flushes = new int[machines.size()];
    generator = time.new Worker(setting.apart ? time.new Machine(1) : machines.get(0));
    for (int i = 0; i < MEMBERS; i++) {
      servers.add(new Server(i));
    }
    for (int i = 0; i < setting.groups; i++) {
      groups.add(new Group(i));
    }
    for (int i = 0; i < setting.connections * MEMBERS; i++) {
      connections.add(new Connection(servers.get(i % MEMBERS), i / MEMBERS));
    }
  }

  /**
   * Lets a cluster run for some seconds of its own time.
   *
   * @param warmUpSeconds before, which are not measured
   */
  static Outcome run(ClusterCosts costs, Setting setting, double warmUpSeconds, double seconds) {
    ClusterModel model = new ClusterModel(costs, setting);
    model.look();
    model.servers.forEach(Server::ticks);
    model.time.runUntil(warmUpSeconds * 1e9);
    double[] used = model.machines.stream().mapToDouble(Simulated.Machine::usedNanos).toArray();
    model.measuredFrom = model.time.now();
    model.time.runUntil((warmUpSeconds + seconds) * 1e9);
    double busiest = 0;
    for (int i = 0; i < used.length; i++) {
      double took = model.machines.get(i).usedNanos() - used[i];
      busiest = Math.max(busiest, took / seconds / 1e9 / setting.processors);
    }
    return new Outcome(
        model.decided / seconds,
        model.latencies.getValueAtPercentile(50) / 1e6,
        model.latencies.getValueAtPercentile(99) / 1e6,
        model.memberNanos / 1e3 / model.decided,
        (double) model.decided / model.entries,
        (double) model.calls / model.entries,
        busiest);
  }

  private boolean measured() {
    return time.now() >= measuredFrom;
  }

  /** Has a member's thread do something. */
  private void member(Simulated.Worker worker, double nanos, Runnable then) {
    worker.does(() -> taken(nanos), then);
  }

  private double taken(double nanos) {
    memberNanos += measured() ? nanos : 0;
    return nanos;
  }

  private boolean open() {
    return !Double.isInfinite(setting.perSecond);
  }

  /** Looks once at all connections, as {@link OpenLoad} does. */
  private void look() {
    List<Runnable> sends = new ArrayList<>();
    List<Read> read = new ArrayList<>();
    generator.does(
        () -> {
          read.addAll(replies);
          replies = new ArrayList<>();
          int count = sending(sends) + read.stream().mapToInt(Read::size).sum();
          return setting.apart ? 0 : costs.generator().of(count / 2.0);
        },
        () -> {
          read.forEach(this::replied);
          sends.forEach(Runnable::run);
          if (setting.apart) {
            time.after(CLIENTS_NANOS, this::look);
          } else if (open() || turn % connections.size() == 0) {
            time.after(costs.pauseNanos(), this::look);
          } else {
            look();
          }
        });
  }

  /** Finds what is due; returns how many. */
  private int sending(List<Runnable> sends) {
    double now = time.now();
    long due = open() ? (long) (now / 1e9 * setting.perSecond) + 1 - asked : Integer.MAX_VALUE;
    int count = 0;
    // All for the next connection; of many clients each sends a few.
    int parts = setting.apart ? connections.size() : 1;
    turn += setting.apart ? random.nextInt(connections.size()) : 0;
    for (int i = 0; i < parts; i++) {
      Connection to = connections.get(Math.floorMod(turn++, connections.size()));
      int window = Math.max(1, setting.inFlight / connections.size()) - to.underWay;
      int size = (int) Math.max(0, Math.min(window, (due + parts - 1 - i) / parts));
      double[] dues = new double[size];
      for (int k = 0; k < size; k++) {
        dues[k] = open() ? asked++ * 1e9 / setting.perSecond : now;
      }
      to.underWay += size;
      count += size;
      if (size > 0) {
        sends.add(() -> hop(-1, to.server.number, () -> to.came(dues)));
      }
    }
    return count;
  }

  private void replied(Read read) {
    read.from.underWay -= read.size();
    if (measured()) {
      decided += read.size();
      for (double since : read.dues) {
        latencies.recordValue((long) Math.max(1, Math.min(MOST_NANOS, time.now() - since)));
      }
    }
  }

  /** Has a message travel; clients are -1. */
  private void hop(int from, int to, Runnable then) {
    if (setting.apart && from != to) {
      time.after(setting.hopNanos, then);
    } else {
      then.run();
    }
  }

  /** A connection of a client to a member. */
  private final class Connection {
    private final Server server;
    private final Simulated.Worker door;
    private final Queue<Double> came = new ArrayDeque<>();
    private int mostInRead = MOST_IN_THE_FIRST_READ;
    private boolean busy;
    private int underWay;

    Connection(Server server, int number) {
      this.server = server;
      door = server.doors.get(number % server.doors.size());
    }

    void came(double[] dues) {
      Arrays.stream(dues).forEach(came::add);
      if (!busy) {
        busy = true;
        read();
      }
    }

    /** What a member's door takes for its own clients. */
    private Cost cost() {
      Cost led = costs.led(ClusterStage.DOOR);
      Cost followed = costs.followed(ClusterStage.DOOR);
      return new Cost(
          (led.onceNanos() + 2 * followed.onceNanos()) / MEMBERS,
          (led.decisionNanos() + 2 * followed.decisionNanos()) / MEMBERS);
    }

    /** A quarter of what a read takes passes before it is read, and a quarter after the reply. */
    private double quarter() {
      return cost().onceNanos() / 4;
    }

    private double quarterWith(int decisions) {
      return quarter() + decisions * cost().decisionNanos() / 2;
    }

    private void read() {
      member(
          door,
          quarter(),
          () -> {
            double[] dues = new double[Math.min(mostInRead, came.size())];
            Arrays.setAll(dues, i -> came.remove());
            mostInRead = MOST_IN_A_READ;
            Read read = new Read(this, dues);
            member(door, quarterWith(dues.length), () -> server.asked(read));
          });
    }

    void decided(Read read) {
      member(
          door,
          quarterWith(read.size()),
          () -> {
            hop(server.number, -1, () -> replies.add(read));
            member(
                door,
                quarter(),
                () -> {
                  busy = !came.isEmpty();
                  if (busy) {
                    read();
                  }
                });
          });
    }
  }

  /** What was read of a connection at once, and is answered at once. */
  private static final class Read {
    private final Connection from;
    private final double[] dues;
    private int missing;

    Read(Connection from, double[] dues) {
      this.from = from;
      this.dues = dues;
      missing = dues.length;
    }

    int size() {
      return dues.length;
    }
  }

  /** A member: what all its groups share. */
  private final class Server {
    private final int number;
    private final Simulated.Machine machine;
    private final List<Simulated.Worker> doors;
    private final List<Simulated.Worker> peers;
    private final List<Simulated.Worker> asking;
    private final List<Simulated.Worker> pool;
    private final Simulated.Program program = new Simulated.Program();
    private final Simulated.Worker other;
    private final Simulated.Worker collector;
    private final List<Caller> callers = new ArrayList<>();
    private double toCollectNanos;

    Server(int number) {
      this.number = number;
      machine = machines.get(number % machines.size());
      doors = workers(setting.processors);
      peers = workers(PEER_LOOPS);
      asking = workers(ASKING_THREADS);
      pool = workers(POOL_THREADS);
      other = worker();
      collector = time.new Worker(machine);
    }

    Simulated.Worker worker() {
      return time.new Worker(machine, program);
    }

    private List<Simulated.Worker> workers(int count) {
      return Stream.generate(this::worker).limit(count).toList();
    }

    Cost cost(Group group, ClusterStage stage) {
      return group.leader == this ? costs.led(stage) : costs.followed(stage);
    }

    /** Has one of several threads do something: the one that has the least to do. */
    void one(List<Simulated.Worker> of, double nanos, Runnable then) {
      Simulated.Worker idlest =
          of.stream().min(Comparator.comparingInt(Simulated.Worker::waiting)).orElseThrow();
      member(idlest, nanos, then);
    }

    /** Sends a message to another member, with so many decisions. */
    void send(Group group, Server to, int count, Runnable then) {
      Cost here = cost(group, ClusterStage.PEER);
      Cost there = to.cost(group, ClusterStage.PEER);
      one(
          peers,
          here.of(count),
          () -> hop(number, to.number, () -> to.one(to.peers, there.of(count), then)));
    }

    /** Asks for what was read, each decision of its group. */
    void asked(Read read) {
      for (int i = 0; i < read.size(); i++) {
        callers.get(random.nextInt(setting.groups)).waiting.add(read);
      }
      callers.forEach(Caller::pump);
    }

    /** Leaves garbage, and is stopped when it is to be collected. */
    void leaves(Group group, int count) {
      member(other, count * cost(group, ClusterStage.OTHER).decisionNanos(), () -> {});
      toCollectNanos += cost(group, ClusterStage.COLLECT).of(count);
      if (toCollectNanos >= costs.collectionNanos() && !program.stopped()) {
        taken(toCollectNanos);
        program.stopsFor(collector, toCollectNanos);
        toCollectNanos = 0;
      }
    }

    /** Does what is done by the clock. */
    void ticks() {
      member(other, costs.followed(ClusterStage.OTHER).onceNanos() * TICK_SECONDS, () -> {});
      time.after(TICK_SECONDS * 1e9, this::ticks);
    }

    /** Returns what a stage takes for entries, each for itself. */
    double each(Group group, ClusterStage stage, List<Bundle> bundles) {
      return bundles.stream().mapToDouble(one -> cost(group, stage).of(one.size)).sum();
    }

    void store(Group group, List<Bundle> bundles, Runnable then) {
      Simulated.Worker log = group.logs.get(number);
      double nanos = each(group, ClusterStage.LOG, bundles);
      memberNanos += measured() ? nanos : 0;
      int disk = number % machines.size();
      log.doesAndWaits(
          nanos,
          () -> costs.flush().of(flushes[disk]++),
          () -> {
            flushes[disk]--;
            then.run();
          });
    }
  }

  /** What of a member's decisions waits for a group. */
  private final class Caller {
    private final Server server;
    private final Group group;
    private final Queue<Read> waiting = new ArrayDeque<>();
    private int underWay;

    Caller(Server server, Group group) {
      this.server = server;
      this.group = group;
    }

    private void pump() {
      while (!waiting.isEmpty() && underWay < CALLS) {
        underWay++;
        List<Read> parts = new ArrayList<>();
        while (!waiting.isEmpty() && parts.size() < MOST_IN_A_CALL) {
          parts.add(waiting.remove());
        }
        Call call = new Call(this, parts);
        calls += measured() ? 1 : 0;
        if (group.leader == server) {
          group.asked(call);
        } else {
          server.send(
              group,
              group.leader,
              call.size(),
              () ->
                  group.leader.one(
                      group.leader.asking,
                      costs.led(ClusterStage.ASKING).of(call.size()),
                      () -> group.asked(call)));
        }
      }
    }

    void replied(Call call) {
      server.one(
          server.asking,
          server.cost(group, ClusterStage.ASKING).of(call.size()),
          () -> {
            underWay--;
            for (Read each : call.parts) {
              if (--each.missing == 0) {
                each.from.decided(each);
              }
            }
            pump();
          });
    }
  }

  /** Decisions on their way to a leader and back; each is named by what it was read with. */
  private record Call(Caller from, List<Read> parts) {
    int size() {
      return parts.size();
    }
  }

  /** Calls that share an entry of a log. */
  private static final class Bundle {
    private final List<Call> calls;
    private final int size;
    private boolean stored;
    private boolean copied;
    private boolean committed;

    Bundle(List<Call> calls) {
      this.calls = calls;
      size = calls.stream().mapToInt(Call::size).sum();
    }
  }

  /** A log. */
  private final class Group {
    private final Server leader;
    private final List<Call> waiting = new ArrayList<>();
    private final Simulated.Worker append;
    private final Simulated.Worker commit;
    private final List<Simulated.Worker> logs;
    private final List<Simulated.Worker> applies;
    private final List<Follower> followers = new ArrayList<>();
    private boolean underWay;

    Group(int number) {
      leader = servers.get(number % MEMBERS);
      append = leader.worker();
      commit = leader.worker();
      logs = workers();
      applies = workers();
      for (Server each : servers) {
        each.callers.add(new Caller(each, this));
        if (each != leader) {
          followers.add(new Follower(this, each));
        }
      }
    }

    private List<Simulated.Worker> workers() {
      return servers.stream().map(Server::worker).toList();
    }

    void asked(Call call) {
      waiting.add(call);
      pump();
    }

    private void pump() {
      if (underWay || waiting.isEmpty()) {
        return;
      }
      underWay = true;
      Bundle bundle = new Bundle(List.copyOf(waiting));
      waiting.clear();
      entries += measured() ? 1 : 0;
      int count = bundle.size;
      leader.leaves(this, count);
      member(
          append,
          costs.led(ClusterStage.APPEND).of(count),
          () -> {
            leader.store(
                this,
                List.of(bundle),
                () -> {
                  bundle.stored = true;
                  look(bundle);
                });
            followers.forEach(each -> each.offered(bundle));
          });
    }

    /** Looks whether a majority has an entry; that is done for the leader and each follower. */
    private void look(Bundle bundle) {
      member(
          commit,
          costs.led(ClusterStage.COMMIT).times(1.0 / MEMBERS).of(bundle.size),
          () -> {
            if (bundle.stored && bundle.copied && !bundle.committed) {
              bundle.committed = true;
              member(
                  applies.get(leader.number),
                  costs.led(ClusterStage.APPLY).of(bundle.size),
                  () -> applied(bundle));
            }
          });
    }

    private void applied(Bundle bundle) {
      underWay = false;
      pump();
      for (Call each : bundle.calls) {
        if (each.from.server == leader) {
          each.from.replied(each);
        } else {
          leader.send(this, each.from.server, each.size(), () -> each.from.replied(each));
        }
      }
    }
  }

  /** The way of a group's entries to one follower: one message at a time, with all that wait. */
  private final class Follower {
    private final Group group;
    private final Server server;
    private final Simulated.Worker sender;
    private final Simulated.Worker receiver;
    private final List<Bundle> waiting = new ArrayList<>();
    private boolean busy;

    Follower(Group group, Server server) {
      this.group = group;
      this.server = server;
      sender = group.leader.worker();
      receiver = server.worker();
    }

    void offered(Bundle bundle) {
      waiting.add(bundle);
      if (!busy) {
        busy = true;
        send();
      }
    }

    /** The leader's part for one follower, each way. */
    private double sending(int count) {
      return costs.led(ClusterStage.REPLICATE).times(1.0 / 4).of(count);
    }

    private void send() {
      List<Bundle> sent = new ArrayList<>();
      sender.does(
          () -> {
            sent.addAll(waiting);
            waiting.clear();
            return taken(sending(count(sent)));
          },
          () -> group.leader.send(group, server, count(sent), () -> arrived(sent)));
    }

    private static int count(List<Bundle> sent) {
      return sent.stream().mapToInt(each -> each.size).sum();
    }

    private void arrived(List<Bundle> sent) {
      int count = count(sent);
      server.leaves(group, count);
      member(
          receiver,
          costs.followed(ClusterStage.REPLICATE).of(count)
              + costs.followed(ClusterStage.APPEND).of(count),
          () -> server.store(group, sent, () -> stored(sent)));
    }

    private void stored(List<Bundle> sent) {
      int count = count(sent);
      server.one(
          server.pool,
          costs.followed(ClusterStage.POOL).of(count),
          () ->
              server.send(
                  group,
                  group.leader,
                  0,
                  () -> member(sender, sending(count), () -> confirmed(sent))));
      member(
          group.applies.get(server.number), costs.followed(ClusterStage.APPLY).of(count), () -> {});
    }

    private void confirmed(List<Bundle> sent) {
      for (Bundle each : sent) {
        each.copied = true;
        group.look(each);
      }
      busy = !waiting.isEmpty();
      if (busy) {
        send();
      }
    }
  }
}
