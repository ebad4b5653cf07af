package dev.weir;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** The files of a folder of counts, which only their owner may read. */
final class StateFiles {
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private StateFiles() {}

  /**
   * Creates a file for writing.
   *
   * @throws IOException if it exists or cannot be created
   */
  static FileChannel create(Path file) throws IOException {
    var options = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    return file.getFileSystem().supportedFileAttributeViews().contains("posix")
        ? FileChannel.open(file, options, OWNER_ONLY)
        : FileChannel.open(file, options);
  }

  /** Writes a file's bytes, or a folder's entries, to the disk. */
  static void sync(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }
}
