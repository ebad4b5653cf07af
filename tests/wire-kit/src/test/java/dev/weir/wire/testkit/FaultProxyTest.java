package dev.weir.wire.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.testkit.FaultProxy;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FaultProxyTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  /**
   * A time in which an answer that comes has very likely come: tests use it only for answers that
   * must not come.
   */
  private static final Duration SHORT = Duration.ofMillis(100);

  private static RedisServer server;
  private FaultProxy proxy;
  private RespClient client;

  @BeforeAll
  static void startServer() {
    server = RedisServer.start();
  }

  @AfterAll
  static void closeServer() {
    server.close();
  }

  @BeforeEach
  void open() throws IOException {
    server.command("FLUSHALL");
    proxy = new FaultProxy(server.port());
    client = new RespClient(proxy.port()).timeout(LONG);
    assertThat(client.call("PING")).isEqualTo("PONG");
  }

  @AfterEach
  void close() throws IOException {
    client.close();
    proxy.close();
  }

  @Test
  void healthy_forwardsLargeValuesWhole() throws IOException {
    String value = "0123456789".repeat(500_000);
    assertThat(client.call("SET", "k", value)).isEqualTo("OK");
    assertThat(client.call("GET", "k")).isEqualTo(value);
    assertThat(proxy.connections()).isOne();
  }

  @Test
  void delay_holdsBothDirections_alsoOfManyAtOnce() throws IOException {
    proxy.delay(Duration.ofMillis(50));
    long start = System.nanoTime();
    for (int i = 0; i < 50; i++) {
      client.command("INCR", "k");
    }
    assertThat(client.value()).isEqualTo(1L);
    assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(100_000_000L);
    for (long i = 2; i <= 50; i++) {
      assertThat(client.value()).isEqualTo(i);
    }
  }

  @Test
  void stall_forwardsNothingUntilHealed() throws IOException {
    proxy.stall();
    client.timeout(SHORT).command("INCR", "k");
    assertThatThrownBy(client::value).isInstanceOf(SocketTimeoutException.class);
    assertThat(server.command("EXISTS", "k")).isEqualTo("0");
    proxy.heal();
    assertThat(client.timeout(LONG).value()).isEqualTo(1L);
  }

  @Test
  void dropReplies_losesTheAnswerButNotTheRequest() throws IOException {
    proxy.dropReplies();
    client.timeout(SHORT).command("INCR", "k");
    server.await("1"::equals, "GET", "k");
    assertThatThrownBy(client::value).isInstanceOf(SocketTimeoutException.class);
    proxy.heal();
    assertThat(client.timeout(LONG).call("INCR", "k")).isEqualTo(2L);
  }

  @Test
  void refuse_turnsAwayNewConnectionsOnly() throws IOException {
    proxy.refuse();
    assertThatThrownBy(() -> new RespClient(proxy.port())).isInstanceOf(ConnectException.class);
    assertThat(client.call("PING")).isEqualTo("PONG");
    proxy.heal();
    try (RespClient another = new RespClient(proxy.port())) {
      assertThat(another.call("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void cut_closesConnectionsAndTakesNewOnes() throws IOException {
    proxy.cut();
    assertThatThrownBy(() -> client.call("PING")).isInstanceOf(IOException.class);
    assertThat(proxy.connections()).isZero();
    try (RespClient another = new RespClient(proxy.port())) {
      assertThat(another.call("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void reset_isToldToTheClient_andNewConnectionsAreTaken() throws IOException {
    proxy.reset();
    assertThatThrownBy(client::value).isInstanceOf(SocketException.class);
    assertThat(proxy.connections()).isZero();
    try (RespClient another = new RespClient(proxy.port())) {
      assertThat(another.call("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void endRequests_theServerHearsOfTheEnd() throws IOException {
    proxy.endRequests();
    assertThatThrownBy(() -> client.timeout(LONG).call("INCR", "k"))
        .isInstanceOf(IOException.class);
    assertThat(server.command("EXISTS", "k")).isEqualTo("0");
    try (RespClient another = new RespClient(proxy.port())) {
      assertThat(another.call("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void cutReplies_losesEveryThirdAnswerWithItsConnection() throws IOException {
    proxy.cutReplies(3);
    assertThat(client.call("INCR", "k")).isEqualTo(1L);
    assertThat(client.call("INCR", "k")).isEqualTo(2L);
    assertThatThrownBy(() -> client.call("INCR", "k")).isInstanceOf(IOException.class);
    assertThat(proxy.lost()).isOne();
    assertThat(server.command("GET", "k")).as("it has arrived").isEqualTo("3");
    try (RespClient another = new RespClient(proxy.port())) {
      assertThat(another.call("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void forwardTo_sendsNewConnectionsElsewhere() throws IOException {
    try (RedisServer other = RedisServer.start()) {
      proxy.forwardTo(other.port());
      assertThat(client.call("SET", "k", "here")).isEqualTo("OK");
      try (RespClient another = new RespClient(proxy.port())) {
        assertThat(another.call("EXISTS", "k")).isEqualTo(0L);
      }
    }
  }

  @Test
  void serverThatIsGone_closesTheClientsConnection() throws IOException {
    try (RedisServer other = RedisServer.start();
        FaultProxy toOther = new FaultProxy(other.port());
        RespClient connection = new RespClient(toOther.port()).timeout(LONG)) {
      assertThat(connection.call("PING")).isEqualTo("PONG");
      other.kill();
      assertThatThrownBy(connection::value).isInstanceOf(EOFException.class);
    }
  }

  @Test
  void close_endsAlsoWhileStalled() throws IOException {
    proxy.stall();
    client.command("PING");
    proxy.close();
    assertThatThrownBy(client::value).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> new RespClient(proxy.port())).isInstanceOf(ConnectException.class);
  }
}
