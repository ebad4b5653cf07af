package dev.weir.cli;

import dev.weir.protocol.envoy.RateLimitDescriptor;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.envoy.RateLimitResponse;
import dev.weir.protocol.envoy.RateLimitServiceGrpc;
import dev.weir.testkit.ChildProcess;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A separate process that serves, with its messages on standard error. */
final class Served implements AutoCloseable {
  private static final Pattern READY =
      Pattern.compile(
          "ready: http on \\S+:(\\d+), grpc on \\S+:(\\d+), resp on \\S+:(\\d+)(?:, admin on"
              + " \\S+:(\\d+))?");

  private static final int REQUEST_SECONDS = 60;

  /** Servers that answer a few requests end before better code would pay. */
  private static final String FIRST_COMPILER = "-XX:TieredStopAtLevel=1";

  private final ChildProcess process;
  private final HttpClient http = HttpClient.newHttpClient();
  private final int[] ports = {-1, -1, -1, -1};

  private Served(ChildProcess.Builder program) throws IOException {
    process = program.errorsOnly().start();
  }

  /**
   * Starts {@code weir serve} on free ports and waits until it is ready.
   *
   * @param before the command that runs the rest of its line
   * @param options the options of the virtual machine
   */
  static Served serve(List<String> before, List<String> options, Class<?> main, String... settings)
      throws IOException {
    ChildProcess.Builder program = ChildProcess.java(main, onFreePorts(settings));
    return new Served(program.within(before).options(FIRST_COMPILER).options(options)).awaitReady();
  }

  /** Starts {@code weir serve} with classes of another path than that of the tests. */
  static Served servePacked(String path, List<String> options, String... settings)
      throws IOException {
    ChildProcess.Builder program = ChildProcess.java(Main.class, onFreePorts(settings));
    return new Served(program.classPath(path).options(FIRST_COMPILER).options(options))
        .awaitReady();
  }

  private static String[] onFreePorts(String... settings) {
    List<String> arguments =
        new ArrayList<>(
            List.of("serve", "--port", "0", "--grpc-port", "0", "--resp-port", "0", "--no-warmup"));
    arguments.addAll(Arrays.asList(settings));
    return arguments.toArray(new String[0]);
  }

  private Served awaitReady() throws IOException {
    try {
      Matcher ready = process.await(READY);
      for (int i = 0; i < ports.length && ready.group(i + 1) != null; i++) {
        ports[i] = Integer.parseInt(ready.group(i + 1));
      }
      return this;
    } catch (IOException e) {
      close();
      throw e;
    }
  }

  /** Waits for a line that contains a text, and returns it. */
  String await(String text) throws IOException {
    return process.await(text);
  }

  ChildProcess process() {
    return process;
  }

  int httpPort() {
    return ports[0];
  }

  int grpcPort() {
    return ports[1];
  }

  /** Returns the port for administration, or -1 if there is none. */
  int adminPort() {
    return ports[3];
  }

  int respPort() {
    return ports[2];
  }

  /** Requests a permit of {@code user=a} in the domain {@code demo}, over HTTP. */
  HttpResponse<String> check(HttpClient.Version version) throws IOException, InterruptedException {
    String body = "{\"domain\":\"demo\",\"descriptor\":{\"user\":\"a\"}}";
    return send(
        request("/v1/check").version(version).POST(HttpRequest.BodyPublishers.ofString(body)));
  }

  /** Returns the server's metrics, over a connection that stays open. */
  String metrics() throws IOException, InterruptedException {
    return send(request("/metrics").version(HttpClient.Version.HTTP_1_1)).body();
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + httpPort() + path))
        .timeout(Duration.ofSeconds(REQUEST_SECONDS));
  }

  private HttpResponse<String> send(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  /** Requests a permit of {@code user=b} in the domain {@code demo}, over gRPC. */
  RateLimitResponse.Code checkOverGrpc() {
    ManagedChannel channel =
        Grpc.newChannelBuilderForAddress(
                "127.0.0.1", grpcPort(), InsecureChannelCredentials.create())
            .build();
    try {
      return RateLimitServiceGrpc.newBlockingStub(channel)
          .withDeadlineAfter(REQUEST_SECONDS, TimeUnit.SECONDS)
          .shouldRateLimit(
              RateLimitRequest.newBuilder()
                  .setDomain("demo")
                  .addDescriptors(
                      RateLimitDescriptor.newBuilder()
                          .addEntries(
                              RateLimitDescriptor.Entry.newBuilder().setKey("user").setValue("b")))
                  .build())
          .getOverallCode();
    } finally {
      channel.shutdownNow();
    }
  }

  @Override
  public void close() {
    process.close();
  }
}
