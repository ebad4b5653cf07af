package dev.weir.server.internal.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.protocol.http.BadRequest;
import dev.weir.protocol.http.CheckReader;
import dev.weir.rules.Request;
import dev.weir.testkit.Trials;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests that the quick path and the general path read the same request of {@code /v1/check}. */
class QuickBodyTest {
  private static final int ROUNDS = 50_000;

  private static final List<String> USUAL =
      List.of(
          "{\"domain\":\"d\",\"descriptor\":{\"user\":\"ann\"}}",
          " { \"permits\" : 7 ,\n\"descriptor\" :{ \"a\":\"\" , \"b\":\"c d\"\t} , \"domain\": \"x\" }\r\n",
          "{\"permits\":0,\"domain\":\"d\",\"descriptors\":[{\"entries\":[{\"key\":\"k\",\"value\":\"v\"}]}]}",
          "{\"domain\":\"d\",\"descriptors\":[{\"entries\":[{\"value\":\"v\",\"key\":\"k\"},"
              + "{\"key\":\"k\",\"value\":\"w\"}]}],\"permits\":999999999}");

  private static final List<String> PIECES =
      List.of(
          "\"domain\":\"d\"",
          "\"permits\":1",
          "\"hits_addend\":2",
          "\"descriptor\":{\"k\":\"v\"}",
          "\"descriptors\":[{\"entries\":[{\"key\":\"k\",\"value\":\"v\"}]}]",
          "\"k\":\"v\"",
          "\"entries\"",
          "\\u0061",
          "{",
          "}",
          "[",
          "]",
          ",",
          ":",
          "\"",
          "0",
          "-1",
          "1e3",
          " ",
          "\u00e9",
          "null");

  /** Returns whether the quick path takes a text; fails if it reads another request. */
  private static boolean takesAlike(String text, String as) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    QuickBody body = new QuickBody();
    if (!body.read(bytes, 0, bytes.length, true)) {
      return false;
    }
    Request right;
    try {
      right = CheckReader.read(bytes);
    } catch (BadRequest e) {
      // Neither has a domain that could have rules.
      assertThat(body.request().domain()).as("%s: %s, %s", as, text, e.getMessage()).isEmpty();
      return false;
    }
    Request taken = body.request().request();
    assertThat(taken.domain()).as("%s: %s", as, text).isEqualTo(right.domain());
    assertThat(right.descriptors()).as("%s: %s", as, text).hasSize(1);
    assertThat(taken.descriptors().get(0).entries())
        .as("%s: %s", as, text)
        .isEqualTo(right.descriptors().get(0).entries());
    Long own = right.descriptors().get(0).permits();
    assertThat(body.request().permits())
        .as("%s: %s", as, text)
        .isEqualTo(own == null ? right.permits() : own);
    return true;
  }

  @Test
  void whatClientsSend_isTaken() {
    for (String text : USUAL) {
      assertThat(takesAlike(text, "usual")).as(text).isTrue();
    }
  }

  @Test
  void whatIsTaken_isWhatTheLongWayReads() {
    long seed = Trials.random("quick bodies", ROUNDS).nextLong();
    Random random = new Random(seed);
    int taken = 0;
    for (int round = 0; round < ROUNDS; round++) {
      StringBuilder text = new StringBuilder(USUAL.get(random.nextInt(USUAL.size())));
      for (int i = random.nextInt(3); i >= 0; i--) {
        int from = random.nextInt(text.length());
        int to = Math.min(text.length(), from + random.nextInt(3));
        String piece = PIECES.get(random.nextInt(PIECES.size()));
        text.replace(from, to, random.nextInt(4) == 0 ? "" : piece);
      }
      taken += takesAlike(text.toString(), "seed " + seed + ", round " + round) ? 1 : 0;
    }
    assertThat(taken).as("seed %d", seed).isPositive();
  }
}
