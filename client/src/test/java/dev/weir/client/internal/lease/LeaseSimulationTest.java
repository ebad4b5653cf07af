package dev.weir.client.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.client.Machine;
import dev.weir.client.SimulatedService;
import dev.weir.client.SimulatedWire;
import dev.weir.client.Simulation;
import dev.weir.client.Simulation.Parts;
import dev.weir.client.Simulation.Weather;
import dev.weir.client.Simulation.Wires;
import dev.weir.client.World;
import dev.weir.protocol.v1.WeirProto.DescriptorLease;
import dev.weir.protocol.v1.WeirProto.Grant;
import dev.weir.protocol.v1.WeirProto.LeaseRequest;
import dev.weir.protocol.v1.WeirProto.LeaseResponse;
import dev.weir.protocol.v1.WeirProto.LeaseReturn;
import dev.weir.shared.Clocks;
import dev.weir.testkit.Trials;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Tests with four clients that request five times the limit from one service in virtual time. Their
 * clocks are wrong by the most that is promised. There are pauses, suspends, steps of the wall
 * clock, cuts, and messages that are lost or late.
 */
class LeaseSimulationTest {
  private static final int RUNS = 12;

  /**
   * The number of runs. A client with the monotonic clock only is caught in every second run; all
   * other bad clients in more.
   */
  private static final int TRIES = 60;

  private static final long SECONDS = 20;
  private static final long LONG = 200;
  private static final long SHORT = 20;

  /** The client's logger, which reports at every cut that the service is away. */
  private static final Logger LOG = Logger.getLogger("dev.weir.client");

  @BeforeAll
  static void silence() {
    LOG.setLevel(Level.OFF);
  }

  private static void holds(String name, Parts parts, Weather weather) {
    SplittableRandom random = Trials.random(name, RUNS);
    for (int i = 0; i < RUNS; i++) {
      Simulation simulation = new Simulation(random.split(), parts, weather);
      long excess = simulation.run(SECONDS);
      assertThat(excess).as("%s, run %d: permits beyond the limit", name, i).isZero();
      assertThat(simulation.late).as("%s, run %d: spent after the end", name, i).isZero();
      // The last requests may still wait for their answers.
      assertThat(simulation.answered)
          .as("answers to %d requests", simulation.asked)
          .isBetween(simulation.asked - 100, simulation.asked);
      assertThat(simulation.admitted).isGreaterThan(SECONDS * Simulation.LIMIT / 4);
      assertThat(simulation.locally()).isGreaterThan(SECONDS);
      assertThat(simulation.returned()).isPositive();
    }
  }

  /**
   * Returns the most that one of several runs admits beyond the limit, or from a lease that has
   * ended.
   */
  private static long worst(String name, Parts parts) {
    SplittableRandom random = Trials.numbers(name);
    long worst = 0;
    int runs = 0;
    for (; runs < TRIES && worst == 0; runs++) {
      Weather weather = new Weather(false, false, SHORT);
      Simulation simulation = new Simulation(random.split(), parts, weather);
      worst = simulation.run(SECONDS) + simulation.late;
    }
    Trials.report(name, runs);
    return worst;
  }

  @Test
  void limit_withAllThatGoesWrong_holds() {
    holds("leases", Parts.GOOD, new Weather(false, false, LONG));
  }

  @Test
  void limit_whileRulesFlap_isNeverMoreThanTheLargest() {
    holds("leases, flapping", Parts.GOOD, new Weather(true, false, LONG));
  }

  /**
   * A service without a store starts anew after a restart, and grants the whole limit again: that
   * is documented.
   */
  @Test
  void limit_ofEachLifeOfAServiceThatForgets_holds() {
    holds("leases, restarts", Parts.GOOD, new Weather(false, true, LONG));
  }

  @Test
  void clientThatReturnsTwice_gainsNothing() {
    holds(
        "returns twice",
        new Parts(Machine::clocks, ReturnsTwice::new),
        new Weather(false, false, LONG));
  }

  @Test
  void clientThatCountsLifeFromReceipt_isCaught() {
    Wires wires = LifeFromReceipt::new;
    assertThat(worst("life from receipt", new Parts(Machine::clocks, wires))).isPositive();
  }

  @Test
  void clientWithTheWallClockOnly_isCaught() {
    Parts parts =
        new Parts(
            machine -> new Clocks(machine.wallWithTimers(), machine.wall), SimulatedWire::new);
    assertThat(worst("wall clock only", parts)).isPositive();
  }

  @Test
  void clientWithTheMonotonicClockOnly_isCaught() {
    Parts parts =
        new Parts(machine -> new Clocks(machine.monotonic, machine.monotonic), SimulatedWire::new);
    assertThat(worst("monotonic clock only", parts)).isPositive();
  }

  @Test
  void clientThatSpendsWhatItHasReturned_isCaught() {
    Wires wires = SpendsWhatItReturned::new;
    assertThat(worst("spends what it returned", new Parts(Machine::clocks, wires))).isPositive();
  }

  /** A wire that repeats every return with the next message. */
  private static final class ReturnsTwice extends SimulatedWire {
    private List<LeaseReturn> again = List.of();

    ReturnsTwice(World world, Machine machine, SimulatedService service) {
      super(world, machine, service);
    }

    @Override
    public LeaseRequest sent(LeaseRequest message) {
      LeaseRequest more = message.toBuilder().addAllReturns(again).build();
      again = message.getReturnsList();
      return more;
    }
  }

  private static final class LifeFromReceipt extends SimulatedWire {
    private final Machine machine;

    LifeFromReceipt(World world, Machine machine, SimulatedService service) {
      super(world, machine, service);
      this.machine = machine;
    }

    @Override
    public UnaryOperator<LeaseResponse> heard() {
      long sentAt = machine.monotonic.nanos();
      return response -> {
        long micros = (machine.monotonic.nanos() - sentAt) / 1_000;
        return mapped(response, lease -> lease.setLifeUs(lease.getLifeUs() + micros));
      };
    }
  }

  private static final class SpendsWhatItReturned extends SimulatedWire {
    private final List<LeaseReturn> early = new ArrayList<>();

    SpendsWhatItReturned(World world, Machine machine, SimulatedService service) {
      super(world, machine, service);
    }

    @Override
    public LeaseRequest sent(LeaseRequest message) {
      LeaseRequest more = message.toBuilder().addAllReturns(early).build();
      early.clear();
      return more;
    }

    @Override
    public UnaryOperator<LeaseResponse> heard() {
      return response ->
          mapped(
              response,
              lease -> {
                early.add(
                    LeaseReturn.newBuilder()
                        .setLease(lease.getLease())
                        .setPermits(lease.getPermits())
                        .build());
                return lease;
              });
    }
  }

  private static LeaseResponse mapped(
      LeaseResponse response, UnaryOperator<DescriptorLease.Builder> change) {
    LeaseResponse.Builder changed = response.toBuilder();
    for (Grant.Builder grant : changed.getGrantsBuilderList()) {
      for (DescriptorLease.Builder lease : grant.getLeasesBuilderList()) {
        if (lease.getLease() != 0) {
          var unused = change.apply(lease);
        }
      }
    }
    return changed.build();
  }
}
