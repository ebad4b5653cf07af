package dev.weir.client;

import dev.weir.FailureMode;
import dev.weir.client.internal.lease.Counters;
import dev.weir.client.internal.lease.Keys;
import dev.weir.client.internal.lease.LeasingDecider;
import dev.weir.client.internal.wire.Service;
import dev.weir.client.internal.wire.ServiceLog;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import dev.weir.shared.Clocks;
import dev.weir.testkit.WindowChecker;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;

/**
 * A simulation of four clients of one service, with everything that may go wrong, in virtual time.
 */
public final class Simulation {
  /** The parts of a client in this run. */
  public record Parts(Function<Machine, Clocks> clocks, Wires wires) {
    public static final Parts GOOD = new Parts(Machine::clocks, SimulatedWire::new);
  }

  /** A maker of a client's connection to the service. */
  @FunctionalInterface
  public interface Wires {
    SimulatedWire make(World world, Machine machine, SimulatedService service);
  }

  /**
   * The events of a run besides requests.
   *
   * @param flaps true if the rules change all the time
   * @param restarts true if the service loses all state now and then
   * @param syncMillis the lifetime of leases in milliseconds: the shorter, the less room is left
   *     for leases that are spent too late
   */
  public record Weather(boolean flaps, boolean restarts, long syncMillis) {}

  static final long MILLI = 1_000_000L;
  static final long WINDOW_NANOS = 1_000 * MILLI;
  public static final long LIMIT = 60;
  private static final long LOWER_LIMIT = 25;
  private static final long PHASE_NANOS = 1_300 * MILLI;
  private static final long CALM_TIMES = 20;
  private static final int CLIENTS = 4;
  private static final int TIMES_THE_LIMIT = 10;
  private static final long MOST_BYTES = 1 << 30;

  final World world;
  final List<WindowChecker.Operation> history = new ArrayList<>();
  private final SimulatedService service;
  private final List<LeasingDecider> clients = new ArrayList<>();
  private final List<Counters> counters = new ArrayList<>();
  private final List<Machine> machines = new ArrayList<>();
  private final List<SimulatedWire> wires = new ArrayList<>();
  private final long clientGapNanos;
  private final boolean several;
  public long asked;
  public long answered;
  public long admitted;

  /** Requests that were admitted from a lease after its end: only that can break the limit. */
  public long late;

  public Simulation(SplittableRandom random, Parts parts, Weather weather) {
    world = new World(random);
    service = new SimulatedService(world, rules(LIMIT, "leased", weather.syncMillis()));
    several = !weather.restarts(); // An answer's revision is of one of them.
    clientGapNanos = CLIENTS * WINDOW_NANOS / (TIMES_THE_LIMIT * LIMIT);
    for (int i = 0; i < CLIENTS; i++) {
      add(parts);
    }
    if (weather.flaps()) {
      flap(weather.syncMillis());
    }
    if (weather.restarts()) {
      restart();
    }
    expire();
  }

  private static String rules(long limit, String consistency, long syncMillis) {
    String sync = consistency.equals("leased") ? ", sync_interval: " + syncMillis + "ms" : "";
    return """
    domain: sim
    descriptors:
      - key: user
        rate_limit: {unit: second, requests_per_unit: %d, consistency: %s%s}
      - key: tenant
        rate_limit:
          {unit: second, requests_per_unit: %d, consistency: leased, sync_interval: 100ms}
    """
        .formatted(limit, consistency, sync, 3 * limit);
  }

  private void add(Parts parts) {
    Machine machine = new Machine(world);
    SimulatedWire wire = parts.wires().make(world, machine, service);
    Clocks clocks = parts.clocks().apply(machine);
    Counters counted = new Counters();
    Service asks = new Service(wire, clocks, 50 * MILLI, counted, new ServiceLog("sim"));
    LeasingDecider client =
        new LeasingDecider(
            List.of(asks),
            clocks,
            50 * MILLI,
            FailureMode.DENY,
            counted,
            new LeasingDecider.Bounds(Keys.MOST, MOST_BYTES));
    clients.add(client);
    counters.add(counted);
    machines.add(machine);
    wires.add(wire);
    client.start();
    machine.pauseInside();
    request(machine, client);
    trouble(machine, wire);
  }

  private void request(Machine machine, LeasingDecider client) {
    // After a calm phase the whole limit is free, and much of it is lent at once.
    boolean calm = world.nanos() / PHASE_NANOS % 2 == 0;
    long gapNanos = calm ? CALM_TIMES * clientGapNanos : clientGapNanos;
    var unused =
        world.after(
            world.between(1, 2 * gapNanos),
            () ->
                machine.run(
                    () -> {
                      decide(machine, client);
                      request(machine, client);
                    }));
  }

  private void decide(Machine machine, LeasingDecider client) {
    String user = world.once(4) ? "b" : "a";
    long permits = world.once(20) ? 3 : 1;
    Descriptor byUser = Descriptor.of("user", user);
    List<Descriptor> descriptors =
        several && world.once(3) ? List.of(byUser, Descriptor.of("tenant", "t")) : List.of(byUser);
    Request request = new Request("sim", descriptors, permits);
    long begun = machine.now();
    asked++;
    client.decide(
        request,
        answer -> {
          answered++;
          record(machine, request, answer, user, permits, begun);
        });
  }

  private void record(
      Machine machine, Request request, Answer answer, String user, long permits, long begun) {
    if (!answer.allowed()) {
      return;
    }
    admitted += permits;
    // The grants of the service between two restarts are held against its limit.
    String life = "#" + answer.revision() / SimulatedService.LIFE;
    long now = machine.now();
    long from = begun;
    if (answeredLocally(machine, begun)) {
      from = now;
      late += answer.statuses().stream().anyMatch(each -> isLate(each, now)) ? 1 : 0;
    }
    add("user " + user + life, permits, from, now, answer);
    if (request.descriptors().size() > 1) {
      add("tenant t" + life, permits, from, now, answer);
    }
  }

  private static boolean isLate(Status status, long now) {
    CurrentLimit limit = status.currentLimit();
    return limit != null && now > SimulatedService.endNanos(limit.policy().name());
  }

  /**
   * Returns whether no message can have arrived since: then the decision was made at the very end.
   */
  private static boolean answeredLocally(Machine machine, long begun) {
    return machine.now() == begun;
  }

  private void add(String key, long permits, long from, long to, Answer answer) {
    history.add(new WindowChecker.Operation(key, permits, from, to, true, answer.reason()));
  }

  /** Schedules trouble for a machine, again and again. */
  private void trouble(Machine machine, SimulatedWire wire) {
    var unused =
        world.after(
            world.between(20 * MILLI, 1_500 * MILLI),
            () -> {
              switch (world.random.nextInt(6)) {
                case 0 -> machine.pause(world.between(MILLI, 700 * MILLI));
                case 1 -> machine.suspend(world.between(MILLI, 1_500 * MILLI));
                case 2 -> machine.step(world.between(-5_000 * MILLI, 0));
                case 3 -> machine.step(world.between(0, 5_000 * MILLI));
                case 4 -> cut(wire);
                default -> machine.step(-400L * 86_400_000 * MILLI);
              }
              trouble(machine, wire);
            });
  }

  private void cut(SimulatedWire wire) {
    wire.reset();
    wire.down = true;
    var unused = world.after(world.between(MILLI, 300 * MILLI), () -> wire.down = false);
  }

  private void flap(long syncMillis) {
    var unused =
        world.after(
            world.between(5 * MILLI, 900 * MILLI),
            () -> {
              long limit = world.once(2) ? LIMIT : LOWER_LIMIT;
              service.rules(rules(limit, world.once(3) ? "strict" : "leased", syncMillis));
              flap(syncMillis);
            });
  }

  private void restart() {
    var unused =
        world.after(
            world.between(500 * MILLI, 4_000 * MILLI),
            () -> {
              wires.forEach(SimulatedWire::reset);
              service.restart();
              restart();
            });
  }

  private void expire() {
    var unused =
        world.after(
            1_000 * MILLI,
            () -> {
              service.expire();
              expire();
            });
  }

  /** Returns how many permits more than the limit some window certainly holds. */
  public long run(long seconds) {
    world.run(seconds * 1_000 * MILLI);
    return excess("user", LIMIT) + excess("tenant", 3 * LIMIT);
  }

  private long excess(String kind, long limit) {
    return WindowChecker.certainExcess(
        history.stream().filter(each -> each.key().startsWith(kind)).toList(), WINDOW_NANOS, limit);
  }

  public long locally() {
    return counters.stream().mapToLong(each -> each.admittedLocally.sum()).sum();
  }

  public long returned() {
    return counters.stream().mapToLong(each -> each.returned.sum()).sum();
  }
}
