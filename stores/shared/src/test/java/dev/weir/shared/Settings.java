package dev.weir.shared;

import dev.weir.Ticker;
import java.util.function.Consumer;

/** Settings of callers that belong to no store. */
public final class Settings {
  private Settings() {}

  public static StoreSettings of(
      long timeoutNanos,
      Ticker ticker,
      Consumer<? super String> log,
      Consumer<? super String> warnings,
      Counters counters) {
    return new StoreSettings(
        "test", timeoutNanos, new Clocks(ticker, ticker), false, log, warnings, counters);
  }
}
