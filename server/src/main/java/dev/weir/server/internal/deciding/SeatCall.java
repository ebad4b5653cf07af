package dev.weir.server.internal.deciding;

/** The calls about a seat that is held. */
public enum SeatCall {
  /** Keeps it for another hold. */
  RENEW,
  /** Gives it back. */
  RELEASE
}
