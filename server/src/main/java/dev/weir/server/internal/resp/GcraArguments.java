package dev.weir.server.internal.resp;

import dev.weir.Quota;
import dev.weir.protocol.http.BadRequest;

/** The arguments of {@code GCRA key max_burst tokens_per_period period [TOKENS count]}. */
final class GcraArguments {
  static final String EXPECTED =
      "<key> <max_burst> <tokens_per_period> <period seconds> [TOKENS <count>]";

  private static final int PERIOD = 4;
  private static final int TOKENS = 5;

  /** The most digits of a period behind the point: a period is whole milliseconds. */
  private static final int MAX_FRACTION = 3;

  private static final long MAX_SECONDS = Quota.MAX_WINDOW_NANOS / 1_000_000_000L;

  /**
   * A rate in whole seconds: half a second of 5 tokens is a second of 10, with the same interval.
   */
  record Rate(long count, long seconds) {}

  private GcraArguments() {}

  /** Returns whether a command has as many arguments as it may have. */
  static boolean fit(RespArguments command) {
    return command.count() == TOKENS || command.count() == TOKENS + 2;
  }

  /** Returns the number of tokens that the command takes. */
  static long tokens(RespArguments command) throws BadRequest {
    if (command.count() == TOKENS) {
      return 1;
    }
    if (!command.is(TOKENS, "TOKENS")) {
      throw new BadRequest("GCRA: " + command.shown(TOKENS) + " (expected: TOKENS)");
    }
    return command.number(TOKENS + 1, "TOKENS", 1, RespCommands.MAX_QUANTITY);
  }

  /** Returns the rate of a command, whose period may have a point. */
  static Rate rate(RespArguments command, long count) throws BadRequest {
    String text = command.text(PERIOD);
    int point = text.indexOf('.');
    String fraction = point < 0 ? "" : text.substring(point + 1).replaceFirst("0+$", "");
    String whole = point < 0 ? text : text.substring(0, point);
    long scale = 1;
    for (int i = 0; i < Math.min(fraction.length(), MAX_FRACTION); i++) {
      scale *= 10;
    }
    boolean good =
        isDigits(whole)
            && (fraction.isEmpty() || isDigits(fraction))
            && fraction.length() <= MAX_FRACTION;
    long units = good ? Long.parseLong(whole + fraction) : 0;
    if (units < 1 || units > MAX_SECONDS || count * scale > Quota.MAX_PERMITS) {
      throw new BadRequest(
          "period: "
              + command.shown(PERIOD)
              + " (expected: seconds, 0.001.."
              + MAX_SECONDS
              + ", at most 3 digits behind the point)");
    }
    return new Rate(count * scale, units);
  }

  private static boolean isDigits(String text) {
    return !text.isEmpty()
        && text.length() <= 9
        && text.chars().allMatch(digit -> digit >= '0' && digit <= '9');
  }
}
