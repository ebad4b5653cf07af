package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The decisions of the path of several charges, and the requests that it leaves to the others. */
class JointPathTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long KEY = 42;

  /** Roles to draw from: most charges must fit. */
  private static final List<Charges.Role> ROLES =
      List.of(
          Charges.Role.REQUIRED, Charges.Role.REQUIRED, Charges.Role.ANY, Charges.Role.OPTIONAL);

  private final MemoryStore store = new MemoryStore(1_000);
  private final MemoryBinding first = bind(store, "first", policy(Algorithm.SLIDING_WINDOW, 2, 1));
  private final MemoryBinding second = bind(store, "second", policy(Algorithm.TOKEN_BUCKET, 3, 60));

  private static Policy policy(Algorithm algorithm, long permits, long seconds) {
    Quota quota = Quota.of(permits, Duration.ofSeconds(seconds));
    return Policy.builder(quota).algorithm(algorithm).build();
  }

  private static MemoryBinding bind(MemoryStore store, String name, Policy policy) {
    return (MemoryBinding) store.bind(name, policy, 0);
  }

  private static boolean tried(Charges charges, long now) {
    return Workspace.own().joint.decide(charges, now);
  }

  private Charges both(long permits) {
    return new Charges().add(first, KEY, permits).add(second, KEY, permits);
  }

  @Test
  void keysWithAndWithoutState_areChargedTogether_orNotAtAll() {
    for (int i = 0; i < 2; i++) {
      Charges charges = both(1);
      assertThat(tried(charges, 0)).isTrue();
      assertThat(charges.allowed()).isTrue();
      assertThat(charges.remaining(0)).isEqualTo(1 - i);
      assertThat(charges.remaining(1)).isEqualTo(2 - i);
    }
    Charges refused = both(1);
    assertThat(tried(refused, 0)).isTrue();
    assertThat(refused.allowed()).isFalse();
    assertThat(refused.retryAfterNanos(0)).isEqualTo(SECOND);
    assertThat(refused.fits(1)).isTrue();
    assertThat(store.decide(second, KEY, 0, 0)).as("nothing was charged").isEqualTo(1);
    assertThat(store.keys()).isEqualTo(2);
    store.verify();
  }

  @Test
  void peek_chargesNothing() {
    assertThat(tried(both(2).peek(), 0)).isTrue();
    assertThat(store.keys()).isZero();
  }

  @Test
  void shadowThatDoesNotFit_isNotCharged() {
    Charges charges = new Charges().add(second, KEY, 3).add(first, KEY, 3, Charges.Role.OPTIONAL);
    assertThat(tried(charges, 0)).isTrue();
    assertThat(charges.allowed()).isTrue();
    assertThat(charges.fits(1)).isFalse();
    assertThat(store.keys()).isEqualTo(1);
  }

  @Test
  void oneNameTwice_negativePermits_andAChangedPolicy_areLeftToTheSlowPath() {
    assertThat(tried(new Charges().add(first, 1, 1).add(first, 2, 1), 0)).isFalse();
    assertThat(tried(both(-1), 0)).isFalse();
    bind(store, "second", policy(Algorithm.FIXED_WINDOW, 3, 60));
    assertThat(tried(both(1), 0)).isFalse();
    assertThat(store.keys()).isZero();
  }

  @Test
  void segmentThatIsLocked_isNotWaitedFor_andTheOtherIsFreeAfterwards() {
    assertThat(tried(both(1), 0)).isTrue();
    Segment locked = segment(second);
    long stamp = locked.writeLock();
    assertThat(tried(both(1), 0)).isFalse();
    assertThat(segment(first).tryOptimisticRead()).isNotZero();
    locked.unlockWrite(stamp);
    assertThat(tried(both(1), 0)).isTrue();
  }

  private static Segment segment(MemoryBinding binding) {
    return binding.history.tables()[0].table().segment(KEY);
  }

  @Test
  void roomForOneKeyOnly_isNotTaken() {
    MemoryStore small = new MemoryStore(1, 1 << 20);
    MemoryBinding one = bind(small, "one", policy(Algorithm.SLIDING_WINDOW, 2, 1));
    MemoryBinding other = bind(small, "other", policy(Algorithm.TOKEN_BUCKET, 3, 60));
    assertThat(tried(new Charges().add(one, KEY, 1).add(other, KEY, 1), 0)).isFalse();
    assertThat(small.keys()).isZero();
    assertThat(small.decide(one, KEY, 1, 0)).isEqualTo(1);
    small.verify();
  }

  /**
   * Decides the same requests here and, in another store, on the slow path, which shares only the
   * meters' steps with this one; their own tests check those.
   */
  @Test
  void anyRequests_areDecidedAsTheSlowPathDoes() {
    int runs = 300;
    System.out.println("JointPathTest: " + runs + " runs");
    for (long seed = 0; seed < runs; seed++) {
      Random random = new Random(seed);
      MemoryStore here = new MemoryStore(1_000);
      MemoryStore there = new MemoryStore(1_000);
      List<Policy> policies = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        Algorithm[] all = Algorithm.values();
        policies.add(
            policy(all[random.nextInt(all.length)], 1 + random.nextInt(9), 1 + random.nextInt(5)));
      }
      long now = 0;
      for (int request = 0; request < 300; request++) {
        now += random.nextLong(SECOND / 2) - (random.nextInt(8) == 0 ? SECOND : 0);
        long key = 1L + random.nextInt(3);
        Charges charges = new Charges();
        Charges expected = new Charges();
        for (int i = 0; i < policies.size(); i++) {
          if (i < 2 || random.nextBoolean()) {
            long permits = random.nextInt(4);
            Charges.Role role = ROLES.get(random.nextInt(ROLES.size()));
            charges.add(bind(here, "p" + i, policies.get(i)), key + i, permits, role);
            expected.add(bind(there, "p" + i, policies.get(i)), key + i, permits, role);
          }
        }
        if (random.nextInt(5) == 0) {
          charges.peek();
          expected.peek();
        }
        assertThat(tried(charges, now)).isTrue();
        SlowPath.decide(expected, Workspace.own(), now);
        assertThat(results(charges))
            .as("seed %d, request %d", seed, request)
            .isEqualTo(results(expected));
      }
      assertThat(here.keys()).isEqualTo(there.keys());
      here.verify();
    }
  }

  private static String results(Charges charges) {
    StringBuilder text = new StringBuilder().append(charges.allowed());
    for (int i = 0; i < charges.size(); i++) {
      text.append("; ").append(charges.decision(i));
    }
    return text.toString();
  }
}
