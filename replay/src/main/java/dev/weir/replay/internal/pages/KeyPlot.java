package dev.weir.replay.internal.pages;

import dev.weir.replay.internal.judge.Timeline;
import java.util.List;

/**
 * One key's traffic through each algorithm, around the place where they differ most.
 *
 * @param asked true if this key was asked for; otherwise it is the key about which they differ most
 * @param disputed true if they differ about any key at all
 * @param timelines the timelines of the key, one for each algorithm; all over the same time
 */
public record KeyPlot(String key, boolean asked, boolean disputed, List<Timeline> timelines) {
  /** The number of characters that fit a terminal of 80 beside the name of an algorithm. */
  private static final int COLUMNS = 52;

  public KeyPlot {
    timelines = List.copyOf(timelines);
  }

  /** Returns the reason for which this key is shown. */
  public String why() {
    if (!disputed) {
      return asked ? "the key asked for; the algorithms agree" : "the busiest key; they all agree";
    }
    return asked ? "the key asked for" : "the key they differ most about";
  }

  /** Returns a timeline in characters: a space for nothing, a dot for admitted, x for refused. */
  public static String line(Timeline timeline) {
    StringBuilder line = new StringBuilder();
    int columns = Math.min(COLUMNS, timeline.size());
    for (int column = 0; column < columns; column++) {
      long offered = 0;
      long refused = 0;
      for (int i = at(timeline, column, columns); i < at(timeline, column + 1, columns); i++) {
        offered = Math.max(offered, timeline.offered(i));
        refused = Math.max(refused, timeline.refused(i));
      }
      line.append(refused > 0 ? 'x' : offered > 0 ? '.' : ' ');
    }
    return line.toString();
  }

  private static int at(Timeline timeline, int column, int columns) {
    return (int) ((long) timeline.size() * column / columns);
  }
}
