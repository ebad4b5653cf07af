package dev.weir.cli.rules;

import dev.weir.config.Cause;
import java.nio.charset.StandardCharsets;

/** The author of changes to a store that are made without a server. */
public final class OfflineActor {
  private static final int MAX_NAME_BYTES = 150;

  private OfflineActor() {}

  /** Returns a cause in the name of the operating system's user. */
  public static Cause cause(String reason) {
    String user = System.getProperty("user.name", "").replaceAll("[\\p{Cntrl}\\p{Cs}]", "").strip();
    boolean fits =
        !user.isEmpty() && user.getBytes(StandardCharsets.UTF_8).length <= MAX_NAME_BYTES;
    return new Cause(
        "user " + (fits ? user : "unknown"), "operator", "cli, without a server", "", "", reason);
  }
}
