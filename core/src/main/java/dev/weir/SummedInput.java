package dev.weir;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * A stream of big-endian numbers that computes the sum of what was read so far, a block at a time.
 */
final class SummedInput extends InputStream {
  private static final int BLOCK_BYTES = 1 << 16;
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private final InputStream in;
  private final CRC32C sum = new CRC32C();
  private final byte[] block = new byte[BLOCK_BYTES];
  private int position;
  private int end;

  /** The position up to which the sum has been computed. */
  private int summed;

  SummedInput(InputStream in) {
    this.in = in;
  }

  /** Returns the sum of what was read so far. */
  long sum() {
    sum.update(block, summed, position - summed);
    summed = position;
    return sum.getValue();
  }

  /** Moves what was not read to the front, and reads at least one more byte, if there is one. */
  private boolean refill() throws IOException {
    long unused = sum();
    System.arraycopy(block, position, block, 0, end - position);
    end -= position;
    position = 0;
    summed = 0;
    int more = in.read(block, end, BLOCK_BYTES - end);
    end += Math.max(0, more);
    return more > 0;
  }

  private void ensure(int bytes) throws IOException {
    while (end - position < bytes) {
      if (!refill()) {
        throw new EOFException();
      }
    }
  }

  long nextLong() throws IOException {
    ensure(Long.BYTES);
    long next = (long) LONGS.get(block, position);
    position += Long.BYTES;
    return next;
  }

  int nextInt() throws IOException {
    ensure(Integer.BYTES);
    int next = 0;
    for (int i = 0; i < Integer.BYTES; i++) {
      next = (next << Byte.SIZE) | (block[position++] & 0xff);
    }
    return next;
  }

  @Override
  public int read() throws IOException {
    return position < end || refill() ? block[position++] & 0xff : -1;
  }

  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    if (position == end && !refill()) {
      return -1;
    }
    int read = Math.min(length, end - position);
    System.arraycopy(block, position, into, offset, read);
    position += read;
    return read;
  }
}
