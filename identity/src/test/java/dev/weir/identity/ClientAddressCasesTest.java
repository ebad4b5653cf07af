package dev.weir.identity;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Headers of real clients and proxies, with the client whose key they make: cases from
 * realclientip, nginx, Tomcat, RFC 7239, published vulnerabilities and issues of other limiters.
 * The trusted ranges are always 10.0.0.0/8 and 2001:db8:ffff::/48.
 */
class ClientAddressCasesTest {
  private static final String LINE = "<br>";

  private static ClientAddress.Builder trusting() {
    return ClientAddress.builder().trusted("10.0.0.0/8", "2001:db8:ffff::/48");
  }

  private static ClientAddress.Builder settings(String name) {
    return switch (name) {
      case "none" -> ClientAddress.builder();
      case "xff" -> trusting().header("X-Forwarded-For");
      case "forwarded" -> trusting().header("Forwarded");
      case "cf" -> trusting().header("CF-Connecting-IP");
      case "hops 2" -> ClientAddress.builder().header("X-Forwarded-For").hops(2);
      case "socket" -> trusting().header("X-Forwarded-For").trustUnixSocket(true);
      case "wide" -> trusting().ipv4Prefix(24).ipv6Prefix(48);
      default -> throw new IllegalArgumentException(name);
    };
  }

  private static TestRequest request(
      @Nullable String peer, String settings, @Nullable String header) {
    TestRequest request = TestRequest.from(peer);
    if (header != null) {
      String name =
          switch (settings) {
            case "forwarded" -> "Forwarded";
            case "cf" -> "CF-Connecting-IP";
            default -> "X-Forwarded-For";
          };
      request.header(name, header.split(LINE, -1));
    }
    return request;
  }

  @ParameterizedTest(name = "{0}: {1} {2} {3}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          # Lies, and the way past trusted proxies.
           1 | 198.51.100.9 | xff | 203.0.113.7                                | 198.51.100.9
           2 | 10.0.0.1     | xff | 203.0.113.7                                | 203.0.113.7
           3 | 10.0.0.1     | xff | 6.6.6.6, 203.0.113.7                       | 203.0.113.7
           4 | 10.0.0.1     | xff | 6.6.6.6, 203.0.113.7, 10.0.0.2             | 203.0.113.7
           5 | 10.0.0.1     | xff | 10.9.9.9, 203.0.113.7                      | 203.0.113.7
           6 | 10.0.0.1     | xff | 6.6.6.6<br>203.0.113.7                     | 203.0.113.7
           7 | 10.0.0.1     | xff |                                            | 10.0.0.1
           8 | 10.0.0.1     | xff | 10.0.0.9                                   | 10.0.0.9
          # One address in many spellings.
           9 | 10.0.0.1     | xff | 203.0.113.7:49152                          | 203.0.113.7
          10 | 10.0.0.1     | xff | [2001:db8:1:2:3:4:5:6]:443                 | 2001:db8:1:2::/64
          11 | 10.0.0.1     | xff | 2001:DB8:1:2:0:0:0:1                       | 2001:db8:1:2::/64
          12 | 10.0.0.1     | xff | ::ffff:203.0.113.7                         | 203.0.113.7
          13 | ::ffff:10.0.0.1 | xff | 203.0.113.7                             | 203.0.113.7
          14 | 10.0.0.1     | xff | ::ffff:cb00:7107                           | 203.0.113.7
          15 | 10.0.0.1     | xff | 64:ff9b::203.0.113.7                       | 203.0.113.7
          16 | 10.0.0.1     | xff | 2002:cb00:7107:1::1                        | 203.0.113.7
          17 | fe80::1%eth0 | xff |                                            | fe80::/64
          # What is no address.
          18 | 10.0.0.1     | xff | 203.0.113.7, unknown                       | via 10.0.0.1
          19 | 10.0.0.1     | xff | 203.0.113.7, _hidden, 10.0.0.2             | via 10.0.0.2
          20 | 10.0.0.1     | xff | 203.0.113.7, 010.0.0.2                     | via 10.0.0.1
          21 | 10.0.0.1     | xff | attacker.example                           | via 10.0.0.1
          22 | 10.0.0.1     | xff | 0.0.0.0                                    | via 10.0.0.1
          23 | 10.0.0.1     | xff | 6.6.6.6, ,203.0.113.7,                     | 203.0.113.7
          24 | 10.0.0.1     | xff | '; DROP TABLE--, 203.0.113.7               | 203.0.113.7
          # RFC 7239.
          25 | 10.0.0.1 | forwarded | for=6.6.6.6, for=203.0.113.7;proto=https;by=10.0.0.1 | 203.0.113.7
          26 | 10.0.0.1 | forwarded | For="[2001:db8:cafe::17]:4711"             | 2001:db8:cafe::/64
          27 | 10.0.0.1 | forwarded | for=6.6.6.6;by=", for=203.0.113.7          | 203.0.113.7
          28 | 10.0.0.1 | forwarded | for=203.0.113.7, for="_gazonk"             | via 10.0.0.1
          29 | 10.0.0.1 | forwarded | for=unknown                                | via 10.0.0.1
          30 | 10.0.0.1 | forwarded | for=6.6.6.6;for=203.0.113.7                | via 10.0.0.1
          31 | 10.0.0.1 | forwarded | proto=https;by=10.0.0.1                    | via 10.0.0.1
          32 | 10.0.0.1 | forwarded | for="203.0.113.7:_port"                    | 203.0.113.7
          33 | 10.0.0.1 | forwarded | for="203.0.113.\\7"                        | via 10.0.0.1
          # Counted hops, single addresses, Unix sockets.
          34 | 10.0.0.1     | hops 2 | 6.6.6.6, 203.0.113.7, 10.0.0.2          | 203.0.113.7
          35 | 10.0.0.1     | hops 2 | 6.6.6.6                                 | via 10.0.0.1
          36 | 10.0.0.1     | cf     | 203.0.113.7                             | 203.0.113.7
          37 | 10.0.0.1     | cf     | 6.6.6.6<br>203.0.113.7                  | via 10.0.0.1
          38 | 198.51.100.9 | cf     | 6.6.6.6                                 | 198.51.100.9
          39 |              | xff    | 203.0.113.7                             | unknown
          40 |              | socket | 203.0.113.7                             | 203.0.113.7
          # Prefixes, IPv6 proxies.
          41 | 2001:db8:7:ffff::1  | wide | | 2001:db8:7::/48
          42 | 203.0.113.7         | wide | | 203.0.113.0/24
          43 | 2001:db8:ffff:1::5  | xff  | | 2001:db8:ffff:1::/64
          44 | 2001:db8:ffff:1::5  | xff  | 203.0.113.7 | 203.0.113.7
          45 | ::1                 | xff  | | ::/64
          46 | 10.0.0.1            | xff  | 1.2.3.4.5 | via 10.0.0.1
          47 | 10.0.0.1            | xff  | 1::2::3 | via 10.0.0.1
          48 | 10.0.0.1            | xff  | fe80::1%25:eth/0 | via 10.0.0.1
          50 | 203.0.113.7:51000   | none | 6.6.6.6 | 203.0.113.7
          """)
  void request_hasTheKeyOfItsClient(
      int number, @Nullable String peer, String settings, @Nullable String header, String key) {
    TestRequest request = request(peer, settings, header);
    request.unixSocket = peer == null;
    ClientAddress address = settings(settings).build();
    Client client = address.of(request);
    assertThat(client.key()).isEqualTo(key);
    assertThat(client.hidden()).isEqualTo(key.startsWith("via "));
    assertThat(address.hiddenCount()).isEqualTo(client.hidden() ? 1 : 0);
    assertThat(request.asked.size()).isLessThanOrEqualTo(settings.equals("none") ? 0 : 1);
  }

  /** Case 49. */
  @Test
  void moreThan64Elements_areNotLookedAt() {
    ClientAddress address = settings("xff").build();
    String proxies = ", 10.0.0.2".repeat(64);
    assertThat(of(address, "203.0.113.7" + proxies)).isEqualTo("via 10.0.0.2");
    assertThat(of(address, "203.0.113.7" + proxies.substring(10))).isEqualTo("203.0.113.7");
    assertThat(of(address, "10.0.0.3" + proxies.substring(10))).isEqualTo("10.0.0.3");
    assertThat(of(address, "203.0.113.7" + proxies.replace(",", ", ,"))).isEqualTo("via 10.0.0.2");
  }

  private static String of(ClientAddress address, String header) {
    return address.of(request("10.0.0.1", "xff", header)).key();
  }

  /** Case 51: the address that the container has found is final, even if it is a trusted one. */
  @Test
  void addressFoundByTheContainer_isTheClient() {
    TestRequest request = request("203.0.113.7", "xff", "6.6.6.6");
    request.finalAddress = "203.0.113.7";
    ClientAddress address =
        ClientAddress.builder().trusted("203.0.113.0/24").header("X-Forwarded-For").build();
    assertThat(address.of(request).key()).isEqualTo("203.0.113.7");
    assertThat(request.asked).isEmpty();
    request.finalAddress = "nobody";
    assertThat(address.of(request).key()).isEqualTo("unknown");
  }

  /** Case 52: an adapter unwraps the request, so that the peer is the connection's. */
  @Test
  void peerOfTheInnermostRequest_isWhereTheWalkBegins() {
    RequestView wrapped =
        new RequestView() {
          private final RequestView inner = request("10.0.0.1", "xff", "6.6.6.6, 203.0.113.7");

          @Override
          public @Nullable String peer() {
            // A filter in front of this one would return 6.6.6.6 here.
            return inner.peer();
          }

          @Override
          public List<String> headers(String name) {
            return inner.headers(name);
          }

          @Override
          public String method() {
            return inner.method();
          }

          @Override
          public String path() {
            return inner.path();
          }
        };
    assertThat(settings("xff").build().of(wrapped).key()).isEqualTo("203.0.113.7");
  }
}
