package dev.weir.server.internal.access;

import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import dev.weir.server.settings.StartException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Optional;

/** The tokens of a file, read again when it changes. Safe for use by many threads. */
public final class TokenFile {
  /** The file of a server that requires no tokens. */
  private static final TokenFile NONE = new TokenFile(Tokens.notRequired(), () -> {});

  private final Tokens tokens;
  private final Runnable refresh;

  private TokenFile(Tokens tokens, Runnable refresh) {
    this.tokens = tokens;
    this.refresh = refresh;
  }

  private static TokenFile of(Path path) throws IOException, GeneralSecurityException {
    Tokens tokens = Tokens.noneYet();
    WatchedFiles file =
        new WatchedFiles(
            Settings.TOKEN_FILE.flag(),
            "",
            List.of(path),
            contents -> tokens.replace(lines(contents.get(0))));
    file.first();
    return new TokenFile(tokens, file::check);
  }

  private static List<String> lines(byte[] content) {
    try {
      CharBuffer text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(content));
      return text.toString().lines().toList();
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("not text (expected: UTF-8)", e);
    }
  }

  /**
   * Returns the tokens of the settings; without a file, none are required.
   *
   * @throws StartException if the file cannot be used
   */
  public static TokenFile of(ServerSettings settings) throws StartException {
    Optional<Path> path = settings.value(Settings.TOKEN_FILE);
    try {
      return path.isEmpty() ? NONE : of(path.get());
    } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
      throw new StartException(
          settings.source(Settings.TOKEN_FILE) + ": " + path.get() + ": " + WatchedFiles.reason(e),
          e);
    }
  }

  public Tokens tokens() {
    return tokens;
  }

  /** Reloads the file; if it cannot be used, the old tokens stay valid. */
  public void refresh() {
    refresh.run();
  }
}
