package dev.weir.server;

import java.util.Locale;

/** Work that the server does by itself again and again. No error of one turn may end it. */
enum Loop {
  /** Forgets keys that have rested, and looks how full the key space is. */
  EXPIRY,
  /** Looks whether the shared store answers. */
  STORE,
  /** Reads tokens again. */
  TOKENS,
  /** Reads certificates again. */
  CERTIFICATES,
  /** Looks how loaded the processors are. */
  LOAD,
  /** Reads rules again and puts them in force. */
  RULES,
  /** Tells whether an event loop is late. */
  LATENESS,
  /** Closes connections that keep the server waiting. */
  CONNECTIONS,
  /** Any thread of the process that ended by an error. */
  THREAD;

  /** Returns the name for the log and the metrics page. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
