package dev.weir.config.internal.bytes;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import java.util.zip.CRC32C;

/** Writing of whole files. */
public final class SafeFile {
  private SafeFile() {}

  /** Returns a first line that names the format and has a checksum of what follows. */
  public static String header(String magic, byte[] body) {
    CRC32C crc = new CRC32C();
    crc.update(body);
    return magic + HexFormat.of().toHexDigits((int) crc.getValue()) + "\n";
  }

  /** Writes a file so that it holds either the new content or the former one, whatever happens. */
  public static void write(Path file, byte[]... parts) throws IOException {
    Path folder = file.toAbsolutePath().normalize().getParent();
    if (folder == null) {
      throw new IOException(file + ": no file (expected: a file in a folder)");
    }
    Files.createDirectories(folder);
    Path temporary = folder.resolve(file.getFileName() + ".tmp");
    try (FileChannel out =
        FileChannel.open(
            temporary,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      for (byte[] part : parts) {
        ByteBuffer buffer = ByteBuffer.wrap(part);
        while (buffer.hasRemaining()) {
          out.write(buffer);
        }
      }
      out.force(true);
    }
    Files.move(
        temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    sync(folder);
  }

  /** Makes the new name durable; some systems have no such call for a folder, and need none. */
  private static void sync(Path folder) {
    try (FileChannel names = FileChannel.open(folder, StandardOpenOption.READ)) {
      names.force(true);
    } catch (IOException e) {
      System.getLogger("dev.weir.config")
          .log(System.Logger.Level.DEBUG, folder + ": not synced", e);
    }
  }
}
