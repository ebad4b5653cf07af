package dev.weir.cli;

import dev.weir.replay.Progress;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/** A progress bar on standard error for long inputs, if a person is looking. */
final class ReplayBar implements Progress, AutoCloseable {
  /** Inputs up to here are done before a bar could be read. */
  private static final long LONG_BYTES = 16L << 20;

  private static final int MEGABYTE = 1_000_000;

  /** Set by the {@code weir} script: Java 17 cannot tell where standard error goes. */
  private final boolean watched = Boolean.getBoolean("weir.terminal");

  private @Nullable ProgressBar bar;

  @Override
  public void at(long bytes, long totalBytes, long records) {
    if (!watched || Math.max(bytes, totalBytes) < LONG_BYTES) {
      return;
    }
    if (bar == null) {
      bar =
          new ProgressBarBuilder()
              .setTaskName("replay")
              .setInitialMax(totalBytes)
              .setUnit(" MB", MEGABYTE)
              .setStyle(ProgressBarStyle.ASCII)
              .clearDisplayOnFinish()
              .build();
    }
    bar.stepTo(bytes);
  }

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
      bar = null;
    }
  }
}
