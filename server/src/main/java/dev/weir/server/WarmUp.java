package dev.weir.server;

import dev.weir.MemoryStore;
import dev.weir.Ticker;
import dev.weir.engine.Engine;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.server.proto.RateLimitDescriptor;
import dev.weir.server.proto.RateLimitRequest;
import dev.weir.server.proto.RateLimitResponse;
import io.grpc.stub.StreamObserver;
import java.nio.charset.StandardCharsets;

/**
 * Runs the doors' code before the first real request: what is compiled and loaded now costs no
 * caller anything. Works on an engine of its own, so nothing is counted.
 */
final class WarmUp {
  /** Enough for the compiler to notice what is hot. */
  private static final int REQUESTS = 6_000;

  /** A slow machine starts all the same. */
  private static final long MAX_NANOS = 1_500_000_000L;

  private static final int USERS = 64;

  private WarmUp() {}

  /** Returns how many requests were run. */
  static int run(ServerSettings settings, Ticker ticker) {
    RuleSet rules =
        Rules.parse("built-in rules", Endpoints.resource(RulesInForce.BUILT_IN)).ruleSet();
    try (Engine engine = Engine.create(new MemoryStore(), ticker, settings.engine())) {
      engine.apply(rules == null ? RuleSet.EMPTY : rules);
      RlsService service = new RlsService(engine, new RlsMessages(settings));
      long end = ticker.nanos() + MAX_NANOS;
      int done = 0;
      while (done < REQUESTS && ticker.nanos() < end) {
        grpc(service, "warm" + done % USERS);
        http(engine, "warm" + done % USERS);
        done++;
      }
      return done;
    }
  }

  private static void grpc(RlsService service, String user) {
    RateLimitRequest request =
        RateLimitRequest.newBuilder()
            .setDomain("demo")
            .addDescriptors(
                RateLimitDescriptor.newBuilder()
                    .addEntries(
                        RateLimitDescriptor.Entry.newBuilder().setKey("user").setValue(user)))
            .build();
    service.shouldRateLimit(request, Nobody.INSTANCE);
  }

  private static void http(Engine engine, String user) {
    String body = "{\"domain\":\"demo\",\"descriptor\":{\"user\":\"" + user + "\"}}";
    try {
      CheckAnswer answer =
          new CheckAnswer(
              engine.decide(CheckReader.read(body.getBytes(StandardCharsets.UTF_8))), 1);
      Nobody.INSTANCE.bytes +=
          answer.json().length()
              + RateLimitFields.rateLimit(answer.standings()).length()
              + RateLimitFields.rateLimitPolicy(answer.standings()).length();
    } catch (BadRequest e) {
      throw new IllegalStateException(e); // The body above is a good one.
    }
  }

  /** Takes answers; adds up their sizes, so that the compiler cannot leave out the work. */
  private static final class Nobody implements StreamObserver<RateLimitResponse> {
    static final Nobody INSTANCE = new Nobody();

    private long bytes;

    @Override
    public void onNext(RateLimitResponse response) {
      bytes += response.toByteArray().length;
    }

    @Override
    public void onError(Throwable error) {}

    @Override
    public void onCompleted() {}
  }
}
