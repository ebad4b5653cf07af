package dev.weir.shared.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Consistency;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.Sharing;
import dev.weir.shared.Answers;
import dev.weir.shared.Bindings;
import dev.weir.shared.Clocks;
import dev.weir.shared.Counters;
import dev.weir.shared.Failure;
import dev.weir.shared.FakeStore;
import dev.weir.shared.Result;
import dev.weir.shared.SharedBinding;
import dev.weir.testkit.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The bound on the keys of all bindings, since callers choose how many keys there are. */
class HeldKeysTest {
  private static final long MILLI = 1_000_000L;
  private static final int MOST = 100;

  private final FakeTicker ticker = new FakeTicker();
  private final Clocks clocks = new Clocks(ticker, ticker);
  private final Counters counters = new Counters();
  private final FakeStore store = new FakeStore(ticker);
  private final HeldKeys held = new HeldKeys(MOST);

  private static Policy policy(Consistency consistency) {
    return Policy.builder(Quota.perSecond(100))
        .sharing(Sharing.STRICT.consistency(consistency).syncInterval(Duration.ofMillis(100)))
        .build();
  }

  private LocalAuthority authority(Consistency consistency) {
    Policy policy = policy(consistency);
    return switch (consistency) {
      case STRICT -> new StoreAuthority(clocks, counters, held, store::receive);
      case LEASED -> new Allotments(policy, clocks, counters, held, store::receive);
      case APPROXIMATE -> new LocalCounts(policy, clocks, counters, held, store::receive);
    };
  }

  /** Answers all operations for the store. */
  private void answer(boolean fits) {
    while (!store.asked.isEmpty()) {
      Reason reason = fits ? Reason.WITHIN_LIMIT : Reason.OVER_LIMIT;
      long retry = fits ? 0 : 1_000 * MILLI;
      store.grant(fits ? 1 : 0, new Result(reason, fits ? 50 : 0, retry, 1_000 * MILLI, 0));
    }
  }

  private static SharedBinding binding(LocalAuthority authority, Consistency consistency) {
    return Bindings.of("any", policy(consistency), null, authority);
  }

  @Test
  void keysOfAllBindings_haveOneBound_andEachIsDecided() {
    for (boolean fits : new boolean[] {true, false}) {
      List<LocalAuthority> authorities = new ArrayList<>();
      for (Consistency consistency : Consistency.values()) {
        LocalAuthority authority = authority(consistency);
        authorities.add(authority);
        SharedBinding binding = binding(authority, consistency);
        Answers answers = new Answers();
        for (int i = 0; i < 2 * MOST; i++) {
          authority.decide(binding, i, 1, answers);
          answer(fits);
          assertThat(held.held()).isLessThanOrEqualTo(MOST);
        }
        assertThat(answers.answers).hasSize(2 * MOST).allMatch(each -> each.failure() == null);
        assertThat(answers.answers).allMatch(each -> each.times() == (fits ? 1 : 0));
      }
      for (LocalAuthority authority : authorities) {
        authority.close(Bindings.ANY);
      }
      answer(true);
      assertThat(held.held()).as("after all are closed").isZero();
    }
  }

  @Test
  void keysThatAreOver_makeRoom() {
    for (Consistency consistency : Consistency.values()) {
      for (boolean fits : new boolean[] {true, false}) {
        LocalAuthority authority = authority(consistency);
        SharedBinding binding = binding(authority, consistency);
        for (int i = 0; i < MOST / 2; i++) {
          authority.decide(binding, i, 1, new Answers());
          answer(fits);
        }
        boolean remembers = consistency != Consistency.STRICT || !fits;
        assertThat(held.held() > 0).as("%s %s", consistency, fits).isEqualTo(remembers);
        for (int i = 0; i < 5; i++) {
          ticker.advance(Duration.ofMillis(250));
          authority.tick(binding);
          answer(fits);
        }
        assertThat(held.held()).as("%s %s", consistency, fits).isZero();
      }
    }
  }

  @Test
  void keyThatIsReset_makesRoom() {
    for (Consistency consistency : Consistency.values()) {
      LocalAuthority authority = authority(consistency);
      authority.decide(binding(authority, consistency), 1, 1, new Answers());
      answer(false);
      assertThat(held.held()).isPositive();
      authority.reset(1);
      assertThat(held.held()).as(consistency.text()).isZero();
    }
  }

  @Test
  void answerThatComesAfterTheClose_isNotHeld() {
    for (Consistency consistency : Consistency.values()) {
      LocalAuthority authority = authority(consistency);
      SharedBinding binding = binding(authority, consistency);
      authority.decide(binding, 1, 1, new Answers());
      authority.close(binding);
      answer(false);
      authority.decide(binding, 2, 1, new Answers());
      answer(false);
      assertThat(held.held()).as(consistency.text()).isZero();
    }
  }

  /** The requests that wait for one key are bounded, since the store may take long. */
  @Test
  void requestsThatWaitForAnAllotment_areBounded() {
    LocalAuthority authority = authority(Consistency.LEASED);
    SharedBinding binding = binding(authority, Consistency.LEASED);
    Answers answers = new Answers();
    for (int i = 0; i < Allotments.MOST_WAITING; i++) {
      authority.decide(binding, 1, 1, answers);
    }
    assertThat(answers.answers).isEmpty();
    Answers late = new Answers();
    authority.decide(binding, 1, 1, late);
    assertThat(late.failure()).isEqualTo(Failure.OVERLOADED);
  }
}
