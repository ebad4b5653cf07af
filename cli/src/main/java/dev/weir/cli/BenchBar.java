package dev.weir.cli;

import dev.weir.load.LoadProgress;
import dev.weir.load.LoadResult;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/** A bar that shows the progress of a load on standard error, if that is a terminal. */
final class BenchBar implements LoadProgress, AutoCloseable {
  /**
   * True if standard error is a terminal. The {@code weir} script sets it: Java 17 cannot find out
   * where standard error goes.
   */
  private final boolean watched = Boolean.getBoolean("weir.terminal");

  private @Nullable ProgressBar bar;

  @Override
  public void at(long atNanos, long ofNanos, LoadResult.Part latest) {
    if (!watched) {
      return;
    }
    if (bar == null) {
      bar =
          new ProgressBarBuilder()
              .setTaskName("bench")
              .setInitialMax(TimeUnit.NANOSECONDS.toMillis(ofNanos))
              .setUnit(" s", TimeUnit.SECONDS.toMillis(1))
              .setStyle(ProgressBarStyle.ASCII)
              .hideEta()
              .clearDisplayOnFinish()
              .build();
    }
    bar.stepTo(TimeUnit.NANOSECONDS.toMillis(atNanos));
    bar.setExtraMessage(
        latest.lengthNanos() == 0
            ? " warming up"
            : String.format(
                Locale.ROOT, " %,.0f/s, p99 %.3f ms", latest.perSecond(), latest.p99Nanos() / 1e6));
  }

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
      bar = null;
    }
  }
}
