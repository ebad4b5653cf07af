package dev.weir.server.internal.resp;

import java.util.Arrays;

/**
 * The commands of one connection between {@code MULTI} and {@code EXEC}, as they were sent.
 * Confined to one event loop.
 */
final class RespTransaction {
  /**
   * The most bytes of one transaction: more than the pipelines of clients hold, and little memory.
   */
  private static final int MAX_BYTES = 1 << 20;

  private byte[] bytes = {};
  private int size;
  private int count;
  private boolean refused;

  /** Returns whether there is no room for that many bytes more. */
  boolean full(int more) {
    return size + more > MAX_BYTES;
  }

  /** Keeps a command. */
  void add(byte[] in, int from, int to) {
    int length = to - from;
    if (size + length > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + length));
    }
    System.arraycopy(in, from, bytes, size, length);
    size += length;
    count++;
  }

  /** Records that a command was not kept: none of the commands will be run. */
  void refuse() {
    refused = true;
    bytes = new byte[0];
    size = 0;
    count = 0;
  }

  boolean refused() {
    return refused;
  }

  /** Returns the number of commands. */
  int count() {
    return count;
  }

  /** Returns the bytes of memory. */
  int held() {
    return bytes.length;
  }

  /** Returns the commands, followed by the bytes that have been read after {@code EXEC}. */
  byte[] then(byte[] in, int from, int to) {
    byte[] all = Arrays.copyOf(bytes, size + to - from);
    System.arraycopy(in, from, all, size, to - from);
    return all;
  }
}
