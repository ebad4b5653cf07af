package dev.weir.server;

import java.io.IOException;
import java.util.concurrent.Callable;

/**
 * The repetition of tests of servers that cut off clients which take too long, which is half a
 * second there. The machine may hold this process up for longer than that between two bytes; then
 * the server cuts off an honest client. So a failed test is repeated; a real error fails each time.
 */
public final class Retried {
  private static final int TRIES = 8;

  /** The body of a test; begins anew each time. */
  @FunctionalInterface
  public interface Body {
    void run() throws Exception;
  }

  private Retried() {}

  /**
   * Runs the body until it succeeds, at most eight times; throws the exception of the last time.
   */
  public static void run(Body body) throws Exception {
    boolean unused =
        get(
            () -> {
              body.run();
              return true;
            });
  }

  /** Runs the body like {@link #run}, and returns its result. */
  public static <T> T get(Callable<T> body) throws Exception {
    for (int left = TRIES - 1; ; left--) {
      try {
        return body.call();
      } catch (IOException | AssertionError e) {
        if (left == 0) {
          throw e;
        }
        System.out.println("again, after " + e);
      }
    }
  }
}
