package dev.weir.cli;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The supervisor of this process, if it wants notifications: systemd, by the program {@code
 * systemd-notify}, for a service of {@code Type=notify} with {@code NotifyAccess=all}.
 */
final class Supervisor {
  private static final long PATIENCE_SECONDS = 2;

  private final String program;
  private final boolean asked;

  Supervisor(Map<String, String> environment) {
    this(environment, "systemd-notify");
  }

  /**
   * @param program the program that sends notifications
   */
  Supervisor(Map<String, String> environment, String program) {
    this.program = program;
    asked = !environment.getOrDefault("NOTIFY_SOCKET", "").isEmpty();
  }

  /** Notifies the supervisor that the server answers. */
  void ready() {
    send("--ready");
  }

  /** Notifies the supervisor that the server is being stopped. */
  void stopping() {
    send("STOPPING=1");
  }

  /**
   * Sends a notification. It waits for a moment at most, and throws nothing: an unreachable
   * supervisor must not hold up the server.
   */
  private void send(String what) {
    if (!asked) {
      return;
    }
    try {
      Process told =
          new ProcessBuilder(program, what)
              .redirectErrorStream(true)
              .redirectOutput(Redirect.DISCARD)
              .start();
      if (!told.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        told.destroyForcibly();
      } else if (told.exitValue() != 0) {
        failed("status " + told.exitValue());
      }
    } catch (IOException e) {
      failed(String.valueOf(e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) { // No memory for a thread, for example.
      failed(e.toString());
    }
  }

  private static void failed(String how) {
    System.err.println(
        "weir: NOTIFY_SOCKET is set, but systemd-notify failed: "
            + how
            + " (expected: systemd-notify on the PATH, NotifyAccess=all)");
  }
}
