package dev.weir.server;

import dev.weir.MemoryStore;
import dev.weir.Ticker;
import dev.weir.engine.CallerBuckets;
import dev.weir.engine.Engine;
import dev.weir.protocol.envoy.RateLimitDescriptor;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.envoy.RateLimitServiceGrpc;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.http.Endpoints;
import dev.weir.server.internal.rules.RulesInForce;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.settings.StartException;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The warm-up of a server: requests to a private copy of it before the first real request, which
 * load classes and compile code. The copy has real ports, on the loopback interface, and an engine
 * of its own, so that no limit is touched.
 */
final class WarmUp {
  /** The rounds over gRPC, enough for the compiler to have compiled the most used code. */
  private static final int GRPC_ROUNDS = 60;

  private static final int HTTP_ROUNDS = 100;
  private static final int RESP_ROUNDS = 100;

  /** The longest warm-up: a slow machine starts nevertheless. */
  private static final long MAX_NANOS = 5_000_000_000L;

  private static final int USERS = 64;
  private static final int GRPC_CALLS = 200;
  private static final int HTTP_REQUESTS = 200;
  private static final int COMMANDS = 5_000;
  private static final int TIMEOUT_MILLIS = 2_000;

  private final OpenPorts ports;
  private final Ticker ticker;
  private final long endNanos;

  /** A round of requests to one port; returns their number. */
  private interface Round {
    int run(int round) throws IOException, InterruptedException;
  }

  private WarmUp(OpenPorts ports, Ticker ticker, long endNanos) {
    this.ports = ports;
    this.ticker = ticker;
    this.endNanos = endNanos;
  }

  /** Warms up for a bounded time; returns a summary for the log. */
  static String run(Ticker ticker) throws InterruptedException {
    long startNanos = ticker.nanos();
    ServerSettings settings =
        ServerSettings.of(Map.of("port", "0", "grpc-port", "0", "resp-port", "0"));
    RuleSet rules =
        Rules.parse("built-in rules", Endpoints.resource(RulesInForce.BUILT_IN)).ruleSet();
    try (Engine engine = Engine.create(new MemoryStore(), ticker, settings.engine());
        MemoryStore table = new MemoryStore(USERS, 1 << 20)) {
      engine.apply(rules == null ? RuleSet.EMPTY : rules);
      OpenPorts ports =
          OpenPorts.of(
              settings,
              ServerParts.builder(
                      engine,
                      SystemLoad.of(settings, ticker),
                      new CallerBuckets(table, ticker.nanos()))
                  .build(),
              ticker);
      try {
        ports.open();
        String done = new WarmUp(ports, ticker, startNanos + MAX_NANOS).drive();
        return String.format(
            Locale.ROOT, "warmed up in %.1f s with %s", (ticker.nanos() - startNanos) / 1e9, done);
      } finally {
        ports.closeAtOnce();
      }
    } catch (IOException | StartException e) {
      return "not warmed up, the first requests will be slow: " + e.getMessage();
    }
  }

  /** Sends requests to all ports at once; returns their numbers, for the log. */
  private String drive() throws IOException, InterruptedException {
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", ports.grpcPort())
            .usePlaintext()
            .directExecutor()
            .build();
    ExecutorService drivers = Executors.newFixedThreadPool(3);
    try {
      RateLimitServiceGrpc.RateLimitServiceStub stub = RateLimitServiceGrpc.newStub(channel);
      Future<Long> grpc = drivers.submit(() -> rounds(GRPC_ROUNDS, round -> grpc(stub)));
      Future<Long> http = drivers.submit(() -> rounds(HTTP_ROUNDS, this::http));
      Future<Long> resp = drivers.submit(() -> rounds(RESP_ROUNDS, round -> resp()));
      return grpc.get()
          + " gRPC calls, "
          + http.get()
          + " HTTP requests and "
          + resp.get()
          + " Redis commands";
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    } finally {
      drivers.shutdownNow();
      channel.shutdownNow();
    }
  }

  private long rounds(int most, Round round) throws IOException, InterruptedException {
    long requests = 0;
    for (int i = 0; i < most && ticker.nanos() < endNanos; i++) {
      requests += round.run(i);
    }
    return requests;
  }

  private static int grpc(RateLimitServiceGrpc.RateLimitServiceStub stub)
      throws InterruptedException {
    Semaphore done = new Semaphore(0);
    for (int i = 0; i < GRPC_CALLS; i++) {
      RateLimitRequest request =
          RateLimitRequest.newBuilder()
              .setDomain("demo")
              .addDescriptors(
                  RateLimitDescriptor.newBuilder()
                      .addEntries(
                          RateLimitDescriptor.Entry.newBuilder()
                              .setKey("user")
                              .setValue("warm" + i % USERS)))
              .build();
      stub.shouldRateLimit(request, new PermitRelease<>(done));
    }
    boolean all = done.tryAcquire(GRPC_CALLS, TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
    return all ? GRPC_CALLS : done.availablePermits();
  }

  private int http(int round) throws IOException {
    StringBuilder requests = new StringBuilder();
    for (int i = 1; i <= HTTP_REQUESTS; i++) {
      String user = "warm" + i % USERS;
      boolean envoys = round % 2 == 0;
      String body =
          envoys
              ? "{\"domain\":\"demo\",\"descriptors\":[{\"entries\":[{\"key\":\"user\",\"value\":\""
                  + user
                  + "\"}]}]}"
              : "{\"domain\":\"demo\",\"descriptor\":{\"user\":\"" + user + "\"}}";
      requests
          .append("POST ")
          .append(envoys ? "/json" : "/v1/check")
          .append(" HTTP/1.1\r\nHost: localhost\r\n")
          .append("Content-Type: application/json\r\n")
          .append(i == HTTP_REQUESTS ? "Connection: close\r\n" : "")
          .append("Content-Length: ")
          .append(body.length())
          .append("\r\n\r\n")
          .append(body);
    }
    exchange(ports.httpPort(), requests);
    return HTTP_REQUESTS;
  }

  private int resp() throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < COMMANDS; i++) {
      String user = "warm" + i % USERS;
      switch (i % 8) {
        case 0 -> lines.append("WEIR.CHECK demo 1 user ").append(user).append("\r\n");
        case 1 -> lines.append("THROTTLE ").append(user).append(" 10 5 60\r\n");
        default ->
            lines
                .append("*5\r\n$11\r\nCL.THROTTLE\r\n$")
                .append(user.length())
                .append("\r\n")
                .append(user)
                .append("\r\n$2\r\n15\r\n$2\r\n30\r\n$2\r\n60\r\n");
      }
    }
    exchange(ports.respPort(), lines.append("QUIT\r\n"));
    return COMMANDS;
  }

  /** Sends, and reads until the server closes. */
  private static void exchange(int port, CharSequence text) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(TIMEOUT_MILLIS);
      socket.getOutputStream().write(text.toString().getBytes(StandardCharsets.US_ASCII));
      socket.getInputStream().readAllBytes();
    }
  }

  /** An observer that releases a permit when an answer has arrived. */
  private static final class PermitRelease<T> implements StreamObserver<T> {
    private final Semaphore done;

    PermitRelease(Semaphore done) {
      this.done = done;
    }

    @Override
    public void onNext(T answer) {}

    @Override
    public void onError(Throwable error) {
      done.release();
    }

    @Override
    public void onCompleted() {
      done.release();
    }
  }
}
