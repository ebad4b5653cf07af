package dev.weir.cluster.internal.peer;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** Small files of a member, as properties with a checksum over all of them. */
public final class CheckedFile {
  private static final String SUM = "sum";

  private CheckedFile() {}

  /**
   * Returns the content of a file, or null if there is none.
   *
   * @throws IOException if it cannot be read, or is damaged
   */
  public static @Nullable Properties load(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return load(in, file);
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  /**
   * Returns the content of a stream.
   *
   * @param name for messages
   */
  public static Properties load(InputStream in, Path name) throws IOException {
    Properties p = new Properties();
    try {
      p.load(in);
    } catch (IllegalArgumentException e) {
      throw damaged(name, e);
    }
    if (!sum(p).equals(p.getProperty(SUM))) {
      throw damaged(name, null);
    }
    return p;
  }

  public static IOException damaged(Path file, @Nullable Exception cause) {
    return new IOException(file + ": damaged (expected: as a member wrote it)", cause);
  }

  /** Writes a file, readable by its owner alone; when this returns it is on disk. */
  public static void save(Properties p, Path file, String comment) throws IOException {
    sign(p);
    Identity.save(p, file, comment);
  }

  /** Adds the checksum. */
  public static void sign(Properties p) {
    p.setProperty(SUM, sum(p));
  }

  private static String sum(Properties p) {
    Map<String, String> all = new TreeMap<>();
    for (String name : p.stringPropertyNames()) {
      if (!name.equals(SUM)) {
        all.put(name, p.getProperty(name));
      }
    }
    CRC32C sum = new CRC32C();
    sum.update(all.toString().getBytes(StandardCharsets.UTF_8));
    return Long.toHexString(sum.getValue());
  }
}
