package dev.weir.replay;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.weir.Quota;
import dev.weir.internal.TextTable;
import dev.weir.replay.internal.judge.Recording;
import dev.weir.replay.internal.judge.Timeline;
import dev.weir.replay.internal.pages.Figures;
import dev.weir.replay.internal.pages.KeyPlot;
import dev.weir.replay.internal.pages.SummaryJson;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The result of {@link Compare}. Immutable. */
public final class Comparison {
  private final Quota quota;
  private final List<Compare.Row> rows;
  private final long requests;
  private final long keys;
  private final KeyPlot plot;
  private final Recording recording;

  Comparison(
      Quota quota,
      List<Compare.Row> rows,
      long requests,
      long keys,
      KeyPlot plot,
      Recording recording) {
    this.quota = quota;
    this.rows = List.copyOf(rows);
    this.requests = requests;
    this.keys = keys;
    this.plot = plot;
    this.recording = recording;
  }

  public Quota quota() {
    return quota;
  }

  /** Returns the results of each algorithm. */
  public List<Compare.Row> rows() {
    return rows;
  }

  /** Returns the number of requests. */
  public long requests() {
    return requests;
  }

  /** Returns the number of keys. */
  public long keys() {
    return keys;
  }

  /** Returns the key that is plotted. */
  public String key() {
    return plot.key();
  }

  /** Returns the doubts about the traffic and about how the limit fits it, one line each. */
  public List<String> warnings() {
    return recording.warnings(List.of(quota.windowNanos()));
  }

  KeyPlot plot() {
    return plot;
  }

  Recording recording() {
    return recording;
  }

  /** Returns the conclusion from the figures, in a sentence or two. */
  public String conclusion() {
    List<Compare.Row> holding =
        rows.stream().filter(each -> each.mostInWindow() <= quota.permits()).toList();
    String limit =
        Figures.number(quota.permits()) + " in any " + Figures.window(quota.windowNanos());
    if (holding.isEmpty()) {
      return "On this traffic every algorithm admits some key more than " + limit + ".";
    }
    long least = holding.stream().mapToLong(Compare.Row::refused).min().orElse(0);
    List<String> best =
        holding.stream()
            .filter(each -> each.refused() == least)
            .map(each -> each.algorithm().text())
            .toList();
    Compare.Row loosest = rows.get(0);
    for (Compare.Row each : rows) {
      loosest = each.mostInWindow() > loosest.mostInWindow() ? each : loosest;
    }
    String others =
        holding.size() == rows.size()
            ? "On this traffic no algorithm admits more than " + limit
            : "On this traffic "
                + holding.size()
                + " of "
                + rows.size()
                + " algorithms never admit more than "
                + limit
                + "; "
                + loosest.algorithm()
                + " admits up to "
                + Figures.number(loosest.mostInWindow());
    return others
        + ". Of those that hold the limit, "
        + listed(best)
        + (best.size() == 1 ? " refuses" : " refuse")
        + " the fewest requests: "
        + Figures.number(least)
        + ".";
  }

  /** Returns names joined for a sentence: {@code a, b and c}. */
  private static String listed(List<String> names) {
    int last = names.size() - 1;
    return last == 0
        ? names.get(0)
        : String.join(", ", names.subList(0, last)) + " and " + names.get(last);
  }

  /** Returns the result as text for people, in several lines. */
  public String text() {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "%,d requests of %,d keys, each %,d per %s%s%n",
            requests,
            keys,
            quota.permits(),
            Figures.window(quota.windowNanos()),
            recording.stopped() ? "; stopped before the end of the input" : ""));
    text.append(recording.text()).append('\n');
    List<String[]> table = new ArrayList<>();
    table.add(
        new String[] {
          "algorithm",
          "admitted",
          "refused",
          "share",
          "most in a window",
          "wrongly refused",
          "wrongly admitted",
          "bytes/key",
          "decisions/s"
        });
    for (Compare.Row row : rows) {
      table.add(
          new String[] {
            row.algorithm().text(),
            Figures.number(row.admitted()),
            Figures.number(row.refused()),
            Figures.percent(row.refused(), requests),
            Figures.number(row.mostInWindow()),
            Figures.number(row.falseDenials()),
            Figures.number(row.overAdmissions()),
            Figures.number(row.bytesPerKey()),
            rounded(row.decisionsPerSecond())
          });
    }
    text.append(TextTable.of("  ", table, "lrrrrrrrr"));
    text.append("\n  ").append(conclusion()).append('\n');
    text.append("\n  most in a window: permits that one key was admitted within any ");
    text.append(Figures.window(quota.windowNanos())).append('\n');
    text.append("  wrongly refused: an exact count of what the key was admitted left room\n");
    text.append("  wrongly admitted: that count left no room\n");
    plot(text);
    if (recording.unreadable() > 0) {
      text.append("\n  unreadable lines: ").append(Figures.number(recording.unreadable()));
      text.append('\n');
    }
    return text.toString();
  }

  private void plot(StringBuilder text) {
    Timeline any = plot.timelines().get(0);
    if (any.size() == 0) {
      return;
    }
    text.append('\n').append(Figures.plain(plot.key())).append(", ").append(plot.why());
    text.append("; . admitted, x refused\n");
    List<String[]> lines = new ArrayList<>();
    for (int i = 0; i < rows.size(); i++) {
      String algorithm = rows.get(i).algorithm().text();
      lines.add(new String[] {algorithm, KeyPlot.line(plot.timelines().get(i))});
    }
    text.append(TextTable.of("  ", lines, "ll")).append("  from ");
    text.append(Figures.instant(any.startNanos(0))).append(" to ");
    text.append(Figures.instant(any.startNanos(any.size()))).append('\n');
  }

  /** Returns a measurement, rounded to the digits that are not noise. */
  static String rounded(long perSecond) {
    return perSecond < 1_000_000
        ? Figures.number(perSecond / 1_000) + " k"
        : String.format(Locale.ROOT, "%.1f M", perSecond / 1e6);
  }

  /** Returns the result as one JSON object, ended by a line feed. */
  public String json() {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = SummaryJson.generator(text)) {
      json.writeStartObject();
      json.writeNumberField("requests", requests);
      json.writeNumberField("keys", keys);
      json.writeNumberField("permits", quota.permits());
      json.writeNumberField("window_nanos", quota.windowNanos());
      json.writeNumberField("unreadable", recording.unreadable());
      json.writeBooleanField("stopped", recording.stopped());
      SummaryJson.source(json, recording);
      SummaryJson.texts(json, "warnings", warnings());
      json.writeStringField("conclusion", conclusion());
      json.writeStringField("key", plot.key());
      json.writeArrayFieldStart("algorithms");
      for (Compare.Row row : rows) {
        json.writeStartObject();
        json.writeStringField("algorithm", row.algorithm().text());
        json.writeNumberField("admitted", row.admitted());
        json.writeNumberField("refused", row.refused());
        json.writeNumberField("most_in_window", row.mostInWindow());
        json.writeNumberField("false_denials", row.falseDenials());
        json.writeNumberField("over_admissions", row.overAdmissions());
        json.writeNumberField("bytes_per_key", row.bytesPerKey());
        json.writeNumberField("decisions_per_second", row.decisionsPerSecond());
        json.writeEndObject();
      }
      json.writeEndArray();
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // Writing to a string cannot fail.
    }
    return text + "\n";
  }
}
