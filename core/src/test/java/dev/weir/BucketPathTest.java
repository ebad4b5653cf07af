package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The decisions of the path of buckets, and the requests that it leaves to the other paths. */
class BucketPathTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long KEY = 42;
  private static final long UNDECIDED = FastPath.UNDECIDED;

  private final MemoryStore store = new MemoryStore(1_000);

  private static Policy bucket(long permits) {
    return Policy.builder(Quota.perSecond(permits)).algorithm(Algorithm.TOKEN_BUCKET).build();
  }

  private static MemoryBinding bind(MemoryStore store, Policy policy) {
    return (MemoryBinding) store.bind("rule", policy, 0);
  }

  private static Table table(TableView view) {
    return Objects.requireNonNull(view.only);
  }

  private static long request(
      MemoryBinding binding, long permits, long now, @Nullable Charges results) {
    TableView view = binding.view();
    return BucketPath.decide(
        binding, view, table(view), KEY, Segment.NO_HINT, permits, now, results);
  }

  private static long request(MemoryBinding binding, long permits, long now) {
    return request(binding, permits, now, null);
  }

  @Test
  void keyWithoutState_isLeftToTheOthers() {
    MemoryBinding binding = bind(store, bucket(4));
    assertThat(request(binding, 1, 0)).isEqualTo(UNDECIDED);
    assertThat(store.keys()).isZero();
  }

  @Test
  void keyWithState_isCharged_andRefusedAtItsLimit() {
    MemoryBinding binding = bind(store, bucket(4));
    assertThat(store.decide(binding, KEY, 1, 0)).isEqualTo(3);

    assertThat(request(binding, 2, 0)).isEqualTo(1);
    assertThat(PackedDecision.retryAfterNanos(request(binding, 2, 0))).isEqualTo(SECOND / 4);
    assertThat(request(binding, 1, 0)).isZero();
    assertThat(request(binding, 4, SECOND)).isZero();
    store.verify();
  }

  @Test
  void moreThanTheBurst_andRuleWithoutPermits_areLeftToTheOthers() {
    MemoryBinding binding = bind(store, bucket(4));
    store.decide(binding, KEY, 1, 0);
    assertThat(request(binding, 5, 0)).isEqualTo(UNDECIDED);

    MemoryBinding none = bind(store, bucket(0));
    assertThat(request(none, 1, 10 * SECOND)).isEqualTo(UNDECIDED);
    assertThat(store.decide(none, KEY, 1, 10 * SECOND)).isEqualTo(-Decision.NEVER);
  }

  @Test
  void segmentThatIsLocked_isNotWaitedFor() {
    MemoryBinding binding = bind(store, bucket(4));
    store.decide(binding, KEY, 1, 0);
    Segment segment = table(binding.view()).segment(KEY);
    long stamp = segment.writeLock();
    assertThat(request(binding, 1, 0)).isEqualTo(UNDECIDED);
    segment.unlockWrite(stamp);
    assertThat(request(binding, 1, 0)).isEqualTo(2);
  }

  @Test
  void policyThatHasChanged_chargesNothing_andTheLockIsFree() {
    MemoryBinding binding = bind(store, bucket(4));
    store.decide(binding, KEY, 1, 0);
    TableView before = binding.view();
    bind(store, Policy.builder(Quota.perSecond(4)).algorithm(Algorithm.FIXED_WINDOW).build());

    assertThat(BucketPath.decide(binding, before, table(before), KEY, Segment.NO_HINT, 1, 0, null))
        .isEqualTo(UNDECIDED);
    Segment segment = table(before).segment(KEY);
    assertThat(segment.tryOptimisticRead()).isNotZero();
    assertThat(segment.state(segment.find(KEY))[segment.offset(table(before), segment.find(KEY))])
        .isEqualTo(SECOND / 4);
  }

  private static long latestNanos(MemoryBinding binding) {
    Table table = table(binding.view());
    return table.directory.latestNanos(table);
  }

  @Test
  void latestTimeOfTheTable_follows() {
    MemoryBinding binding = bind(store, bucket(4));
    store.decide(binding, KEY, 1, 0);
    request(binding, 1, 7);
    assertThat(latestNanos(binding)).isEqualTo(7);
    request(binding, 1, 3);
    assertThat(latestNanos(binding)).isEqualTo(7);
  }

  /**
   * Decides under a policy and a variant of a smaller burst, with reservations in between and
   * clocks that go back, also by more than a state follows. SlowPath shares only Gcra's steps with
   * this path; GcraTest checks those by hand.
   */
  @Test
  void anyRequests_areDecidedAsTheSlowPathDoes() {
    int runs = 500;
    System.out.println("BucketPathTest: " + runs + " runs");
    for (long seed = 0; seed < runs; seed++) {
      Random random = new Random(seed);
      boolean leaky = random.nextBoolean();
      int burst = 2 + random.nextInt(8);
      Policy policy = bucket(leaky, 1 + random.nextInt(9), burst);
      Policy smaller = leaky ? policy : bucket(leaky, policy.quota().permits(), burst - 1);
      MemoryStore other = new MemoryStore(1_000);
      MemoryStore own = new MemoryStore(1_000);
      Binding[] slow = bindings(other, policy, smaller);
      Binding[] quick = bindings(own, policy, smaller);
      long now = 0;
      int decided = 0;
      for (int i = 0; i < 200; i++) {
        long step = random.nextInt(300_000_000);
        now += random.nextInt(4) == 0 ? -(step % 1_000) : step;
        long at = random.nextInt(20) == 0 ? step - Meter.HORIZON_NANOS : now;
        int permits = 1 + random.nextInt(10);
        int which = random.nextInt(2);
        boolean waits = random.nextInt(8) == 0;
        Charges expected = new Charges().add(slow[which], KEY, permits);
        Charges results = new Charges().add(quick[which], KEY, permits);
        if (waits) {
          other.decide(expected.maxWait(SECOND), at);
          own.decide(results.maxWait(SECOND), at);
        } else {
          SlowPath.decide(expected, Workspace.own(), at);
          long packed = request((MemoryBinding) quick[which], permits, at, results);
          if (packed == UNDECIDED) {
            own.decide(results, at);
          } else {
            decided++;
            results.settle();
            assertThat(packed).as("seed %d, request %d", seed, i).isEqualTo(expected.packed(0));
          }
        }
        assertThat(results.decision(0))
            .as("seed %d, request %d", seed, i)
            .isEqualTo(expected.decision(0));
        assertThat(results.allowed()).isEqualTo(expected.allowed());
      }
      assertThat(decided).as("seed %d", seed).isPositive();
    }
  }

  private static Policy bucket(boolean leaky, long permits, int burst) {
    return Policy.builder(Quota.perSecond(permits))
        .algorithm(leaky ? Algorithm.LEAKY_BUCKET : Algorithm.TOKEN_BUCKET)
        .burst(burst)
        .build();
  }

  private static Binding[] bindings(MemoryStore store, Policy policy, Policy smaller) {
    Binding binding = store.bind("rule", policy, 0);
    return new Binding[] {binding, store.variant(binding, smaller)};
  }
}
