package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** An image is of the instant at which it was begun, whatever happens to the store meanwhile. */
class ImageTest {
  private static final long WINDOW = 1_000_000_000L;
  private static final long START = 1_000 * WINDOW;

  private final MemoryStore store = new MemoryStore(Replica.UNBOUNDED, Replica.UNBOUNDED);
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  private static Policy policy(Algorithm algorithm, long permits) {
    return Policy.builder(new Quota(permits, WINDOW)).name("p").algorithm(algorithm).build();
  }

  private MemoryStore resumed() throws IOException {
    MemoryStore resumed = Replica.resumed(out.toByteArray());
    resumed.verify();
    return resumed;
  }

  private static long key(long i) {
    return 0x5L << 60 | (i * 0x9e3779b97f4a7c15L) >>> 4;
  }

  @Test
  void splitsThatNobodyAnnounced_loseNoKey() throws IOException {
    Policy policy = policy(Algorithm.FIXED_WINDOW, 1);
    Binding binding = store.bind("p", policy, START);
    for (long i = 1; i <= 6_000; i++) {
      store.decide(binding, key(i), 1, START);
    }
    Image image = store.beginImage();
    for (long i = 6_001; i <= 20_000; i++) {
      store.decide(binding, key(i), 1, START);
    }
    image.write(out);

    MemoryStore other = resumed();
    Binding again = other.rebound("p", policy);
    for (long i = 1; i <= 6_000; i++) {
      assertThat(PackedDecision.allowed(other.decide(again, key(i), 1, START))).isFalse();
    }
  }

  @Test
  void tableThatIsDroppedMeanwhile_isInTheImage() throws IOException {
    Policy policy = policy(Algorithm.SLIDING_WINDOW_LOG, 10);
    Binding binding = store.bind("p", policy, START);
    store.decide(binding, 1, 4, START);
    store.retire("p", START);
    Image image = store.beginImage();
    store.expire(START + 10 * WINDOW);
    assertThat(store.keys()).isZero();
    image.write(out);

    MemoryStore other = resumed();
    Binding again = other.rebound("p", policy);
    assertThat(PackedDecision.remaining(other.decide(again, 1, 0, START))).isEqualTo(6);
    other.expire(START + 10 * WINDOW);
    assertThat(other.keys()).isZero();
  }

  @Test
  void refundsThatWereBarred_areBarredInTheResumedStore() throws IOException {
    Policy policy = policy(Algorithm.TOKEN_BUCKET, 10);
    Binding binding = store.bind("p", policy, START);
    Charges charges = new Charges().add(binding, 1, 3);
    store.decide(charges, START);
    Decision first = charges.decision(0);
    store.decide(charges, START);
    Decision second = charges.decision(0);
    assertThat(store.refund(binding, 1, 3, first, START)).isPositive();
    store.decide(charges, START);
    assertThat(store.save(out)).isEqualTo(1);

    MemoryStore other = resumed();
    Binding again = other.rebound("p", policy);
    assertThat(other.refund(again, 1, 3, second, START)).isZero();
    assertThat(store.refund(binding, 1, 3, second, START)).isZero();
    // Another key whose fingerprint has the same low bits is not barred.
    charges.clear().add(binding, 1 + (1L << 32), 3);
    store.decide(charges, START);
    assertThat(store.refund(binding, 1 + (1L << 32), 3, charges.decision(0), START)).isEqualTo(3);
    store.expire(START + 100 * WINDOW);
    store.verify();
  }

  @Test
  void resumed_isInForceAsBefore_andReboundChangesNothing() throws IOException {
    Policy bucket = policy(Algorithm.TOKEN_BUCKET, 10);
    Policy log = policy(Algorithm.SLIDING_WINDOW_LOG, 10);
    store.bind("p", bucket, START);
    store.bind("p", log, START);
    store.save(out);

    MemoryStore other = resumed();
    Binding old = other.rebound("p", bucket);
    other.rebound("p", policy(Algorithm.FIXED_WINDOW, 5));
    other.rebound("q", bucket);
    assertThat(Replica.contents(other, START)).isEqualTo(Replica.contents(store, START));
    assertThat(old.policy()).isEqualTo(bucket);
    other.expire(START + 10 * WINDOW);
    assertThat(Replica.contents(other, START)).hasSize(1); // The table in force.
    assertThat(PackedDecision.allowed(other.decide(old, 1, 10, START + 10 * WINDOW))).isTrue();
    assertThat(PackedDecision.allowed(other.decide(old, 1, 1, START + 10 * WINDOW))).isFalse();
  }

  @Test
  void reboundVariant_needsTheShape() {
    Binding binding = store.bind("p", policy(Algorithm.FIXED_WINDOW, 5), START);
    assertThat(store.reboundVariant(binding, policy(Algorithm.FIXED_WINDOW, 9)).policy().burst())
        .isEqualTo(9);
    assertThatThrownBy(() -> store.reboundVariant(binding, policy(Algorithm.TOKEN_BUCKET, 5)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void onlyOneImage_isOpen_andIsWrittenOnce() throws IOException {
    Image image = store.beginImage();
    assertThatThrownBy(store::beginImage).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> store.save(out)).isInstanceOf(IllegalStateException.class);
    image.write(out);
    assertThatThrownBy(() -> image.write(out)).isInstanceOf(IllegalStateException.class);
    Image other = store.beginImage();
    other.close();
    other.close();
    assertThatThrownBy(() -> other.write(out)).isInstanceOf(IllegalStateException.class);
    assertThat(store.save(OutputStream.nullOutputStream())).isZero();
  }

  @Test
  void closedWhileItIsWritten_fails_andTheStoreGoesOn() throws IOException {
    Binding binding = store.bind("p", policy(Algorithm.TOKEN_BUCKET, 5), START);
    store.decide(binding, 1, 1, START);
    Image image = store.beginImage();
    image.before(binding, 1);
    store.decide(binding, 1, 1, START);
    assertThatThrownBy(() -> image.write(out, image::close)).isInstanceOf(IOException.class);
    image.before(binding, 1); // No copy is needed any more.
    out.reset();
    assertThat(store.save(out)).isEqualTo(1);
    Binding again = resumed().rebound("p", binding.policy());
    assertThat(again.name()).isEqualTo("p");
    store.verify();
  }

  @Test
  void imageOfAnotherFormat_isRefusedWithBothNumbers() throws IOException {
    store.save(out);
    byte[] image = ByteBuffer.wrap(out.toByteArray()).putInt(4, 1).array();
    assertThatThrownBy(
            () ->
                MemoryStore.resumed(
                    new ByteArrayInputStream(image), Replica.UNBOUNDED, Replica.UNBOUNDED))
        .isInstanceOf(IOException.class)
        .hasMessage("format 1 (expected: 3 to 6)");
  }
}
