package dev.weir.http.client;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.http.HttpClient;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The methods that {@link HttpClient} has since Java 21, by which a client is shut down. */
final class NewerMethods {
  private static final @Nullable MethodHandle SHUTDOWN =
      find("shutdown", MethodType.methodType(void.class));
  private static final @Nullable MethodHandle SHUTDOWN_NOW =
      find("shutdownNow", MethodType.methodType(void.class));
  private static final @Nullable MethodHandle IS_TERMINATED =
      find("isTerminated", MethodType.methodType(boolean.class));
  private static final @Nullable MethodHandle AWAIT_TERMINATION =
      find("awaitTermination", MethodType.methodType(boolean.class, Duration.class));
  private static final @Nullable MethodHandle CLOSE =
      find("close", MethodType.methodType(void.class));

  private NewerMethods() {}

  private static @Nullable MethodHandle find(String name, MethodType type) {
    try {
      return MethodHandles.publicLookup().findVirtual(HttpClient.class, name, type);
    } catch (NoSuchMethodException e) {
      return null; // Java 17 to 20.
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("HttpClient." + name + ": (expected: public)", e);
    }
  }

  static void shutdown(HttpClient client) {
    run(SHUTDOWN, client);
  }

  static void shutdownNow(HttpClient client) {
    run(SHUTDOWN_NOW, client);
  }

  static void close(HttpClient client) {
    run(CLOSE, client);
  }

  static boolean isTerminated(HttpClient client) {
    try {
      return IS_TERMINATED != null && (boolean) IS_TERMINATED.invokeExact(client);
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  static boolean awaitTermination(HttpClient client, Duration duration)
      throws InterruptedException {
    try {
      return AWAIT_TERMINATION == null || (boolean) AWAIT_TERMINATION.invokeExact(client, duration);
    } catch (InterruptedException e) {
      throw e;
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  private static void run(@Nullable MethodHandle method, HttpClient client) {
    try {
      if (method != null) {
        method.invokeExact(client);
      }
    } catch (Throwable e) {
      throw unchecked(e);
    }
  }

  private static RuntimeException unchecked(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return e instanceof RuntimeException runtime ? runtime : new IllegalStateException(e);
  }
}
