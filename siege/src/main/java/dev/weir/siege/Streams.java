package dev.weir.siege;

import static dev.weir.server.RawHttp2.ACK;
import static dev.weir.server.RawHttp2.DATA;
import static dev.weir.server.RawHttp2.END_HEADERS;
import static dev.weir.server.RawHttp2.END_STREAM;
import static dev.weir.server.RawHttp2.GOAWAY;
import static dev.weir.server.RawHttp2.HEADERS;
import static dev.weir.server.RawHttp2.PING;
import static dev.weir.server.RawHttp2.PREFACE;
import static dev.weir.server.RawHttp2.RST_STREAM;
import static dev.weir.server.RawHttp2.SETTINGS;
import static dev.weir.server.RawHttp2.WINDOW_UPDATE;
import static dev.weir.server.RawHttp2.frame;

import dev.weir.server.RawHttp2;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One HTTP/2 connection with gRPC calls that respect flow control but little else. A thread of its
 * own reads the server's frames. To be used by one other thread.
 */
final class Streams implements AutoCloseable {
  private static final int FRAME_BYTES = 16_384;
  private static final int INITIAL_WINDOW_SETTING = 4;

  private final Socket socket;
  private final Thread reader;
  private final long deadline;
  private final Map<Integer, Long> windows = new HashMap<>();
  private long initialWindow = 65_535;
  private long window = 65_535;
  private boolean closed;
  private @Nullable String goAway;
  private int opened;
  private long sentBytes;

  /**
   * Connects.
   *
   * @param atMost after this time it closes by itself
   */
  Streams(int port, Duration atMost) throws IOException {
    deadline = System.nanoTime() + atMost.toNanos();
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.getOutputStream().write(PREFACE);
    socket.getOutputStream().write(frame(SETTINGS, 0, 0, new byte[0]));
    reader = new Thread(this::read, "hostile streams");
    reader.setDaemon(true);
    reader.start();
  }

  /** Returns a message with its prefix, perhaps without its last bytes. */
  static byte[] message(byte[] message, int announcedBytes) {
    return ByteBuffer.allocate(5 + message.length)
        .put((byte) 0)
        .putInt(announcedBytes)
        .put(message)
        .array();
  }

  /**
   * Opens a call and sends bytes on it, as far as the server lets.
   *
   * @param fields names and values of more header fields, in turn
   * @param whole whether the call is then declared complete
   * @return false if the connection has ended
   */
  boolean call(String path, List<String> fields, byte[] bytes, boolean whole) {
    int stream = 2 * opened + 1;
    synchronized (this) {
      if (closed) {
        return false;
      }
      opened++;
      windows.put(stream, initialWindow);
    }
    try {
      write(
          frame(
              HEADERS, END_HEADERS, stream, RawHttp2.headers(path, fields.toArray(new String[0]))));
      int sent = 0;
      while (sent < bytes.length) {
        int length = take(stream, Math.min(FRAME_BYTES, bytes.length - sent));
        if (length == 0) {
          return open();
        }
        boolean last = whole && sent + length == bytes.length;
        byte[] payload = Arrays.copyOfRange(bytes, sent, sent + length);
        write(frame(DATA, last ? END_STREAM : 0, stream, payload));
        sent += length;
        sentBytes += length;
      }
      return open();
    } catch (IOException e) {
      return false; // Closed by the server.
    }
  }

  private synchronized boolean open() {
    return !closed;
  }

  /** Waits for room in the windows; returns how much there is, 0 if the stream has ended. */
  private synchronized int take(int stream, int wanted) {
    try {
      while (!closed) {
        Long room = windows.get(stream);
        if (room == null) {
          return 0;
        }
        long length = Math.min(wanted, Math.min(window, room));
        if (length > 0) {
          window -= length;
          windows.put(stream, room - length);
          return (int) length;
        }
        long rest = (deadline - System.nanoTime()) / 1_000_000;
        if (rest <= 0) {
          return 0;
        }
        wait(rest);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return 0;
  }

  private void write(byte[] bytes) throws IOException {
    synchronized (socket) {
      socket.getOutputStream().write(bytes);
    }
  }

  private void read() {
    try (DataInputStream in =
        new DataInputStream(new BufferedInputStream(socket.getInputStream()))) {
      while (true) {
        int rest = (int) Math.max(1, (deadline - System.nanoTime()) / 1_000_000);
        socket.setSoTimeout(rest);
        int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
        int type = in.readUnsignedByte();
        int flags = in.readUnsignedByte();
        int stream = in.readInt() & Integer.MAX_VALUE;
        byte[] payload = in.readNBytes(length);
        take(type, flags, stream, payload);
      }
    } catch (IOException | BufferUnderflowException e) {
      ended(); // Closed by either side, or out of time.
    }
  }

  private synchronized void ended() {
    closed = true;
    notifyAll();
  }

  private void take(int type, int flags, int stream, byte[] payload) throws IOException {
    if (type == SETTINGS && (flags & ACK) == 0) {
      settings(ByteBuffer.wrap(payload));
      write(frame(SETTINGS, ACK, 0, new byte[0]));
    } else if (type == PING && (flags & ACK) == 0) {
      write(frame(PING, ACK, 0, payload));
    } else {
      note(type, flags, stream, payload);
    }
  }

  private synchronized void settings(ByteBuffer payload) {
    while (payload.remaining() >= 6) {
      int name = payload.getShort();
      int value = payload.getInt();
      if (name == INITIAL_WINDOW_SETTING) {
        long more = value - initialWindow;
        windows.replaceAll((stream, room) -> room + more);
        initialWindow = value;
      }
    }
    notifyAll();
  }

  private synchronized void note(int type, int flags, int stream, byte[] payload) {
    boolean last = (type == HEADERS || type == DATA) && (flags & END_STREAM) != 0;
    if (type == WINDOW_UPDATE && stream == 0) {
      window += ByteBuffer.wrap(payload).getInt();
    } else if (type == WINDOW_UPDATE) {
      int more = ByteBuffer.wrap(payload).getInt();
      windows.computeIfPresent(stream, (id, room) -> room + more);
    } else if (type == GOAWAY) {
      goAway = new String(payload, 8, payload.length - 8, StandardCharsets.US_ASCII);
    } else if (type == RST_STREAM || last) {
      windows.remove(stream);
    }
    notifyAll();
  }

  /**
   * Waits until the server has ended all calls, or the time is over; returns the number of calls
   * left.
   */
  synchronized int awaitEnd() {
    try {
      for (long rest = 1; !closed && !windows.isEmpty() && rest > 0; ) {
        wait(rest);
        rest = Math.min(100, (deadline - System.nanoTime()) / 1_000_000);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    boolean endedByServer = closed && System.nanoTime() - deadline < 0;
    return endedByServer ? 0 : windows.size();
  }

  int opened() {
    return opened;
  }

  long sentBytes() {
    return sentBytes;
  }

  /** Returns the text of the server's GOAWAY; null without one. */
  synchronized @Nullable String goAway() {
    return goAway;
  }

  @Override
  public void close() throws IOException {
    socket.close();
    try {
      reader.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
