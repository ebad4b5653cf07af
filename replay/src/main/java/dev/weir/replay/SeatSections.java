package dev.weir.replay;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.weir.internal.TextTable;
import dev.weir.replay.LimitSuggestions.RefusalCount;
import dev.weir.replay.internal.pages.Figures;
import dev.weir.replay.internal.pages.Html;
import dev.weir.replay.internal.pages.RepeatSection;
import dev.weir.replay.internal.suggest.SuggestedRules;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The parts of suggestions on limits at the same time: as text, JSON, and sections of a page. */
final class SeatSections {
  private SeatSections() {}

  /** Returns the suggestions that have a limit at the same time. */
  private static List<Suggestion> timed(List<Suggestion> all) {
    return all.stream().filter(each -> each.seats() != null).toList();
  }

  /** Returns the text on all of them, with rules to paste; empty if there are none. */
  static String text(List<Suggestion> all) {
    List<Suggestion> timed = timed(all);
    if (timed.isEmpty()) {
      return "";
    }
    StringBuilder text = new StringBuilder("\nat the same time\n\n");
    List<String[]> table = new ArrayList<>();
    table.add(
        new String[] {
          "for each",
          "limit for requests",
          "for keys",
          "for both",
          "refused requests",
          "refused keys",
          "one lower: requests",
          "keys",
          "most at once",
          "99 % of keys"
        });
    for (Suggestion each : timed) {
      SeatSuggestion seats = each.seats();
      if (seats != null) {
        table.add(
            new String[] {
              Figures.plain(each.perKey()),
              Figures.number(seats.forRequests().limit()),
              Figures.number(seats.forKeys().limit()),
              Figures.number(seats.both().limit()),
              each.requests(seats.both()),
              each.keys(seats.both()),
              each.requests(seats.below()),
              each.keys(seats.below()),
              Figures.number(seats.mostAtOnce()),
              Figures.number(seats.keys99())
            });
      }
    }
    text.append(TextTable.of("  ", table, "lrrrrrrrrr")).append('\n');
    for (Suggestion each : timed) {
      SeatSuggestion seats = each.seats();
      if (seats != null) {
        text.append("  ").append(peak(seats)).append('\n');
      }
    }
    text.append("\nrules to paste for it\n\n");
    return text.append(SuggestedRules.seatsYaml(timed)).toString();
  }

  /** Returns a sentence on the use of seats without a limit, without its end. */
  private static String peak(SeatSuggestion seats) {
    return "without a limit, at most "
        + Figures.number(seats.mostAtOnce())
        + " at once, of "
        + Figures.plain(seats.mostKey())
        + "; 99 % of keys have at most "
        + Figures.number(seats.keys99())
        + "; the longest request took "
        + Figures.length(seats.longestNanos());
  }

  /** Writes the field of a suggestion, if it has a limit at the same time. */
  static void json(JsonGenerator json, Suggestion suggestion) throws IOException {
    SeatSuggestion seats = suggestion.seats();
    if (seats == null) {
      return;
    }
    json.writeObjectFieldStart("at_the_same_time");
    Suggestion.refused(json, "for_requests", seats.forRequests());
    Suggestion.refused(json, "for_keys", seats.forKeys());
    Suggestion.refused(json, "for_both", seats.both());
    Suggestion.refused(json, "one_less", seats.below());
    Suggestion.refused(json, "suggested", seats.suggested());
    json.writeNumberField("most_at_once", seats.mostAtOnce());
    json.writeStringField("most_at_once_key", seats.mostKey());
    json.writeNumberField("most_at_once_of_99_percent_of_keys", seats.keys99());
    json.writeNumberField("longest_nanos", seats.longestNanos());
    json.writeNumberField("hold_nanos", seats.holdNanos());
    json.writeArrayFieldStart("curve");
    for (RefusalCount each : seats.curve()) {
      Suggestion.refused(json, null, each);
    }
    json.writeEndArray();
    json.writeStringField("rules", SuggestedRules.seatsYaml(List.of(suggestion)));
    json.writeEndObject();
  }

  /** Appends the sections on all of them; nothing if there are none. */
  static void page(Html html, List<Suggestion> all) {
    List<Suggestion> timed = timed(all);
    if (timed.isEmpty()) {
      return;
    }
    html.raw("<section>").element("h2", "At the same time");
    html.table(
        "for each",
        "#limit",
        "#requests refused",
        "#keys refused",
        "most refused key",
        "#requests refused at one less",
        "#keys refused at one less",
        "#most at once",
        "#99 % of keys",
        "#longest request");
    for (Suggestion each : timed) {
      row(html, each, each.seats());
    }
    html.endTable().raw("<p class=\"note\">");
    html.text(
        "Each request counts from its begin to its end, for 5 min at most, as middleware keeps its"
            + " seat. Each takes the lowest seat of its key that is free; a limit of N refuses"
            + " those that take a seat above N. Most at once: without a limit.");
    html.raw("</p>");
    html.raw("<h3>Rules to paste for it</h3><pre>");
    html.raw(RepeatSection.lines(SuggestedRules.seatsYaml(timed).strip())).raw("</pre>");
    for (Suggestion each : timed) {
      curves(html, each, each.seats());
    }
    html.raw("</section>\n");
  }

  private static void row(Html html, Suggestion suggestion, @Nullable SeatSuggestion seats) {
    if (seats == null) {
      return;
    }
    html.row().word(suggestion.perKey()).openCell("n").raw("<b>");
    html.text(Figures.number(seats.suggested().limit())).raw("</b></td>");
    html.number(suggestion.requests(seats.suggested()));
    html.number(suggestion.keys(seats.suggested()));
    String worst = seats.suggested().worstKey();
    html.keyCell(worst.isEmpty() ? "\u2013" : worst);
    html.number(suggestion.requests(seats.below())).number(suggestion.keys(seats.below()));
    html.number(seats.mostAtOnce()).number(seats.keys99());
    html.number(Figures.length(seats.longestNanos())).endRow();
  }

  private static void curves(Html html, Suggestion suggestion, @Nullable SeatSuggestion seats) {
    if (seats == null || seats.mostAtOnce() < 2) {
      return; // A curve of one point shows nothing.
    }
    html.raw("<h3>").text("By " + suggestion.perKey()).raw("</h3>");
    long limit = seats.both().limit();
    RefusalCurves.append(html, suggestion, seats.curve(), limit, "limit at the same time");
  }
}
