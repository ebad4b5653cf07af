package dev.weir.traffic.internal.read;

import com.github.luben.zstd.ZstdIOException;
import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import dev.weir.rules.ShownText;
import dev.weir.traffic.Traffic;
import dev.weir.traffic.TrafficException;
import java.io.ByteArrayInputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.zip.CRC32C;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;

/** The bytes of an input: a file or standard input, decompressed if need be, and counted. */
public final class Input implements Closeable {
  private static final int GZIP_BUFFER = 1 << 16;

  private static final int MAGIC_BYTES = 4;

  /** A failure because the compressed data ends early or is damaged: the data before is good. */
  static final class CutShort extends IOException {
    private static final long serialVersionUID = 1;

    CutShort(IOException cause) {
      super(cause);
    }
  }

  /**
   * A stream that counts the bytes of the file that were read, for the progress, and computes their
   * checksum, by which the file is recognized.
   */
  private static final class CountingStream extends FilterInputStream {
    private final CRC32C checksum = new CRC32C();
    private long bytes;

    CountingStream(InputStream in) {
      super(in);
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      int read = in.read(target, offset, length);
      if (read > 0) {
        bytes += read;
        checksum.update(target, offset, read);
      }
      return read;
    }

    /**
     * Returns 1, because there may always be more. A pipe reports 0 while it is empty; the JDK's
     * gzip reader would take that for the end and lose all members of the file except the first.
     */
    @Override
    public int available() {
      return 1;
    }
  }

  /** A method of compression. */
  private enum Compression {
    GZIP,
    ZSTD;

    InputStream open(InputStream compressed) throws IOException {
      return switch (this) {
        case GZIP -> new GZIPInputStream(compressed, GZIP_BUFFER);
        case ZSTD -> new ZstdInputStreamNoFinalizer(compressed);
      };
    }

    static @Nullable Compression of(byte[] magic) {
      if (magic.length >= 2 && magic[0] == 0x1f && magic[1] == (byte) 0x8b) {
        return GZIP;
      }
      if (magic.length < MAGIC_BYTES) {
        return null;
      }
      int word = ByteBuffer.wrap(magic).order(ByteOrder.LITTLE_ENDIAN).getInt();
      // It is a frame, or a skippable frame, which some writers put first.
      return word == 0xfd2fb528 || (word & 0xfffffff0) == 0x184d2a50 ? ZSTD : null;
    }
  }

  /** A stream that decompresses, and distinguishes damaged data from a failure to read it. */
  private static final class DecompressingStream extends InputStream {
    private final Compression compression;
    private final InputStream compressed;
    private @Nullable InputStream in;

    DecompressingStream(Compression compression, InputStream compressed) {
      this.compression = compression;
      this.compressed = compressed;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      try {
        InputStream opened = in;
        if (opened == null) {
          opened = compression.open(compressed);
          in = opened;
        }
        return opened.read(target, offset, length);
      } catch (EOFException | ZipException | ZstdIOException e) {
        throw new CutShort(e);
      }
    }

    @Override
    public void close() throws IOException {
      InputStream opened = in;
      if (opened != null) {
        opened.close();
      }
      compressed.close();
    }
  }

  private final String name;
  private final long totalBytes;
  private final CountingStream counted;
  private final InputStream text;

  private Input(String name, long totalBytes, InputStream in) throws IOException {
    this.name = name;
    this.totalBytes = totalBytes;
    counted = new CountingStream(in);
    text = decompressed(counted);
  }

  /**
   * Opens an input.
   *
   * @param name a file's, or {@value Traffic#STANDARD_INPUT}
   * @param standard the stream that {@value Traffic#STANDARD_INPUT} stands for
   */
  static Input open(String name, InputStream standard) throws IOException, TrafficException {
    if (name.equals(Traffic.STANDARD_INPUT)) {
      return new Input(name, -1, standard);
    }
    Path path = path("input", name);
    if (!Files.exists(path)) {
      throw new TrafficException("input: " + name + " (expected: an existing file)");
    }
    if (Files.isDirectory(path)) {
      throw new TrafficException("input: " + name + " (expected: a file, not a folder)");
    }
    InputStream in = opened(path);
    try {
      return new Input(name, Files.isRegularFile(path) ? Files.size(path) : -1, in);
    } catch (IOException e) {
      in.close();
      throw e;
    }
  }

  private static InputStream opened(Path path) throws IOException, TrafficException {
    try {
      return Files.newInputStream(path);
    } catch (AccessDeniedException e) {
      throw new TrafficException("input: " + path + " (expected: a file that may be read)");
    }
  }

  public static Path path(String what, String name) throws TrafficException {
    try {
      return Path.of(name);
    } catch (InvalidPathException e) {
      throw new TrafficException(what + ": " + ShownText.quoted(name) + " (expected: a path)");
    }
  }

  private static InputStream decompressed(InputStream in) throws IOException {
    byte[] magic = in.readNBytes(MAGIC_BYTES);
    InputStream whole =
        new SequenceInputStream(new ByteArrayInputStream(magic), in) {
          @Override
          public int available() {
            return 1;
          }
        };
    Compression compression = Compression.of(magic);
    return compression == null ? whole : new DecompressingStream(compression, whole);
  }

  public String name() {
    return name;
  }

  /** Returns the file's length, or -1 if it is not known. */
  public long totalBytes() {
    return totalBytes;
  }

  /** Returns the number of bytes of the file that have been read. */
  public long bytesRead() {
    return counted.bytes;
  }

  /** Returns the CRC-32C of the bytes of the file that have been read. */
  public long checksum() {
    return counted.checksum.getValue();
  }

  InputStream text() {
    return text;
  }

  @Override
  public void close() throws IOException {
    text.close();
  }
}
