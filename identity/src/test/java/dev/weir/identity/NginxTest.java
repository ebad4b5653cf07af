package dev.weir.identity;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.Trials;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A comparison with nginx's realip module, which most sites in front of a Java server have. If the
 * machine has no nginx, the recorded answers of nginx 1.22.1 to the same requests are used.
 */
class NginxTest {
  private static final int RUNS = 400;

  private static final List<String> TRUSTED = List.of("10.0.0.0/8", "127.0.0.1");

  private final ClientAddress address =
      ClientAddress.builder()
          .trusted(TRUSTED)
          .header("X-Forwarded-For")
          .ipv6Prefix(Prefixes.MAX_IPV6)
          .build();

  /** A request, and the answer of nginx. */
  private record Case(String peer, String client, List<String> lines) {
    Case(String peer, String client, String... lines) {
      this(peer, client, List.of(lines));
    }
  }

  /** Cases 1 to 8, 10 and 11 of the table, from peers from which a machine can send by itself. */
  private static final List<Case> CASES =
      List.of(
          new Case("127.0.0.2", "127.0.0.2", "203.0.113.7"),
          new Case("127.0.0.1", "203.0.113.7", "203.0.113.7"),
          new Case("127.0.0.1", "203.0.113.7", "6.6.6.6, 203.0.113.7"),
          new Case("127.0.0.1", "203.0.113.7", "6.6.6.6, 203.0.113.7, 10.0.0.2"),
          new Case("127.0.0.1", "203.0.113.7", "10.9.9.9, 203.0.113.7"),
          new Case("127.0.0.1", "203.0.113.7", "6.6.6.6", "203.0.113.7"),
          new Case("127.0.0.1", "127.0.0.1"),
          new Case("127.0.0.1", "10.0.0.9", "10.0.0.9"),
          new Case("127.0.0.1", "203.0.113.7", "203.0.113.7:49152"),
          new Case("127.0.0.1", "2001:db8:1:2:3:4:5:6", "[2001:db8:1:2:3:4:5:6]:443"),
          new Case("127.0.0.1", "2001:db8:1:2::1", "2001:DB8:1:2:0:0:0:1"));

  private String byUs(String peer, List<String> lines) {
    TestRequest request = TestRequest.from(peer);
    return address.of(request.header("X-Forwarded-For", lines.toArray(String[]::new))).key();
  }

  @Test
  void request_hasTheClientThatNginxFinds(@TempDir Path folder) throws Exception {
    for (Case each : CASES) {
      assertThat(byUs(each.peer, each.lines)).isEqualTo(each.client);
    }
    Path program = Nginx.program();
    if (program == null) {
      System.out.println("no nginx here: compared with its recorded answers alone");
      return;
    }
    try (Nginx nginx = Nginx.start(program, folder, TRUSTED)) {
      for (Case each : CASES) {
        assertThat(nginx.client(each.peer, each.lines)).isEqualTo(each.client);
      }
      compareRandomLists(nginx);
    }
  }

  private void compareRandomLists(Nginx nginx) throws Exception {
    Random random = new Random(Trials.random("lists for nginx", RUNS).nextLong());
    RandomAddress addresses = new RandomAddress(random);
    for (int i = 0; i < RUNS; i++) {
      List<String> lines = new ArrayList<>();
      for (int j = random.nextInt(4); j > 0; j--) {
        List<String> elements = new ArrayList<>();
        for (int k = random.nextInt(4); k >= 0; k--) {
          elements.add(element(random, addresses));
        }
        lines.add(String.join(random.nextBoolean() ? "," : ", ", elements));
      }
      String peer = random.nextInt(5) == 0 ? "127.0.0.2" : "127.0.0.1";
      IpAddress client = Objects.requireNonNull(Node.parse(nginx.client(peer, lines)));
      // Nginx keeps an IPv4 address within an IPv6 one as it is; both name the same client.
      assertThat(byUs(peer, lines)).as("%s %s", peer, lines).isEqualTo(client.carried().toString());
    }
  }

  private static String element(Random random, RandomAddress addresses) {
    return switch (random.nextInt(4)) {
      case 0 -> addresses.v4();
      case 1 -> ipv6(addresses);
      case 2 -> "[" + ipv6(addresses) + "]:" + random.nextInt(1, 65_536);
      default -> "10.0.0." + random.nextInt(256);
    };
  }

  /**
   * Returns an IPv6 address in a form that nginx reads: without {@code ::} for a single group at an
   * end.
   */
  private static String ipv6(RandomAddress addresses) {
    String text = addresses.written(addresses.groups());
    return text.chars().filter(c -> c == ':').count() < 8 ? text : ipv6(addresses);
  }
}
