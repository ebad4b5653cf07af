package dev.weir.server.internal.resp;

import org.jspecify.annotations.Nullable;

/** What a RESP connection has said of itself. Confined to one event loop. */
final class RespSession {
  final long id;
  int version = 2;
  boolean authenticated;

  /** The digest of the token that was shown, and the generation of those it was compared with. */
  byte[] token = {};

  int generation;
  String name = "";

  /** What was sent since MULTI; null where there was none. */
  @Nullable RespTransaction transaction;

  /** What EXEC has been answered for: its commands are to be run before anything else. */
  @Nullable RespTransaction toRun;

  RespSession(long id, boolean authenticated) {
    this.id = id;
    this.authenticated = authenticated;
  }
}
