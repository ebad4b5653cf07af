package dev.weir.engine.internal.stores;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Charges.Role;
import dev.weir.Fingerprint;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.Store;
import dev.weir.engine.RoutedStore;
import dev.weir.rules.StoreChoice;
import dev.weir.testkit.LateStore;
import dev.weir.testkit.Oracle;
import dev.weir.testkit.Trials;
import dev.weir.testkit.Trials.Trial;
import dev.weir.testkit.WindowChecker;
import dev.weir.testkit.WindowChecker.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Requests with charges in both stores, beside oracles that are independent of stores. */
class SplitRequestTest {
  private static final long SECOND = 1_000_000_000L;
  private static final int KEYS = 2;
  private static final Fingerprint FINGERPRINT = Fingerprint.seeded(1, 2);

  /** One charge of a generated request. */
  private record Part(int limit, int key, long permits, Role role) {}

  /**
   * A generated request.
   *
   * @param answers true if the shared store gives all its answers after it
   */
  private record Ask(int number, long nowNanos, List<Part> parts, boolean peek, boolean answers) {}

  /** A limit, and the store that it is in. */
  private record Place(Policy policy, boolean here) {
    @Override
    public String toString() {
      return policy + (here ? " here" : " there");
    }
  }

  /** A charge that counts. */
  private record Taken(Ask ask, Part part) {}

  /** The expected contents of the stores: a list of charges, and oracles made anew from it. */
  private static final class Model {
    private final List<Place> places;
    private final List<Taken> taken = new ArrayList<>();

    Model(List<Place> places) {
      this.places = places;
    }

    Oracle.Verdict peek(int limit, int key, long nowNanos, long permits) {
      Oracle oracle = Oracle.of(places.get(limit).policy());
      for (Taken each : taken) {
        Part part = each.part();
        if (part.limit() == limit && part.key() == key) {
          assertThat(oracle.decide("k", each.ask().nowNanos(), part.permits()).allowed()).isTrue();
        }
      }
      return oracle.peek("k", nowNanos, permits);
    }

    /** Returns which parts fit, each beside those before it that fit and have the same key. */
    List<Boolean> fits(Ask ask) {
      List<Boolean> fits = new ArrayList<>();
      for (Part part : ask.parts()) {
        long permits = part.permits();
        for (int j = 0; j < fits.size(); j++) {
          Part before = ask.parts().get(j);
          boolean same = before.limit() == part.limit() && before.key() == part.key();
          permits += same && fits.get(j) ? before.permits() : 0;
        }
        fits.add(
            part.permits() == 0
                || peek(part.limit(), part.key(), ask.nowNanos(), permits).allowed());
      }
      return fits;
    }

    boolean here(Part part) {
      return places.get(part.limit()).here();
    }

    /** Counts the parts that fit: all, or only those here. */
    void take(Ask ask, List<Boolean> fits, boolean all) {
      for (int i = 0; i < fits.size(); i++) {
        Part part = ask.parts().get(i);
        if (fits.get(i) && part.permits() > 0 && (all || here(part))) {
          taken.add(new Taken(ask, part));
        }
      }
    }

    void giveBack(Ask ask) {
      taken.removeIf(each -> each.ask().number() == ask.number());
    }
  }

  private static boolean verdict(List<Part> parts, List<Boolean> fits) {
    boolean required = true;
    boolean asked = false;
    boolean any = false;
    for (int i = 0; i < fits.size(); i++) {
      Role role = parts.get(i).role();
      required &= role != Role.REQUIRED || fits.get(i);
      asked |= role == Role.ANY;
      any |= role == Role.ANY && fits.get(i);
    }
    return required && (any || !asked);
  }

  /** A request that is not answered yet, with the answer that it should get. */
  private record Pending(
      Ask ask, Charges charges, List<Boolean> fits, boolean allowed, boolean held) {}

  /** Both stores, called as one, beside a model of them. */
  private static final class Run {
    private final @Nullable LateStore late;
    private final RoutedStore store;
    private final List<Binding> limits = new ArrayList<>();
    private final Model model;
    private final List<Pending> pending = new ArrayList<>();
    private int answers;

    Run(List<Place> places, @Nullable LateStore late) {
      this.late = late;
      store = RoutedStore.of(new MemoryStore(), late == null ? new MemoryStore() : late);
      model = new Model(places);
      for (int i = 0; i < places.size(); i++) {
        StoreChoice choice = places.get(i).here() ? StoreChoice.LOCAL : StoreChoice.SHARED;
        limits.add(store.bind("rule-" + i, places.get(i).policy(), choice, 0));
      }
    }

    Charges charges(Ask ask) {
      Charges charges = new Charges();
      for (Part part : ask.parts()) {
        charges.add(
            limits.get(part.limit()), FINGERPRINT.of(part.key()), part.permits(), part.role());
      }
      return ask.peek() ? charges.peek() : charges;
    }

    void request(Ask ask) {
      List<Boolean> fits = model.fits(ask);
      boolean allowed = verdict(ask.parts(), fits);
      boolean held = !allowed && !ask.peek() && waitsForTheOther(ask, fits);
      if (!ask.peek()) {
        if (allowed) {
          model.take(ask, fits, true);
        } else if (held) {
          model.take(ask, fits, false);
        }
      }
      Charges charges = charges(ask);
      pending.add(new Pending(ask, charges, fits, allowed, held));
      store.decide(charges, ask.nowNanos(), done -> answers++);
      if (late == null || ask.answers()) {
        answer();
      }
    }

    /**
     * Returns whether the charges here have been made and the shared store is called for its own.
     */
    private boolean waitsForTheOther(Ask ask, List<Boolean> fits) {
      boolean required = true;
      boolean there = false;
      boolean asked = false;
      boolean any = false;
      for (int i = 0; i < fits.size(); i++) {
        Part part = ask.parts().get(i);
        boolean here = model.here(part);
        there |= !here;
        required &= !here || part.role() != Role.REQUIRED || fits.get(i);
        asked |= part.role() == Role.ANY;
        any |= part.role() == Role.ANY && (!here || fits.get(i));
      }
      return there && required && (any || !asked);
    }

    void answer() {
      if (late != null) {
        late.answer();
      }
      assertThat(answers).isEqualTo(pending.size());
      pending.stream().filter(Pending::held).forEach(each -> model.giveBack(each.ask()));
      pending.forEach(this::check);
      pending.clear();
      answers = 0;
    }

    private void check(Pending each) {
      Charges charges = each.charges();
      assertThat(charges.allowed()).as("%s", each).isEqualTo(each.allowed());
      for (int i = 0; i < charges.size(); i++) {
        Part part = each.ask().parts().get(i);
        if (late == null || !each.held() || !model.here(part)) {
          assertThat(charges.fits(i)).as("%s, charge %d", each, i).isEqualTo(each.fits().get(i));
        }
        boolean twice =
            each.ask().parts().stream().filter(other -> sameKey(other, part)).count() > 1;
        if (late == null && !twice) {
          assertThat(charges.remaining(i))
              .as("%s, charge %d", each, i)
              .isEqualTo(remaining(part.limit(), part.key(), each.ask().nowNanos()));
        }
      }
    }

    private static boolean sameKey(Part a, Part b) {
      return a.limit() == b.limit() && a.key() == b.key();
    }

    private long remaining(int limit, int key, long nowNanos) {
      return model.peek(limit, key, nowNanos, 1).remaining();
    }

    /** Checks that only admitted permits stay charged. */
    void finish(long nowNanos) {
      answer();
      for (int limit = 0; limit < limits.size(); limit++) {
        for (int key = 0; key < KEYS; key++) {
          Part part = new Part(limit, key, 1, Role.REQUIRED);
          Charges peek = charges(new Ask(-1, nowNanos, List.of(part), true, true));
          store.decide(peek, nowNanos, done -> {});
          if (late != null) {
            late.answer();
          }
          assertThat(peek.remaining(0)).isEqualTo(remaining(limit, key, nowNanos));
        }
      }
    }
  }

  private static List<Place> places(SplittableRandom random, boolean bucketsHere) {
    List<Place> places = new ArrayList<>();
    List<Algorithm> all = Algorithm.rates();
    for (int i = 0; i < 4; i++) {
      boolean here = i % 2 == 0;
      Algorithm algorithm = all.get(random.nextInt(all.size()));
      if (here && !bucketsHere && algorithm.bucket()) {
        algorithm = Algorithm.SLIDING_WINDOW_COUNTER;
      }
      Quota quota = Quota.perSecond(random.nextLong(0, 12));
      places.add(new Place(Policy.builder(quota).algorithm(algorithm).build(), here));
    }
    return places;
  }

  private static List<Ask> asks(SplittableRandom random, int limits) {
    List<Ask> asks = new ArrayList<>();
    Role[] roles = {Role.REQUIRED, Role.ANY, Role.OPTIONAL}; // Reports: RoutedStoreContractTest.
    long now = 0;
    for (int i = 0; i < 60; i++) {
      now += random.nextInt(3) == 0 ? random.nextLong(SECOND / 2) : 0;
      List<Part> parts = new ArrayList<>();
      for (int j = random.nextInt(1, 6); j > 0; j--) {
        Role role = random.nextBoolean() ? Role.REQUIRED : roles[random.nextInt(roles.length)];
        parts.add(
            new Part(random.nextInt(limits), random.nextInt(KEYS), random.nextLong(0, 5), role));
      }
      asks.add(new Ask(i, now, parts, random.nextInt(5) == 0, random.nextInt(4) == 0));
    }
    return asks;
  }

  private static void run(List<Place> places, List<Ask> asks, @Nullable LateStore late) {
    Run run = new Run(places, late);
    asks.forEach(run::request);
    run.finish(asks.isEmpty() ? 0 : asks.get(asks.size() - 1).nowNanos());
  }

  @Test
  void randomRequests_agreeWithOracles_andRefusedOnesLeaveNothing() {
    Trials.run(
        "SplitRequestTest.randomRequests",
        200,
        random -> {
          List<Place> places = places(random, true);
          return new Trial<>(
              places.toString(), asks(random, places.size()), asks -> run(places, asks, null));
        });
  }

  @Test
  void randomRequests_sharedStoreAnswersLateAndOutOfOrder_agreeWithOracles() {
    Trials.run(
        "SplitRequestTest.randomRequestsLate",
        200,
        random -> {
          List<Place> places = places(random, false);
          return new Trial<>(
              places.toString(),
              asks(random, places.size()),
              asks -> run(places, asks, new LateStore()));
        });
  }

  /**
   * Checks only bounds: refunds that fail are not predicted, but admitted permits keep to the bound
   * all the same.
   */
  @Test
  void randomRequestsOnBucketsHere_sharedStoreAnswersLate_neverExceedTheirBounds() {
    Trials.run(
        "SplitRequestTest.bucketsLate",
        200,
        random -> {
          List<Place> places = places(random, true);
          return new Trial<>(
              places.toString(),
              asks(random, places.size()),
              asks -> staysWithinBounds(places, asks));
        });
  }

  private static void staysWithinBounds(List<Place> places, List<Ask> asks) {
    LateStore late = new LateStore();
    Run run = new Run(places, late);
    List<List<Operation>> admitted = new ArrayList<>();
    places.forEach(place -> admitted.add(new ArrayList<>()));
    for (Ask ask : asks) {
      Charges charges = run.charges(ask);
      run.store.decide(
          charges,
          ask.nowNanos(),
          done -> {
            for (int i = 0; i < done.size(); i++) {
              if (done.allowed() && done.fits(i) && !ask.peek()) {
                Part part = ask.parts().get(i);
                admitted
                    .get(part.limit())
                    .add(Operation.at("" + part.key(), part.permits(), done.decision(i)));
              }
            }
          });
      if (ask.answers()) {
        late.answer();
      }
    }
    late.answer();
    for (int i = 0; i < places.size(); i++) {
      Policy policy = places.get(i).policy();
      assertThat(WindowChecker.fullest(admitted.get(i), policy.quota().windowNanos()).permits())
          .isLessThanOrEqualTo(Oracle.bound(policy));
    }
  }

  private static Policy log(long permits) {
    return Policy.builder(Quota.perSecond(permits)).algorithm(Algorithm.SLIDING_WINDOW_LOG).build();
  }

  @Test
  void whileTheSharedStoreIsAsked_thePermitsAreHeldHere() {
    LateStore late = new LateStore();
    RoutedStore store = RoutedStore.of(new MemoryStore(), late);
    Binding here = store.bind("here", log(1), StoreChoice.LOCAL, 0);
    Binding there = store.bind("there", log(0), StoreChoice.SHARED, 0);
    List<Charges> answered = new ArrayList<>();
    Charges both = new Charges().add(here, 7, 1).add(there, 7, 1);
    store.decide(both, 0, answered::add);

    assertThat(answered).isEmpty();
    assertThat(local(store, here)).as("denied, wrongly as it turns out").isFalse();
    late.answer();
    assertThat(answered).containsExactly(both);
    assertThat(both.allowed()).isFalse();
    assertThat(both.fits(0)).isTrue();
    assertThat(both.remaining(0)).isEqualTo(1);
    assertThat(both.reason(1)).isEqualTo(Reason.OVER_LIMIT);
    assertThat(local(store, here)).isTrue();
  }

  private static boolean local(Store store, Binding binding) {
    Charges charges = new Charges().add(binding, 7, 1);
    store.decide(charges, 0, done -> {});
    return charges.allowed();
  }

  @Test
  void whatIsRefusedHere_isOnlyPeekedAtThere() {
    MemoryStore shared = new MemoryStore();
    RoutedStore store = RoutedStore.of(new MemoryStore(), shared);
    Binding here = store.bind("here", log(0), StoreChoice.LOCAL, 0);
    Binding there = store.bind("there", log(5), StoreChoice.SHARED, 0);
    for (int i = 0; i < 10; i++) {
      Charges both = new Charges().add(here, 7, 1).add(there, 7, 2);
      store.decide(both, 0, done -> {});
      assertThat(both.allowed()).isFalse();
      assertThat(both.fits(1)).isTrue();
      assertThat(both.remaining(1)).isEqualTo(5);
    }
    assertThat(shared.keys()).isZero();
  }

  @Test
  void bindingOfAThirdStore_isRefused_andNothingIsChargedHere() {
    RoutedStore store = RoutedStore.of(new MemoryStore(), new MemoryStore());
    Binding here = store.bind("here", log(1), StoreChoice.LOCAL, 0);
    Binding foreign = new MemoryStore().bind("there", log(1), 0);
    Charges both = new Charges().add(here, 7, 1).add(foreign, 7, 1);
    assertThatThrownBy(() -> store.decide(both, 0, done -> {}))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(local(store, here)).isTrue();
  }

  @Test
  void callerFailsWhenAnswered_nothingThatWasAdmittedIsGivenBack() {
    RoutedStore store = RoutedStore.of(new MemoryStore(), new MemoryStore());
    Binding here = store.bind("here", log(1), StoreChoice.LOCAL, 0);
    Binding there = store.bind("there", log(1), StoreChoice.SHARED, 0);
    Charges both = new Charges().add(here, 7, 1).add(there, 7, 1);
    assertThatThrownBy(
            () ->
                store.decide(
                    both,
                    0,
                    done -> {
                      throw new IllegalStateException("the caller's");
                    }))
        .hasMessage("the caller's");
    assertThat(both.allowed()).isTrue();
    assertThat(local(store, here)).isFalse();
  }
}
