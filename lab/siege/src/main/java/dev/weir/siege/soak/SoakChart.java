package dev.weir.siege.soak;

import dev.weir.siege.Interval;
import dev.weir.siege.guests.Protocol;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** A chart of the measurements of a soak over time: four charts, one below the other. */
final class SoakChart {
  private static final int WIDTH = 820;
  private static final int LEFT = 64;
  private static final int RIGHT = 130;
  private static final int TOP = 20;
  private static final int PANEL = 130;
  private static final int GAP = 46;
  private static final int LABEL_HEIGHT = 16;
  private static final int GRID_LINES = 4;
  private static final int HIT_WIDTH = 3;

  private final List<Interval> intervals;
  private final double seconds;

  /** A line of a chart. */
  private record Line(String label, String style, ToDoubleFunction<Interval> value) {}

  /**
   * Creates a chart.
   *
   * @param intervals the intervals, at least one
   */
  SoakChart(List<Interval> intervals) {
    if (intervals.isEmpty()) {
      throw new IllegalArgumentException("intervals: none (expected: at least one)");
    }
    this.intervals = List.copyOf(intervals);
    this.seconds = intervals.get(intervals.size() - 1).seconds();
  }

  String svg() {
    List<Line> rates = new ArrayList<>();
    List<Line> times = new ArrayList<>();
    for (Protocol protocol : Protocol.values()) {
      String style = "s" + rates.size();
      rates.add(new Line(protocol.toString(), style, each -> each.rate(protocol)));
      times.add(new Line(protocol.toString(), style, each -> each.answers(protocol).millisAt(99)));
    }
    List<Line> heaps = new ArrayList<>();
    List<Line> descriptors = new ArrayList<>();
    for (int i = 0; i < intervals.get(0).resources().size(); i++) {
      int server = i;
      String name = SoakReport.name(i);
      heaps.add(
          new Line(name + " heap", "s" + i, each -> each.resources().get(server).heapMebibytes()));
      heaps.add(
          new Line(
              name + " resident",
              "s" + (i + 2),
              each -> each.resources().get(server).residentMebibytes()));
      descriptors.add(
          new Line(name + " files", "s" + i, each -> each.resources().get(server).descriptors()));
      descriptors.add(
          new Line(
              name + " threads", "s" + (i + 2), each -> each.resources().get(server).threads()));
    }
    StringBuilder text = new StringBuilder(head(4));
    panel(text, 0, "answers a second", rates);
    panel(text, 1, "99th percentile, ms from when a request was due", times);
    panel(text, 2, "MiB: heap after a collection, resident memory", heaps);
    panel(text, 3, "open files and sockets, threads", descriptors);
    return text.append("</svg>\n").toString();
  }

  private static String head(int panels) {
    return format(
        """
        <svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' role='img'
          aria-label='Answers, times, memory and descriptors during a soak'>
        <style>
          svg { background: #ffffff; font: 12px system-ui, sans-serif; }
          text { fill: #334; } .title { font-weight: 600; }
          .grid { stroke: #dde; } path { fill: none; stroke-width: 2; }
          .event { stroke: #b91c1c; opacity: 0.12; }
          .s0 { stroke: #0b66c3; } .s1 { stroke: #c2410c; } .s2 { stroke: #15803d; }
          .s3 { stroke: #7e22ce; } text.s0 { fill: #0b66c3; stroke: none; }
          text.s1 { fill: #c2410c; stroke: none; } text.s2 { fill: #15803d; stroke: none; }
          text.s3 { fill: #7e22ce; stroke: none; }
          @media (prefers-color-scheme: dark) {
            svg { background: #14171c; } text { fill: #ccd; } .grid { stroke: #333a45; }
            .s0 { stroke: #60a5fa; } .s1 { stroke: #fb923c; } .s2 { stroke: #4ade80; }
            .s3 { stroke: #c084fc; } text.s0 { fill: #60a5fa; } text.s1 { fill: #fb923c; }
            text.s2 { fill: #4ade80; } text.s3 { fill: #c084fc; }
          }
        </style>
        """,
        WIDTH, TOP + panels * (PANEL + GAP));
  }

  private void panel(StringBuilder text, int index, String title, List<Line> lines) {
    int top = TOP + index * (PANEL + GAP);
    double most =
        lines.stream()
            .flatMapToDouble(line -> intervals.stream().mapToDouble(line.value))
            .max()
            .orElse(1);
    double step = step(most);
    double scale = PANEL / (step * GRID_LINES);
    text.append(format("<text class='title' x='%d' y='%d'>%s</text>%n", LEFT, top, title));
    for (int i = 0; i <= GRID_LINES; i++) {
      double y = top + 8 + PANEL - i * step * scale;
      text.append(
          format(
              "<line class='grid' x1='%d' x2='%d' y1='%3$.1f' y2='%3$.1f'/>"
                  + "<text x='%4$d' y='%5$.1f' text-anchor='end'>%6$s</text>%n",
              LEFT, WIDTH - RIGHT, y, LEFT - 8, y + 4, number(i * step)));
    }
    for (Interval interval : intervals) {
      if (!interval.events().isEmpty()) {
        double x = x(interval.seconds() - interval.length() / 2);
        text.append(
            format(
                "<line class='event' x1='%1$.1f' x2='%1$.1f' y1='%2$d' y2='%3$d'"
                    + " stroke-width='%4$d'><title>%5$s</title></line>%n",
                x, top + 8, top + 8 + PANEL, HIT_WIDTH, String.join("; ", interval.events())));
      }
    }
    for (int i = 0; i < lines.size(); i++) {
      line(text, lines.get(i), top + 8 + PANEL, scale);
      text.append(
          format(
              "<text class='%s' x='%d' y='%d'>%s</text>%n",
              lines.get(i).style,
              WIDTH - RIGHT + 12,
              top + 8 + LABEL_HEIGHT * (i + 1),
              lines.get(i).label));
    }
    text.append(format("<text x='%d' y='%d'>0 s</text>%n", LEFT, top + 8 + PANEL + LABEL_HEIGHT));
    text.append(
        format(
            "<text x='%d' y='%d' text-anchor='end'>%.0f s</text>%n",
            WIDTH - RIGHT, top + 8 + PANEL + LABEL_HEIGHT, seconds));
  }

  private void line(StringBuilder text, Line line, int bottom, double scale) {
    StringBuilder path = new StringBuilder();
    for (Interval interval : intervals) {
      path.append(path.length() == 0 ? "M" : " L");
      double value = line.value.applyAsDouble(interval);
      path.append(format("%.1f %.1f", x(interval.seconds()), bottom - value * scale));
    }
    text.append(format("<path class='%s' d='%s'/>%n", line.style, path));
  }

  /**
   * Returns a step, 1, 2 or 5 times a power of ten, so that the given number of steps reaches the
   * maximum.
   */
  private static double step(double most) {
    double least = Math.max(1e-3, most / GRID_LINES);
    double power = Math.pow(10, Math.floor(Math.log10(least)));
    for (int factor : new int[] {1, 2, 5}) {
      if (factor * power >= least) {
        return factor * power;
      }
    }
    return 10 * power;
  }

  private double x(double at) {
    return LEFT + (WIDTH - LEFT - RIGHT) * at / seconds;
  }

  private static String number(double value) {
    return value == Math.rint(value) ? format("%.0f", value) : format("%.2f", value);
  }

  private static String format(String pattern, Object... values) {
    return String.format(Locale.ROOT, pattern, values);
  }
}
