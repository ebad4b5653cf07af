package dev.weir.server.internal.access;

import dev.weir.server.settings.StartException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** A reader of files that contain only a password. */
public final class PasswordFile {
  private PasswordFile() {}

  /**
   * Returns the password.
   *
   * @param source the setting that names the file, for messages
   * @throws StartException if it cannot be read, or is not one line
   */
  public static String read(String source, Path file) throws StartException {
    String where = source + ": " + file;
    try {
      String password = Files.readString(file, StandardCharsets.UTF_8).replaceFirst("\\R$", "");
      if (password.isEmpty() || password.lines().count() > 1) {
        throw new StartException(where + ": not one line (expected: the password alone)");
      }
      return password;
    } catch (IOException e) {
      throw new StartException(where + ": cannot be read: " + e + " (expected: a password)", e);
    }
  }
}
