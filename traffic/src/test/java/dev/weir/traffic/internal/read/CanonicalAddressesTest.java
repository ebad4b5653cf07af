package dev.weir.traffic.internal.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.traffic.Progress;
import dev.weir.traffic.Read;
import dev.weir.traffic.RequestTemplate;
import dev.weir.traffic.Traffic;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.TrafficReader;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A test that one client has one key, however logs write its address. */
class CanonicalAddressesTest {
  private static List<String> keys(String text, String descriptor, String... proxies)
      throws Exception {
    List<String> keys = new ArrayList<>();
    try (TrafficReader reader =
        TrafficReader.open(
            Traffic.builder("-").trustedProxies(List.of(proxies)).build(),
            RequestTemplate.of("d", List.of(descriptor), "1"),
            new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)))) {
      reader.each(
          (input, line, nanos, request, load, took) ->
              keys.add(request.descriptors().get(0).entries().get(0).value()),
          (input, line, why) -> keys.add("! " + why),
          Progress.NONE);
    }
    return keys;
  }

  private static String lines(String format, String... addresses) {
    StringBuilder text = new StringBuilder();
    Stream.of(addresses).map(each -> format.replace("IP", each)).forEach(text::append);
    return text.toString();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ip          | IP - - [27/Nov/2026:06:14:49 -0330] \"GET / HTTP/1.1\" 200 3",
        "ip          | web:80 IP - - [27/Nov/2026:06:14:49 -0330] \"GET / HTTP/1.1\" 200 3",
        "ip          | IP [27/Nov/2026:06:14:49 -0330] \"GET / HTTP/1.1\" 200 3",
        "ip          | {\"time\":1795771168315,\"ip\":\"IP\"}",
        "remote_addr | {\"time\":1795771168315,\"remote_addr\":\"IP\"}",
        "a.clientIp  | {\"time\":1795771168315,\"a\":{\"clientIp\":\"IP\"}}",
        "ip          | time:2026-11-27T06:14:49Z\thost:IP\treq:GET / HTTP/1.1",
        "ip          | <134>Nov 27 06:14:49 web1 nginx: IP - - [27/Nov/2026:06:14:49 -0330] \"GET"
            + " / HTTP/1.1\" 200 3"
      })
  void everyForm_isOneKeyInEveryFormat(String column, String line) throws Exception {
    String record = line.replace("\\t", "\t") + "\n";
    String[] four = {"192.0.2.3", "192.0.2.3:4711", "::ffff:192.0.2.3", "[::ffff:192.0.2.3]:4711"};
    assertThat(keys(lines(record, four), "k={" + column + "}"))
        .containsOnly("192.0.2.3")
        .hasSize(four.length);
    String[] six = {
      "2001:db8:1:2::3", "2001:DB8:1:2:0:0:0:3", "[2001:db8:1:2:0:0:0:3]", "[2001:db8:1:2::3]:80"
    };
    assertThat(keys(lines(record, six), "k={" + column + "}"))
        .containsOnly("2001:db8:1:2::/64")
        .hasSize(six.length);
    assertThat(keys(lines(record, six), "k={" + column + "/48}")).containsOnly("2001:db8:1::/48");
    assertThat(keys(lines(record, four), "k={" + column + "/24/48}")).containsOnly("192.0.2.0/24");
    assertThat(keys(lines(record, six), "k={" + column + "/128}")).containsOnly("2001:db8:1:2::3");
  }

  @Test
  void listOfAddresses_isItsFirst() throws Exception {
    String record = "IP - - [27/Nov/2026:06:14:49 -0330] \"GET / HTTP/1.1\" 200 3\n";
    String[] lists = {
      "203.0.113.7",
      "203.0.113.7, 198.51.100.2",
      "203.0.113.7,198.51.100.2",
      "203.0.113.7:80, 198.51.100.2, 198.51.100.3"
    };
    assertThat(keys(lines(record, lists), "k={ip}")).containsOnly("203.0.113.7");
    assertThat(keys(lines(record, lists), "k={proxies}"))
        .containsExactly("", "198.51.100.2", "", "198.51.100.2, 198.51.100.3");
  }

  /** A line of the format that nginx's packages have as "main". */
  private static String main(String peer, String forwarded) {
    return peer
        + " - - [05/May/2020:21:25:00 +0000] \"GET /x HTTP/1.1\" 200 11029 \"-\" \"ua\" \""
        + forwarded
        + "\"\n";
  }

  @Test
  void clientBehindTrustedProxies_isTheFirstFromTheRightThatIsNone() throws Exception {
    String log =
        main("10.0.0.1", "203.0.113.1, 10.0.0.9")
            + main("10.0.0.1", "198.51.100.66, 203.0.113.2")
            + main("10.0.0.1", "-")
            + main("203.0.113.4", "198.51.100.66")
            + main("10.0.0.1", "unknown, 10.0.0.9");
    assertThat(keys(log, "k={ip}")).containsOnly("10.0.0.1", "203.0.113.4");
    assertThat(keys(log, "k={ip}", "10.0.0.0/8"))
        .containsExactly("203.0.113.1", "203.0.113.2", "10.0.0.1", "203.0.113.4", "via 10.0.0.9");
    // Without proxies the first of a list counts, as everywhere.
    assertThat(keys(log, "k={forwarded}"))
        .containsExactly("203.0.113.1", "198.51.100.66", "-", "198.51.100.66", "unknown, 10.0.0.9");
    String json =
        "{\"time\":1795771168,\"remote_addr\":\"10.0.0.1\",\"http_x_forwarded_for\":\"XFF\"}\n"
            .replace("XFF", "198.51.100.66, 2001:db8:1:2::3");
    assertThat(keys(json, "k={remote_addr}", "10.0.0.0/8")).containsExactly("2001:db8:1:2::/64");
    assertThat(keys(json, "k={remote_addr/48}", "10.0.0.0/8")).containsExactly("2001:db8:1::/48");
    String front =
        "198.51.100.66, 203.0.113.2, 10.0.0.1 - - [05/May/2020:21:25:00 +0000] \"GET /\"";
    assertThat(keys(front + " 200 1\n", "k={ip}", "10.0.0.0/8")).containsExactly("203.0.113.2");
  }

  @Test
  void lineOfTheCommonFormat_hasNoListBehindIt() throws Exception {
    String log = "10.0.0.1 - - [05/May/2020:21:25:00 +0000] \"GET /x HTTP/1.1\" 200 1\n";
    assertThat(keys(log + main("10.0.0.1", "203.0.113.1"), "k={ip}", "10.0.0.0/8"))
        .containsExactly("10.0.0.1", "203.0.113.1");
  }

  @Test
  void proxyThatIsNoRange_isRefused() {
    assertThatThrownBy(() -> keys(main("10.0.0.1", "-"), "k={ip}", "10.0.0.0/33"))
        .isInstanceOf(TrafficException.class)
        .hasMessageStartingWith("trusted-proxies: \"10.0.0.0/33\" (expected: ");
  }

  @Test
  void columnWithNamesInSomeLogs_hasOneKeyForAnAddress() throws Exception {
    for (String column : List.of("client", "host", "source", "x_forwarded_for", "a.peer")) {
      String rows = "time," + column + "\n";
      for (String value : List.of("192.0.2.1:50001", "192.0.2.1:50002", "[2001:db8::1]:80")) {
        rows += "1795771168," + value + "\n";
      }
      rows += "1795771168,web:80\n1795771168,\"a, b\"\n";
      assertThat(keys(rows, "k={" + column + "}"))
          .containsExactly("192.0.2.1", "192.0.2.1", "2001:db8::/64", "web:80", "a, b");
      assertThat(keys(rows, "k={" + column + "/48}").get(2)).isEqualTo("2001:db8::/48");
    }
  }

  @Test
  void loopbackOfIpv6_isAnAddress() {
    assertThat(Address.isKey("::/64")).isTrue();
    assertThat(Address.is("::1")).isTrue();
    assertThat(Address.is(":::")).isFalse();
  }

  @Test
  void levelBeforeTheLine_isNoVirtualHost() throws Exception {
    String line = " 192.0.2.1 - - [27/Nov/2026:06:14:49 -0330] \"GET / HTTP/1.1\" 200 3\n";
    assertThat(keys("[2001:db8::1]:80" + line, "k={ip}")).containsExactly("192.0.2.1");
    assertThat(Read.all(CombinedReader::vhost, "[info]" + line, "ip"))
        .containsExactly("1! vhost: \"[info]\" (expected: a host's name)");
  }

  @Test
  void valueThatIsNoAddress_staysAsItIs() throws Exception {
    String rows = "time,ip\n1795771168,\n1795771168,-\n1795771168,unknown\n1795771168,0.0.0.0\n";
    assertThat(keys(rows, "k={ip}")).containsExactly("", "-", "unknown", "0.0.0.0");
  }

  @Test
  void prefixThatIsNone_isRefusedAsInAServer() {
    assertThatThrownBy(() -> keys("time,ip\n1795771168,192.0.2.1\n", "k={ip/24}"))
        .isInstanceOf(TrafficException.class)
        .hasMessageStartingWith("descriptor: \"{ip/24}\" (expected: {ip/48} with an IPv6 prefix");
  }

  @Test
  void columnWithASlashInItsName_isThatColumn() throws Exception {
    assertThat(keys("time,ip/48\n1795771168,x\n", "k={ip/48}")).containsExactly("x");
    assertThat(keys("time,user,ip\n1795771168,-,2001:db8::1\n", "k={user|ip/48}"))
        .containsExactly("ip/48:2001:db8::/48");
  }
}
