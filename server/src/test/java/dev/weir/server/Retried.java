package dev.weir.server;

import java.io.IOException;
import java.util.concurrent.Callable;

/**
 * Tests of what a server does to a client who takes too long, which is half a second there. The
 * machine may hold this process up for longer than that between two bytes, and then the server cuts
 * off a client who meant well. So what fails is tried again; what is wrong fails each time.
 */
public final class Retried {
  private static final int TRIES = 8;

  /** What is tried; begins anew each time. */
  @FunctionalInterface
  public interface Body {
    void run() throws Exception;
  }

  private Retried() {}

  /** Tries it until it succeeds, at most eight times; throws what it threw the last time. */
  public static void run(Body body) throws Exception {
    boolean unused =
        get(
            () -> {
              body.run();
              return true;
            });
  }

  /** As {@link #run}, and returns what it returned. */
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
