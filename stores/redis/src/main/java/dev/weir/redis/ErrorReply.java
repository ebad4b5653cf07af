package dev.weir.redis;

import dev.weir.shared.Failure;

/** The meaning of Redis's error replies. */
final class ErrorReply {
  private ErrorReply() {}

  /** Returns the failure that an error reply stands for. */
  static Failure failure(String message) {
    int end = message.indexOf(' ');
    return switch (end < 0 ? message : message.substring(0, end)) {
      case "READONLY" -> Failure.READONLY;
      case "NOREPLICAS" -> Failure.NOREPLICAS;
      case "MISCONF" -> Failure.MISCONF;
      case "LOADING", "MASTERDOWN" -> Failure.LOADING;
      case "BUSY", "UNKILLABLE" -> Failure.BUSY;
      case "MOVED", "ASK", "CROSSSLOT", "CLUSTERDOWN", "TRYAGAIN" -> Failure.MOVED;
      case "OOM" -> Failure.OOM;
      case "NOPERM", "NOAUTH", "WRONGPASS" -> Failure.NOPERM;
      default -> inner(message);
    };
  }

  /**
   * Returns the failure in an error of the script: older versions wrap the error of a command in
   * it.
   */
  private static Failure inner(String message) {
    if (message.contains("-NOREPLICAS")) {
      return Failure.NOREPLICAS;
    }
    if (message.contains("-MISCONF")) {
      return Failure.MISCONF;
    }
    if (message.contains("READONLY") || message.contains("read only replica")) {
      return Failure.READONLY;
    }
    if (message.contains("The user executing the script can't")) {
      return Failure.NOPERM;
    }
    return message.contains("OOM") ? Failure.OOM : Failure.OTHER;
  }
}
