package dev.weir.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Store;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * The contract of every store for requests that one thread makes together. It is a part of {@link
 * StoreContract}.
 */
public abstract class TogetherContract extends StoreFixture {
  private static Policy policy(Algorithm algorithm, long permits) {
    return Policy.builder(Quota.perSecond(permits)).algorithm(algorithm).build();
  }

  @Test
  void requestsAskedTogether_areDecidedAsAskedOneByOne() {
    Store store = store();
    Binding binding = store.bind("rule", policy(Algorithm.SLIDING_WINDOW_LOG, 10), 0);
    long[] permits = {4, 3, 4, 3};
    List<CompletableFuture<Charges>> answers = new ArrayList<>();
    store.together(
        () -> {
          for (long each : permits) {
            CompletableFuture<Charges> answer = new CompletableFuture<>();
            answers.add(answer);
            store.decide(new Charges().add(binding, key("k"), each), 0, answer::complete);
          }
        });
    assertThat(answers)
        .extracting(answer -> await(answer).allowed())
        .containsExactly(true, true, false, true);
    assertThat(peek(store, binding, "k", 0, 1).remaining()).isZero();
  }

  @Test
  void answersToRequestsAskedTogether_areThoseOfRequestsAskedOneByOne() {
    for (Algorithm algorithm : Algorithm.values()) {
      Store store = store();
      Binding together = store.bind("together", policy(algorithm, 10), 0);
      Binding apart = store.bind("apart", policy(algorithm, 10), 0);
      List<CompletableFuture<Charges>> answers = new ArrayList<>();
      store.together(
          () -> {
            for (int i = 0; i < 5; i++) {
              CompletableFuture<Charges> answer = new CompletableFuture<>();
              answers.add(answer);
              store.decide(new Charges().add(together, key("k"), 3), 0, answer::complete);
            }
          });
      for (CompletableFuture<Charges> answer : answers) {
        Charges one = await(answer);
        Charges alone = decide(store, new Charges().add(apart, key("k"), 3), 0);
        assertThat(List.of(one.fits(0), one.remaining(0), one.atNanos(0)))
            .as("%s", algorithm)
            .isEqualTo(List.of(alone.fits(0), alone.remaining(0), alone.atNanos(0)));
        assertThat(one.resetAfterNanos(0)).as("%s", algorithm).isEqualTo(alone.resetAfterNanos(0));
        assertThat(one.retryAfterNanos(0)).as("%s", algorithm).isEqualTo(alone.retryAfterNanos(0));
      }
    }
  }
}
