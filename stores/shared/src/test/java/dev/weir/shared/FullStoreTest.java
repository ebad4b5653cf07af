package dev.weir.shared;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Batch;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Consistency;
import dev.weir.FailureMode;
import dev.weir.MemoryStore;
import dev.weir.PackedDecision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.Sharing;
import dev.weir.testkit.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A store behind a transport that has no room for another key. */
class FullStoreTest {
  private static final long MILLI = 1_000_000L;

  private final FakeTicker ticker = new FakeTicker();
  private final SharedStore store =
      MemoryShard.open(
          new MemoryStore(1),
          Settings.of(50 * MILLI, ticker, line -> {}, line -> {}, new Counters()),
          ticker::nanos);

  @AfterEach
  void close() {
    store.close();
  }

  private Binding full(Sharing sharing) {
    while (!store.available()) {
      Thread.onSpinWait();
    }
    Quota quota = Quota.of(9, Duration.ofSeconds(10));
    Binding other = store.bind("other", Policy.of(quota), ticker.nanos());
    assertThat(request(other, 1).allowed()).isTrue();
    return store.bind("full", Policy.builder(quota).sharing(sharing).build(), ticker.nanos());
  }

  private Charges request(Binding binding, long key) {
    CompletableFuture<Charges> answer = new CompletableFuture<>();
    store.decide(new Charges().add(binding, key, 1), ticker.nanos(), answer::complete);
    return answer.join();
  }

  @ParameterizedTest
  @EnumSource(Consistency.class)
  void newKey_isRefusedBecauseOfTheRoom_eachTime(Consistency consistency) {
    Binding binding = full(Sharing.STRICT.consistency(consistency));
    for (int i = 0; i < 3; i++) {
      Charges answer = request(binding, 2);
      assertThat(answer.allowed()).isFalse();
      assertThat(answer.reason(0)).isEqualTo(Reason.KEY_SPACE_FULL);
    }
  }

  @ParameterizedTest
  @EnumSource(Consistency.class)
  void newKey_passesIfOnFailureAllows(Consistency consistency) {
    Binding binding = full(Sharing.STRICT.consistency(consistency).onFailure(FailureMode.ALLOW));
    assertThat(request(binding, 2).allowed()).isTrue();
  }

  @Test
  void batchOfOneNewKey_isRefusedBecauseOfTheRoom() {
    Binding binding = full(Sharing.STRICT);
    Batch batch = new Batch(3);
    for (int i = 0; i < 3; i++) {
      batch.add(binding, 2, 1);
    }
    List<Batch> answered = new ArrayList<>();
    store.decide(batch, ticker.nanos(), answered::add);
    assertThat(answered).hasSize(1);
    for (int i = 0; i < 3; i++) {
      assertThat(PackedDecision.reason(batch.decision(i))).isEqualTo(Reason.KEY_SPACE_FULL);
    }
  }
}
