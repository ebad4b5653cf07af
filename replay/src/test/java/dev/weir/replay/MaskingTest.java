package dev.weir.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.testkit.Trials;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MaskingTest {
  private static final String TAG = "\u00b7[0-9a-f]{4}";

  private final Masking masking = new Masking(new byte[32]);

  @ParameterizedTest
  @CsvSource({
    "alice, al\u2026e",
    "alice@example.org, al\u2026g",
    "carl, c\u2026",
    "bob, b\u2026",
    "jo, \u2026",
    "x, \u2026",
    "'', \u2026",
    "\ud83d\ude00\ud83d\ude00\ud83d\ude00\ud83d\ude00\ud83d\ude00,"
        + " \ud83d\ude00\ud83d\ude00\u2026\ud83d\ude00",
    "ip:192.0.2.1, ip\u20261",
    "999.0.2.17, 99\u20267",
    "12:34:56, 12\u20266",
  })
  void text_showsItsEndsAndATag(String value, String ends) {
    assertThat(masking.masked(value)).startsWith(ends + "\u00b7").matches(".*" + TAG);
    assertThat(masking.masked(value)).hasSize(ends.length() + 5);
  }

  @ParameterizedTest
  @CsvSource({
    "192.0.2.17, 192.0.2.0/24",
    "192.0.2.17:8080, 192.0.2.0/24",
    "192.0.2.17/32, 192.0.2.0/24",
    "2001:db8:1:2::7, 2001:db8:1::/48",
    "2001:0DB8:0001:0002:0003:0004:0005:0006, 2001:db8:1::/48",
    "2001:db8:1:2::/64, 2001:db8:1::/48",
    "[2001:db8::7]:443, 2001:db8:0::/48",
    "fe80::1%eth0, fe80:0:0::/48",
    "::1, 0:0:0::/48",
    "::ffff:192.0.2.17, 0:0:0::/48",
  })
  void address_showsItsNetwork(String value, String network) {
    assertThat(masking.masked(value)).matches(Pattern.quote(network) + TAG);
  }

  @ParameterizedTest
  @ValueSource(strings = {"1::2::3", "1:2:3:4:5:6:7", "12345::", "1:2:3:4:5:6:7::8", ":::", "::g"})
  void almostAddress_isText(String value) {
    assertThat(masking.masked(value)).contains("\u2026").doesNotContain("/48");
  }

  @Test
  void sameValue_looksTheSame() {
    assertThat(masking.masked("alice")).isEqualTo(masking.masked("alice"));
    assertThat(masking.masked("alice")).isNotEqualTo(masking.masked("alixe"));
  }

  @Test
  void otherSecret_hasOtherTags() {
    Masking other = new Masking("sixteen bytes ok".getBytes(StandardCharsets.UTF_8));
    int same = 0;
    for (int i = 0; i < 100; i++) {
      same += masking.masked("user-" + i).equals(other.masked("user-" + i)) ? 1 : 0;
    }
    assertThat(same).isLessThan(3);
    assertThat(Masking.random().masked("alice")).matches("al\u2026e" + TAG);
  }

  @Test
  void tags_areSpreadEvenly() {
    Set<String> tags = new HashSet<>();
    for (int i = 0; i < 1_000; i++) {
      tags.add(masking.masked("user-" + i).replaceAll(".*\u00b7", ""));
    }
    assertThat(tags.size()).isGreaterThan(970);
  }

  @Test
  void noValue_isShownWhole() {
    int runs = 10_000;
    long seed = Trials.random("masked values", runs).nextLong();
    Random random = new Random(seed);
    for (int i = 0; i < runs; i++) {
      StringBuilder value = new StringBuilder();
      for (int length = 2 + random.nextInt(20); length > 0; length--) {
        value.append("abc019.:/%[]\u00e9\ud83d\ude00".charAt(random.nextInt(15)));
      }
      String shown = masking.masked(value.toString()).replaceAll(TAG + "$", "");
      if (shown.endsWith("/48")) {
        continue; // The ::/48 may be the whole value.
      }
      assertThat(shown).as("seed %d, value %s", seed, value).doesNotContain(value);
    }
  }

  @Test
  void shortSecret_isRefused() {
    assertThatThrownBy(() -> new Masking(new byte[15]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("secret: 15 bytes (expected: at least 16)");
  }
}
