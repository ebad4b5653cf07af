package dev.weir.server.internal.access;

import dev.weir.engine.holds.HoldSettings;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import dev.weir.server.settings.StartException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** The secret that signs holds. */
public final class HoldKey {
  private static final int LEAST_CHARACTERS = 32;

  private HoldKey() {}

  /**
   * Returns the settings of holds; without a file the secret is random.
   *
   * @throws StartException if the file cannot be read, or its secret is too short
   */
  public static HoldSettings of(ServerSettings settings) throws StartException {
    Duration life = settings.value(Settings.HOLD_LIFE);
    Optional<Path> file = settings.value(Settings.HOLD_KEY_FILE);
    if (file.isEmpty()) {
      return new HoldSettings(HoldSettings.random().key(), life);
    }
    String source = settings.source(Settings.HOLD_KEY_FILE);
    String secret = PasswordFile.read(source, file.get());
    if (secret.length() < LEAST_CHARACTERS) {
      throw new StartException(
          source
              + ": "
              + file.get()
              + ": "
              + secret.length()
              + " characters (expected: at least "
              + LEAST_CHARACTERS
              + ", for example of openssl rand -hex 32)");
    }
    return HoldSettings.of(secret.getBytes(StandardCharsets.UTF_8), life);
  }
}
