package dev.weir.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.ForwardingStore;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Reason;
import dev.weir.Store;
import dev.weir.admin.AdminFixture.Answer;
import dev.weir.engine.RoutedStore;
import dev.weir.rules.Request;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The cause of UNCERTAIN, and the key in the store, as the API shows them. */
class UncertainRoutesTest {
  private record Known(String name, Policy policy, Store store) implements Binding {}

  /** A shared store that does not answer in time. */
  private static final class LateStore extends ForwardingStore<MemoryStore> {
    LateStore() {
      super(new MemoryStore());
    }

    @Override
    public Binding bind(String name, Policy policy, long nowNanos) {
      return new Known(name, policy, this);
    }

    @Override
    public Binding variant(Binding binding, Policy policy) {
      return new Known(binding.name(), policy, this);
    }

    @Override
    public boolean owns(Binding binding) {
      return binding.store() == this;
    }

    @Override
    public String shownKey(Binding binding, long fingerprint) {
      return "weir:" + binding.name();
    }

    @Override
    public void retire(String name, long nowNanos) {}

    @Override
    public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
      for (int i = 0; i < charges.size(); i++) {
        charges.result(i, Reason.UNCERTAIN, 0, 1_000_000_000L, 0, nowNanos);
        charges.cause(i, "timeout");
      }
      charges.settle();
      done.accept(charges);
    }
  }

  private static final String DESCRIBED =
      "{\"domain\":\"shop\",\"descriptor\":{\"ip\":\"192.0.2.77\"}}";

  private static AdminFixture on(Store store) {
    return new AdminFixture(same -> same, builder -> builder, store);
  }

  private static Answer explained(AdminFixture admin) {
    return admin
        .send("POST", "/explain")
        .by(admin.viewer)
        .field("Content-Type", "application/json")
        .bytes(DESCRIBED.getBytes(StandardCharsets.UTF_8))
        .now()
        .is(200);
  }

  @Test
  void refusalWithoutADecision_hasItsCause() {
    AdminFixture admin = on(RoutedStore.of(new MemoryStore(), new LateStore()));
    var unused = admin.engine.decide(Request.of("shop", "ip", "192.0.2.77"));
    assertThat(admin.get("/refusals?reason=uncertain").is(200).body())
        .contains("\"reason\":\"uncertain\",\"cause\":\"timeout\"");
  }

  @Test
  void explanation_hasTheCause_andTheKeyInTheStore() {
    Answer answer = explained(on(RoutedStore.of(new MemoryStore(), new LateStore())));
    assertThat(answer.body())
        .contains(
            "\"reason\":\"uncertain\",\"cause\":\"timeout\"",
            "\"store_key\":\"weir:rule shop.ip\"");
  }

  @Test
  void explanationOfARuleInMemory_hasNeither() {
    assertThat(explained(on(new MemoryStore())).body()).doesNotContain("cause", "store_key");
  }
}
