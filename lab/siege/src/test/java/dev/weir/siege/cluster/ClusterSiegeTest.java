package dev.weir.siege.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Reason;
import dev.weir.siege.SideBySide;
import dev.weir.siege.SiegeRule;
import dev.weir.siege.Target;
import dev.weir.siege.faults.ClusterFault;
import dev.weir.siege.faults.DamageFault;
import dev.weir.siege.faults.ProcessFault;
import dev.weir.siege.faults.ShiftedClock;
import dev.weir.siege.guests.Guest;
import dev.weir.siege.guests.Protocol;
import dev.weir.testkit.ChildProcess;
import dev.weir.testkit.Trials;
import dev.weir.testkit.WindowChecker;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** A test of members in real processes, which suffer faults while clients send requests. */
@Tag("siege")
class ClusterSiegeTest {
  /**
   * The longest time of healing after the last fault, even on a busy machine, on which a member
   * takes seconds to start.
   */
  private static final Duration HEALS = Duration.ofSeconds(90);

  /**
   * The longest time for which requests may stay undecided, because the machine stands still and
   * leaders change.
   */
  private static final Duration UNDECIDED = Duration.ofMinutes(2);

  private static final int SIZE = 3;
  private static final int MOST_ROUNDS = 12;

  private final SplittableRandom random = Trials.random("cluster siege");

  @TempDir private Path folder;

  /**
   * Tests all sites, or the one that {@code -Dweir.siege} names, each with another quarter of its
   * faults in every run, or with all of them in a long one.
   */
  @TestFactory
  Stream<DynamicContainer> limits_whateverHappens_hold() throws Exception {
    SideBySide sieges = new SideBySide(ClusterRules.ASKED);
    List<DynamicContainer> containers = new ArrayList<>();
    String only = System.getProperty("weir.siege", "");
    try {
      for (Map.Entry<String, ClusterSite.Place> each : ClusterSite.places().entrySet()) {
        Path own = Files.createDirectory(folder.resolve(each.getKey().replace(' ', '-')));
        SplittableRandom seed = random.split();
        ClusterSite site =
            each.getKey().contains(only) ? each.getValue().make(own, SIZE, seed) : null;
        if (site != null) {
          SideBySide.Siege siege = sieges.begin(site, some(site.faults(), seed), seed);
          containers.add(DynamicContainer.dynamicContainer(each.getKey(), tests(siege)));
        }
      }
    } catch (IOException | RuntimeException e) {
      sieges.close();
      throw e;
    }
    return containers.stream().onClose(sieges::close);
  }

  /** Returns a random quarter of the faults, in their order; all if runs are long. */
  private static List<ClusterFault> some(List<ClusterFault> faults, SplittableRandom random) {
    List<ClusterFault> some = new ArrayList<>(faults);
    int quarter = (faults.size() + 3) / 4;
    while (some.size() > Trials.runs(quarter, quarter)) {
      some.remove(random.nextInt(some.size()));
    }
    return some;
  }

  private static List<DynamicTest> tests(SideBySide.Siege siege) {
    List<DynamicTest> tests = new ArrayList<>();
    for (SideBySide.Round each : siege.rounds()) {
      tests.add(
          DynamicTest.dynamicTest(
              each.fault().toString(), () -> assertHolds(each.outcome().get())));
    }
    tests.add(
        DynamicTest.dynamicTest(
            "requests for one key are decided in some order",
            () -> assertThat(siege.keys().get()).isGreaterThan(1)));
    return tests;
  }

  private static void assertHolds(ClusterSiege.Outcome outcome) {
    System.out.println(outcome);
    assertThat(outcome.broken()).as("%s", outcome).isEmpty();
    assertThat(outcome.balance().admitted()).as("%s", outcome).isPositive();
    assertThat(outcome.judgement().admitted()).as("%s", outcome).isPositive();
    assertThat(outcome.healNanos()).as("%s", outcome).isLessThan(HEALS.toNanos());
  }

  /**
   * Tests members that are put back to an older state: they have forgotten, and so has the majority
   * they are in.
   */
  @Tag("sample")
  @Test
  void olderFoldersOfAMajority_areFoundOut() throws Exception {
    ClusterSite site = ClusterSite.onLoopback(folder, 3, random);
    try (site) {
      Members members = site.members();
      members.start();
      members.awaitHealthy();
      members.all().forEach(MemberProcess::kill);
      List<MemberProcess> majority = members.some(2);
      for (MemberProcess each : majority) {
        DamageFault.copy(each.folder(), folder.resolve("older-" + each.name()));
      }
      members.start();
      members.awaitHealthy();
      List<WindowChecker.Operation> history = new ArrayList<>();
      int undecided = admitAll(members, members.any(), history);
      Accounts accounts = new Accounts();
      admitOne(members, members.any(), accounts);
      members.all().forEach(MemberProcess::kill);
      for (MemberProcess each : majority) {
        DamageFault.delete(each.folder());
        DamageFault.copy(folder.resolve("older-" + each.name()), each.folder());
        each.start();
      }
      for (MemberProcess each : majority) {
        each.process().awaitReady();
      }
      MemberProcess leader = members.leader();
      assertThat(majority).contains(leader);
      undecided += admitAll(members, leader, history);
      Target target = Objects.requireNonNull(leader.target());
      assertThat(accounts.balance(target, Duration.ZERO).forgotten()).isEqualTo(1);
      assertThat(
              WindowChecker.certainExcess(
                  history, Duration.ofDays(1).toNanos(), ClusterRules.RATION_PERMITS))
          .isBetween(
              (long) ClusterRules.RATION_PERMITS - undecided, (long) ClusterRules.RATION_PERMITS);
    }
  }

  /**
   * Requests the permits of a key until there are no more. Returns the number of undecided
   * requests: the machine may stand still, and another member lead.
   */
  private static int admitAll(
      Members members, MemberProcess member, List<WindowChecker.Operation> history)
      throws IOException, InterruptedException {
    members.awaitAdmission(List.of(member));
    int undecided = 0;
    boolean refused = false;
    long begun = System.nanoTime();
    try (Guest guest = Protocol.CHECK.connect(Objects.requireNonNull(member.target()))) {
      while (!refused) {
        long start = System.nanoTime();
        assertThat(start - begun)
            .as("%d of %d requests are not decided", undecided, history.size())
            .isLessThan(UNDECIDED.toNanos());
        Guest.Answer answer = guest.request(Ration.RULE, "once");
        history.add(
            new WindowChecker.Operation(
                "once",
                1,
                start,
                System.nanoTime(),
                answer.allowed(),
                Reason.valueOf(answer.reason())));
        refused = answer.reason().equals(Guest.Answer.OVER_LIMIT);
        if (!answer.allowed() && !refused) {
          undecided++;
          members.awaitAdmission(List.of(member));
        }
      }
    }
    return undecided;
  }

  private static void admitOne(Members members, MemberProcess member, Accounts accounts)
      throws IOException, InterruptedException {
    boolean admitted = false;
    long begun = System.nanoTime();
    while (!admitted) {
      assertThat(System.nanoTime() - begun)
          .as("no request for an account is admitted")
          .isLessThan(UNDECIDED.toNanos());
      members.awaitAdmission(List.of(member));
      accounts.requested("once", 1);
      try (Guest guest = Protocol.CHECK.connect(Objects.requireNonNull(member.target()))) {
        admitted = guest.request(ClusterRules.ACCOUNT.name(), "once").allowed();
      }
    }
    accounts.admitted("once", 1);
  }

  /** Tests that the clock is shifted: a clock that is not would prove nothing. */
  @Test
  void shiftedClock_isWhatAProcessSees() throws Exception {
    ShiftedClock clock = ShiftedClock.in(folder);
    if (clock == null) {
      return;
    }
    clock.shift(Duration.ofHours(1));
    long before = System.currentTimeMillis();
    String said =
        ChildProcess.java(ShiftedClock.class)
            .environment(clock.environment())
            .errors(Redirect.INHERIT)
            .run();
    long hour = Duration.ofHours(1).toMillis();
    assertThat(Long.parseLong(said.trim()) - hour).isBetween(before, System.currentTimeMillis());
  }

  /**
   * Tests the harness itself: finding nothing wrong proves something only if it finds real errors.
   */
  @Test
  void limitsThatDoNotHold_areFoundOut() throws Exception {
    List<SiegeRule> wrong = List.of(ClusterRules.OPEN, ClusterRules.APART);
    try (ClusterSiege siege =
        ClusterSiege.start(ClusterSite.onLoopback(folder, 3, random), wrong, random)) {
      // On a busy machine clients may send too few requests in a round to exceed a limit.
      ClusterFault none = (members, seed, millis) -> ClusterFault.wait(seed, millis, 4 * millis);
      Set<SiegeRule> found = new HashSet<>();
      for (int i = 0; i < MOST_ROUNDS && found.size() < wrong.size(); i++) {
        ClusterSiege.Outcome outcome = siege.round(i % 2 == 0 ? none : ProcessFault.KILL_TWO);
        wrong.stream().filter(each -> outcome.excess(each) > 0).forEach(found::add);
      }
      assertThat(found).containsExactlyInAnyOrderElementsOf(wrong);
    }
  }
}
