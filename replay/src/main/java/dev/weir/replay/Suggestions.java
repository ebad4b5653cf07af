package dev.weir.replay;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.weir.internal.TextTable;
import dev.weir.replay.LimitSuggestions.RefusalCount;
import dev.weir.replay.internal.pages.Figures;
import dev.weir.replay.internal.pages.SummaryJson;
import dev.weir.replay.internal.suggest.SuggestedRules;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The suggestions for several descriptors, each by itself: requests that one of the limits refuses
 * stay in the traffic of the others.
 *
 * @param each the suggestions in the order in which the descriptors were given, at least one
 */
public record Suggestions(List<Suggestion> each) {
  public Suggestions {
    each = List.copyOf(each);
  }

  /** Returns all doubts, one line each. */
  public List<String> warnings() {
    Set<String> warnings = new LinkedHashSet<>();
    each.forEach(suggestion -> warnings.addAll(suggestion.warnings()));
    return List.copyOf(warnings);
  }

  /** Returns the rules of all as one file. */
  public String yaml() {
    return SuggestedRules.yaml(each);
  }

  /** Returns the result as text for people: one table, and the rules of all as one file. */
  public String text() {
    if (each.size() == 1) {
      return each.get(0).text();
    }
    StringBuilder text = new StringBuilder();
    Suggestion first = each.get(0);
    text.append("limits that refuse at most ").append(first.share());
    text.append(" of the requests and of the keys, each by itself\n");
    text.append(Figures.number(first.requests())).append(" requests by ");
    text.append(first.options().algorithm()).append('\n');
    text.append(first.recording().text().replace("; key " + first.perKey(), "")).append('\n');
    boolean weighted = each.stream().anyMatch(Suggestion::weighted);
    List<String[]> table = new ArrayList<>();
    table.add(
        columns(
            weighted,
            "descriptor",
            "keys",
            "limit",
            "refused requests",
            "refused permits",
            "refused keys",
            "most refused key"));
    for (Suggestion suggestion : each) {
      RefusalCount by = suggestion.chosen().suggested();
      table.add(
          columns(
              weighted,
              Figures.plain(suggestion.perKey()),
              Figures.number(suggestion.keys()),
              suggestion.answer(),
              suggestion.requests(by),
              Figures.number(by.permits()),
              suggestion.keys(by),
              Figures.plain(by.worstKey())));
    }
    text.append(TextTable.of("  ", table, weighted ? "lrrrrrl" : "lrrrrl"));
    text.append("\nrules to paste\n\n").append(yaml());
    return text.append(SeatSections.text(each)).toString();
  }

  /** Leaves out the fifth column if requests and permits are the same. */
  private static String[] columns(boolean weighted, String... all) {
    List<String> columns = new ArrayList<>(List.of(all));
    if (!weighted) {
      columns.remove(4);
    }
    return columns.toArray(new String[0]);
  }

  /** Returns the result as one JSON object, ended by a line feed. */
  public String json() {
    if (each.size() == 1) {
      return each.get(0).json();
    }
    StringWriter text = new StringWriter();
    try (JsonGenerator json = SummaryJson.generator(text)) {
      json.writeStartObject();
      json.writeArrayFieldStart("suggestions");
      for (Suggestion suggestion : each) {
        suggestion.write(json);
      }
      json.writeEndArray();
      json.writeStringField("rules", yaml());
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // Writing to a string cannot fail.
    }
    return text + "\n";
  }
}
