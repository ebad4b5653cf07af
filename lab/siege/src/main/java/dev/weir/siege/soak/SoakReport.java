package dev.weir.siege.soak;

import dev.weir.siege.Interval;
import dev.weir.siege.guests.Protocol;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * A report of the measurements and complaints of a soak in Markdown.
 *
 * @param broken the promises that did not hold
 * @param attacks the number of times of each attack, and the result of the last
 */
record SoakReport(List<Interval> intervals, List<String> broken, Map<String, String> attacks) {
  String text() {
    StringBuilder text = new StringBuilder();
    answers(text);
    denials(text);
    resources(text);
    text.append("\n| hostile clients | what became of the last |\n|---|---|\n");
    attacks.forEach((attack, outcome) -> row(text, attack, outcome));
    text.append(broken.isEmpty() ? "\nEvery promise held.\n" : "\nBroken promises:\n\n");
    broken.forEach(each -> text.append("- ").append(each).append('\n'));
    return text.toString();
  }

  private void answers(StringBuilder text) {
    text.append("\n| s |");
    StringBuilder line = new StringBuilder("|---|");
    for (Protocol protocol : Protocol.values()) {
      text.append(' ').append(protocol).append("/s | p50 | p99 | max ms |");
      line.append("---|---|---|---|");
    }
    text.append(" what happened |\n").append(line).append("---|\n");
    for (Interval interval : intervals) {
      text.append(String.format(Locale.ROOT, "| %.0f |", interval.seconds()));
      for (Protocol protocol : Protocol.values()) {
        Tally.Heard heard = interval.answers(protocol);
        text.append(
            String.format(
                Locale.ROOT,
                " %.0f | %.1f | %.1f | %.1f |",
                interval.rate(protocol),
                heard.millisAt(50),
                heard.millisAt(99),
                heard.worstMillis()));
      }
      text.append(' ').append(String.join("; ", interval.events())).append(" |\n");
    }
  }

  private void denials(StringBuilder text) {
    Map<String, Long> all = new TreeMap<>();
    intervals.forEach(interval -> reasons(interval).forEach((k, v) -> all.merge(k, v, Long::sum)));
    text.append("\n| s | ").append(String.join(" | ", all.keySet())).append(" |\n|---|");
    text.append("---|".repeat(all.size())).append('\n');
    for (Interval interval : intervals) {
      Map<String, Long> reasons = reasons(interval);
      text.append(String.format(Locale.ROOT, "| %.0f |", interval.seconds()));
      all.keySet().forEach(each -> cell(text, reasons.getOrDefault(each, 0L)));
      text.append('\n');
    }
    text.append("| all |");
    all.values().forEach(each -> cell(text, each));
    text.append('\n');
  }

  private static void cell(StringBuilder text, long count) {
    text.append(String.format(Locale.ROOT, " %,d |", count));
  }

  /** Returns the number of times of each decision, over all protocols. */
  private static Map<String, Long> reasons(Interval interval) {
    Map<String, Long> all = new TreeMap<>();
    interval
        .heard()
        .values()
        .forEach(heard -> heard.reasons().forEach((k, v) -> all.merge(k, v, Long::sum)));
    return all;
  }

  private void resources(StringBuilder text) {
    int servers = intervals.isEmpty() ? 0 : intervals.get(0).resources().size();
    text.append("\n| s |");
    for (int i = 0; i < servers; i++) {
      text.append(' ').append(name(i)).append(" heap MiB | descriptors | threads | resident MiB |");
    }
    text.append("\n|---|").append("---|---|---|---|".repeat(servers)).append('\n');
    for (Interval interval : intervals) {
      text.append(String.format(Locale.ROOT, "| %.0f |", interval.seconds()));
      for (Resources each : interval.resources()) {
        text.append(
            String.format(
                Locale.ROOT,
                " %.1f | %d | %d | %.0f |",
                each.heapMebibytes(),
                each.descriptors(),
                each.threads(),
                each.residentMebibytes()));
      }
      text.append('\n');
    }
  }

  /** Returns a server's name, for people. */
  static String name(int server) {
    return "server " + (char) ('A' + server);
  }

  private static void row(StringBuilder text, String... cells) {
    text.append("| ").append(String.join(" | ", cells)).append(" |\n");
  }

  /** Returns one line of progress. */
  static String line(Interval interval) {
    StringBuilder text =
        new StringBuilder(String.format(Locale.ROOT, "%5.0f s", interval.seconds()));
    for (Protocol protocol : Protocol.values()) {
      text.append(
          String.format(
              Locale.ROOT,
              "  %s %.0f/s p99 %.0f ms",
              protocol,
              interval.rate(protocol),
              interval.answers(protocol).millisAt(99)));
    }
    for (Resources each : interval.resources()) {
      text.append(
          String.format(
              Locale.ROOT, "  %.0f MiB %d fds", each.heapMebibytes(), each.descriptors()));
    }
    return text.append("  ").append(String.join("; ", interval.events())).toString();
  }
}
