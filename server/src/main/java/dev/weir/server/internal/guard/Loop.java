package dev.weir.server.internal.guard;

import java.util.Locale;

/** Periodic work of the server. No error in one turn may end it. */
public enum Loop {
  /** Forgets keys that are past their reset-after, and checks how full the key space is. */
  EXPIRY,
  /** Checks whether the shared store answers. */
  STORE,
  /** Reloads tokens. */
  TOKENS,
  /** Reloads certificates. */
  CERTIFICATES,
  /** Polls the load of the processors. */
  LOAD,
  /** Reloads rules and puts them in force. */
  RULES,
  /** Measures whether an event loop is late. */
  LATENESS,
  /** Answers requests for administration. */
  ADMIN,
  /** Reads the counters for the dashboard. */
  INSIGHT,
  /** Closes connections that keep the server waiting. */
  CONNECTIONS,
  /** Sends counters to a statsd server. */
  STATSD,
  /** Not a loop: any thread of the process that ended by an error. */
  THREAD;

  /** Returns the name for the log and the metrics page. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
