package dev.weir.identity;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.Trials;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.valves.RemoteIpValve;
import org.apache.catalina.valves.ValveBase;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tomcat's {@code RemoteIpValve} reads from the right too: both find the same clients. */
class TomcatValveTest {
  private static final int RUNS = 20_000;

  private final ClientAddress address =
      ClientAddress.builder().trusted("10.0.0.0/8").header("X-Forwarded-For").build();

  /** Sends the request through the valve, and returns the client that it finds. */
  private static String byValve(String peer, List<String> lines) throws Exception {
    RemoteIpValve valve = new RemoteIpValve();
    valve.setInternalProxies("10\\.\\d+\\.\\d+\\.\\d+");
    List<String> seen = new ArrayList<>();
    valve.setNext(
        new ValveBase() {
          @Override
          public void invoke(Request request, Response response) {
            seen.add(request.getRemoteAddr());
          }
        });
    org.apache.coyote.Request coyote = new org.apache.coyote.Request();
    lines.forEach(line -> coyote.getMimeHeaders().addValue("X-Forwarded-For").setString(line));
    Connector connector = new Connector();
    Request request = new Request(connector);
    request.setCoyoteRequest(coyote);
    Context context = new StandardContext();
    request.getMappingData().context = context;
    request.setRemoteAddr(peer);
    valve.invoke(request, new Response());
    return seen.get(0);
  }

  private String byUs(String peer, List<String> lines) {
    TestRequest request = TestRequest.from(peer);
    return address.of(request.header("X-Forwarded-For", lines.toArray(String[]::new))).key();
  }

  /** Cases 1 to 8 of the table. */
  @ParameterizedTest
  @CsvSource({
    "198.51.100.9, 203.0.113.7, 198.51.100.9",
    "10.0.0.1, 203.0.113.7, 203.0.113.7",
    "10.0.0.1, '6.6.6.6, 203.0.113.7', 203.0.113.7",
    "10.0.0.1, '6.6.6.6, 203.0.113.7, 10.0.0.2', 203.0.113.7",
    "10.0.0.1, '10.9.9.9, 203.0.113.7', 203.0.113.7",
    "10.0.0.1, 6.6.6.6<br>203.0.113.7, 203.0.113.7",
    "10.0.0.1, , 10.0.0.1",
    "10.0.0.1, 10.0.0.9, 10.0.0.9",
  })
  void valve_findsTheSameClient(String peer, String header, String client) throws Exception {
    List<String> lines = header == null ? List.of() : List.of(header.split("<br>", -1));
    assertThat(byValve(peer, lines)).isEqualTo(client);
    assertThat(byUs(peer, lines)).isEqualTo(client);
  }

  @Test
  void randomLists_haveTheSameClient() throws Exception {
    Random random = new Random(Trials.random("lists for a valve", RUNS).nextLong());
    for (int i = 0; i < RUNS; i++) {
      List<String> lines = new ArrayList<>();
      for (int j = random.nextInt(4); j > 0; j--) {
        List<String> elements = new ArrayList<>();
        for (int k = random.nextInt(4); k >= 0; k--) {
          elements.add(random.nextInt(3) == 0 ? "203.0.113." + k : "10.0.0." + random.nextInt(9));
        }
        lines.add(String.join(random.nextBoolean() ? "," : ", ", elements));
      }
      String peer = random.nextInt(5) == 0 ? "198.51.100.9" : "10.0.0.1";
      assertThat(byUs(peer, lines)).as("%s %s", peer, lines).isEqualTo(byValve(peer, lines));
    }
  }
}
