package dev.weir.server.internal.guard;

import dev.weir.internal.Choice;

/** The periodic work of the server. No error in one turn may end it. */
public enum Loop {
  /**
   * The removal of keys that are past their reset-after, and the check how full the key space is.
   */
  EXPIRY,
  /** The check whether the shared store answers. */
  STORE,
  /** The reload of tokens. */
  TOKENS,
  /** The reload of certificates. */
  CERTIFICATES,
  /** The poll of the processors' load. */
  LOAD,
  /** The reload of rules, which puts them in force. */
  RULES,
  /** The check whether an event loop is late. */
  LATENESS,
  /** The answers to requests for administration. */
  ADMIN,
  /** The reading of the counters for the dashboard. */
  INSIGHT,
  /** The close of connections that keep the server waiting. */
  CONNECTIONS,
  /** The sending of counters to a statsd server. */
  STATSD,
  /** Not a loop: any thread of the process that ended by an error. */
  THREAD;

  /** Returns the name for the log and the metrics page. */
  public String label() {
    return Choice.name(this);
  }
}
