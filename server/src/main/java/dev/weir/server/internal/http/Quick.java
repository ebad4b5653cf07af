package dev.weir.server.internal.http;

import dev.weir.server.internal.deciding.ByteText;
import io.netty.buffer.ByteBuf;

/**
 * The quick path for requests of HTTP/1.1 connections that are usual enough to need no codec; it
 * answers them before the codec. Confined to one event loop.
 */
interface Quick {
  /**
   * Answers requests that have arrived completely, one after the other, up to the first unusual
   * one. That one, and all behind it, are for the codec.
   *
   * @param in has a request that begins at {@code from}; not changed
   * @return the position of the first byte that is not answered
   */
  int answer(ByteBuf in, int from, int to);

  /** Returns the answers of the last call; valid until the next. */
  ByteText answers();
}
