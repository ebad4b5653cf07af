package dev.weir.replay;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.weir.internal.TextTable;
import dev.weir.replay.LimitSuggestions.RefusalCount;
import dev.weir.replay.internal.judge.Recording;
import dev.weir.replay.internal.judge.Trace;
import dev.weir.replay.internal.pages.Figures;
import dev.weir.replay.internal.pages.SummaryJson;
import dev.weir.replay.internal.suggest.SuggestedRules;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The result of {@link LimitSuggestions}. Immutable. */
public final class Suggestion {
  /** The window whose limit goes into the rules, if it is among the requested ones. */
  private static final long USUAL_NANOS = 60_000_000_000L;

  /** The most keys that are named. */
  private static final int LISTED = 3;

  private final LimitSuggestions.Options options;
  private final List<LimitSuggestions.Window> windows;
  private final Recording recording;
  private final LimitSuggestions.IgnoredKeys ignored;
  private final SeatSuggestion.Found seats;

  Suggestion(
      LimitSuggestions.Options options,
      List<LimitSuggestions.Window> windows,
      Recording recording,
      LimitSuggestions.IgnoredKeys ignored) {
    this(options, windows, recording, ignored, SeatSuggestion.Found.NONE);
  }

  private Suggestion(
      LimitSuggestions.Options options,
      List<LimitSuggestions.Window> windows,
      Recording recording,
      LimitSuggestions.IgnoredKeys ignored,
      SeatSuggestion.Found seats) {
    this.options = options;
    this.windows = List.copyOf(windows);
    this.recording = recording;
    this.ignored = ignored;
    this.seats = seats;
  }

  /** Returns the same suggestion with a limit at the same time. */
  Suggestion with(SeatSuggestion.Found found) {
    return new Suggestion(options, windows, recording, ignored, found);
  }

  public LimitSuggestions.Options options() {
    return options;
  }

  /** Returns the suggestion for each window, in the requested order. */
  public List<LimitSuggestions.Window> windows() {
    return windows;
  }

  /**
   * Returns the suggestion of a limit at the same time; null if the traffic does not show how long
   * requests took.
   */
  public @Nullable SeatSuggestion seats() {
    return seats.suggestion();
  }

  /** Returns the number of requests of keys that were not left out. */
  public long requests() {
    return recording.trace().size() - ignored.requests();
  }

  /** Returns the number of keys, without those that were left out. */
  public long keys() {
    return (long) recording.trace().keys() - ignored.ids().size();
  }

  /** Returns the keys that were left out, those that requested the most first. */
  public List<String> ignoredKeys() {
    return ignored.ids().stream().map(recording.trace()::key).toList();
  }

  /** Returns the doubts about the traffic and about how windows fit it, one line each. */
  public List<String> warnings() {
    List<String> warnings = new ArrayList<>();
    warnings.addAll(recording.warnings(options.windows().stream().map(Duration::toNanos).toList()));
    warnings.addAll(seats.problems());
    return List.copyOf(warnings);
  }

  public Recording recording() {
    return recording;
  }

  String share() {
    return percent(options.refuseAtMost());
  }

  private static String percent(double share) {
    BigDecimal percent = BigDecimal.valueOf(share).movePointRight(2);
    return percent.stripTrailingZeros().toPlainString() + " %";
  }

  /** Returns the answer: the limit of the window that goes into the rules. */
  String answer() {
    LimitSuggestions.Window chosen = chosen();
    return Figures.number(chosen.suggested().limit())
        + " per "
        + Figures.window(chosen.windowNanos());
  }

  /** Returns the keys of the descriptor that the limit is for. */
  String perKey() {
    return String.join(
        ", ", recording.template().levels().stream().map(each -> each.key()).toList());
  }

  /** Returns the refusals by the answer, as a sentence without its end. */
  String refusedByAnswer() {
    RefusalCount by = chosen().suggested();
    return "refuses "
        + requests(by)
        + " of "
        + Figures.number(requests())
        + " requests, "
        + keys(by)
        + " of "
        + Figures.number(keys())
        + " keys"
        + (by.worstKey().isEmpty()
            ? ""
            : "; most of all "
                + Figures.plain(by.worstKey())
                + ", "
                + Figures.number(by.worstRequests()));
  }

  /** Returns a text about the keys that were left out; empty if none was. */
  String ignoredText() {
    List<String> keys = ignoredKeys();
    if (keys.isEmpty()) {
      return "";
    }
    int shown = Math.min(LISTED, keys.size());
    return "without the "
        + (keys.size() == 1 ? "key" : Figures.number(keys.size()) + " keys")
        + " that asked for the most ("
        + keys.subList(0, shown).stream().map(Figures::plain).collect(Collectors.joining(", "))
        + (keys.size() > shown ? ", ..." : "")
        + "), "
        + Figures.number(ignored.requests())
        + " requests";
  }

  /** Returns the result as text for people: several lines, with rules to paste at the end. */
  public String text() {
    StringBuilder text = new StringBuilder();
    text.append(answer()).append(" for each ").append(Figures.plain(perKey()));
    if (options.headroom() > 0) {
      text.append(" (").append(Figures.number(chosen().both().limit())).append(" and ");
      text.append(percent(options.headroom())).append(" of headroom)");
    }
    text.append('\n').append(refusedByAnswer()).append("\n\n");
    if (!ignored.ids().isEmpty()) {
      text.append(ignoredText()).append('\n');
    }
    text.append(
        String.format(
            Locale.ROOT,
            "%,d requests of %,d keys by %s; the smallest limits that refuse at most %s%s%n",
            requests(),
            keys(),
            options.algorithm(),
            share(),
            stopped()));
    text.append(recording.text()).append('\n');
    List<String[]> table = new ArrayList<>();
    table.add(
        new String[] {
          "window",
          "limit for requests",
          "for keys",
          "for both",
          "refused requests",
          "refused keys",
          "one lower: requests",
          "keys"
        });
    for (LimitSuggestions.Window each : windows) {
      RefusalCount both = each.both();
      table.add(
          new String[] {
            Figures.window(each.windowNanos()),
            Figures.number(each.forRequests().limit()),
            Figures.number(each.forKeys().limit()),
            Figures.number(both.limit()),
            requests(both),
            keys(both),
            requests(each.below()),
            keys(each.below())
          });
    }
    text.append(TextTable.of("  ", table, "lrrrrrrr"));
    text.append("\n  limit for requests, for keys: the smallest that refuses at most ");
    text.append(share()).append(" of the requests, of the keys\n");
    text.append("  refused: by the limit for both; one lower: by the limit below it\n");
    if (recording.unreadable() > 0) {
      text.append("\n  unreadable lines: ").append(Figures.number(recording.unreadable()));
      text.append('\n');
    }
    text.append("\nrules to paste\n\n").append(yaml());
    return text.append(SeatSections.text(List.of(this))).toString();
  }

  /** Returns a text on whether an interrupt ended the reading, or the search for all windows. */
  private String stopped() {
    String reading = recording.stopped() ? "; stopped before the end of the input" : "";
    return windows.size() < fitting()
        ? reading + "; stopped after " + windows.size() + " windows"
        : reading;
  }

  /** Returns the number of windows that the traffic fills. */
  private long fitting() {
    Trace trace = recording.trace();
    long span = trace.lastNanos() - trace.firstNanos();
    return options.windows().stream().filter(each -> each.toNanos() <= span).count();
  }

  String requests(@Nullable RefusalCount refused) {
    return refused == null ? "-" : part(refused.requests(), requests());
  }

  String keys(@Nullable RefusalCount refused) {
    return refused == null ? "-" : part(refused.keys(), keys());
  }

  private static String part(long part, long whole) {
    String percent =
        ReplaySummary.share(part, whole, 5).scaleByPowerOfTen(2).setScale(3).toPlainString();
    return Figures.number(part) + " (" + percent + " %)";
  }

  /** Returns the window whose limit goes into the rules: a minute, or the first. */
  public LimitSuggestions.Window chosen() {
    return windows.stream()
        .filter(each -> each.windowNanos() == USUAL_NANOS)
        .findFirst()
        .orElse(windows.get(0));
  }

  /** Returns rules with the limit of one window, and those of the others as comments. */
  public String yaml() {
    return SuggestedRules.yaml(List.of(this));
  }

  /** Returns whether requests have numbers of permits other than one. */
  boolean weighted() {
    return windows.stream()
        .flatMap(each -> each.curve().stream())
        .anyMatch(each -> each.permits() != each.requests());
  }

  /** Returns the result as one JSON object, ended by a line feed. */
  public String json() {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = SummaryJson.generator(text)) {
      write(json);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // Writing to a string cannot fail.
    }
    return text + "\n";
  }

  void write(JsonGenerator json) throws IOException {
    json.writeStartObject();
    json.writeNumberField("requests", requests());
    json.writeNumberField("keys", keys());
    json.writeStringField("algorithm", options.algorithm().text());
    json.writeNumberField("refuse_at_most", options.refuseAtMost());
    json.writeNumberField("headroom", options.headroom());
    SummaryJson.texts(json, "ignored_keys", ignoredKeys());
    json.writeNumberField("ignored_requests", ignored.requests());
    json.writeNumberField("unreadable", recording.unreadable());
    json.writeBooleanField("stopped", !stopped().isEmpty());
    SummaryJson.source(json, recording);
    SummaryJson.texts(json, "warnings", warnings());
    json.writeArrayFieldStart("windows");
    for (LimitSuggestions.Window each : windows) {
      json.writeStartObject();
      json.writeNumberField("window_nanos", each.windowNanos());
      refused(json, "for_requests", each.forRequests());
      refused(json, "for_keys", each.forKeys());
      refused(json, "for_both", each.both());
      refused(json, "one_less", each.below());
      refused(json, "suggested", each.suggested());
      json.writeArrayFieldStart("curve");
      for (RefusalCount refused : each.curve()) {
        refused(json, null, refused);
      }
      json.writeEndArray();
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeStringField("rules", yaml());
    SeatSections.json(json, this);
    json.writeEndObject();
  }

  static void refused(JsonGenerator json, @Nullable String name, @Nullable RefusalCount refused)
      throws IOException {
    if (name != null) {
      json.writeFieldName(name);
    }
    if (refused == null) {
      json.writeNull();
      return;
    }
    json.writeStartObject();
    json.writeNumberField("limit", refused.limit());
    json.writeNumberField("refused_requests", refused.requests());
    json.writeNumberField("refused_permits", refused.permits());
    json.writeNumberField("refused_keys", refused.keys());
    json.writeStringField("most_refused_key", refused.worstKey());
    json.writeNumberField("most_refused_key_requests", refused.worstRequests());
    json.writeEndObject();
  }
}
