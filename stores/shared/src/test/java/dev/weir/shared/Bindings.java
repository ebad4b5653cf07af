package dev.weir.shared;

import dev.weir.Binding;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Ticker;
import dev.weir.shared.internal.HeldKeys;
import dev.weir.shared.internal.LocalAuthority;
import dev.weir.shared.internal.Variants;
import org.jspecify.annotations.Nullable;

/** Bindings that belong to no store. */
public final class Bindings {
  public static final SharedBinding ANY = of("any", Policy.of(Quota.perSecond(100)), null, null);

  /** Room for all keys of a test. */
  public static final HeldKeys MANY_KEYS = new HeldKeys(Long.MAX_VALUE);

  private Bindings() {}

  @SuppressWarnings("NullAway")
  public // No test depends on the store.
  static SharedBinding of(
      String name,
      Policy policy,
      @Nullable Binding localShare,
      @Nullable LocalAuthority authority) {
    return new SharedBinding(
        null,
        new CodedPolicy(name, policy, new PolicyCode() {}),
        localShare,
        authority,
        new Variants(policy, authority, new Clocks(Ticker.system(), Ticker.wall()), other -> null));
  }
}
