package dev.weir.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Consistency;
import dev.weir.Decision;
import dev.weir.FailureMode;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Sharing;
import dev.weir.shared.internal.LocalAuthority;
import dev.weir.shared.internal.StoreAuthority;
import dev.weir.shared.internal.Variants;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Two processes that share a server without a network, under each consistency. */
class ConsistencyTest {
  private static final long MILLI = 1_000_000L;
  private static final long WINDOW = 1_000 * MILLI;
  private static final long INTERVAL = 100 * MILLI;
  private static final long KEY = 7;

  private final FakeTicker ticker = new FakeTicker();
  private final MemoryStore server = new MemoryStore();
  private final Counters counters = new Counters();
  private final SharedStore one = open(counters);
  private final SharedStore other = open(new Counters());

  private SharedStore open(Counters counted) {
    SharedStore store =
        MemoryShard.open(
            server,
            Settings.of(50 * MILLI, ticker, line -> {}, line -> {}, counted),
            ticker::nanos);
    while (!store.available()) {
      Thread.onSpinWait();
    }
    return store;
  }

  @AfterEach
  void close() {
    one.close();
    other.close();
  }

  private static Policy policy(long permits, Consistency consistency) {
    return Policy.builder(new Quota(permits, WINDOW))
        .algorithm(Algorithm.SLIDING_WINDOW_LOG)
        .sharing(Sharing.STRICT.consistency(consistency).syncInterval(Duration.ofNanos(INTERVAL)))
        .build();
  }

  private Decision request(SharedStore store, Binding binding, long permits) {
    CompletableFuture<Decision> answer = new CompletableFuture<>();
    store.decide(
        new Charges().add(binding, KEY, permits),
        ticker.nanos(),
        decided -> answer.complete(decided.decision(0)));
    return answer.join();
  }

  private boolean reset(SharedStore store, Binding binding) {
    CompletableFuture<Boolean> known = new CompletableFuture<>();
    store.reset(binding, KEY, ticker.nanos(), known::complete);
    return known.join();
  }

  /**
   * An allotment counts longer by its own lifetime; another process has at most A unrecorded
   * permits.
   */
  @ParameterizedTest
  @EnumSource(Consistency.class)
  void twoProcesses_admitNoMoreThanTheConsistencySays(Consistency consistency) {
    SplittableRandom random = Trials.random("two processes");
    long permits = 40;
    Policy policy = policy(permits, consistency);
    List<Binding> bindings = List.of(one.bind("rule", policy, 0), other.bind("rule", policy, 0));
    List<SharedStore> stores = List.of(one, other);
    long unrecorded = consistency == Consistency.APPROXIMATE ? permits * INTERVAL / WINDOW : 0;
    List<Long> admitted = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      ticker.advance(1 + random.nextLong(random.nextInt(20) == 0 ? 50 * MILLI : 2 * MILLI));
      int process = random.nextInt(2);
      if (request(stores.get(process), bindings.get(process), 1).allowed()) {
        // The shard's instants are whole microseconds, and by these the window holds.
        admitted.add(ticker.nanos() - Math.floorMod(ticker.nanos(), 1_000L));
        int last = admitted.size() - 1;
        int first = last - Math.toIntExact(permits + unrecorded);
        if (first >= 0) {
          assertThat(admitted.get(last) - admitted.get(first))
              .as("after %d", i)
              .isGreaterThanOrEqualTo(WINDOW);
        }
      }
    }
    assertThat(admitted.size()).as("not all was refused").isGreaterThan(Math.toIntExact(permits));
  }

  @Test
  void strictRefusal_isRepeatedHere_untilItsRetryAfter() {
    Binding binding = one.bind("rule", policy(1, Consistency.STRICT), 0);
    assertThat(request(one, binding, 1).allowed()).isTrue();
    ticker.advance(WINDOW - 50 * MILLI);
    Decision asked = request(one, binding, 1);
    long calls = counters.calls.sum();
    ticker.advance(20 * MILLI);
    Decision repeated = request(one, binding, 1);

    assertThat(counters.calls.sum()).isEqualTo(calls);
    assertThat(counters.held.sum()).isEqualTo(1);
    assertThat(asked.retryAfterNanos()).isEqualTo(50 * MILLI);
    assertThat(repeated.allowed()).isFalse();
    assertThat(repeated.retryAfterNanos()).isEqualTo(30 * MILLI);
    assertThat(repeated.resetAfterNanos()).isEqualTo(30 * MILLI);
    ticker.advance(30 * MILLI - 1);
    assertThat(request(one, binding, 1).allowed()).isFalse();
    ticker.advance(1);
    assertThat(request(one, binding, 1).allowed()).isTrue();
  }

  /** Every refusal is one that the store would give if it were called each time. */
  @Test
  void strictDecisions_areTheOnesOfAStoreThatRemembersNothing() {
    SplittableRandom random = Trials.random("remembered refusals");
    Policy policy = policy(5, Consistency.STRICT);
    Binding binding = one.bind("rule", policy, 0);
    MemoryStore oracle = new MemoryStore();
    Binding same = oracle.bind("rule", policy, 0);
    int refused = 0;
    for (int i = 0; i < 20_000; i++) {
      ticker.advance(1_000 * random.nextLong(random.nextInt(50) == 0 ? 1_000_000 : 20_000));
      long permits = 1 + random.nextLong(3);
      Charges expected = new Charges().add(same, KEY, permits);
      oracle.decide(expected, ticker.nanos());
      Decision decision = request(one, binding, permits);
      assertThat(decision.allowed()).as("request %d", i).isEqualTo(expected.allowed());
      // A repeated refusal has the permits that remained at the last call.
      assertThat(decision.remaining())
          .as("request %d", i)
          .isLessThanOrEqualTo(expected.remaining(0));
      assertThat(decision.retryAfterNanos())
          .as("request %d", i)
          .isEqualTo(expected.retryAfterNanos(0));
      refused += decision.allowed() ? 0 : 1;
    }
    assertThat(counters.held.sum()).isBetween(refused / 4L, (long) refused);
  }

  @Test
  void refundOfThisProcess_isSeenAtOnce_anotherProcesss_withinAHundredMilliseconds() {
    Policy policy = policy(1, Consistency.STRICT);
    Binding here = one.bind("rule", policy, 0);
    Binding there = other.bind("rule", policy, 0);
    Decision charged = request(one, here, 1);
    assertThat(request(one, here, 1).allowed()).isFalse();
    assertThat(request(other, there, 1).allowed()).isFalse();

    one.refund(here, KEY, 1, charged, ticker.nanos(), given -> assertThat(given).isEqualTo(1));

    assertThat(request(other, there, 1).allowed()).as("remembered").isFalse();
    assertThat(request(one, here, 1).allowed()).isTrue();
    one.refund(here, KEY, 1, charged, ticker.nanos(), given -> {});
    ticker.advance(StoreAuthority.MOST_REMEMBERED_NANOS);
    assertThat(request(other, there, 1).allowed()).as("forgotten").isEqualTo(true);
  }

  @Test
  void greaterQuota_isNotRefusedByTheSmallerOnesRefusal() {
    Binding small = one.bind("rule", policy(1, Consistency.STRICT), 0);
    request(one, small, 1);
    assertThat(request(one, small, 1).allowed()).isFalse();
    Binding great = one.bind("rule", policy(2, Consistency.STRICT), 0);

    assertThat(request(one, great, 1).allowed()).isTrue();
  }

  @ParameterizedTest
  @EnumSource(Consistency.class)
  void reset_givesTheWholeQuotaAgain(Consistency consistency) {
    Binding binding = one.bind("rule", policy(20, consistency), 0);
    for (int round = 0; round < 3; round++) {
      int admitted = 0;
      while (request(one, binding, 1).allowed()) {
        admitted++;
      }
      assertThat(admitted).as("round %d", round).isEqualTo(20);
      assertThat(reset(one, binding)).isTrue();
    }
    assertThat(reset(one, binding)).isFalse();
  }

  @Test
  void reset_ofAnotherProcess_leavesNoMoreThanItsAllotment() {
    Policy policy = policy(20, Consistency.LEASED);
    Binding here = one.bind("rule", policy, 0);
    Binding there = other.bind("rule", policy, 0);
    while (request(other, there, 1).allowed()) {
      assertThat(request(one, here, 1)).isNotNull();
    }
    assertThat(reset(one, here)).isTrue();
    ticker.advance(INTERVAL);
    int admitted = 0;
    while (request(other, there, 1).allowed()) {
      admitted++;
    }
    assertThat(admitted).isEqualTo(20);
  }

  /** The numbers that users see of a limit used by no one else: 99, 98, 97. */
  @Test
  void remainingUnderLeased_fallsByWhatIsAdmitted_whileNoOtherProcessUsesTheKey() {
    Binding binding = one.bind("rule", policy(100, Consistency.LEASED), 0);
    for (long left = 99; left >= 0; left--) {
      ticker.advance(5 * MILLI);
      Decision decision = request(one, binding, 1);
      assertThat(decision.allowed()).isTrue();
      assertThat(decision.remaining()).isEqualTo(left);
    }
    assertThat(request(one, binding, 1).allowed()).isFalse();
  }

  /**
   * A key whose number flaps is requested under three policies in each process, which then hold as
   * much as six processes.
   */
  @ParameterizedTest
  @EnumSource(Consistency.class)
  void numbersOfAKeyFlap_twoProcessesAdmitNoMoreThanTheLargest(Consistency consistency) {
    SplittableRandom random = Trials.random("numbers of a key flap");
    List<Long> numbers = List.of(10L, 40L, 25L);
    List<List<Binding>> bindings = new ArrayList<>();
    long unrecorded = 0;
    for (SharedStore store : List.of(one, other)) {
      Binding rule = store.bind("rule", policy(numbers.get(0), consistency), 0);
      List<Binding> own = new ArrayList<>();
      for (long number : numbers) {
        own.add(store.variant(rule, policy(number, consistency)));
        unrecorded += consistency == Consistency.APPROXIMATE ? number * INTERVAL / WINDOW : 0;
      }
      bindings.add(own);
    }
    int most = Math.toIntExact(40 + unrecorded);
    List<Long> admitted = new ArrayList<>();
    int number = 0;
    for (int i = 0; i < 20_000; i++) {
      ticker.advance(1 + random.nextLong(random.nextInt(20) == 0 ? 50 * MILLI : 2 * MILLI));
      number = random.nextInt(8) == 0 ? random.nextInt(numbers.size()) : number;
      int process = random.nextInt(2);
      SharedStore store = process == 0 ? one : other;
      if (request(store, bindings.get(process).get(number), 1).allowed()) {
        admitted.add(ticker.nanos() - Math.floorMod(ticker.nanos(), 1_000L));
        int last = admitted.size() - 1;
        if (last >= most) {
          assertThat(admitted.get(last) - admitted.get(last - most))
              .as("after %d", i)
              .isGreaterThanOrEqualTo(WINDOW);
        }
      }
    }
    assertThat(admitted).as("not all was refused").hasSizeGreaterThan(40);
  }

  @Test
  void numberOfAKeyIsCut_permitsAllottedUnderTheLargerOneAreNotGranted() {
    Binding small = one.bind("rule", policy(2, Consistency.LEASED), 0);
    Binding large = one.variant(small, policy(1_000, Consistency.LEASED));
    for (int i = 0; i < 20; i++) {
      assertThat(request(one, large, 1).allowed()).isTrue();
      ticker.advance(MILLI);
    }
    assertThat(counters.metrics("memory", true, 0).held()).as("granted here").isPositive();
    assertThat(request(one, small, 1).allowed()).isFalse();
    assertThat(request(one, large, 1).allowed()).isTrue();
  }

  @Test
  void variantsOfARuleThatIsReplaced_giveBackWhatTheyHold() {
    Policy thousand = policy(1_000, Consistency.LEASED);
    Binding large = one.variant(one.bind("rule", policy(2, Consistency.LEASED), 0), thousand);
    for (int i = 0; i < 20; i++) {
      request(one, large, 1);
    }
    Binding rule = one.bind("rule", policy(3, Consistency.LEASED), ticker.nanos());
    Binding again = one.variant(rule, thousand);
    assertThat(request(one, again, 1).remaining()).isEqualTo(1_000 - 21);
    assertThat(request(one, large, 1).remaining()).as("asked each time").isEqualTo(1_000 - 22);
  }

  @Test
  void resetOfAKey_dropsWhatIsHeldUnderEachNumber() {
    Binding rule = one.bind("rule", policy(2, Consistency.LEASED), 0);
    Binding large = one.variant(rule, policy(1_000, Consistency.LEASED));
    for (int i = 0; i < 20; i++) {
      request(one, large, 1);
    }
    assertThat(reset(one, rule)).isTrue();
    assertThat(request(one, large, 1).remaining()).isEqualTo(999);
  }

  @Test
  void moreVariantsThanAreHeld_areDecidedByTheStoreEachTime() {
    Binding rule = one.bind("rule", policy(2, Consistency.LEASED), 0);
    for (int i = 0; i < Variants.MOST_HELD; i++) {
      Binding held = one.variant(rule, policy(1_000 + i, Consistency.LEASED));
      assertThat(((SharedBinding) held).authority()).isNotNull();
    }
    Binding last = one.variant(rule, policy(10, Consistency.LEASED));
    assertThat(((SharedBinding) last).authority()).isNull();
    for (int i = 0; i < 12; i++) {
      assertThat(request(one, last, 1).allowed()).isEqualTo(i < 10);
    }
  }

  /** A name may be one of many, each of which has some. */
  @Test
  void idleVariants_areDroppedByHousekeeping_whereThereAreSome() {
    Binding rule = one.bind("rule", policy(2, Consistency.LEASED), 0);
    Binding first = one.variant(rule, policy(1_000, Consistency.LEASED));
    LocalAuthority held = authority(first);
    ticker.advance(2 * Variants.KEPT_NANOS);
    assertThat(authority(first)).as("few").isSameAs(held);
    for (int i = 1; i <= 20; i++) {
      assertThat(authority(one.variant(rule, policy(1_000 + i, Consistency.LEASED)))).isNotNull();
    }
    assertThat(request(one, first, 1).allowed()).isTrue();
    ticker.advance(2 * Variants.KEPT_NANOS);
    while (authority(first) == held) { // Housekeeping has a thread of its own.
      Thread.onSpinWait();
    }
    assertThat(authority(first)).as("made anew").isNotNull();
    assertThat(request(one, first, 1).allowed()).isTrue();
  }

  @Test
  void planIsEditedOftenerThanVariantsAreHeld_itsNumberIsStillLeased() {
    Binding first = one.bind("rule", policy(2, Consistency.LEASED), ticker.nanos());
    Binding oldest = one.variant(first, policy(999, Consistency.LEASED));
    LocalAuthority dropped = authority(oldest);
    for (int i = 0; i < Variants.MOST_HELD + 50; i++) {
      Binding rule = one.bind("rule", policy(2, Consistency.LEASED), ticker.nanos());
      Binding edited = one.variant(rule, policy(1_000 + i, Consistency.LEASED));
      assertThat(authority(edited)).as("edit %d", i).isNotNull();
      assertThat(request(one, edited, 1).allowed()).isTrue();
      ticker.advance(Variants.KEPT_NANOS);
    }
    assertThat(request(one, oldest, 1).allowed()).isTrue();
    assertThat(authority(oldest)).as("made anew").isNotNull().isNotSameAs(dropped);
  }

  /**
   * Permits that are held are charged in the store until they are given back: neither lost nor
   * doubled.
   */
  @ParameterizedTest
  @EnumSource(Consistency.class)
  void variantThatIsDroppedAsIdle_hasGivenBackWhatItHeld(Consistency consistency) {
    Binding rule = one.bind("rule", hourly(2, consistency), 0);
    Binding busy = one.variant(rule, hourly(1_000, consistency));
    for (int i = 0; i < 21; i++) {
      assertThat(request(one, busy, 1).allowed()).isTrue();
      ticker.advance(MILLI);
    }
    LocalAuthority held = authority(busy);
    for (int i = 1; i < Variants.MOST_HELD; i++) {
      assertThat(authority(one.variant(rule, hourly(1_000 + i, consistency)))).isNotNull();
    }
    ticker.advance(Variants.KEPT_NANOS);
    Binding fresh = one.variant(rule, hourly(900, consistency));
    assertThat(authority(fresh)).isNotNull();
    assertThat(request(one, fresh, 1).remaining()).isEqualTo(900 - 22);
    assertThat(authority(busy)).isNotNull().isNotSameAs(held);
    ticker.advance(Variants.KEPT_NANOS);
    assertThat(request(one, busy, 1).remaining()).isBetween(1_000L - 23, 1_000L - 22);
  }

  private static Policy hourly(long permits, Consistency consistency) {
    return Policy.builder(Quota.perHour(permits))
        .algorithm(Algorithm.SLIDING_WINDOW_LOG)
        .sharing(Sharing.STRICT.consistency(consistency).syncInterval(Duration.ofNanos(INTERVAL)))
        .build();
  }

  @ParameterizedTest
  @EnumSource(Consistency.class)
  void variantsInUse_areNotDropped(Consistency consistency) {
    Binding rule = one.bind("rule", policy(2, consistency), 0);
    Binding used = one.variant(rule, policy(900, consistency));
    LocalAuthority authority = authority(used);
    for (int i = 1; i < Variants.MOST_HELD; i++) {
      Binding unused = one.variant(rule, policy(1_000 + i, consistency));
    }
    ticker.advance(Variants.KEPT_NANOS);
    assertThat(request(one, used, 1).allowed()).isTrue();
    assertThat(request(one, used, 901).allowed()).as("a refusal is remembered").isFalse();
    assertThat(authority(one.variant(rule, policy(800, consistency)))).isNotNull();
    assertThat(authority(used)).isSameAs(authority);
  }

  @Test
  void onlyTheAnswersOfFailureChange_variantsKeepWhatTheyHold() {
    Policy deny = policy(2, Consistency.LEASED);
    Binding before = one.bind("rule", deny, 0);
    LocalAuthority held = authority(one.variant(before, policy(1_000, Consistency.LEASED)));
    Binding after = one.bind("rule", forgiving(deny), 0);
    assertThat(authority(after)).isSameAs(authority(before));
    assertThat(authority(one.variant(after, forgiving(policy(1_000, Consistency.LEASED)))))
        .isSameAs(held);
  }

  private static Policy forgiving(Policy policy) {
    return Policy.builder(policy.quota())
        .algorithm(policy.algorithm())
        .sharing(policy.sharing().onFailure(FailureMode.ALLOW))
        .build();
  }

  @Test
  void refundUnderOneNumber_dropsTheRefusalsUnderTheOthers() {
    Binding five = one.bind("rule", policy(5, Consistency.STRICT), 0);
    Binding ten = one.variant(five, policy(10, Consistency.STRICT));
    Binding six = one.variant(five, policy(6, Consistency.STRICT));
    List<Decision> charged = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      charged.add(request(one, ten, 1));
    }
    assertThat(request(one, five, 1).allowed()).isFalse();
    assertThat(request(one, six, 1).allowed()).isFalse();
    assertThat(refund(ten, charged.get(0))).isEqualTo(1);
    assertThat(request(one, six, 1).allowed()).as("a variant").isTrue();
    for (Decision each : charged.subList(1, 3)) {
      assertThat(refund(ten, each)).isEqualTo(1);
    }
    assertThat(request(one, five, 1).allowed()).as("the rule's own").isTrue();
  }

  private long refund(Binding binding, Decision charged) {
    CompletableFuture<Long> given = new CompletableFuture<>();
    one.refund(binding, KEY, 1, charged, ticker.nanos(), given::complete);
    return given.join();
  }

  @Test
  void requestOfSeveralCharges_dropsTheRefusalsUnderTheOtherNumbers() {
    Binding five = one.bind("rule", policy(5, Consistency.STRICT), 0);
    Binding ten = one.variant(five, policy(10, Consistency.STRICT));
    for (int i = 0; i < 5; i++) {
      request(one, ten, 1);
    }
    assertThat(request(one, five, 1).allowed()).isFalse();
    long held = counters.held.sum();
    CompletableFuture<Boolean> both = new CompletableFuture<>();
    one.decide(
        new Charges().add(ten, KEY, 1).add(ten, KEY + 1, 1),
        ticker.nanos(),
        decided -> both.complete(decided.allowed()));
    assertThat(both.join()).isTrue();
    assertThat(request(one, five, 1).allowed()).isFalse();
    assertThat(counters.held.sum()).as("the store was asked").isEqualTo(held);
  }

  private static @Nullable LocalAuthority authority(Binding binding) {
    return ((SharedBinding) binding).authority();
  }

  @Test
  void variants_shareWhatAKeyHasUsed() {
    Policy base = bucket(10, 10, WINDOW);
    Binding binding = one.bind("rule", base, 0);
    SplittableRandom random = Trials.random("variants");
    long arrival = 0;
    for (int i = 0; i < 2_000; i++) {
      ticker.advance(1_000 * random.nextLong(300_000));
      long now = ticker.nanos();
      long burst = 1 + random.nextLong(9);
      long permits = 1 + random.nextLong(7);
      long window = WINDOW * (1 + random.nextLong(5));
      Binding variant = one.variant(binding, bucket(burst, permits, window));
      long emission = (window + permits - 1) / permits;
      long used = Math.max(now, i == 0 ? now : arrival);
      boolean fits = used + emission - now <= emission * burst;
      assertThat(request(one, variant, 1).allowed()).as("request %d", i).isEqualTo(fits);
      arrival = fits ? used + emission : used;
    }
  }

  private static Policy bucket(long burst, long permits, long windowNanos) {
    return Policy.builder(new Quota(permits, windowNanos))
        .algorithm(Algorithm.TOKEN_BUCKET)
        .burst(burst)
        .build();
  }

  @Test
  void variantOfAWindow_isRefused() {
    Binding window = one.bind("rule", policy(1, Consistency.STRICT), 0);

    assertThatThrownBy(() -> one.variant(window, bucket(1, 1, WINDOW)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "policy: token-bucket over PT1S (expected: the binding's shape, or two token buckets)");
  }
}
