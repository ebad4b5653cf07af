package dev.weir.server.internal.resp;

import dev.weir.Ticker;
import dev.weir.server.internal.deciding.RequestTimes;
import dev.weir.server.internal.guard.ConnectionGuard;
import dev.weir.server.internal.guard.DoorCounters;
import dev.weir.server.internal.guard.UnreadAnswers;
import dev.weir.server.internal.log.FewLines;
import dev.weir.server.internal.settings.ServerSettings;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import java.util.Arrays;

/**
 * The objects that the RESP connections on one event loop share, since only one of them works at a
 * time. So an idle connection needs next to no memory. Confined to that loop.
 */
final class RespLoop {
  private static final int FIRST_BYTES = 64 << 10;

  final RespWriter out = new RespWriter(FIRST_BYTES);
  final RespCommands commands;
  final ConnectionGuard<Channel> guard;
  final Ticker ticker;
  final DoorCounters counters;
  final FewLines log;
  final RequestTimes times;

  private byte[] in = new byte[FIRST_BYTES];

  RespLoop(ServerSettings settings, RespDoor.Parts parts, DoorCounters counters) {
    ticker = parts.ticker();
    this.counters = counters;
    log = new FewLines(ticker);
    times = new RequestTimes(counters.times(), ticker);
    ThrottleCalls calls = new ThrottleCalls(parts.buckets());
    commands = new RespCommands(parts.decider(), parts.tokens(), calls, out);
    guard = new ConnectionGuard<>(settings, counters, UnreadAnswers::none, RespLoop::cut);
  }

  private static void cut(Channel channel) {
    ChannelFuture unused = channel.close();
  }

  /** Returns a buffer for that number of bytes that have just been read. */
  byte[] in(int size) {
    if (in.length < size) {
      in = Arrays.copyOf(in, Math.max(size, 2 * in.length));
    }
    return in;
  }
}
