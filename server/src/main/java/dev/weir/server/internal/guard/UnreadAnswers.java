package dev.weir.server.internal.guard;

import io.netty.channel.Channel;

/** The written answers that the client has not read. */
public final class UnreadAnswers {
  private UnreadAnswers() {}

  /** Returns the number of their bytes that wait in this process. For the channel's event loop. */
  public static long bytes(Channel channel) {
    if (!channel.isActive()) {
      return 0;
    }
    return channel.isWritable()
        ? channel.config().getWriteBufferHighWaterMark() + 1 - channel.bytesBeforeUnwritable()
        : channel.config().getWriteBufferLowWaterMark() + channel.bytesBeforeWritable();
  }

  /** Returns whether the client has read everything that was written. */
  public static boolean none(Channel channel) {
    return bytes(channel) == 0;
  }
}
