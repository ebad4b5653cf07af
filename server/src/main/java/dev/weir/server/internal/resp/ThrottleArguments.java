package dev.weir.server.internal.resp;

import dev.weir.Binding;
import dev.weir.Quota;
import dev.weir.engine.CallerBuckets;
import dev.weir.protocol.http.BadRequest;
import dev.weir.server.internal.resp.ThrottleCalls.Dialect;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of a command that describes its limit.
 *
 * @param limit the bucket or the window
 * @param quantity the permits that it requests
 */
record ThrottleArguments(Binding limit, long quantity) {
  private static final long MAX_COUNT = Quota.MAX_PERMITS;
  private static final long MAX_SECONDS = Quota.MAX_WINDOW_NANOS / 1_000_000_000L;
  private static final String EXPECTED =
      "<key> <max_burst> <count per period> <period seconds> [<quantity>]";

  /** Returns the dialect of a command that describes its limit; null for another command. */
  static @Nullable Dialect dialect(RespArguments command) {
    if (command.is(0, "CL.THROTTLE")) {
      return Dialect.CELL;
    }
    if (command.is(0, "THROTTLE")) {
      return Dialect.CRAB;
    }
    if (command.is(0, "GCRA")) {
      return Dialect.GCRA;
    }
    return command.is(0, "INCREX") ? Dialect.INCREX : null;
  }

  /**
   * Reads the arguments of a command.
   *
   * @throws IllegalArgumentException if the numbers make no limit; the message has the reason
   */
  static ThrottleArguments read(
      Dialect dialect, RespArguments command, CallerBuckets buckets, long nowNanos)
      throws BadRequest {
    return switch (dialect) {
      case INCREX -> {
        int most = Integer.MAX_VALUE;
        RespCommands.count(command, IncrexArguments.LEAST, most, IncrexArguments.EXPECTED);
        IncrexArguments.Increment read = IncrexArguments.read(command);
        Binding window = buckets.window(read.limit(), read.windowNanos(), nowNanos);
        yield new ThrottleArguments(window, read.quantity());
      }
      case GCRA -> {
        if (!GcraArguments.fit(command)) {
          throw RespCommands.wrongCount(command, GcraArguments.EXPECTED);
        }
        long burst = command.number(2, "max_burst", 0, MAX_COUNT - 1) + 1;
        long count = command.number(3, "tokens_per_period", 1, MAX_COUNT);
        GcraArguments.Rate rate = GcraArguments.rate(command, count);
        Binding bucket = buckets.bucket(burst, rate.count(), rate.seconds());
        yield new ThrottleArguments(bucket, GcraArguments.tokens(command));
      }
      case CELL, CRAB -> older(dialect, command, buckets);
    };
  }

  private static ThrottleArguments older(
      Dialect dialect, RespArguments command, CallerBuckets buckets) throws BadRequest {
    RespCommands.count(command, 5, 6, EXPECTED);
    long burst =
        dialect == Dialect.CRAB
            ? command.number(2, "max_burst", 1, MAX_COUNT)
            : command.number(2, "max_burst", 0, MAX_COUNT - 1) + 1;
    long count = command.number(3, "count per period", 1, MAX_COUNT);
    long seconds = command.number(4, "period", 1, MAX_SECONDS);
    long quantity =
        command.count() == 6 ? command.number(5, "quantity", 0, RespCommands.MAX_QUANTITY) : 1;
    return new ThrottleArguments(buckets.bucket(burst, count, seconds), quantity);
  }
}
