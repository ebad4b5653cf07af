package dev.weir.server;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The tokens of a file, read again when it changes. Safe for use by many threads. */
final class TokenFile {
  private final Path path;
  private final Tokens tokens;
  private FileTime read;

  private TokenFile(Path path) throws IOException {
    this.path = path;
    this.read = Files.getLastModifiedTime(path);
    this.tokens = Tokens.of(Files.readAllLines(path, StandardCharsets.UTF_8));
  }

  /**
   * Returns the tokens by the settings, or null if none is required.
   *
   * @throws StartException if the file cannot be used
   */
  static @Nullable TokenFile of(ServerSettings settings) throws StartException {
    Optional<Path> path = settings.value(Setting.TOKEN_FILE);
    try {
      return path.isEmpty() ? null : new TokenFile(path.get());
    } catch (IOException | IllegalArgumentException e) {
      throw new StartException(
          settings.source(Setting.TOKEN_FILE) + ": " + path.get() + ": " + e.getMessage(), e);
    }
  }

  Tokens tokens() {
    return tokens;
  }

  /** Reads the file if it has changed; if it cannot be used, the tokens before stay. */
  synchronized void refresh() {
    try {
      FileTime now = Files.getLastModifiedTime(path);
      if (!now.equals(read)) {
        read = now;
        tokens.replace(Files.readAllLines(path, StandardCharsets.UTF_8));
        Logs.LOG.info(Setting.TOKEN_FILE.flag() + ": changed, in force");
      }
    } catch (IOException | IllegalArgumentException e) {
      Logs.LOG.warning(
          Setting.TOKEN_FILE.flag()
              + ": cannot be used, the tokens before stay in force: "
              + e.getMessage());
    }
  }
}
