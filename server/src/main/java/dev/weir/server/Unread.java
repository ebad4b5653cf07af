package dev.weir.server;

import io.netty.channel.Channel;

/** Answers that are written and that the client has not taken. */
final class Unread {
  private Unread() {}

  /** Returns how many bytes of them wait in this process; to be asked on the channel's loop. */
  static long bytes(Channel channel) {
    if (!channel.isActive()) {
      return 0;
    }
    return channel.isWritable()
        ? channel.config().getWriteBufferHighWaterMark() + 1 - channel.bytesBeforeUnwritable()
        : channel.config().getWriteBufferLowWaterMark() + channel.bytesBeforeWritable();
  }

  /** Returns whether the client has taken all that was written. */
  static boolean none(Channel channel) {
    return bytes(channel) == 0;
  }
}
