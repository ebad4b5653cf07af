package dev.weir.server;

import dev.weir.protocol.envoy.RateLimitDescriptor;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.envoy.RateLimitResponse;
import dev.weir.protocol.envoy.RateLimitServiceGrpc;
import dev.weir.protocol.v1.WeirGrpc;
import dev.weir.protocol.v1.WeirProto.Check;
import dev.weir.protocol.v1.WeirProto.CheckBatchRequest;
import dev.weir.protocol.v1.WeirProto.CheckBatchResponse;
import dev.weir.protocol.v1.WeirProto.Descriptor;
import dev.weir.protocol.v1.WeirProto.Entry;
import dev.weir.wire.testkit.RespClient;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.stub.StreamObserver;
import java.io.Closeable;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The requests for one permit over every port, each time on a connection or a stream of its own,
 * without waiting for the answers.
 */
final class EveryDoor implements AutoCloseable {
  /** The number of ways to send a request. */
  static final int COUNT = 7;

  private final WeirServer server;
  private final ManagedChannel channel;
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final Queue<Closeable> hangUp = new ConcurrentLinkedQueue<>();
  private final ExecutorService callers = Executors.newCachedThreadPool();

  EveryDoor(WeirServer server) {
    this.server = server;
    channel =
        Grpc.newChannelBuilderForAddress(
                "127.0.0.1", server.grpcPort(), InsecureChannelCredentials.create())
            .build();
  }

  /** Returns the future answers, as texts, by port. */
  Map<String, CompletableFuture<String>> request(String key, String value) {
    Map<String, CompletableFuture<String>> answers = new LinkedHashMap<>();
    String check = "{\"domain\":\"test\",\"descriptor\":{\"" + key + "\":\"" + value + "\"}}";
    answers.put("/v1/check", post("/v1/check", check));
    answers.put("/v1/check/batch", post("/v1/check/batch", "{\"checks\":[" + check + "]}"));
    answers.put(
        "/json",
        post(
            "/json",
            "{\"domain\":\"test\",\"descriptors\":[{\"entries\":[{\"key\":\""
                + key
                + "\",\"value\":\""
                + value
                + "\"}]}]}"));
    answers.put("ShouldRateLimit", rls(key, value));
    CheckBatchRequest batch =
        CheckBatchRequest.newBuilder()
            .addChecks(
                Check.newBuilder()
                    .setDomain("test")
                    .addDescriptors(
                        Descriptor.newBuilder()
                            .addEntries(Entry.newBuilder().setKey(key).setValue(value))))
            .build();
    First<CheckBatchResponse> one = new First<>();
    WeirGrpc.newStub(channel).checkBatch(batch, one);
    answers.put("CheckBatch", one.answer);
    First<CheckBatchResponse> streamed = new First<>();
    StreamObserver<CheckBatchRequest> stream = WeirGrpc.newStub(channel).checkStream(streamed);
    stream.onNext(batch);
    stream.onCompleted();
    answers.put("CheckStream", streamed.answer);
    answers.put("WEIR.CHECK", resp(key, value));
    return answers;
  }

  private CompletableFuture<String> post(String path, String body) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.httpPort() + path))
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    CompletableFuture<HttpResponse<String>> exchange =
        http.sendAsync(request, HttpResponse.BodyHandlers.ofString());
    hangUp.add(() -> exchange.cancel(true));
    return exchange.thenApply(
        response ->
            response.statusCode()
                + " retry-after="
                + response.headers().firstValue("Retry-After").orElse("none")
                + " "
                + response.body());
  }

  /** Returns the future answer to {@code ShouldRateLimit}, as a text. */
  CompletableFuture<String> rls(String key, String value) {
    RateLimitRequest request =
        RateLimitRequest.newBuilder()
            .setDomain("test")
            .addDescriptors(
                RateLimitDescriptor.newBuilder()
                    .addEntries(RateLimitDescriptor.Entry.newBuilder().setKey(key).setValue(value)))
            .build();
    First<RateLimitResponse> one = new First<>();
    RateLimitServiceGrpc.newStub(channel).shouldRateLimit(request, one);
    return one.answer;
  }

  private CompletableFuture<String> resp(String key, String value) {
    CompletableFuture<String> answer = new CompletableFuture<>();
    callers.execute(
        () -> {
          try (RespClient client = new RespClient(server.respPort())) {
            hangUp.add(client.socket());
            answer.complete(client.exchange("WEIR.CHECK", "test", "1", key, value));
          } catch (Exception e) {
            answer.completeExceptionally(e);
          }
        });
    return answer;
  }

  /** Closes all connections, whether there was an answer or not. */
  @Override
  public void close() throws IOException {
    for (Closeable each : hangUp) {
      each.close();
    }
    channel.shutdownNow();
    callers.shutdownNow();
  }

  /** The first response of a call, with blanks and line ends as one blank. */
  private static final class First<T> implements StreamObserver<T> {
    private final CompletableFuture<String> answer = new CompletableFuture<>();

    @Override
    public void onNext(T response) {
      answer.complete(response.toString().replaceAll("\\s+", " "));
    }

    @Override
    public void onError(Throwable error) {
      answer.completeExceptionally(error);
    }

    @Override
    public void onCompleted() {
      answer.completeExceptionally(new IllegalStateException("no response"));
    }
  }
}
