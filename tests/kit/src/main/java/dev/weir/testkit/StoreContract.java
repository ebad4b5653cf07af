package dev.weir.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Charges.Role;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.Store;
import dev.weir.testkit.Trials.Trial;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The contract of every store besides its algorithms: several limits in one request, threads.
 * Reports are in {@link ReportContract}, requests that are made together in {@link
 * TogetherContract}, changes of rules in {@link RuleChangeContract}, bounds on keys in {@link
 * BoundedStoreContract}.
 */
public abstract class StoreContract extends ReportContract {
  private static final long SECOND = 1_000_000_000L;

  private static Policy log(long permits) {
    return Policy.builder(Quota.perSecond(permits)).algorithm(Algorithm.SLIDING_WINDOW_LOG).build();
  }

  private static Charges charges() {
    return new Charges();
  }

  @Test
  void oneLimitRefuses_nothingIsChargedAnywhere() {
    for (Algorithm algorithm : Algorithm.values()) {
      Store store = store();
      Binding wide = store.bind("wide", policy(algorithm, 5), 0);
      Binding narrow = store.bind("narrow", policy(algorithm, 2), 0);
      for (int i = 0; i < 6; i++) {
        Charges both = decide(store, charges().add(wide, key("a"), 1).add(narrow, key("b"), 1), 0);
        assertThat(both.allowed()).isEqualTo(i < 2);
        assertThat(both.fits(0)).isTrue();
        assertThat(both.reason(1)).isEqualTo(i < 2 ? Reason.WITHIN_LIMIT : Reason.OVER_LIMIT);
      }
      assertThat(peek(store, wide, "a", 0, 1).remaining()).isEqualTo(3);
      assertThat(peek(store, narrow, "b", 0, 1).remaining()).isZero();
    }
  }

  private static Policy policy(Algorithm algorithm, long permits) {
    return Policy.builder(Quota.perSecond(permits)).algorithm(algorithm).build();
  }

  @Test
  void sameKeyTwice_isChargedTwiceOrNotAtAll() {
    for (Algorithm algorithm : Algorithm.values()) {
      Store store = store();
      Binding binding = store.bind("rule", policy(algorithm, 5), 0);
      Charges tooMuch = charges().add(binding, key("k"), 3).add(binding, key("k"), 3);
      assertThat(decide(store, tooMuch, 0).allowed()).isFalse();
      assertThat(peek(store, binding, "k", 0, 1).remaining()).isEqualTo(5);
      assertKeys(store, 0);

      Charges fits = charges().add(binding, key("k"), 3).add(binding, key("k"), 2);
      assertThat(decide(store, fits, 0).allowed()).isTrue();
      assertThat(peek(store, binding, "k", 0, 1).remaining()).isZero();
      assertKeys(store, 1);
    }
  }

  @Test
  void roles_requiredAnyAndOptional() {
    Store store = store();
    Binding five = store.bind("five", log(5), 0);
    Binding two = store.bind("two", log(2), 0);
    Binding none = store.bind("none", log(0), 0);

    Charges shadow = charges().add(five, key("k"), 1).add(none, key("k"), 1, Role.OPTIONAL);
    assertThat(decide(store, shadow, 0).allowed()).isTrue();
    assertThat(shadow.reason(1)).isEqualTo(Reason.OVER_LIMIT);

    Charges any = charges().add(none, key("k"), 1, Role.ANY).add(two, key("k"), 2, Role.ANY);
    assertThat(decide(store, any, 0).allowed()).isTrue();
    assertThat(peek(store, two, "k", 0, 1).remaining()).isZero();

    Charges noneOfThem =
        charges()
            .add(five, key("k"), 1)
            .add(none, key("k"), 1, Role.ANY)
            .add(two, key("k"), 1, Role.ANY);
    assertThat(decide(store, noneOfThem, 0).allowed()).isFalse();
    assertThat(peek(store, five, "k", 0, 1).remaining()).isEqualTo(4);

    Charges requiredFails = charges().add(two, key("k"), 1).add(five, key("k"), 1, Role.OPTIONAL);
    assertThat(decide(store, requiredFails, 0).allowed()).isFalse();
    assertThat(peek(store, five, "k", 0, 1).remaining()).isEqualTo(4);
  }

  @Test
  void negativePermits_makeTheWholeRequestInvalid() {
    for (Role role : Role.values()) {
      Store store = store();
      Binding binding = store.bind("rule", log(5), 0);
      Charges request = charges().add(binding, key("a"), 1).add(binding, key("b"), -1, role);
      assertThat(decide(store, request, 0).allowed()).isFalse();
      assertThat(request.reason(1)).isEqualTo(Reason.INVALID);
      assertKeys(store, 0);
    }
  }

  @Test
  void emptyRequest_passes() {
    assertThat(decide(store(), charges(), 0).allowed()).isTrue();
  }

  @Test
  void bindingOfAnotherStore_isRefused() {
    Store store = store();
    Binding foreign = store().bind("rule", log(5), 0);
    assertThatThrownBy(() -> store.decide(charges().add(foreign, 1, 1), 0, done -> {}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("expected: one of this store");
  }

  /** One charge of a generated request. */
  private record Part(int limit, String key, long permits, Role role) {}

  private record Request(long nowNanos, List<Part> parts, boolean peek) {}

  @Tag("model")
  @Tag("sample")
  @Test
  void randomRequestsOverSeveralLimits_agreeWithOracles() {
    Trials.run(
        getClass().getSimpleName() + ".randomRequestsOverSeveralLimits",
        times(150),
        random -> {
          List<Policy> policies = new ArrayList<>();
          for (int i = random.nextInt(1, 5); i > 0; i--) {
            List<Algorithm> all = Algorithm.rates();
            policies.add(policy(all.get(random.nextInt(all.size())), random.nextLong(0, 12)));
          }
          List<Request> requests = new ArrayList<>();
          long now = 0;
          for (int i = 0; i < 80; i++) {
            now += random.nextInt(3) == 0 ? grid(random.nextLong(SECOND / 2)) : 0;
            requests.add(request(random, now, policies.size()));
          }
          return new Trial<>(policies.toString(), requests, some -> assertAgrees(policies, some));
        });
  }

  private static Request request(SplittableRandom random, long now, int limits) {
    List<Part> parts = new ArrayList<>();
    Role[] roles = Role.values();
    boolean[] reports = {random.nextBoolean(), random.nextInt(4) == 0}; // By turns of the limits.
    for (int i = random.nextInt(1, 5); i > 0; i--) {
      int limit = random.nextInt(limits);
      boolean report = reports[limit % 2];
      Role role = report ? Role.REPORTED : Role.REQUIRED;
      while (random.nextBoolean() || role.isReport() != report) {
        role = roles[random.nextInt(roles.length)];
      }
      String key = "key-" + random.nextInt(2);
      parts.add(new Part(limit, key, random.nextLong(0, 6), role));
    }
    return new Request(now, parts, random.nextInt(5) == 0);
  }

  private void assertAgrees(List<Policy> policies, List<Request> requests) {
    Store store = store();
    List<Binding> limits = new ArrayList<>();
    List<Oracle> oracles = new ArrayList<>();
    for (int i = 0; i < policies.size(); i++) {
      limits.add(store.bind("rule-" + i, policies.get(i), 0));
      oracles.add(oracle(policies.get(i)));
    }
    for (Request request : requests) {
      Charges charges = charges();
      for (Part part : request.parts()) {
        charges.add(limits.get(part.limit()), key(part.key()), part.permits(), part.role());
      }
      if (request.peek()) {
        charges.peek();
      }
      decide(store, charges, request.nowNanos());
      List<Boolean> fits = fits(oracles, request);
      boolean allowed = verdict(request, fits);
      assertThat(charges.allowed()).as("%s", request).isEqualTo(allowed);
      for (int i = 0; i < fits.size(); i++) {
        assertThat(charges.fits(i)).as("%s, charge %d", request, i).isEqualTo(fits.get(i));
        Part part = request.parts().get(i);
        Oracle oracle = oracles.get(part.limit());
        if (part.role().isReport() && part.permits() > 0 && !request.peek()) {
          long left = oracle.report(part.key(), request.nowNanos(), part.permits()).remaining();
          assertThat(charges.remaining(i)).as("%s, report %d", request, i).isEqualTo(left);
        } else if (allowed && fits.get(i) && !request.peek()) {
          oracle.decide(part.key(), request.nowNanos(), part.permits());
        }
      }
    }
  }

  /**
   * Returns which parts fit, each beside those before it that fit, or are reports, and have the
   * same key.
   */
  private static List<Boolean> fits(List<Oracle> oracles, Request request) {
    List<Boolean> fits = new ArrayList<>();
    for (Part part : request.parts()) {
      boolean question = part.role().isReport() && part.permits() == 0;
      long permits = question ? 1 : part.permits();
      for (int j = 0; j < fits.size(); j++) {
        Part before = request.parts().get(j);
        boolean same = before.limit() == part.limit() && before.key().equals(part.key());
        permits += same && (fits.get(j) || before.role().isReport()) ? before.permits() : 0;
      }
      Oracle oracle = oracles.get(part.limit());
      boolean always = part.permits() == 0 && !question;
      fits.add(always || oracle.peek(part.key(), request.nowNanos(), permits).allowed());
    }
    return fits;
  }

  private static boolean verdict(Request request, List<Boolean> fits) {
    boolean required = true;
    boolean asked = false;
    boolean any = false;
    for (int i = 0; i < fits.size(); i++) {
      Role role = request.parts().get(i).role();
      required &= (role != Role.REQUIRED && role != Role.REPORTED) || fits.get(i);
      asked |= role == Role.ANY;
      any |= role == Role.ANY && fits.get(i);
    }
    return required && (any || !asked);
  }

  @Test
  void manyThreadsOverTwoLimits_staysAllOrNothing() throws Exception {
    Store store = store();
    Binding wide = store.bind("wide", log(1_000), 0);
    Binding narrow = store.bind("narrow", policy(Algorithm.SLIDING_WINDOW_BUCKETS, 700), 0);
    AtomicLong admitted = new AtomicLong();

    inParallel(
        8,
        thread -> {
          for (int i = 0; i < 300; i++) {
            Charges both = charges();
            if (thread % 2 == 0) {
              both.add(wide, key("k"), 1).add(narrow, key("k"), 1);
            } else {
              both.add(narrow, key("k"), 1).add(wide, key("k"), 1);
            }
            admitted.addAndGet(decide(store, both, 0).allowed() ? 1 : 0);
          }
        });

    assertThat(admitted).hasValue(700);
    assertThat(peek(store, wide, "k", 0, 1).remaining()).isEqualTo(300);
    assertThat(peek(store, narrow, "k", 0, 1).remaining()).isZero();
  }

  @Test
  void manyThreadsWithRandomKeysAndLimits_neverExceedAnyOfThem() throws Exception {
    Store store = store();
    List<Binding> limits = new ArrayList<>();
    AtomicLong[] admitted = new AtomicLong[Algorithm.values().length * 4];
    for (Algorithm algorithm : Algorithm.values()) {
      limits.add(store.bind(algorithm.text(), policy(algorithm, 100), 0));
    }
    for (int i = 0; i < admitted.length; i++) {
      admitted[i] = new AtomicLong();
    }
    SplittableRandom seeds = Trials.random("manyThreadsWithRandomKeysAndLimits");
    List<SplittableRandom> randoms = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      randoms.add(seeds.split());
    }

    inParallel(
        4,
        thread -> {
          SplittableRandom random = randoms.get(thread);
          for (int i = 0; i < 3_000; i++) {
            int a = random.nextInt(admitted.length);
            int b = random.nextInt(admitted.length);
            Charges both = charges();
            both.add(limits.get(a / 4), key("k" + a % 4), 1);
            both.add(limits.get(b / 4), key("k" + b % 4), 1);
            if (decide(store, both, 0).allowed()) {
              admitted[a].incrementAndGet();
              admitted[b].incrementAndGet();
            }
          }
        });

    for (int i = 0; i < admitted.length; i++) {
      long used = 100 - peek(store, limits.get(i / 4), "k" + i % 4, 0, 1).remaining();
      assertThat(admitted[i].get()).isEqualTo(used);
    }
  }
}
