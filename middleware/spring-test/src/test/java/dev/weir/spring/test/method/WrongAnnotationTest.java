package dev.weir.spring.test.method;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.spring.RateLimit;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that a wrong annotation keeps the application from starting, and that the error names the
 * problem.
 */
class WrongAnnotationTest {
  static class BadSyntax {
    @RateLimit(name = "one", key = "#user.")
    public void call(String user) {}
  }

  static class NoSuchVariable {
    @RateLimit(name = "one", key = "#usr.length()")
    public void call(String user, int amount) {}
  }

  static class NoSuchIndex {
    @RateLimit(name = "one", condition = "#p1 > 3")
    public void call(String user) {}
  }

  static class NoName {
    @RateLimit(name = "")
    public void call() {}
  }

  static class HalfAPermit {
    @RateLimit(name = "one", permits = "0.5")
    public void call() {}
  }

  static class LongWait {
    @RateLimit(name = "one", maxWait = "2h")
    public void call() {}
  }

  static class NoFallback {
    @RateLimit(name = "one", fallback = "later")
    public String call(String user) {
      return user;
    }

    String later(int user) {
      return "" + user;
    }
  }

  static class FallbackOfAnotherType {
    @RateLimit(name = "one", fallback = "later")
    public CompletableFuture<String> call() {
      return CompletableFuture.completedFuture("");
    }

    CompletableFuture<Integer> later() {
      return CompletableFuture.completedFuture(1);
    }
  }

  static class PrivateMethod {
    @RateLimit(name = "one")
    @SuppressWarnings("unused")
    private void call() {}
  }

  static class FinalMethod {
    @RateLimit(name = "one")
    public final void call() {}
  }

  @RateLimit(name = "one")
  static class ClassWithFinalMethod {
    public final void call() {}
  }

  static class Both {
    @RateLimit(name = "one")
    @RateLimit.Exempt
    public void call() {}
  }

  static class OwnFuture<T> extends CompletableFuture<T> {}

  static class OwnStage {
    @RateLimit(name = "one")
    public OwnFuture<String> call() {
      return new OwnFuture<>();
    }
  }

  static Stream<Arguments> wrong() {
    return Stream.of(
        Arguments.of(BadSyntax.class, "(String): @RateLimit key: \"#user.\" (expected: SpEL; "),
        Arguments.of(
            NoSuchVariable.class,
            "(String, int): @RateLimit key: \"#usr.length()\": there is no #usr"
                + " (expected: one of #user #amount #p0 #p1 #a0 #a1 #root #this)"),
        Arguments.of(
            NoSuchIndex.class,
            "(String): @RateLimit condition: \"#p1 > 3\": there is no #p1 (expected: one of"),
        Arguments.of(NoName.class, "(): @RateLimit name: \"\" (expected: 1 to 1024 characters)"),
        Arguments.of(
            HalfAPermit.class,
            "(): @RateLimit permits: \"0.5\" is 0.5 (expected: an integer, 0 or more)"),
        Arguments.of(
            LongWait.class,
            "(): @RateLimit maxWait: \"2h\" (expected: 1ms to 1m, such as 500ms or 2s)"),
        Arguments.of(
            NoFallback.class,
            "(String): @RateLimit fallback: \"later\" (expected: another method of "
                + NoFallback.class.getName()
                + " with the parameters (String), the last one followed by a"
                + " RateLimitExceededException or not, that returns java.lang.String)"),
        Arguments.of(FallbackOfAnotherType.class, "(): @RateLimit fallback: \"later\" (expected: "),
        Arguments.of(
            PrivateMethod.class,
            "(): @RateLimit on a method that is private (expected: one that a proxy can override:"
                + " not private, static or final)"),
        Arguments.of(
            FinalMethod.class, "(): @RateLimit on a method that is public final (expected"),
        Arguments.of(
            ClassWithFinalMethod.class,
            "(): @RateLimit on a class with a final method (expected: not final, or"
                + " @RateLimit.Exempt)"),
        Arguments.of(Both.class, "(): @RateLimit and @RateLimit.Exempt (expected: one of them)"),
        Arguments.of(
            OwnStage.class,
            "(): @RateLimit on a method that returns "
                + OwnFuture.class.getName()
                + " (expected: CompletionStage or CompletableFuture)"));
  }

  @ParameterizedTest
  @MethodSource("wrong")
  void wrongAnnotation_keepsTheApplicationFromStarting(Class<?> type, String message) {
    new Limited()
        .runner()
        .withBean(type)
        .run(
            context -> {
              Throwable failure = Objects.requireNonNull(context.getStartupFailure());
              assertThat(String.valueOf(failure)).contains(type.getName() + ".call" + message);
            });
  }
}
