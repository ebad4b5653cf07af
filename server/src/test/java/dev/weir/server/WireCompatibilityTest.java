package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import dev.weir.protocol.envoy.HeaderValue;
import dev.weir.protocol.envoy.RateLimitDescriptor;
import dev.weir.protocol.envoy.RateLimitQuotaResponse;
import dev.weir.protocol.envoy.RateLimitQuotaUsageReports;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.envoy.RateLimitResponse;
import dev.weir.testkit.Trials;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Tests that compare Weir's messages with those of Envoy's own published classes. */
class WireCompatibilityTest {
  private static final int ROUNDS = 2_000;

  private record Pair(Message ours, Message theirs) {}

  private static final List<Pair> PAIRS =
      List.of(
          new Pair(
              RateLimitRequest.getDefaultInstance(),
              io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest.getDefaultInstance()),
          new Pair(
              RateLimitResponse.getDefaultInstance(),
              io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.getDefaultInstance()),
          new Pair(
              RateLimitDescriptor.getDefaultInstance(),
              io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor
                  .getDefaultInstance()),
          new Pair(
              HeaderValue.getDefaultInstance(),
              io.envoyproxy.envoy.config.core.v3.HeaderValue.getDefaultInstance()),
          new Pair(
              RateLimitQuotaUsageReports.getDefaultInstance(),
              io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaUsageReports
                  .getDefaultInstance()),
          new Pair(
              RateLimitQuotaResponse.getDefaultInstance(),
              io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaResponse
                  .getDefaultInstance()));

  /**
   * The fields of newer messages than the published classes have, each with its line and its
   * source: Envoy's API as of v1.40.0. A field leaves this list as soon as the classes have it.
   */
  private static final Map<String, String> NEWER =
      Map.of(
          "envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.is_negative_hits",
          "4 isNegativeHits BOOL",
          "envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.RateLimitOverride"
              + ".unit_multiplier",
          "3 unitMultiplier MESSAGE google.protobuf.UInt32Value",
          "envoy.service.ratelimit.v3.RateLimitResponse.RateLimit.unit_multiplier",
          "4 unitMultiplier MESSAGE google.protobuf.UInt32Value");

  /** Fields that are left out on purpose, each with the reason. None at present. */
  private static final Map<String, String> LEFT_OUT = Map.of();

  @Test
  void randomMessages_surviveBothWays() throws InvalidProtocolBufferException {
    long seed = Trials.random("messages both ways", ROUNDS).nextLong();
    Random random = new Random(seed);
    for (int round = 0; round < ROUNDS; round++) {
      Pair pair = PAIRS.get(round % PAIRS.size());
      thereAndBack(pair.ours, pair.theirs, random, "ours first, seed " + seed);
      thereAndBack(pair.theirs, pair.ours, random, "theirs first, seed " + seed);
    }
  }

  private static void thereAndBack(Message from, Message via, Random random, String about)
      throws InvalidProtocolBufferException {
    Message sent = random(from.newBuilderForType(), random, 0);
    Message understood = parse(via.getParserForType(), sent.toByteString());
    assertThat(understood.getUnknownFields().asMap()).as(about).isEmpty();
    assertThat(understood.toString()).as(about).isEqualTo(sent.toString());
    Message back = parse(from.getParserForType(), understood.toByteString());
    assertThat(back).as(about).isEqualTo(sent);
  }

  private static Message parse(Parser<? extends Message> parser, ByteString bytes)
      throws InvalidProtocolBufferException {
    return parser.parseFrom(bytes);
  }

  @Test
  void everyField_hasTheSameNumberNameTypeAndCardinality() {
    Map<String, String> newer = new TreeMap<>();
    for (Pair pair : PAIRS) {
      Map<String, String> ours = shape(pair.ours.getDescriptorForType());
      Map<String, String> theirs = shape(pair.theirs.getDescriptorForType());
      theirs.keySet().removeAll(LEFT_OUT.keySet());
      for (Map.Entry<String, String> field : ours.entrySet()) {
        if (!theirs.containsKey(field.getKey())) {
          newer.put(field.getKey(), field.getValue());
        }
      }
      ours.keySet().removeAll(newer.keySet());
      assertThat(ours)
          .as("a field to know, or to leave out on purpose (LEFT_OUT)")
          .isEqualTo(theirs);
    }
    assertThat(newer).as("fields that the published classes do not have").isEqualTo(NEWER);
  }

  @Test
  void service_hasTheSameFullMethodName() {
    assertThat(dev.weir.protocol.envoy.RateLimitServiceGrpc.getShouldRateLimitMethod())
        .extracting(method -> method.getFullMethodName())
        .isEqualTo(
            io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc.getShouldRateLimitMethod()
                .getFullMethodName());
    assertThat(
            dev.weir.protocol.envoy.RateLimitQuotaServiceGrpc.getStreamRateLimitQuotasMethod()
                .getFullMethodName())
        .isEqualTo(
            io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaServiceGrpc
                .getStreamRateLimitQuotasMethod()
                .getFullMethodName());
  }

  /**
   * Returns all properties that affect the wire or its JSON form, by full name, without the
   * well-known types.
   */
  private static Map<String, String> shape(Descriptor root) {
    Map<String, String> lines = new TreeMap<>();
    describe(root, lines);
    return lines;
  }

  private static void describe(Descriptor message, Map<String, String> lines) {
    for (FieldDescriptor field : message.getFields()) {
      String type = field.getType() + (field.isRepeated() ? "*" : "");
      if (field.getJavaType() == FieldDescriptor.JavaType.ENUM) {
        Map<Integer, String> values = new TreeMap<>();
        for (EnumValueDescriptor value : field.getEnumType().getValues()) {
          values.put(value.getNumber(), value.getName());
        }
        type += " " + field.getEnumType().getFullName() + values;
      } else if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
        type += " " + field.getMessageType().getFullName();
      }
      if (field.getRealContainingOneof() != null) {
        type += " of " + field.getRealContainingOneof().getName();
      } else if (field.toProto().getProto3Optional()) {
        type += " optional";
      }
      String line = field.getNumber() + " " + field.getJsonName() + " " + type;
      boolean known = lines.put(field.getFullName(), line) != null;
      if (!known
          && field.getJavaType() == FieldDescriptor.JavaType.MESSAGE
          && !field.getMessageType().getFullName().startsWith("google.protobuf.")) {
        describe(field.getMessageType(), lines);
      }
    }
  }

  private static Message random(Message.Builder builder, Random random, int depth) {
    Map<String, FieldDescriptor> chosen = new HashMap<>();
    for (FieldDescriptor field : builder.getDescriptorForType().getFields()) {
      if (NEWER.containsKey(field.getFullName())) {
        continue; // The published classes would keep it as an unknown field.
      }
      if (random.nextInt(4) == 0 || (depth > 5 && !field.isRepeated())) {
        continue;
      }
      if (field.getContainingOneof() != null
          && chosen.putIfAbsent(field.getContainingOneof().getName(), field) != null) {
        continue;
      }
      if (field.isRepeated()) {
        // A map has each key once, and random keys may be equal.
        int count = depth > 4 ? 0 : random.nextInt(field.isMapField() ? 2 : 4);
        for (int i = 0; i < count; i++) {
          builder.addRepeatedField(field, value(builder, field, random, depth));
        }
      } else {
        builder.setField(field, value(builder, field, random, depth));
      }
    }
    return builder.build();
  }

  private static Object value(
      Message.Builder builder, FieldDescriptor field, Random random, int depth) {
    return switch (field.getJavaType()) {
      case INT -> random.nextBoolean() ? random.nextInt() : random.nextInt(100);
      case LONG -> random.nextBoolean() ? random.nextLong() : (long) random.nextInt(100);
      case FLOAT -> random.nextFloat();
      case DOUBLE -> random.nextDouble();
      case BOOLEAN -> random.nextBoolean();
      case STRING -> text(random);
      case BYTE_STRING -> ByteString.copyFromUtf8(text(random));
      case ENUM -> {
        List<EnumValueDescriptor> values = field.getEnumType().getValues();
        yield values.get(random.nextInt(values.size()));
      }
      case MESSAGE -> random(builder.newBuilderForField(field), random, depth + 1);
    };
  }

  private static String text(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(12); i > 0; i--) {
      text.appendCodePoint(random.nextInt(10) == 0 ? 0x1F600 : 'a' + random.nextInt(26));
    }
    return text.toString();
  }
}
