package dev.weir.server.internal.resp;

import org.jspecify.annotations.Nullable;

/** The state of a RESP connection that its client has set. Confined to one event loop. */
final class RespSession {
  final long id;
  int version = 2;
  boolean authenticated;

  /** The digest of the client's token, and the generation of the tokens it was compared with. */
  byte[] token = {};

  int generation;
  String name = "";

  /** The commands since MULTI; null outside a transaction. */
  @Nullable RespTransaction transaction;

  /** The transaction that EXEC has started: its commands are to be run before any others. */
  @Nullable RespTransaction toRun;

  RespSession(long id, boolean authenticated) {
    this.id = id;
    this.authenticated = authenticated;
  }
}
