package dev.weir.replay.internal.pages;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import dev.weir.replay.ReplaySummary;
import dev.weir.replay.ReplaySummary.BusyWindow;
import dev.weir.replay.ReplaySummary.Counts;
import dev.weir.replay.ReplaySummary.PolicyCount;
import dev.weir.replay.ReplaySummary.QueueCount;
import dev.weir.replay.ReplaySummary.RefusedKey;
import dev.weir.replay.ReplaySummary.SeatCount;
import dev.weir.replay.ReplaySummary.UnreadableLine;
import dev.weir.replay.internal.judge.Recording;
import dev.weir.traffic.RequestDurations;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A writer of summaries as JSON. The fields are promised in {@code docs/replay.md}. */
public final class SummaryJson {
  private final JsonGenerator json;

  private SummaryJson(JsonGenerator json) {
    this.json = json;
  }

  public static String of(ReplaySummary summary) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = generator(text)) {
      new SummaryJson(json).write(summary);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // Writing to a string cannot fail.
    }
    return text + "\n";
  }

  /** Returns a generator that writes with line ends and indents. */
  public static JsonGenerator generator(StringWriter text) throws IOException {
    JsonGenerator json = new JsonFactory().createGenerator(text);
    DefaultIndenter indenter = new DefaultIndenter("  ", "\n");
    DefaultPrettyPrinter printer = new DefaultPrettyPrinter();
    printer.indentObjectsWith(indenter);
    printer.indentArraysWith(indenter);
    json.setPrettyPrinter(printer);
    return json;
  }

  private void write(ReplaySummary summary) throws IOException {
    Counts counts = summary.counts();
    json.writeStartObject();
    json.writeStringField("format", summary.source().format().text());
    json.writeStringField("time_column", summary.source().timeColumn());
    String unit = summary.source().timeUnit();
    json.writeStringField("time_unit", unit.isEmpty() ? null : unit);
    durations(json, summary.source().durations());
    texts(json, "notes", summary.source().notes());
    json.writeNumberField("requests", counts.requests());
    json.writeNumberField("allowed", counts.allowed());
    json.writeNumberField("denied", counts.denied());
    json.writeNumberField("denied_share", counts.deniedShare());
    json.writeNumberField("denied_for_trouble", counts.deniedForTrouble());
    json.writeNumberField("shadow_denied", counts.shadowDenied());
    json.writeNumberField("tolerated", counts.tolerated());
    json.writeNumberField("unlimited", counts.unlimited());
    json.writeNumberField("unreadable", counts.unreadable());
    json.writeNumberField("out_of_order", counts.outOfOrder());
    Long first = counts.firstNanos();
    Long last = counts.lastNanos();
    json.writeStringField("first_time", first == null ? null : Figures.instant(first));
    json.writeStringField("last_time", last == null ? null : Figures.instant(last));
    json.writeBooleanField("stopped", summary.stopped());
    policies(summary);
    if (!summary.seats().isEmpty()) {
      seats(summary);
    }
    if (!summary.queues().isEmpty()) {
      queues(summary);
    }
    refusedKeys(summary);
    busiestWindows(summary);
    unreadableLines(summary);
    texts(json, "warnings", summary.warnings());
    json.writeEndObject();
  }

  /** Writes a description of how traffic was read. */
  public static void source(JsonGenerator json, Recording recording) throws IOException {
    json.writeStringField("format", recording.source().format().text());
    json.writeStringField("time_column", recording.source().timeColumn());
    String unit = recording.source().timeUnit();
    json.writeStringField("time_unit", unit.isEmpty() ? null : unit);
    durations(json, recording.source().durations());
    texts(json, "notes", recording.source().notes());
    json.writeStringField("first_time", Figures.instant(recording.trace().firstNanos()));
    json.writeStringField("last_time", Figures.instant(recording.trace().lastNanos()));
  }

  private static void durations(JsonGenerator json, @Nullable RequestDurations durations)
      throws IOException {
    if (durations != null) {
      json.writeStringField("duration_column", durations.column());
      json.writeStringField("duration_unit", durations.unit().isEmpty() ? null : durations.unit());
      json.writeStringField("time_is", durations.timeIs().text());
      json.writeNumberField("without_duration", durations.unknown());
    }
  }

  /** Writes a list of texts. */
  public static void texts(JsonGenerator json, String name, List<String> texts) throws IOException {
    json.writeArrayFieldStart(name);
    for (String text : texts) {
      json.writeString(text);
    }
    json.writeEndArray();
  }

  private void policies(ReplaySummary summary) throws IOException {
    json.writeArrayFieldStart("policies");
    for (PolicyCount each : summary.policies()) {
      json.writeStartObject();
      json.writeStringField("policy", each.policy());
      json.writeStringField("path", each.path());
      json.writeStringField("algorithm", each.algorithm());
      json.writeNumberField("permits", each.permits());
      json.writeNumberField("window_nanos", each.windowNanos());
      json.writeNumberField("requests", each.requests());
      json.writeNumberField("denied", each.denied());
      json.writeNumberField("shadow_denied", each.shadowDenied());
      json.writeStringField("throttle", each.throttle().toString());
      json.writeNumberField("bound", each.bound());
      json.writeNumberField("tolerated", each.tolerated());
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private void seats(ReplaySummary summary) throws IOException {
    json.writeArrayFieldStart("seats");
    for (SeatCount each : summary.seats()) {
      json.writeStartObject();
      json.writeStringField("policy", each.policy());
      json.writeStringField("path", each.path());
      json.writeNumberField("permits", each.permits());
      json.writeNumberField("hold_nanos", each.holdNanos());
      json.writeNumberField("denied", each.denied());
      json.writeNumberField("most_at_once", each.mostAtOnce());
      json.writeNumberField("most_wanted", each.mostWanted());
      json.writeNumberField("at_limit_nanos", each.atLimitNanos());
      json.writeNumberField("cut_short", each.cutShort());
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private void queues(ReplaySummary summary) throws IOException {
    json.writeNumberField("served_late", summary.servedLate());
    json.writeNumberField("gave_up", summary.gaveUp());
    json.writeArrayFieldStart("queues");
    for (QueueCount each : summary.queues()) {
      json.writeStartObject();
      json.writeStringField("policy", each.policy());
      json.writeStringField("path", each.path());
      json.writeNumberField("requests", each.requests());
      json.writeNumberField("wait_nanos", each.waitNanos());
      json.writeNumberField("served_late", each.servedLate());
      json.writeNumberField("median_wait_nanos", each.medianWaitNanos());
      json.writeNumberField("wait_99_nanos", each.wait99Nanos());
      json.writeNumberField("longest_wait_nanos", each.longestWaitNanos());
      json.writeNumberField("gave_up", each.gaveUp());
      json.writeNumberField("refused_at_once", each.refusedAtOnce());
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private void refusedKeys(ReplaySummary summary) throws IOException {
    json.writeArrayFieldStart("refused_keys");
    for (RefusedKey each : summary.refusedKeys()) {
      json.writeStartObject();
      json.writeStringField("policy", each.policy());
      json.writeStringField("key", each.key());
      json.writeNumberField("denied", each.denied());
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeBooleanField("refused_keys_exact", summary.refusedKeysExact());
  }

  private void busiestWindows(ReplaySummary summary) throws IOException {
    json.writeArrayFieldStart("busiest_windows");
    for (BusyWindow each : summary.busiestWindows()) {
      json.writeStartObject();
      json.writeStringField("policy", each.policy());
      json.writeStringField("key", each.key());
      json.writeStringField("start", Figures.instant(each.startNanos()));
      json.writeNumberField("window_nanos", each.windowNanos());
      json.writeNumberField("permits", each.permits());
      json.writeNumberField("requests", each.requests());
      json.writeNumberField("denied", each.denied());
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeBooleanField("busiest_windows_complete", summary.busiestWindowsComplete());
  }

  private void unreadableLines(ReplaySummary summary) throws IOException {
    json.writeArrayFieldStart("unreadable_lines");
    for (UnreadableLine each : summary.unreadableLines()) {
      json.writeStartObject();
      json.writeStringField("input", each.input());
      json.writeNumberField("line", each.line());
      json.writeStringField("reason", each.reason());
      json.writeEndObject();
    }
    json.writeEndArray();
  }
}
