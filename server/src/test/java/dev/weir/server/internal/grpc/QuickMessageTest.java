package dev.weir.server.internal.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UInt64Value;
import dev.weir.protocol.envoy.RateLimitDescriptor;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.rules.Request;
import dev.weir.server.internal.deciding.RlsMessages;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.testkit.Trials;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Tests that compare messages read without the generated classes with those read by them. */
class QuickMessageTest {
  private static final String[] TEXTS = {
    "",
    "a",
    "user",
    "remote_address",
    "10.0.0.1",
    "\u0000\u007f",
    "f\u00fcr",
    "\u20ac",
    "x".repeat(200)
  };

  private final QuickMessage quick = new QuickMessage();
  private final RlsMessages messages = new RlsMessages(ServerSettings.defaults());

  private static String text(SplittableRandom random) {
    return TEXTS[random.nextInt(TEXTS.length)];
  }

  private static RateLimitDescriptor.Builder descriptor(SplittableRandom random, int entries) {
    RateLimitDescriptor.Builder descriptor = RateLimitDescriptor.newBuilder();
    for (int i = 0; i < entries; i++) {
      descriptor.addEntries(
          RateLimitDescriptor.Entry.newBuilder().setKey(text(random)).setValue(text(random)));
    }
    return descriptor;
  }

  private static byte[] anything(SplittableRandom random) {
    RateLimitRequest.Builder request = RateLimitRequest.newBuilder().setDomain(text(random));
    int descriptors = random.nextInt(4) > 0 ? 1 : random.nextInt(3);
    for (int i = 0; i < descriptors; i++) {
      RateLimitDescriptor.Builder descriptor = descriptor(random, random.nextInt(20));
      if (random.nextInt(8) == 0) {
        descriptor.setHitsAddend(UInt64Value.of(random.nextInt(3)));
      }
      if (random.nextInt(8) == 0) {
        descriptor.getLimitBuilder().setRequestsPerUnit(random.nextInt(3));
      }
      request.addDescriptors(descriptor);
    }
    if (random.nextInt(3) == 0) {
      request.setHitsAddend(random.nextInt() >>> random.nextInt(32));
    }
    return request.build().toByteArray();
  }

  private boolean read(byte[] message) {
    byte[] around = new byte[message.length + 7];
    Arrays.fill(around, (byte) 0x0a);
    System.arraycopy(message, 0, around, 3, message.length);
    return quick.read(around, 3, 3 + message.length);
  }

  private void assertReadAsGenerated(byte[] message) throws Exception {
    Request expected = messages.request(RateLimitRequest.parseFrom(message));
    assertThat(expected.domain()).isEqualTo(quick.request().domain());
    assertThat(expected.descriptors()).hasSize(1);
    assertThat(expected.descriptors().get(0).entries())
        .isEqualTo(quick.request().request().descriptors().get(0).entries());
    assertThat(expected.descriptors().get(0).limitOverride()).isNull();
    assertThat(expected.descriptors().get(0).permits()).isNull();
    assertThat(Math.max(1, expected.permits())).isEqualTo(quick.request().permits());
  }

  @Test
  void whatIsRead_isWhatTheGeneratedClassesRead() throws Exception {
    int runs = 20_000;
    SplittableRandom random = Trials.random("quick messages", runs);
    int taken = 0;
    for (int trial = 0; trial < runs; trial++) {
      byte[] message = anything(random);
      if (read(message)) {
        taken++;
        assertReadAsGenerated(message);
      }
    }
    assertThat(taken).isGreaterThan(100);
  }

  @Test
  void changedBytes_areLeftOrReadAsByTheGeneratedClasses() throws Exception {
    int runs = 50_000;
    SplittableRandom random = Trials.random("changed quick messages", runs);
    int taken = 0;
    for (int trial = 0; trial < runs; trial++) {
      byte[] message = anything(random);
      for (int i = random.nextInt(3); i >= 0 && message.length > 0; i--) {
        message[random.nextInt(message.length)] =
            (byte) random.nextInt(random.nextBoolean() ? 32 : 256);
      }
      byte[] part =
          random.nextInt(3) > 0
              ? message
              : Arrays.copyOf(message, random.nextInt(message.length + 1));
      if (read(part)) {
        taken++;
        assertReadAsGenerated(part);
      }
    }
    assertThat(taken).isPositive();
  }

  @Test
  void usualMessages_areTaken() throws Exception {
    for (String value : new String[] {"", "ann", "x".repeat(4_000)}) {
      for (int hits : new int[] {0, 1, 300, 100_000_000}) {
        RateLimitRequest.Builder request = RateLimitRequest.newBuilder().setDomain("test");
        request.setHitsAddend(hits);
        request
            .addDescriptorsBuilder()
            .addEntries(RateLimitDescriptor.Entry.newBuilder().setKey("a").setValue("b"))
            .addEntries(RateLimitDescriptor.Entry.newBuilder().setKey("user").setValue(value));
        byte[] message = request.build().toByteArray();
        assertThat(read(message)).isTrue();
        assertReadAsGenerated(message);
      }
    }
  }

  @Test
  void oracleRefuses_whatIsNoMessage() {
    byte[] broken = {0x0a, 0x05, 'a'};
    assertThat(read(broken)).isFalse();
    assertThatThrownBy(() -> RateLimitRequest.parseFrom(broken))
        .isInstanceOf(InvalidProtocolBufferException.class);
  }
}
