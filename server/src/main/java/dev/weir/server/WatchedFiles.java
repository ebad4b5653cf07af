package dev.weir.server;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;

/**
 * Files that belong together and are taken in again when they hold something else. What counts is
 * their content, not their time: a copy may bring an old time along. New content is taken in when
 * two looks in a row find it, so that a file that is being written is left alone. Safe for use by
 * many threads.
 */
final class WatchedFiles {
  /** More than any list of tokens or bundle of certificates; a file is held whole. */
  static final int MAX_BYTES = 8 << 20;

  /** Takes in what the files hold, in their order: all of it or, by throwing, nothing. */
  interface Taker {
    void take(List<byte[]> contents) throws IOException, GeneralSecurityException;
  }

  private final String name;
  private final String inForce;
  private final List<Path> files;
  private final Taker taker;

  /** Of what was taken in last, or refused. */
  private byte[] taken = {};

  /** Of what was found last. */
  private byte[] found = {};

  /** Why the files cannot be used, as the log was told; empty if they can. */
  private String trouble = "";

  /**
   * @param name for the log, the flag that names the files
   * @param inForce for the log, what becomes of new content
   */
  WatchedFiles(String name, String inForce, List<Path> files, Taker taker) {
    this.name = name;
    this.inForce = inForce;
    this.files = List.copyOf(files);
    this.taker = taker;
  }

  /**
   * Takes in what the files hold now.
   *
   * @throws IOException if one cannot be read
   * @throws GeneralSecurityException as the taker
   */
  synchronized void first() throws IOException, GeneralSecurityException {
    List<byte[]> contents = read();
    taker.take(contents);
    taken = digest(contents);
    found = taken;
  }

  /**
   * Looks whether the files hold something else, and takes it in; to be called now and then. What
   * cannot be used changes nothing, is said once, and is tried again at every look.
   */
  synchronized void look() {
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
        Logs.LOG.info(name + ": changed, in force" + inForce);
      }
    } catch (IOException | GeneralSecurityException | RuntimeException e) {
      String said = reason(e);
      if (!said.equals(trouble)) {
        trouble = said;
        Logs.LOG.warning(name + ": cannot be used, what was before stays in force: " + said);
      }
    }
  }

  /** Returns what is wrong, in words. */
  static String reason(Exception e) {
    if (e instanceof NoSuchFileException missing) {
      return missing.getFile() + ": not there";
    }
    return e.getMessage() == null ? e.toString() : e.getMessage();
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
