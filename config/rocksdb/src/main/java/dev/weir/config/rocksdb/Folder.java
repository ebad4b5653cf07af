package dev.weir.config.rocksdb;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.internal.IoCauses;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A folder with a database that this process owns until it is closed. */
final class Folder implements AutoCloseable {
  /**
   * The byte that is locked: behind anything written into the file, since on some systems a lock
   * keeps others from reading what it covers. They can still read the name of the process that
   * holds it.
   */
  private static final long LOCKED_BYTE = Long.MAX_VALUE - 1;

  private static final int MAX_PID_BYTES = 32;

  private final Path path;
  private final FileChannel lockFile;

  private Folder(Path path, FileChannel lockFile) {
    this.path = path;
    this.lockFile = lockFile;
  }

  /**
   * Creates the folder, if it is missing, and takes its lock.
   *
   * @throws ConfigException of kind IN_USE that names the process that holds the lock
   */
  static Folder lock(Path path) {
    try {
      Files.createDirectories(path);
      FileChannel file =
          FileChannel.open(
              path.resolve("lock"),
              StandardOpenOption.CREATE,
              StandardOpenOption.READ,
              StandardOpenOption.WRITE);
      try {
        lock(path, file);
        return new Folder(path, file);
      } catch (IOException | RuntimeException | Error e) {
        file.close();
        throw e;
      }
    } catch (IOException e) {
      throw new ConfigException(Kind.UNAVAILABLE, IoCauses.folder(path, e), e);
    }
  }

  private static void lock(Path path, FileChannel file) throws IOException {
    FileLock lock;
    try {
      lock = file.tryLock(LOCKED_BYTE, 1, false);
    } catch (OverlappingFileLockException e) {
      throw new ConfigException(
          Kind.IN_USE, path + ": open in this process already (expected: one store a folder)", e);
    }
    if (lock == null) {
      throw new ConfigException(
          Kind.IN_USE,
          "%s: in use by process %s (expected: one server a folder; stop the other one, or name another folder)"
              .formatted(path, holder(file)));
    }
    file.truncate(0);
    ByteBuffer pid = ByteBuffer.wrap((ProcessHandle.current().pid() + "\n").getBytes(UTF_8));
    while (pid.hasRemaining()) {
      file.write(pid, pid.position());
    }
  }

  private static String holder(FileChannel file) throws IOException {
    ByteBuffer read = ByteBuffer.allocate(MAX_PID_BYTES);
    int length = Math.max(0, file.read(read, 0));
    String pid = new String(read.array(), 0, length, UTF_8).strip();
    return pid.matches("[0-9]+") ? pid : "unknown";
  }

  Path path() {
    return path;
  }

  /** Returns the folder of RocksDB's files. */
  Path database() {
    return path.resolve("config");
  }

  Path anchor() {
    return path.resolve("config.anchor");
  }

  /**
   * Returns whether a database was created here before; then it must not be created again, whatever
   * part of it is missing. A process that died while it created one has left neither data nor an
   * anchor.
   */
  boolean hasDatabase() throws IOException {
    if (Files.exists(anchor()) && Files.size(anchor()) > 0) {
      return true;
    }
    if (!Files.isDirectory(database())) {
      return false;
    }
    try (DirectoryStream<Path> data = Files.newDirectoryStream(database(), "*.{sst,log}")) {
      return data.iterator().hasNext() && !hasCurrent();
    }
  }

  /** Returns whether the file CURRENT exists, without which a database cannot be opened. */
  boolean hasCurrent() {
    return Files.isRegularFile(database().resolve("CURRENT"));
  }

  /**
   * Returns the number of RocksDB's list of files, which CURRENT names.
   *
   * @throws ConfigException if it names none
   */
  long manifest() throws IOException {
    String current = Files.readString(database().resolve("CURRENT"), ISO_8859_1).strip();
    if (!current.matches("MANIFEST-[0-9]{1,18}")) {
      throw Damage.beyondRecovery(this, "the file CURRENT names no list of files");
    }
    return Long.parseLong(current.substring("MANIFEST-".length()));
  }

  /**
   * Returns RocksDB's list of files.
   *
   * @throws ConfigException if it is missing
   */
  Path manifestFile(long manifest) {
    Path file = database().resolve("MANIFEST-%06d".formatted(manifest));
    if (!Files.exists(file)) {
      throw Damage.beyondRecovery(this, "the list of files " + file.getFileName() + " is missing");
    }
    return file;
  }

  /** Returns RocksDB's logs, the oldest first. */
  List<Path> logs() throws IOException {
    List<Path> logs = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(database(), "[0-9]*.log")) {
      files.forEach(logs::add);
    }
    Collections.sort(logs);
    return logs;
  }

  @Override
  public void close() {
    try {
      lockFile.close(); // With its lock.
    } catch (IOException e) {
      throw new ConfigException(Kind.UNAVAILABLE, path + ": the lock was not given back", e);
    }
  }
}
