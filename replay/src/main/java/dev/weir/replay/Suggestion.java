package dev.weir.replay;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.weir.Algorithm;
import dev.weir.replay.Suggest.Refused;
import dev.weir.rules.DurationText;
import dev.weir.traffic.RequestTemplate;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What {@link Suggest} found. Immutable. */
public final class Suggestion {
  /** The window whose limit goes into the rules, if it is among those asked for. */
  private static final long USUAL_NANOS = 60_000_000_000L;

  private final Suggest.Options options;
  private final List<Suggest.Window> windows;
  private final Recording recording;

  Suggestion(Suggest.Options options, List<Suggest.Window> windows, Recording recording) {
    this.options = options;
    this.windows = List.copyOf(windows);
    this.recording = recording;
  }

  Suggest.Options options() {
    return options;
  }

  /** Returns what is suggested for each window, in the order that was asked for. */
  public List<Suggest.Window> windows() {
    return windows;
  }

  /** Returns how many requests there were. */
  public long requests() {
    return recording.trace().size();
  }

  /** Returns how many keys there were. */
  public long keys() {
    return recording.trace().keys();
  }

  /** Returns what is doubtful in the traffic or in how windows fit it, one line each. */
  public List<String> warnings() {
    return recording.warnings(windows.stream().map(Suggest.Window::windowNanos).toList());
  }

  Recording recording() {
    return recording;
  }

  String share() {
    BigDecimal percent = BigDecimal.valueOf(options.refuseAtMost()).movePointRight(2);
    return percent.stripTrailingZeros().toPlainString() + " %";
  }

  /** Returns the result for people, several lines, with rules to paste at the end. */
  public String text() {
    StringBuilder text = new StringBuilder();
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
    for (Suggest.Window each : windows) {
      Refused both = each.both();
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
    text.append(TextTable.of(table, "lrrrrrrr"));
    text.append("\n  limit for requests, for keys: the smallest that refuses at most ");
    text.append(share()).append(" of the requests, of the keys\n");
    text.append("  refused: by the limit for both; one lower: by the limit below it\n");
    if (recording.unreadable() > 0) {
      text.append("\n  unreadable lines: ").append(Figures.number(recording.unreadable()));
      text.append('\n');
    }
    return text.append("\nrules to paste\n\n").append(yaml()).toString();
  }

  /** Returns whether an interrupt ended the reading, or the search for all windows. */
  private String stopped() {
    String reading = recording.stopped() ? "; stopped before the end of the input" : "";
    return windows.size() < options.windows().size()
        ? reading + "; stopped after " + windows.size() + " windows"
        : reading;
  }

  String requests(@Nullable Refused refused) {
    return refused == null ? "-" : part(refused.requests(), requests());
  }

  String keys(@Nullable Refused refused) {
    return refused == null ? "-" : part(refused.keys(), keys());
  }

  private static String part(long part, long whole) {
    String percent =
        ReplaySummary.share(part, whole, 5).scaleByPowerOfTen(2).setScale(3).toPlainString();
    return Figures.number(part) + " (" + percent + " %)";
  }

  /** Returns the window whose limit goes into the rules: a minute, or the first. */
  private Suggest.Window chosen() {
    return windows.stream()
        .filter(each -> each.windowNanos() == USUAL_NANOS)
        .findFirst()
        .orElse(windows.get(0));
  }

  /** Returns rules with the limit of one window, and those of the others as comments. */
  public String yaml() {
    StringBuilder yaml = new StringBuilder();
    yaml.append("domain: ").append(quoted(options.domain())).append("\ndescriptors:\n");
    String indent = "  ";
    List<RequestTemplate.Level> levels = recording.template().levels();
    for (int i = 0; i < levels.size(); i++) {
      RequestTemplate.Level level = levels.get(i);
      if (i > 0) {
        yaml.append(indent).append("descriptors:\n");
        indent += "  ";
      }
      yaml.append(indent).append("- key: ").append(quoted(level.key())).append('\n');
      indent += "  ";
      if (level.value() != null) {
        yaml.append(indent).append("value: ").append(quoted(level.value())).append('\n');
      }
    }
    yaml.append(indent).append("rate_limit:\n");
    indent += "  ";
    Suggest.Window chosen = chosen();
    yaml.append(indent)
        .append("window: ")
        .append(DurationText.format(chosen.windowNanos()))
        .append('\n');
    yaml.append(indent).append("requests_per_unit: ").append(chosen.both().limit()).append('\n');
    if (options.algorithm() != Algorithm.SLIDING_WINDOW) {
      yaml.append(indent).append("algorithm: ").append(options.algorithm()).append('\n');
    }
    for (Suggest.Window each : windows) {
      if (each.windowNanos() != chosen.windowNanos()) {
        yaml.append(indent).append("# or window: ").append(DurationText.format(each.windowNanos()));
        yaml.append(", requests_per_unit: ").append(each.both().limit()).append('\n');
      }
    }
    return yaml.toString();
  }

  private static String quoted(String text) {
    if (text.matches("[A-Za-z_][A-Za-z0-9_-]*")
        && !text.matches("(?i)true|false|null|yes|no|on|off|y|n")) {
      return text;
    }
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }

  /** Returns the result as one JSON object, ended by a line feed. */
  public String json() {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = SummaryJson.generator(text)) {
      json.writeStartObject();
      json.writeNumberField("requests", requests());
      json.writeNumberField("keys", keys());
      json.writeStringField("algorithm", options.algorithm().text());
      json.writeNumberField("refuse_at_most", options.refuseAtMost());
      json.writeNumberField("unreadable", recording.unreadable());
      json.writeBooleanField("stopped", !stopped().isEmpty());
      SummaryJson.source(json, recording);
      SummaryJson.texts(json, "warnings", warnings());
      json.writeArrayFieldStart("windows");
      for (Suggest.Window each : windows) {
        json.writeStartObject();
        json.writeNumberField("window_nanos", each.windowNanos());
        refused(json, "for_requests", each.forRequests());
        refused(json, "for_keys", each.forKeys());
        refused(json, "for_both", each.both());
        refused(json, "one_less", each.below());
        json.writeArrayFieldStart("curve");
        for (Refused refused : each.curve()) {
          refused(json, null, refused);
        }
        json.writeEndArray();
        json.writeEndObject();
      }
      json.writeEndArray();
      json.writeStringField("rules", yaml());
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // A string cannot fail.
    }
    return text + "\n";
  }

  private static void refused(JsonGenerator json, @Nullable String name, @Nullable Refused refused)
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
    json.writeNumberField("refused_keys", refused.keys());
    json.writeEndObject();
  }
}
