package dev.weir.spring.gateway.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.Store;
import dev.weir.engine.Answer;
import dev.weir.engine.Decider;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.Ticket;
import dev.weir.engine.seats.TakenSeat;
import dev.weir.rules.Request;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.LateStore;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * An engine for each domain, all with the same rules: {@code gateway} counts in this process, the
 * store of {@code late} answers on demand, and {@code unready} has no rules yet.
 */
final class Domains implements Decider, AutoCloseable {
  final LateStore late = new LateStore();
  final Engine gateway;
  private final Engine lateEngine;
  private final Engine unready;

  Domains(FakeTicker ticker) {
    gateway = engine(ticker, new MemoryStore(), "gateway");
    lateEngine = engine(ticker, late, "late");
    unready = Engine.create(new MemoryStore(), ticker, EngineSettings.DEFAULTS);
  }

  static Engine engine(FakeTicker ticker, Store store, String domain) {
    Engine engine = Engine.create(store, ticker, EngineSettings.DEFAULTS);
    Rules.LoadResult loaded = Rules.parse("rules.yaml", "domain: " + domain + "\n" + rules());
    assertThat(loaded.problems()).isEmpty();
    engine.apply(Objects.requireNonNull(loaded.ruleSet()));
    return engine;
  }

  private static String rules() {
    try (InputStream file = Domains.class.getResourceAsStream("/rules.yaml")) {
      return new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Engine of(Request request) {
    return switch (request.domain()) {
      case "gateway" -> gateway;
      case "late" -> lateEngine;
      case "unready" -> unready;
      default -> throw new AssertionError(request.domain());
    };
  }

  @Override
  public void decide(Request request, Consumer<? super Answer> done) {
    of(request).decide(request, done);
  }

  @Override
  public void peek(Request request, Consumer<? super Answer> done) {
    of(request).peek(request, done);
  }

  @Override
  public void refund(Request request, Answer answer, LongConsumer done) {
    of(request).refund(request, answer, done);
  }

  @Override
  public @Nullable TakenSeat seat(Request request, Answer answer) {
    return of(request).seat(request, answer);
  }

  @Override
  public Ticket enqueue(
      Request request, Answer refused, long maxWaitNanos, Consumer<? super Answer> done) {
    return of(request).enqueue(request, refused, maxWaitNanos, done);
  }

  @Override
  public void close() {
    gateway.close();
    lateEngine.close();
    unready.close();
  }
}
