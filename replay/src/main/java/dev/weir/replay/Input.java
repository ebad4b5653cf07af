package dev.weir.replay;

import java.io.ByteArrayInputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;

/** The bytes of an input: a file or standard input, decompressed if need be, and counted. */
final class Input implements Closeable {
  /** What stands for standard input. */
  static final String STANDARD = "-";

  private static final int GZIP_BUFFER = 1 << 16;

  /** The compressed data ends before its end, or is damaged: what came before it is good. */
  static final class CutShort extends IOException {
    private static final long serialVersionUID = 1;

    CutShort(IOException cause) {
      super(cause);
    }
  }

  /** Counts what is read of the file, for the progress. */
  private static final class Counted extends FilterInputStream {
    private long bytes;

    Counted(InputStream in) {
      super(in);
    }

    @Override
    public int read() throws IOException {
      int value = in.read();
      bytes += value < 0 ? 0 : 1;
      return value;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      int read = in.read(target, offset, length);
      bytes += Math.max(0, read);
      return read;
    }
  }

  /** Decompresses, and tells damage of the data from trouble with reading it. */
  private static final class Gunzip extends InputStream {
    private final InputStream compressed;
    private @Nullable GZIPInputStream in;

    Gunzip(InputStream compressed) {
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
        GZIPInputStream opened = in;
        if (opened == null) {
          opened = new GZIPInputStream(compressed, GZIP_BUFFER);
          in = opened;
        }
        return opened.read(target, offset, length);
      } catch (EOFException | ZipException e) {
        throw new CutShort(e);
      }
    }

    @Override
    public void close() throws IOException {
      compressed.close();
    }
  }

  private final String name;
  private final long totalBytes;
  private final Counted counted;
  private final InputStream text;

  private Input(String name, long totalBytes, InputStream in) throws IOException {
    this.name = name;
    this.totalBytes = totalBytes;
    counted = new Counted(in);
    text = decompressed(counted);
  }

  /**
   * Opens an input.
   *
   * @param name a file's, or {@value #STANDARD}
   * @param standard what {@value #STANDARD} stands for
   */
  static Input open(String name, InputStream standard) throws IOException, ReplayException {
    if (name.equals(STANDARD)) {
      return new Input(name, -1, standard);
    }
    Path path = path("input", name);
    if (!Files.exists(path)) {
      throw new ReplayException("input: " + name + " (expected: an existing file)");
    }
    if (Files.isDirectory(path)) {
      throw new ReplayException("input: " + name + " (expected: a file, not a folder)");
    }
    InputStream in = Files.newInputStream(path);
    try {
      return new Input(name, Files.size(path), in);
    } catch (IOException e) {
      in.close();
      throw e;
    }
  }

  static Path path(String what, String name) throws ReplayException {
    try {
      return Path.of(name);
    } catch (InvalidPathException e) {
      throw new ReplayException(what + ": " + Shown.quoted(name) + " (expected: a path)");
    }
  }

  private static InputStream decompressed(InputStream in) throws IOException {
    byte[] magic = in.readNBytes(2);
    InputStream whole = new SequenceInputStream(new ByteArrayInputStream(magic), in);
    boolean gzip = magic.length == 2 && magic[0] == 0x1f && magic[1] == (byte) 0x8b;
    return gzip ? new Gunzip(whole) : whole;
  }

  String name() {
    return name;
  }

  /** Returns the file's length, or -1 if it is not known. */
  long totalBytes() {
    return totalBytes;
  }

  /** Returns how many bytes of the file have been read. */
  long bytesRead() {
    return counted.bytes;
  }

  InputStream text() {
    return text;
  }

  @Override
  public void close() throws IOException {
    text.close();
  }
}
