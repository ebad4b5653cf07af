package dev.weir.server.internal.resp;

import dev.weir.Quota;
import dev.weir.protocol.http.BadRequest;

/**
 * The arguments of {@code INCREX key [BYINT n] UBOUND limit EX seconds | PX milliseconds [ENX]}, of
 * Redis 8.8 and newer.
 */
final class IncrexArguments {
  /*
   * Why is ENX without effect, and what is left out? Redis counts from the first hit on until the
   * expiry; with ENX it ends a window after the first hit, so that two windows that touch admit
   * twice the limit in one; without it, a window after the last one, so that a key that never
   * pauses is refused for ever. Callers mean the limit in the window, and a sliding window is that
   * in both cases. SATURATE starts Redis' window anew even with a refused hit. It is refused here,
   * like all that reads or changes a number that is no limit: floats, lower bounds, expiries at an
   * instant, and none.
   */

  static final String EXPECTED =
      "<key> [BYINT <n>] UBOUND <limit> EX <seconds> | PX <milliseconds> [ENX]";

  /** The fewest arguments: the command, a key, a limit and a window. */
  static final int LEAST = 6;

  private static final long SECOND = 1_000_000_000L;
  private static final long MILLI = 1_000_000L;
  private static final long NONE = -1;

  /**
   * The numbers of a call.
   *
   * @param quantity the permits that it requests
   */
  record Increment(long quantity, long limit, long windowNanos) {}

  private IncrexArguments() {}

  /** Returns the numbers of a command. */
  static Increment read(RespArguments command) throws BadRequest {
    long quantity = NONE;
    long limit = NONE;
    long window = NONE;
    boolean once = false;
    int i = 2;
    while (i < command.count()) {
      boolean more = i + 1 < command.count();
      if (command.is(i, "ENX") && !once) {
        once = true;
        i++;
        continue;
      }
      if (more && command.is(i, "BYINT") && quantity == NONE) {
        quantity = command.number(i + 1, "BYINT", 1, RespCommands.MAX_QUANTITY);
      } else if (more && command.is(i, "UBOUND") && limit == NONE) {
        limit = command.number(i + 1, "UBOUND", 0, Quota.MAX_PERMITS);
      } else if (more && command.is(i, "EX") && window == NONE) {
        window = SECOND * command.number(i + 1, "EX", 1, Quota.MAX_WINDOW_NANOS / SECOND);
      } else if (more && command.is(i, "PX") && window == NONE) {
        window = MILLI * command.number(i + 1, "PX", 1, Quota.MAX_WINDOW_NANOS / MILLI);
      } else {
        throw new BadRequest("INCREX: " + command.shown(i) + " (expected: " + EXPECTED + ")");
      }
      i += 2;
    }
    if (limit == NONE || window == NONE) {
      String missing = limit == NONE ? "no UBOUND" : "neither EX nor PX";
      throw new BadRequest("INCREX: " + missing + " (expected: " + EXPECTED + ")");
    }
    return new Increment(quantity == NONE ? 1 : quantity, limit, window);
  }
}
