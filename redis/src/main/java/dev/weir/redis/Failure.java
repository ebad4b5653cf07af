package dev.weir.redis;

import java.util.Locale;
import java.util.stream.Stream;

/** Why Redis gave no decision. */
enum Failure {
  /** No answer in time. */
  TIMEOUT(false),
  /** No connection, or it was lost while the answer was awaited. */
  DISCONNECTED(false),
  /** Not asked: Redis did not answer lately. */
  OPEN(true),
  /** Not asked: too many wait already. */
  OVERLOADED(true),
  /** A replica answered: after a failover, or the address of one is in use. */
  READONLY(true),
  /** Redis reads its data after a start. */
  LOADING(true),
  /** Another script keeps Redis busy. */
  BUSY(true),
  /** The cluster moved keys, or lacks a node. */
  MOVED(true),
  /** Too few replicas had the decision in time. */
  REPLICAS(false),
  /** Redis has no memory left. */
  OOM(true),
  /** Redis's user may not do what a decision takes, or is not let in. */
  NOPERM(true),
  /** What is stored for the key is not ours, or knows of too many changes of its rule. */
  STATE(true),
  /** Any other error. */
  OTHER(false);

  /** Whether nothing can have been charged. */
  final boolean harmless;

  Failure(boolean harmless) {
    this.harmless = harmless;
  }

  /** Returns the name for metrics. */
  String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the failure that an error reply means. */
  static Failure of(String message) {
    int end = message.indexOf(' ');
    return switch (end < 0 ? message : message.substring(0, end)) {
      case "READONLY", "NOREPLICAS", "MISCONF" -> READONLY;
      case "LOADING", "MASTERDOWN" -> LOADING;
      case "BUSY", "UNKILLABLE" -> BUSY;
      case "MOVED", "ASK", "CROSSSLOT", "CLUSTERDOWN", "TRYAGAIN" -> MOVED;
      case "OOM" -> OOM;
      case "NOPERM", "NOAUTH", "WRONGPASS" -> NOPERM;
      default -> inner(message);
    };
  }

  /** Older versions wrap what a command within the script said. */
  private static Failure inner(String message) {
    boolean readOnly =
        Stream.of("READONLY", "read only replica", "-NOREPLICAS", "-MISCONF")
            .anyMatch(message::contains);
    if (readOnly) {
      return READONLY;
    }
    if (message.contains("The user executing the script can't")) {
      return NOPERM;
    }
    return message.contains("OOM") ? OOM : OTHER;
  }
}
