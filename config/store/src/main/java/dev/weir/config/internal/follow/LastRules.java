package dev.weir.config.internal.follow;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.config.Json;
import dev.weir.config.internal.bytes.SafeFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The rules last in force, in a file: a server starts with them if its store does not answer. */
public final class LastRules {
  /** The largest file: all that rule files may hold, written as JSON in the worst case. */
  static final long MAX_BYTES = 512L << 20;

  private static final String MAGIC = "weir-last-known 1 ";
  private static final int HEADER_BYTES = MAGIC.length() + 8 + 1;

  private final Path file;

  public LastRules(Path file) {
    this.file = file;
  }

  /** Returns whether there is a file, sound or damaged. */
  public boolean exists() {
    return Files.exists(file);
  }

  /**
   * Returns the rules, or null if there is no file.
   *
   * @throws IOException if it is not as it was written; the message contains the remedy
   */
  @Nullable
  public RuleTexts read() throws IOException {
    if (!exists()) {
      return null;
    }
    if (Files.size(file) > MAX_BYTES) {
      throw damaged("more than " + MAX_BYTES + " bytes", null);
    }
    byte[] bytes = Files.readAllBytes(file);
    if (bytes.length < HEADER_BYTES) {
      throw damaged("cut off", null);
    }
    byte[] json = new byte[bytes.length - HEADER_BYTES];
    System.arraycopy(bytes, HEADER_BYTES, json, 0, json.length);
    if (!header(json).equals(new String(bytes, 0, HEADER_BYTES, US_ASCII))) {
      throw damaged("another checksum than its content", null);
    }
    try {
      Json.Members members = Json.read(new String(json, UTF_8));
      return new RuleTexts(
          members.text("store"),
          members.number("revision"),
          new TreeMap<>(members.object("files").texts()));
    } catch (IOException e) {
      throw damaged(String.valueOf(e.getMessage()), e);
    }
  }

  private IOException damaged(String how, @Nullable Exception cause) {
    return new IOException(
        file + ": " + how + " (expected: as written; delete it to wait for the store)", cause);
  }

  /** Writes the rules so that the file holds either these or the former ones, whatever happens. */
  public void write(RuleTexts rules) throws IOException {
    byte[] json =
        Json.write(
                Map.of(
                    "store", rules.store(), "revision", rules.revision(), "files", rules.texts()))
            .getBytes(UTF_8);
    SafeFile.write(file, header(json).getBytes(US_ASCII), json);
  }

  private static String header(byte[] json) {
    return SafeFile.header(MAGIC, json);
  }
}
