package dev.weir.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Latency at half of the maximal rate, second by second, of Weir beside an empty service. Server
 * and generator, which is {@link WireLoad}, have a processor each.
 */
final class WireTail {
  private static final int SECONDS = 10;
  private static final int WARM_UP_SECONDS = 3;
  private static final int PIPELINE = 500;

  private WireTail() {}

  static void head() {
    System.out.printf(
        "%n**At half of the maximum, generator on another processor, ms from when a request was due**%n%n"
            + "| | maximum per second | due per second | p50 | p99 of each second | p99, median |"
            + " the generator's own lateness: p99, median |%n|---|---|---|---|---|---|---|%n");
  }

  /**
   * Prints rows of one server, of which the first shows how it warms up.
   *
   * @param protocol as {@link WireLoad} names it
   */
  static void print(String server, String protocol, String port, int rows)
      throws IOException, InterruptedException {
    boolean http = protocol.equals("json");
    String connections = http ? "64" : "16";
    double[] most =
        last(load(protocol, port, connections, http ? "1" : "20", 0, WARM_UP_SECONDS, 2));
    long due = Math.round(most[0] / 2);
    for (int row = 0; row < rows; row++) {
      List<double[]> found =
          load(protocol, port, connections, http ? "1" : "" + PIPELINE, due, 0, SECONDS);
      StringBuilder seconds = new StringBuilder();
      for (double[] second : found.subList(0, SECONDS)) {
        seconds.append(String.format(Locale.ROOT, "%.1f ", second[2]));
      }
      System.out.printf(
          Locale.ROOT,
          "| %s, %s | %,.0f | %,d | %.2f | %s | %.2f | %.2f |%n",
          server,
          protocol,
          most[0],
          due,
          last(found)[1],
          seconds.toString().strip(),
          Median.of(found.stream().limit(SECONDS).mapToDouble(second -> second[2])),
          Median.of(found.stream().limit(SECONDS).mapToDouble(second -> second[5])));
      if (last(found)[8] > 0) {
        System.out.printf("%,.0f requests had no answer two seconds later.%n", last(found)[8]);
      }
    }
  }

  private static double[] last(List<double[]> found) {
    return found.get(found.size() - 1);
  }

  /** Runs the generator; returns its figures of each second, and at last those of all. */
  private static List<double[]> load(
      String protocol,
      String port,
      String connections,
      String inFlight,
      long perSecond,
      int warmUpSeconds,
      int seconds)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // It makes hardly any garbage, and compiles within its first second.
    command.addAll(List.of("-Xms512m", "-Xmx512m", "-Xmn400m", "-XX:+UseSerialGC"));
    command.addAll(List.of("-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(WireLoad.class.getName(), protocol, port, connections, inFlight));
    command.addAll(List.of("" + perSecond, "" + warmUpSeconds, "" + seconds));
    List<double[]> found = new ArrayList<>();
    for (String line : Program.run(Program.on(1, command)).lines().toList()) {
      String[] words = line.split(" ", -1);
      double[] figures = new double[words.length - 1];
      for (int i = 0; i < figures.length; i++) {
        figures[i] = Double.parseDouble(words[i + 1]);
      }
      found.add(figures);
    }
    return found;
  }
}
