package dev.weir.server.internal.access;

import dev.weir.internal.IoCauses;
import dev.weir.server.internal.log.LogEvent;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Level;

/**
 * Files that belong together and are reloaded when their content changes. The content decides, not
 * the file's time: a copy may keep an old time. New content is used when two reads in a row find
 * it, so that a file is not read while it is being written. Safe for use by many threads.
 */
public final class WatchedFiles {
  /**
   * The largest file, larger than any list of tokens or bundle of certificates; a file is read into
   * memory.
   */
  static final int MAX_BYTES = 8 << 20;

  /** A user of the files' contents, in their order: it uses all of them or, by throwing, none. */
  public interface Taker {
    void take(List<byte[]> contents) throws IOException, GeneralSecurityException;
  }

  private final String name;
  private final String inForce;
  private final List<Path> files;
  private final Taker taker;

  /** Digest of the content in force. */
  private byte[] taken = {};

  /** Digest of the content found by the last read. */
  private byte[] found = {};

  /** The reason, as last logged, why the files cannot be used; empty if they can. */
  private String trouble = "";

  /**
   * Watches files.
   *
   * @param name for the log, the flag that names the files
   * @param inForce for the log, the use of new content
   */
  public WatchedFiles(String name, String inForce, List<Path> files, Taker taker) {
    this.name = name;
    this.inForce = inForce;
    this.files = List.copyOf(files);
    this.taker = taker;
  }

  /**
   * Reads the files and uses their contents.
   *
   * @throws IOException if one cannot be read
   * @throws GeneralSecurityException if the taker throws it
   */
  public synchronized void first() throws IOException, GeneralSecurityException {
    List<byte[]> contents = read();
    taker.take(contents);
    taken = digest(contents);
    found = taken;
  }

  /**
   * Uses the contents if they have changed; called periodically. Contents that cannot be used
   * change nothing, are logged once, and are tried again at every call.
   */
  public synchronized void check() {
    try {
      List<byte[]> contents = read();
      byte[] now = digest(contents);
      boolean settled = MessageDigest.isEqual(now, found);
      found = now;
      if (MessageDigest.isEqual(now, taken)) {
        trouble = "";
      } else if (settled) {
        taker.take(contents);
        taken = now;
        trouble = "";
        LogEvent.of(Level.INFO, "file_changed", name + ": changed, in force" + inForce)
            .with("setting", name)
            .log();
      }
    } catch (IOException | GeneralSecurityException | RuntimeException e) {
      String said = reason(e);
      if (!said.equals(trouble)) {
        trouble = said;
        LogEvent.of(
                Level.WARNING,
                "file_refused",
                name + ": cannot be used, the old content stays in force: " + said)
            .with("setting", name)
            .with("reason", said)
            .log();
      }
    }
  }

  /** Returns the cause of an error, in words. */
  public static String reason(Exception e) {
    return e.getMessage() == null ? e.toString() : IoCauses.named(e);
  }

  private List<byte[]> read() throws IOException {
    List<byte[]> contents = new ArrayList<>();
    for (Path file : files) {
      try (InputStream in = Files.newInputStream(file)) {
        byte[] content = in.readNBytes(MAX_BYTES + 1);
        if (content.length > MAX_BYTES) {
          throw new IOException(file + ": larger (expected: at most " + MAX_BYTES + " bytes)");
        }
        contents.add(content);
      }
    }
    return contents;
  }

  private static byte[] digest(List<byte[]> contents) {
    byte[][] each = new byte[contents.size()][];
    int size = 0;
    for (int i = 0; i < each.length; i++) {
      each[i] = Tokens.digest(contents.get(i), 0, contents.get(i).length);
      size += each[i].length;
    }
    byte[] all = new byte[size];
    for (int i = 0, at = 0; i < each.length; at += each[i++].length) {
      System.arraycopy(each[i], 0, all, at, each[i].length);
    }
    return all;
  }
}
