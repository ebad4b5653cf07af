package dev.weir.cluster.sim;

import dev.weir.cluster.internal.peer.ByteWriter;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * The images of a simulated cluster, in memory: creating a file costs more than everything between
 * two images. Its streams have no locks, unlike those of the JDK.
 */
final class SimImages {
  private final Map<Path, byte[]> images = new HashMap<>();

  /** Returns a stream that keeps an image when it is closed. */
  OutputStream write(Path file) {
    ByteWriter written = new ByteWriter();
    return new OutputStream() {
      @Override
      public void write(int value) {
        written.writeByte(value);
      }

      @Override
      public void write(byte[] some, int from, int count) {
        written.copy(some, from, from + count);
      }

      @Override
      public void close() {
        images.put(file, written.toBytes());
      }
    };
  }

  InputStream read(Path file) throws IOException {
    byte[] image = images.get(file);
    if (image == null) {
      throw new FileNotFoundException(file.toString());
    }
    return new InputStream() {
      private int at;

      @Override
      public int read() {
        return at == image.length ? -1 : image[at++] & 0xff;
      }

      @Override
      public int read(byte[] some, int from, int count) {
        Objects.checkFromIndexSize(from, count, some.length);
        int more = Math.min(count, image.length - at);
        System.arraycopy(image, at, some, from, more);
        at += more;
        return more == 0 && count > 0 ? -1 : more;
      }
    };
  }
}
