package dev.weir.spring.method;

import java.lang.reflect.Method;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;

/** The kind of a method's result, which decides when a call of it is decided. */
interface ReturnKind {
  /**
   * Decides a call, and runs or refuses it.
   *
   * @return the result of the method
   * @throws Throwable the refusal, or an exception of the method
   */
  @Nullable Object run(LimitedCall call) throws Throwable;

  /**
   * Returns the kind of a method.
   *
   * @throws IllegalStateException if the result of such a method cannot wait for an answer
   */
  static ReturnKind of(Method method, String place) {
    Class<?> type = method.getReturnType();
    if (KotlinDetector.isSuspendingFunction(method)) {
      throw wrong(place, "is a suspending function", "Mono, Flux, CompletionStage or a plain type");
    }
    if (CompletionStage.class.isAssignableFrom(type)) {
      if (!type.isAssignableFrom(CompletableFuture.class)) {
        throw wrong(place, "returns " + type.getName(), "CompletionStage or CompletableFuture");
      }
      return new StageReturn();
    }
    ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(type);
    if (adapter == null) {
      return new PlainReturn();
    }
    if (!ReactiveThreads.isReactorThere()) {
      throw wrong(place, "returns " + type.getName(), "reactor-core on the class path");
    }
    return new ReactiveReturn(adapter);
  }

  private static IllegalStateException wrong(String place, String what, String expected) {
    return new IllegalStateException(
        place + ": @RateLimit on a method that " + what + " (expected: " + expected + ")");
  }
}
