package dev.weir.siege.guests;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A horde of connections that all send the same bytes, as fast as the server reads them, and then
 * stay until the server ends them or their time is over. Not safe for use by several threads.
 */
final class Horde implements AutoCloseable {
  /** The number of different answers that are kept. */
  private static final int MOST_HEARD = 5;

  private static final int HEARD_LENGTH = 80;
  private static final long ROUND_MILLIS = 50;

  private final Selector selector;
  private final byte[] first;
  private final byte[] rest;
  private final ByteBuffer read = ByteBuffer.allocate(64 << 10);
  private final Set<String> heard = new TreeSet<>();
  private final List<SocketChannel> channels = new ArrayList<>();
  private int left;
  private long sentBytes;

  /**
   * Creates a horde without connections.
   *
   * @param first the bytes that are sent first and must be answered; may be empty
   * @param rest the bytes that are sent then
   */
  Horde(String first, String rest) throws IOException {
    this.first = first.getBytes(StandardCharsets.ISO_8859_1);
    this.rest = rest.getBytes(StandardCharsets.ISO_8859_1);
    selector = Selector.open();
  }

  /** A connection, with its bytes that are still to be sent. */
  private static final class Member {
    private ByteBuffer pending;
    private @Nullable ByteBuffer later;

    Member(ByteBuffer pending, @Nullable ByteBuffer later) {
      this.pending = pending;
      this.later = later;
    }
  }

  /** Opens more connections; those that the server does not accept are not counted. */
  void open(int port, int connections) throws IOException {
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    for (int i = 0; i < connections; i++) {
      SocketChannel channel = SocketChannel.open();
      channels.add(channel);
      channel.configureBlocking(false);
      boolean connected = channel.connect(address);
      boolean waits = first.length > 0;
      Member member =
          new Member(ByteBuffer.wrap(waits ? first : rest), waits ? ByteBuffer.wrap(rest) : null);
      int interest =
          connected ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_CONNECT;
      channel.register(selector, interest, member);
      left++;
    }
  }

  /** Sends and reads until the server has ended all connections, or the time is over. */
  void press(Duration atMost) throws IOException {
    long deadline = System.nanoTime() + atMost.toNanos();
    while (left > 0 && System.nanoTime() - deadline < 0) {
      selector.select(this::serve, ROUND_MILLIS);
    }
  }

  private void serve(SelectionKey key) {
    SocketChannel channel = (SocketChannel) key.channel();
    try {
      if (key.isConnectable() && channel.finishConnect()) {
        key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
      }
      if (key.isValid() && key.isReadable()) {
        read(channel, key);
      }
      if (key.isValid() && key.isWritable()) {
        write(channel, key);
      }
    } catch (IOException e) {
      end(key); // The connection was refused, reset or closed.
    }
  }

  private void read(SocketChannel channel, SelectionKey key) throws IOException {
    read.clear();
    int count = channel.read(read);
    if (count < 0) {
      end(key);
      return;
    }
    Member member = (Member) key.attachment();
    if (member.later != null) {
      member.pending = member.later;
      member.later = null;
      key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
    } else if (count > 0 && heard.size() < MOST_HEARD) {
      int length = Math.min(count, HEARD_LENGTH);
      String text = new String(read.array(), 0, length, StandardCharsets.ISO_8859_1);
      heard.add(text.lines().findFirst().orElse("").replaceAll("[^ -~]", "."));
    }
  }

  private void write(SocketChannel channel, SelectionKey key) throws IOException {
    Member member = (Member) key.attachment();
    sentBytes += channel.write(member.pending);
    if (!member.pending.hasRemaining()) {
      key.interestOps(SelectionKey.OP_READ);
    }
  }

  private void end(SelectionKey key) {
    key.cancel();
    left--;
    try {
      key.channel().close();
    } catch (IOException e) {
      heard.add(e.toString());
    }
  }

  Attack.Outcome outcome() {
    return new Attack.Outcome(channels.size(), left, sentBytes, List.copyOf(heard));
  }

  /** Closes all connections. */
  @Override
  public void close() throws IOException {
    for (SocketChannel channel : channels) {
      channel.close();
    }
    selector.close();
  }
}
