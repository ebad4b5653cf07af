package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

class JsonTextTest {
  private static final JsonFactory ORACLE = new JsonFactory();

  @Test
  void texts_areThoseOfJackson() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < 3_000; round++) {
      StringWriter expected = new StringWriter();
      JsonText text = new JsonText();
      try (JsonGenerator oracle = ORACLE.createGenerator(expected)) {
        object(random, oracle, text, 0);
      }
      assertThat(text.buffer().getBytes())
          .as("seed %d, round %d", seed, round)
          .isEqualTo(expected.toString().getBytes(StandardCharsets.UTF_8));
    }
  }

  private static void object(Random random, JsonGenerator oracle, JsonText text, int depth)
      throws Exception {
    oracle.writeStartObject();
    text.object();
    members(random, oracle, text, depth);
    oracle.writeEndObject();
    text.end();
  }

  private static void members(Random random, JsonGenerator oracle, JsonText text, int depth)
      throws Exception {
    for (int i = random.nextInt(5); i > 0; i--) {
      String name = string(random);
      switch (random.nextInt(depth < 4 ? 5 : 3)) {
        case 0 -> {
          String value = string(random);
          oracle.writeStringField(name, value);
          text.field(name, value);
        }
        case 1 -> {
          long value = number(random);
          oracle.writeNumberField(name, value);
          text.field(name, value);
        }
        case 2 -> {
          boolean value = random.nextBoolean();
          oracle.writeBooleanField(name, value);
          text.field(name, value);
        }
        case 3 -> {
          oracle.writeObjectFieldStart(name);
          text.object(name);
          members(random, oracle, text, depth + 1);
          oracle.writeEndObject();
          text.end();
        }
        default -> array(random, oracle, text, name, depth);
      }
    }
  }

  private static void array(
      Random random, JsonGenerator oracle, JsonText text, String name, int depth) throws Exception {
    oracle.writeArrayFieldStart(name);
    text.array(name);
    for (int i = random.nextInt(4); i > 0; i--) {
      if (random.nextBoolean()) {
        object(random, oracle, text, depth + 1);
      } else {
        String value = string(random);
        oracle.writeString(value);
        text.value(value);
      }
    }
    oracle.writeEndArray();
    text.endArray();
  }

  private static long number(Random random) {
    return switch (random.nextInt(6)) {
      case 0 -> Long.MIN_VALUE;
      case 1 -> Long.MAX_VALUE;
      case 2 -> random.nextInt(3) - 1;
      default -> random.nextLong() >> random.nextInt(64);
    };
  }

  /** Also of halves of surrogate pairs, which are no characters. */
  private static String string(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(random.nextInt(20) == 0 ? 400 : 10); i > 0; i--) {
      switch (random.nextInt(6)) {
        case 0 -> text.append((char) random.nextInt(0x80));
        case 1 -> text.append((char) random.nextInt(0x10000));
        case 2 -> text.appendCodePoint(random.nextInt(0x110000));
        case 3 -> text.append((char) (0xD800 + random.nextInt(0x800)));
        default -> text.append((char) ('a' + random.nextInt(26)));
      }
    }
    return text.toString();
  }
}
