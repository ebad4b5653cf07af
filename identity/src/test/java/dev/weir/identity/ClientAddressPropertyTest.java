package dev.weir.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.weir.testkit.Trials;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Properties that hold for every header, however it was made. */
class ClientAddressPropertyTest {
  private static final Cidr TRUSTED = Cidr.parse("10.0.0.0/8");

  private static final int RUNS = 20_000;
  private static final int HEADER = 1 << 16;

  /** The texts that clients and broken proxies write, and pieces of them. */
  private static final List<String> PIECES =
      List.of(
          "6.6.6.6",
          "10.0.0.9",
          "unknown",
          "_x",
          "attacker.example",
          "",
          " ",
          "\t",
          ",",
          ";",
          "\"",
          "\\",
          "for=",
          "For=\"",
          "by=\",",
          "host=\"a;for=6.6.6.6",
          "[",
          "]",
          "::",
          "%",
          "%eth0",
          ":80",
          "\u0000",
          "\ud800",
          "\u2028",
          "\u00ff",
          "1.2.3.4:99999",
          "[::1",
          "for=6.6.6.6;",
          "=");

  private static ClientAddress address(String header) {
    return ClientAddress.builder()
        .trusted("10.0.0.0/8", "2001:db8:ffff::/48")
        .header(header)
        .build();
  }

  private static String key(ClientAddress address, String header, List<String> lines) {
    TestRequest request = TestRequest.from("10.0.0.1");
    return address.of(request.header(header, lines.toArray(String[]::new))).key();
  }

  private static String junk(Random random) {
    StringBuilder junk = new StringBuilder();
    for (int i = random.nextInt(8); i >= 0; i--) {
      junk.append(PIECES.get(random.nextInt(PIECES.size())));
    }
    return junk.toString();
  }

  @ParameterizedTest
  @ValueSource(strings = {"X-Forwarded-For", "Forwarded"})
  void textLeftOfWhatAProxyAdded_doesNotMatter(String header) {
    Random random = new Random(Trials.random("text left of proxies, " + header, RUNS).nextLong());
    ClientAddress address = address(header);
    RandomAddress addresses = new RandomAddress(random);
    boolean forwarded = header.equals("Forwarded");
    for (int i = 0; i < RUNS; i++) {
      String client = random.nextBoolean() ? addresses.v4() : addresses.written(addresses.groups());
      String added = forwarded ? "for=\"" + bracketed(client) + "\"" : client;
      String proxies = (forwarded ? ", for=10.0.0.2" : ", 10.0.0.2").repeat(random.nextInt(3));
      String alone = key(address, header, List.of(added + proxies));
      List<String> lines = new ArrayList<>();
      for (int j = random.nextInt(3); j > 0; j--) {
        lines.add(junk(random));
      }
      String last = added + proxies;
      lines.add(random.nextBoolean() ? last : junk(random) + ", " + last);
      if (TRUSTED.contains(Objects.requireNonNull(Node.parse(client)))) {
        continue; // A trusted proxy added the element left of it, which counts.
      }
      assertThat(key(address, header, lines)).as("%s", lines).isEqualTo(alone);
    }
  }

  private static String bracketed(String address) {
    return address.indexOf(':') < 0 ? address : "[" + address + "]";
  }

  @Test
  void clientsWithinOnePrefix_haveOneKey() {
    Random random = new Random(Trials.random("clients within a prefix", RUNS).nextLong());
    RandomAddress addresses = new RandomAddress(random);
    ClientAddress address = address("X-Forwarded-For");
    for (int i = 0; i < RUNS; i++) {
      int[] groups = addresses.groups();
      groups[0] = 0x2a00 | random.nextInt(256);
      String first = key(address, "X-Forwarded-For", List.of(addresses.written(groups)));
      groups[4 + random.nextInt(4)] = random.nextInt(1 << 16);
      String second = key(address, "X-Forwarded-For", List.of(addresses.written(groups)));
      assertThat(second).isEqualTo(first).endsWith("/64");
      groups[random.nextInt(4)] ^= 1 << random.nextInt(8);
      String other = key(address, "X-Forwarded-For", List.of(addresses.written(groups)));
      assertThat(other).isNotEqualTo(first);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"X-Forwarded-For", "Forwarded", "X-Real-IP"})
  void anyHeader_givesAShortKeyOfPlainCharacters(String header) {
    Random random = new Random(Trials.random("any headers, " + header, RUNS).nextLong());
    ClientAddress address = address(header);
    for (int i = 0; i < RUNS; i++) {
      List<String> lines = new ArrayList<>();
      for (int j = random.nextInt(4); j > 0; j--) {
        lines.add(random.nextInt(4) == 0 ? bytes(random, 40) : junk(random));
      }
      assertThat(key(address, header, lines)).as("%s", lines).matches("[0-9a-z.:/ ]{3,50}");
    }
  }

  private static String bytes(Random random, int length) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append((char) random.nextInt(256));
    }
    return text.toString();
  }

  @Test
  void hugeHeaders_areReadWithoutAnException() {
    Random random = new Random(Trials.random("huge headers").nextLong());
    List<String> huge = new ArrayList<>();
    for (String piece : PIECES) {
      huge.add(piece.isEmpty() ? "" : piece.repeat(HEADER / piece.length()));
      huge.add((piece + ",").repeat(10_000));
      huge.add((piece + ";").repeat(10_000));
      huge.add("for=\"" + piece.repeat(1_000) + "\"");
    }
    huge.add(bytes(random, HEADER));
    for (String header : List.of("X-Forwarded-For", "Forwarded", "X-Real-IP")) {
      ClientAddress address = address(header);
      for (String line : huge) {
        assertThatCode(() -> key(address, header, List.of(line))).doesNotThrowAnyException();
      }
      assertThatCode(() -> key(address, header, huge)).doesNotThrowAnyException();
    }
  }
}
