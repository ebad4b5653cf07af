package dev.weir.server.resp;

/** What a RESP connection has said of itself. Confined to one event loop. */
final class RespSession {
  final long id;
  int version = 2;
  boolean authenticated;

  /** The digest of the token that was shown, and the generation of those it was compared with. */
  byte[] token = {};

  int generation;
  String name = "";

  RespSession(long id, boolean authenticated) {
    this.id = id;
    this.authenticated = authenticated;
  }
}
