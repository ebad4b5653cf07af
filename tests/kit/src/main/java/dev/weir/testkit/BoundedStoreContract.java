package dev.weir.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Charges.Role;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.Store;
import org.junit.jupiter.api.Test;

/**
 * The contract of a store that bounds its keys, for the case that there is no room for another one.
 */
public abstract class BoundedStoreContract extends StoreFixture {
  private static final long SECOND = 1_000_000_000L;

  /** Returns the kind of store that is tested, with room for {@code maxKeys} keys. */
  protected abstract StoreKind kind(long maxKeys);

  @Override
  protected final StoreKind kind() {
    return kind(1 << 20);
  }

  private Store store(long maxKeys) {
    return opened(kind(maxKeys).empty().get());
  }

  private static Policy policy(Algorithm algorithm, long permits) {
    return Policy.builder(Quota.perSecond(permits)).algorithm(algorithm).build();
  }

  @Test
  void fourTimesTheCapacityInKeys_deniesNewOnesAndNeverForgivesTheHotOne() {
    for (Algorithm algorithm : Algorithm.values()) {
      int capacity = 2_000;
      Store store = store(capacity);
      Binding binding = store.bind("rule", policy(algorithm, 3), 0);
      for (int i = 0; i < 3; i++) {
        assertThat(request(store, binding, "hot", 0, 1).allowed()).isTrue();
      }
      int admitted = 0;
      for (int i = 0; i < 4 * capacity; i++) {
        Decision answer = request(store, binding, "key-" + i, 0, 1);
        admitted += answer.allowed() ? 1 : 0;
        assertThat(answer.reason())
            .isEqualTo(answer.allowed() ? Reason.WITHIN_LIMIT : Reason.KEY_SPACE_FULL);
        assertThat(store.keys()).isLessThanOrEqualTo(capacity);
      }
      assertThat(admitted).isEqualTo(capacity - 1);
      Decision hot = request(store, binding, "hot", 0, 1);
      assertThat(hot.allowed()).isFalse();
      assertThat(hot.reason()).isEqualTo(Reason.OVER_LIMIT);
      // Keys that have reset make room.
      long later = 3 * SECOND;
      for (int i = 0; i < 64; i++) {
        store.expire(later);
      }
      assertThat(store.keys()).isZero();
      assertThat(request(store, binding, "new", later, 1).allowed()).isTrue();
    }
  }

  @Test
  void noRoomForAShadowOrAnAlternative_doesNotRefuseTheRequest() {
    Store store = store(1);
    Binding binding = store.bind("rule", policy(Algorithm.SLIDING_WINDOW_LOG, 5), 0);
    assertThat(request(store, binding, "known", 0, 1).allowed()).isTrue();

    Charges shadow =
        new Charges().add(binding, key("known"), 1).add(binding, key("new"), 1, Role.OPTIONAL);
    assertThat(decide(store, shadow, 0).allowed()).isTrue();
    assertThat(shadow.reason(1)).isEqualTo(Reason.KEY_SPACE_FULL);

    Charges any =
        new Charges()
            .add(binding, key("known"), 1, Role.ANY)
            .add(binding, key("new"), 1, Role.ANY)
            .add(binding, key("newer"), 1, Role.OPTIONAL);
    assertThat(decide(store, any, 0).allowed()).isTrue();
    assertThat(any.reason(1)).isEqualTo(Reason.KEY_SPACE_FULL);

    Charges none =
        new Charges().add(binding, key("known"), 1).add(binding, key("new"), 1, Role.ANY);
    assertThat(decide(store, none, 0).allowed()).isFalse();
    Charges required = new Charges().add(binding, key("known"), 1).add(binding, key("new"), 1);
    assertThat(decide(store, required, 0).allowed()).isFalse();
    assertThat(required.reason(1)).isEqualTo(Reason.KEY_SPACE_FULL);
    assertThat(peek(store, binding, "known", 0, 1).remaining()).isEqualTo(2);
    assertThat(store.keys()).isEqualTo(1);
  }
}
