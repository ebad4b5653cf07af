package dev.weir;

import dev.weir.Journal.PolicyValues;
import dev.weir.Journal.Ref;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.zip.CRC32C;

/**
 * The files of one store in a folder of counts, which may have those of other stores. Only their
 * owner may read them.
 *
 * @param folder the folder
 * @param name the first part of the names of all files
 */
record StoreFiles(Path folder, String name) {
  /*
   * NAME.image          an image, behind the time at which it was begun
   * NAME.kept           there while the image and the journal together have everything
   * NAME.names          what the numbers in records stand for: entries, each a length, bytes, and
   *                     their CRC32C
   * NAME.journal-N      records, see JournalFile
   */

  private static final int MOST_ENTRY_BYTES = 1 << 20;

  private static final String KEPT = "The image and the journal together have every count.\n";
  private static final String OVER_BOOTS = KEPT + "So they have after the end of the machine.\n";

  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  /**
   * The entries of the file of names.
   *
   * @param bytes the length of what can be read; the rest was being written when the process died
   */
  record Names(List<Ref> refs, long bytes) {}

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

  private Path of(String end) {
    return folder.resolve(name + end);
  }

  Path image() {
    return of(".image");
  }

  /** Returns a file beside the image, for what is to replace it or was replaced. */
  Path image(String end) {
    return of(".image" + end);
  }

  Path names() {
    return of(".names");
  }

  Path file(long sequence) {
    return of(".journal-" + sequence);
  }

  /** Returns the files of records, in any order. */
  List<Path> files() throws IOException {
    List<Path> files = new ArrayList<>();
    try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, name + ".journal-*")) {
      found.forEach(files::add);
    }
    return files;
  }

  /** Returns the bytes of the image and the journal, which is what a start has to read. */
  long bytes() throws IOException {
    long bytes = Files.exists(image()) ? Files.size(image()) : 0;
    for (Path each : files()) {
      bytes += Files.size(each);
    }
    return bytes;
  }

  /** Returns the ends after which the image and the journal together have everything. */
  StateDurability kept() throws IOException {
    try {
      String mark = Files.readString(of(".kept"));
      return mark.equals(OVER_BOOTS) ? StateDurability.MACHINE : StateDurability.PROCESS;
    } catch (NoSuchFileException e) {
      return StateDurability.NONE;
    }
  }

  /**
   * Writes the mark: the image and the journal together have everything. A mark that says the same
   * already stays as it is: after the end of the machine, half of it would say less.
   */
  void mark(StateDurability durability) throws IOException {
    if (kept() == durability) {
      return;
    }
    Path mark = of(".kept");
    Files.writeString(mark, durability == StateDurability.MACHINE ? OVER_BOOTS : KEPT);
    sync(mark);
    sync(folder);
  }

  /** Removes the mark: something is missing. */
  void unmark() throws IOException {
    if (Files.deleteIfExists(of(".kept"))) {
      sync(folder); // Otherwise it could be back after the end of the machine.
    }
  }

  /** Deletes the journal. */
  void clear() throws IOException {
    unmark();
    for (Path each : files()) {
      Files.deleteIfExists(each);
    }
    Files.deleteIfExists(names());
  }

  static void append(FileChannel names, Ref ref) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeInt(0);
    out.writeUTF(ref.name());
    Shape shape = ref.shape();
    out.writeUTF(shape.algorithm().name());
    out.writeLong(shape.windowNanos());
    out.writeLong(shape.granularityNanos());
    out.writeLong(shape.emissionNanos());
    out.writeLong(shape.burst());
    out.writeByte(ref.cellBits());
    StateImage.writePolicy(ref.policy().policy(), out);
    ByteBuffer entry = ByteBuffer.allocate(bytes.size() + Long.BYTES).put(bytes.toByteArray());
    entry.putInt(0, bytes.size() - Integer.BYTES);
    entry.putLong(crc(entry.array(), bytes.size())).flip();
    while (entry.hasRemaining()) {
      names.write(entry);
    }
  }

  private static long crc(byte[] bytes, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, length);
    return crc.getValue();
  }

  Names readNames() throws IOException {
    List<Ref> refs = new ArrayList<>();
    long read = 0;
    byte[] all;
    try {
      all = Files.readAllBytes(names());
    } catch (NoSuchFileException e) {
      return new Names(refs, 0);
    }
    ByteBuffer left = ByteBuffer.wrap(all);
    while (left.remaining() > Integer.BYTES + Long.BYTES) {
      int length = left.getInt(left.position());
      int summed = Integer.BYTES + length;
      if (length < 0 || length > MOST_ENTRY_BYTES || left.remaining() < summed + Long.BYTES) {
        break;
      }
      byte[] entry = new byte[summed];
      left.get(entry);
      if (left.getLong() != crc(entry, summed)) {
        break;
      }
      read = left.position();
      refs.add(ref(entry));
    }
    return new Names(refs, read);
  }

  private static Ref ref(byte[] entry) throws IOException {
    DataInputStream in =
        new DataInputStream(
            new ByteArrayInputStream(entry, Integer.BYTES, entry.length - Integer.BYTES));
    try {
      String name = in.readUTF();
      Shape shape =
          new Shape(
              Algorithm.valueOf(in.readUTF()),
              in.readLong(),
              in.readLong(),
              in.readLong(),
              in.readLong());
      int cellBits = in.readByte();
      return new Ref(name, shape, cellBits, new PolicyValues(StateImage.readPolicy(in)));
    } catch (RuntimeException e) { // Thrown for numbers that no policy can have.
      throw new IOException("damaged: " + e.getMessage(), e);
    }
  }

  @Override
  public String toString() {
    return folder.resolve(name).toString();
  }
}
