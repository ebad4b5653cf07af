package dev.weir.cli.traffic;

import dev.weir.traffic.Progress;
import java.util.Locale;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/**
 * A bar on standard error that shows how much of a long input is read, how fast, and the time left.
 */
public final class ReplayBar implements Progress, AutoCloseable {
  /** The least bytes for a bar: smaller inputs are read before a person could read one. */
  private static final long LONG_BYTES = 16L << 20;

  private static final int MEGABYTE = 1_000_000;

  /**
   * True if standard error is a terminal. The {@code weir} script sets it: Java 17 cannot find out
   * where standard error goes.
   */
  private final boolean watched = Boolean.getBoolean("weir.terminal");

  private final String task;
  private @Nullable ProgressBar bar;

  public ReplayBar(String task) {
    this.task = task;
  }

  @Override
  public void at(long bytes, long totalBytes, long records) {
    if (!watched || Math.max(bytes, totalBytes) < LONG_BYTES) {
      return;
    }
    if (bar == null) {
      bar =
          new ProgressBarBuilder()
              .setTaskName(task)
              .setInitialMax(totalBytes)
              .setUnit(" MB", MEGABYTE)
              .setStyle(ProgressBarStyle.ASCII)
              .showSpeed()
              .clearDisplayOnFinish()
              .build();
    }
    bar.stepTo(bytes);
    bar.setExtraMessage(String.format(Locale.ROOT, " %,d records", records));
  }

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
      bar = null;
    }
  }
}
