package dev.weir.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * A chart of throughput against number of keys, from JMH's JSON results: one thread, uniform, all
 * allowed, both axes logarithmic.
 *
 * <pre>Chart OUT.svg FILE...</pre>
 */
final class Chart {
  private static final int WIDTH = 820;
  private static final int HEIGHT = 460;
  private static final int LEFT = 64;
  private static final int RIGHT = 210;
  private static final int TOP = 46;
  private static final int BOTTOM = 52;
  private static final int LABEL_HEIGHT = 17;

  /** The contenders that are drawn, with their colours and names. */
  private enum Line {
    BATCH("weir, batch of 64", "Weir, batches of 64", "weir"),
    FINGERPRINT("weir by fingerprint", "Weir, ready hash", "weir"),
    STRING("weir-token-bucket", "Weir, String key", "weir"),
    GUAVA("guava", "Guava", "guava"),
    BUCKET4J("bucket4j", "Bucket4j", "bucket4j"),
    CAFFEINE("bucket4j-caffeine", "Bucket4j on Caffeine", "caffeine"),
    RESILIENCE4J("resilience4j", "Resilience4j", "resilience4j"),
    DEQUES("deques", "deques", "deques");

    private final String contender;
    private final String label;
    private final String style;

    Line(String contender, String label, String style) {
      this.contender = contender;
      this.label = label;
      this.style = style;
    }
  }

  private final Map<Line, TreeMap<Integer, Double>> lines = new LinkedHashMap<>();
  private double minX = Double.MAX_VALUE;
  private double maxX;
  private double minY = Double.MAX_VALUE;
  private double maxY;

  public static void main(String[] args) throws IOException {
    Chart chart = new Chart();
    for (String file : Arrays.asList(args).subList(1, args.length)) {
      Reading.all(Files.readString(Path.of(file))).forEach(chart::add);
    }
    Files.writeString(Path.of(args[0]), chart.svg());
  }

  /** Adds a reading if it belongs in the chart. */
  void add(Reading reading) {
    Reading.Scenario scenario = reading.scenario();
    for (Line line : Line.values()) {
      if (line.contender.equals(reading.contender())
          && scenario.threads() == 1
          && scenario.draw().equals(Draw.UNIFORM.toString())
          && scenario.load().equals(Load.ALL_ALLOWED.toString())) {
        double[] values =
            reading.perMicrosecond().stream().mapToDouble(Double::doubleValue).sorted().toArray();
        double median = values[values.length / 2];
        lines.computeIfAbsent(line, first -> new TreeMap<>()).put(scenario.keys(), median);
        minX = Math.min(minX, scenario.keys());
        maxX = Math.max(maxX, scenario.keys());
        minY = Math.min(minY, median);
        maxY = Math.max(maxY, median);
      }
    }
  }

  String svg() {
    if (lines.isEmpty() || minX == maxX) {
      throw new IllegalArgumentException(
          "results: nothing to draw (expected: uniform, all-allowed, one thread, several keys)");
    }
    minX = Math.pow(10, Math.floor(Math.log10(minX)));
    minY = Math.pow(10, Math.floor(Math.log10(minY)));
    maxY = Math.pow(10, Math.ceil(Math.log10(maxY)));
    StringBuilder text = new StringBuilder(head());
    grid(text);
    TreeMap<Double, Line> labels = new TreeMap<>();
    lines.forEach((line, points) -> draw(text, line, points, labels));
    double next = TOP;
    for (Map.Entry<Double, Line> label : labels.entrySet()) {
      double y = Math.max(next, label.getKey());
      next = y + LABEL_HEIGHT;
      text.append(
          format(
              "<text class='%s label' x='%d' y='%.1f'>%s</text>%n",
              label.getValue().style, WIDTH - RIGHT + 14, y + 4, label.getValue().label));
    }
    return text.append("</svg>\n").toString();
  }

  private void draw(
      StringBuilder text,
      Line line,
      NavigableMap<Integer, Double> points,
      Map<Double, Line> labels) {
    StringBuilder path = new StringBuilder();
    StringBuilder dots = new StringBuilder();
    points.forEach(
        (keys, value) -> {
          path.append(format("%s%.1f %.1f", path.length() == 0 ? "M" : " L", x(keys), y(value)));
          dots.append(
              format(
                  "<circle class='%s' cx='%.1f' cy='%.1f' r='3'><title>%s, %,d keys: %.2f"
                      + " million/s</title></circle>%n",
                  line.style, x(keys), y(value), line.label, keys, value));
        });
    text.append(format("<path class='%s' d='%s'/>%n", line.style, path)).append(dots);
    double at = y(points.lastEntry().getValue());
    while (labels.containsKey(at)) {
      at += 0.1;
    }
    labels.put(at, line);
  }

  private static String head() {
    return format(
        """
        <svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' role='img'
          aria-label='Decisions a second against number of keys, Weir and others'>
        <style>
          svg { background: #ffffff; font: 13px system-ui, sans-serif; }
          text { fill: #334; } .title { font-size: 15px; font-weight: 600; }
          .grid { stroke: #dde; } path { fill: none; stroke-width: 2; }
          path.weir { stroke: #0b66c3; stroke-width: 3; } circle.weir { fill: #0b66c3; }
          path.bucket4j { stroke: #c2410c; } circle.bucket4j { fill: #c2410c; }
          path.caffeine { stroke: #a16207; } circle.caffeine { fill: #a16207; }
          path.resilience4j { stroke: #7e22ce; } circle.resilience4j { fill: #7e22ce; }
          path.guava { stroke: #15803d; } circle.guava { fill: #15803d; }
          path.deques { stroke: #64748b; } circle.deques { fill: #64748b; }
          text.weir { fill: #0b66c3; font-weight: 600; } text.bucket4j { fill: #c2410c; }
          text.caffeine { fill: #a16207; } text.resilience4j { fill: #7e22ce; }
          text.guava { fill: #15803d; } text.deques { fill: #64748b; }
          @media (prefers-color-scheme: dark) {
            svg { background: #14171c; } text { fill: #ccd; } .grid { stroke: #333a45; }
            path.weir { stroke: #60a5fa; } circle.weir, text.weir { fill: #60a5fa; }
            path.bucket4j { stroke: #fb923c; } circle.bucket4j, text.bucket4j { fill: #fb923c; }
            path.caffeine { stroke: #facc15; } circle.caffeine, text.caffeine { fill: #facc15; }
            path.resilience4j { stroke: #c084fc; }
            circle.resilience4j, text.resilience4j { fill: #c084fc; }
            path.guava { stroke: #4ade80; } circle.guava, text.guava { fill: #4ade80; }
            path.deques { stroke: #94a3b8; } circle.deques, text.deques { fill: #94a3b8; }
          }
        </style>
        <text class='title' x='%d' y='26'>Million decisions a second, one thread, uniform keys</text>
        """,
        WIDTH, HEIGHT, LEFT);
  }

  private void grid(StringBuilder text) {
    for (double value = 0.01; value <= maxY; value *= 10) {
      for (int step : new int[] {1, 2, 5}) {
        if (value * step >= minY && value * step <= maxY) {
          text.append(
              format(
                  "<line class='grid' x1='%d' x2='%d' y1='%3$.1f' y2='%3$.1f'/>"
                      + "<text x='%4$d' y='%5$.1f' text-anchor='end'>%6$s</text>%n",
                  LEFT,
                  WIDTH - RIGHT,
                  y(value * step),
                  LEFT - 8,
                  y(value * step) + 4,
                  value * step < 1 ? format("%.1f", value * step) : format("%.0f", value * step)));
        }
      }
    }
    for (int keys = (int) minX; keys <= maxX; keys *= 10) {
      String label =
          keys >= 1_000_000
              ? keys / 1_000_000 + " M"
              : keys >= 1_000 ? keys / 1_000 + " k" : keys + "";
      text.append(
          format(
              "<line class='grid' x1='%1$.1f' x2='%1$.1f' y1='%2$d' y2='%3$d'/>"
                  + "<text x='%1$.1f' y='%4$d' text-anchor='middle'>%5$s</text>%n",
              x(keys), TOP, HEIGHT - BOTTOM, HEIGHT - BOTTOM + 20, label));
    }
    text.append(
        format(
            "<text x='%d' y='%d' text-anchor='middle'>keys</text>%n",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10));
  }

  private double x(double keys) {
    return LEFT + (WIDTH - LEFT - RIGHT) * Math.log(keys / minX) / Math.log(maxX / minX);
  }

  private double y(double value) {
    return TOP + (HEIGHT - TOP - BOTTOM) * Math.log(maxY / value) / Math.log(maxY / minY);
  }

  private static String format(String pattern, Object... values) {
    return String.format(Locale.ROOT, pattern, values);
  }
}
