package dev.weir.server.internal.http;

import dev.weir.server.internal.deciding.ByteText;
import io.netty.buffer.ByteBuf;

/**
 * Answers the requests of HTTP/1.1 connections that are usual enough to need no codec, before one
 * sees them. Confined to one event loop.
 */
interface Quick {
  /**
   * Answers requests that have arrived whole, one after the other, up to the first that is unusual:
   * that one, and all behind it, are for the codec.
   *
   * @param in has a request that begins at {@code from}; left as it is
   * @return where the first byte is that is not answered
   */
  int answer(ByteBuf in, int from, int to);

  /** Returns the answers of the last call; valid until the next. */
  ByteText answers();
}
