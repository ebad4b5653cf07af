package dev.weir.cluster.internal.peer;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The incarnation of a member to which a folder belongs, and the storage of the folder's small
 * files.
 */
public final class Identity {
  private static final String FILE = "member.properties";
  private static final String LEVEL = "level";
  private static final String COMMENT =
      "Which member this folder belongs to. Do not change or copy it.";

  private Identity() {}

  /**
   * Returns the incarnation that a folder belongs to; draws one if the folder is empty.
   *
   * @throws IOException if the folder belongs to another member, or has lost a part
   */
  public static UUID of(Path folder, String name) throws IOException {
    Properties p = load(folder);
    if (p == null) {
      return draw(folder, name);
    }
    if (!name.equals(p.getProperty("name"))) {
      throw new IOException(
          folder + " belongs to the member " + p.getProperty("name") + " (expected: " + name + ")");
    }
    try {
      return UUID.fromString(p.getProperty("incarnation", ""));
    } catch (IllegalArgumentException e) {
      throw damaged(folder, e);
    }
  }

  private static @Nullable Properties load(Path folder) throws IOException {
    Properties p = new Properties();
    try (InputStream in = Files.newInputStream(folder.resolve(FILE))) {
      p.load(in);
      return p;
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  /**
   * Returns the highest level that may occur in a folder; that of the first version if none is
   * noted.
   *
   * @throws IOException if it cannot be read, or it is not among {@code able}
   */
  public static int level(Path folder, Levels able) throws IOException {
    Properties p = load(folder);
    String noted = p == null ? null : p.getProperty(LEVEL);
    int level;
    try {
      level = noted == null ? Levels.FIRST : Integer.parseInt(noted);
    } catch (NumberFormatException e) {
      throw damaged(folder, e);
    }
    String problem = able.conflict(level);
    if (problem != null) {
      throw new IOException(folder + " is of " + problem);
    }
    return level;
  }

  /** Notes that a level may occur in the folder from now on. */
  public static void raise(Path folder, int level) throws IOException {
    Properties p = load(folder);
    if (p != null && level > Integer.parseInt(p.getProperty(LEVEL, "0"))) {
      p.setProperty(LEVEL, Integer.toString(level));
      save(p, folder.resolve(FILE), COMMENT);
    }
  }

  private static IOException damaged(Path folder, Exception cause) {
    return new IOException(
        folder.resolve(FILE) + ": damaged (expected: as a member wrote it): " + cause.getMessage(),
        cause);
  }

  private static UUID draw(Path folder, String name) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      if (files.anyMatch(each -> !each.getFileName().toString().equals("lock"))) {
        throw new IOException(
            folder + " has lost " + FILE + " (expected: a whole folder, or an empty one)");
      }
    }
    UUID incarnation = UUID.randomUUID();
    Properties p = new Properties();
    p.setProperty("name", name);
    p.setProperty("incarnation", incarnation.toString());
    save(p, folder.resolve(FILE), COMMENT);
    return incarnation;
  }

  /** Writes a file, readable by its owner alone; when this returns it is on disk. */
  static void save(Properties p, Path file, String comment) throws IOException {
    Path next = file.resolveSibling(file.getFileName() + ".next");
    Files.deleteIfExists(next);
    Set<StandardOpenOption> options =
        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    if (next.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      Files.newByteChannel(
              next,
              options,
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))
          .close();
    }
    try (OutputStream out = Files.newOutputStream(next)) {
      p.store(out, comment);
    }
    force(next);
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    force(file.resolveSibling("."));
  }

  public static void force(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }
}
