package dev.weir.server.internal.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import dev.weir.protocol.http.BadRequest;
import dev.weir.protocol.http.RlsJsonReader;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import dev.weir.server.internal.deciding.QuickRequest;
import dev.weir.server.internal.deciding.RlsMessages;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.testkit.Trials;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that compare the quick reader and writer with protobuf's own ones. */
class RlsJsonTest {
  private static final int ROUNDS = 30_000;
  private static final RlsJson JSON = new RlsJson(new RlsMessages(ServerSettings.defaults()));

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static @Nullable Request slowly(byte[] body) {
    try {
      return JSON.slowly(body);
    } catch (BadRequest e) {
      return null;
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"domain\":\"d\",\"descriptors\":[{\"entries\":[{\"key\":\"user\",\"value\":\"ann\"}]}]}",
        "{\"domain\":\"d\",\"hitsAddend\":\"4294967295\",\"descriptors\":[{\"hits_addend\":\"7\","
            + "\"limit\":{\"requests_per_unit\":10,\"unit\":\"MINUTE\"},\"entries\":[{}]},"
            + "{\"hitsAddend\":0,\"limit\":{\"unit\":6,\"requestsPerUnit\":\"0\"}}]}",
        " {\n\t\"domain\" : \"\\u0061\\n\\\"\" , \"hits_addend\" : 1 }\r\n"
      })
  void whatClientsSend_isReadQuickly(String text) {
    Request request = RlsJsonReader.read(bytes(text));
    assertThat(request).isNotNull().isEqualTo(slowly(bytes(text)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{} {}",
        "{\"domain\":\"\u00e9\"}",
        "{\"domain\":null}",
        "{\"hitsAddend\":1.0}",
        "{\"hitsAddend\":-1}",
        "{\"hitsAddend\":4294967296}",
        "{\"hitsAddend\":\"01\"}",
        "{\"hitsAddend\":1,\"hits_addend\":1}",
        "{\"domain\":\"a\",\"domain\":\"a\"}",
        "{\"descriptors\":[{\"limit\":{}}]}",
        "{\"descriptors\":[{\"limit\":{\"unit\":\"minute\"}}]}",
        "{\"descriptors\":[{\"limit\":{\"unit\":7}}]}",
        "{\"surprise\":1}"
      })
  void whatIsUnusualOrWrong_isLeftToTheOther(String text) {
    assertThat(RlsJsonReader.read(bytes(text))).isNull();
  }

  @Test
  void bytesInOtherEncodings_areLeftToTheOther() {
    String text = "{\"domain\":\"d\"}";
    assertThat(RlsJsonReader.read(text.getBytes(StandardCharsets.UTF_16BE))).isNull();
    assertThat(RlsJsonReader.read(text.getBytes(StandardCharsets.UTF_16LE))).isNull();
    assertThat(RlsJsonReader.read(bytes("\ufeff" + text))).isNull();
  }

  @Test
  void whatIsReadQuickly_isWhatProtobufReads() {
    long seed = Trials.random("JSON that is read", ROUNDS).nextLong();
    Random random = new Random(seed);
    int quick = 0;
    int quickMutants = 0;
    int taken = 0;
    for (int round = 0; round < ROUNDS; round++) {
      byte[] text = bytes(new RandomText(random).message());
      quick += readsAlike(text, seed, round);
      taken += takesAlike(text, seed, round);
      for (int i = random.nextInt(3); i >= 0; i--) {
        text = mutant(text, random);
      }
      quickMutants += readsAlike(text, seed, round);
      taken += takesAlike(text, seed, round);
    }
    assertThat(quick).as("read quickly, seed %d", seed).isGreaterThan(ROUNDS / 4);
    assertThat(taken).as("taken by the short way, seed %d", seed).isPositive();
    assertThat(quickMutants).as("mutants read quickly, seed %d", seed).isPositive();
  }

  /** Compares a text that {@link QuickBody} takes with protobuf's reading of it. */
  private static int takesAlike(byte[] text, long seed, int round) {
    QuickBody body = new QuickBody();
    if (!body.read(text, 0, text.length, false)) {
      return 0;
    }
    Request right = slowly(text);
    String as =
        "seed " + seed + ", round " + round + ": " + new String(text, StandardCharsets.UTF_8);
    if (right == null) {
      throw new AssertionError("wrong, but taken: " + as);
    }
    QuickRequest asked = body.request();
    List<Entry> entries = asked.request().descriptors().get(0).entries();
    Request taken =
        new Request(asked.domain(), List.of(new Descriptor(entries, null, null)), asked.permits());
    assertThat(taken)
        .as(as)
        .isEqualTo(new Request(right.domain(), right.descriptors(), Math.max(1, right.permits())));
    return 1;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"domain\":\"d\",\"descriptors\":[{\"entries\":[{\"key\":\"user\",\"value\":\"ann\"}]}]}",
        " { \"hits_addend\" : 7 ,\n\"descriptors\" :[ { \"entries\":[{\"value\":\"\" ,"
            + "\"key\":\"a\"},{\"key\":\"b\",\"value\":\"c d\"} ]\t} ] , \"domain\": \"x\" }\r\n",
        "{\"hitsAddend\":0,\"domain\":\"d\",\"descriptors\":[{\"entries\":[{\"key\":\"k\","
            + "\"value\":\"v\"}]}]}"
      })
  void whatClientsSend_isTakenByTheShortWay(String text) {
    assertThat(takesAlike(bytes(text), 0, 0)).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{}",
        "{\"domain\":\"d\",\"descriptors\":[]}",
        "{\"domain\":\"d\",\"descriptors\":[{\"entries\":[]}]}",
        "{\"domain\":\"d\",\"domain\":\"e\",\"descriptors\":[{\"entries\":[{\"key\":\"k\","
            + "\"value\":\"v\"}]}]}",
        "{\"hitsAddend\":4294967296,\"descriptors\":[{\"entries\":[{\"key\":\"k\",\"value\":\"v\"}]}]}",
        "{\"hitsAddend\":07,\"descriptors\":[{\"entries\":[{\"key\":\"k\",\"value\":\"v\"}]}]}",
        "{\"descriptors\":[{\"entries\":[{\"key\":\"k\\n\",\"value\":\"v\"}]}]}",
        "{\"descriptors\":[{\"entries\":[{\"key\":\"k\",\"value\":\"v\"}]}]}x"
      })
  void whatIsUnusual_isNotTakenByTheShortWay(String text) {
    assertThat(new QuickBody().read(bytes(text), 0, text.length(), false)).isFalse();
  }

  private static int readsAlike(byte[] text, long seed, int round) {
    Request quick = RlsJsonReader.read(text);
    if (quick == null) {
      return 0;
    }
    assertThat(quick)
        .as("seed %d, round %d: %s", seed, round, new String(text, StandardCharsets.UTF_8))
        .isEqualTo(slowly(text));
    return 1;
  }

  private static byte[] mutant(byte[] text, Random random) {
    byte[] piece =
        switch (random.nextInt(3)) {
          case 0 -> new byte[] {};
          case 1 -> new byte[] {(byte) random.nextInt(256)};
          default ->
              bytes(
                  List.of("0", "\"", ",", "{", "]", "\\", "-", "e", "\u00e9")
                      .get(random.nextInt(9)));
        };
    int from = random.nextInt(text.length + 1);
    int to = Math.min(text.length, from + random.nextInt(3));
    byte[] mutant = new byte[from + piece.length + text.length - to];
    System.arraycopy(text, 0, mutant, 0, from);
    System.arraycopy(piece, 0, mutant, from, piece.length);
    System.arraycopy(text, to, mutant, from + piece.length, text.length - to);
    return mutant;
  }

  /** A writer of random requests in all existing forms, now and then a wrong one. */
  private record RandomText(Random random) {
    String message() {
      List<String> fields = new ArrayList<>();
      field(fields, 8, "domain", string());
      field(fields, 8, "descriptors", list(this::descriptor));
      field(fields, 4, any("hitsAddend", "hits_addend"), number());
      return object(fields);
    }

    private String descriptor() {
      List<String> fields = new ArrayList<>();
      field(fields, 8, "entries", list(this::entry));
      field(fields, 2, "limit", limit());
      field(fields, 3, any("hitsAddend", "hits_addend"), number());
      return object(fields);
    }

    private String entry() {
      List<String> fields = new ArrayList<>();
      field(fields, 9, "key", string());
      field(fields, 8, "value", string());
      return object(fields);
    }

    private String limit() {
      List<String> fields = new ArrayList<>();
      field(fields, 9, any("requestsPerUnit", "requests_per_unit"), number());
      String number = Integer.toString(random.nextInt(8));
      String name = '"' + any("SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR") + '"';
      field(
          fields,
          9,
          "unit",
          any(name, name, name, number, '"' + number + '"', "\"WEEK\"", "\"UNKNOWN\"", "\"day\""));
      return object(fields);
    }

    private void field(List<String> fields, int ofTen, String name, String value) {
      if (random.nextInt(10) < ofTen) {
        String odd = random.nextInt(100) == 0 ? any("null", "true", "{}", "[]", "7", "\"7\"") : "";
        fields.add(space() + '"' + name + '"' + space() + ':' + (odd.isEmpty() ? value : odd));
        if (random.nextInt(200) == 0) {
          fields.add('"' + any(name, "other", "hits_addend", "requestsPerUnit") + "\":1");
        }
      }
    }

    private String object(List<String> fields) {
      Collections.shuffle(fields, random);
      return space() + '{' + String.join(",", fields) + '}' + space();
    }

    private String list(Supplier<String> element) {
      List<String> elements = new ArrayList<>();
      for (int i = random.nextInt(3); i > 0; i--) {
        elements.add(element.get());
      }
      return '[' + String.join(",", elements) + space() + ']';
    }

    private String number() {
      String plain = Integer.toString(random.nextInt(1_000));
      String number =
          switch (random.nextInt(24)) {
            case 0 -> "4294967295";
            case 1 -> "4294967296";
            case 2 -> Long.toUnsignedString(random.nextLong());
            case 3 -> any("-0", "-1", "1.0", "1e2", "0.5", "007", "+1", "", " 1");
            default -> plain;
          };
      return random.nextInt(3) == 0 ? '"' + number + '"' : number.isEmpty() ? plain : number;
    }

    private String string() {
      StringBuilder text = new StringBuilder("\"");
      for (int i = random.nextInt(8); i > 0; i--) {
        switch (random.nextInt(40)) {
          case 0 -> text.append(any("\u00e9", "\ud83d\ude00", "\u2028", "\u007f"));
          case 1 -> text.append(any("\\n", "\\\"", "\\/", "\\\\", "\\t"));
          case 2 -> text.append(any("\\u0041", "\\u00e9", "\\ud83d\\ude00", "\\ud800", "\\u0000"));
          default -> text.append((char) ('a' + random.nextInt(26)));
        }
      }
      return text.append('"').toString();
    }

    private String space() {
      return random.nextInt(6) == 0 ? any(" ", "\n", "\t", "\r\n ") : "";
    }

    private String any(String... choices) {
      return choices[random.nextInt(choices.length)];
    }
  }

  @Test
  void whatIsWrittenQuickly_isWhatProtobufWrites() {
    long seed = Trials.random("JSON that is written", ROUNDS).nextLong();
    Random random = new Random(seed);
    for (boolean headers : new boolean[] {false, true}) {
      ServerSettings settings =
          ServerSettings.of(
              Map.of("response-headers", Boolean.toString(headers), "reset-header", "X-Reset"));
      RlsJson json = new RlsJson(new RlsMessages(settings));
      int quick = 0;
      for (int round = 0; round < ROUNDS / 2; round++) {
        Answer answer = answer(random);
        String slow = json.slowly(answer);
        if (json.quickly(answer) != null) {
          quick++;
        }
        assertThat(json.write(answer).toString())
            .as("seed %d, round %d", seed, round)
            .isEqualTo(slow);
      }
      assertThat(quick).as("written quickly, seed %d", seed).isGreaterThan(ROUNDS / 8);
    }
  }

  private static Answer answer(Random random) {
    List<Status> statuses = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      statuses.add(
          new Status(
              random.nextBoolean(),
              null,
              null,
              random.nextInt(4) == 0 ? null : limit(random),
              number(random),
              random.nextInt(1 << random.nextInt(30))));
    }
    return Answer.of(random.nextBoolean(), statuses, null, 1);
  }

  private static CurrentLimit limit(Random random) {
    Duration window = Duration.ofSeconds(1 + random.nextInt(1 << (1 + random.nextInt(24))));
    StringBuilder name = new StringBuilder();
    for (int i = random.nextInt(4); i > 0; i--) {
      name.append(
          random.nextInt(20) == 0
              ? (char) random.nextInt(0xD800)
              : (char) (' ' + random.nextInt(95)));
    }
    Policy policy = Policy.of(Quota.of(number(random), window));
    return new CurrentLimit(number(random), null, name.toString(), policy);
  }

  private static long number(Random random) {
    return switch (random.nextInt(5)) {
      case 0 -> 0;
      case 1 -> (1L << 32) - 1;
      default -> random.nextLong(1L << 32);
    };
  }
}
