package dev.weir.cli.limits;

import dev.weir.cli.command.JsonObject;
import dev.weir.rules.ShownText;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** A customer's record in words. */
final class RecordText {
  private RecordText() {}

  /** Returns the lines of a record without its customer. */
  static List<String> lines(JsonObject record) {
    List<String> lines = new ArrayList<>();
    if (!record.text("plan").isEmpty()) {
      lines.add("plan " + ShownText.plain(record.text("plan")));
    }
    for (JsonObject limit : record.objects("limits")) {
      lines.add("limit " + limit(limit));
    }
    if (!record.text("note").isEmpty()) {
      lines.add("note " + ShownText.plain(record.text("note")));
    }
    if (lines.isEmpty()) {
      lines.add("nothing: the rules' own numbers hold");
    }
    return lines;
  }

  /** Shows what a record says that the rules in force do not know. */
  static void warn(JsonObject record, PrintWriter err) {
    record
        .texts("problems")
        .forEach(problem -> err.println("weir: has no effect now: " + ShownText.plain(problem)));
  }

  /** Returns a limit as {@code --limit} takes it. */
  static String limit(JsonObject limit) {
    StringBuilder text = new StringBuilder(limit.text("rule"));
    text.append('=').append(limit.text("requests_per_unit"));
    for (String name : List.of("burst", "window", "until")) {
      if (!limit.text(name).isEmpty()) {
        text.append(',').append(name).append('=').append(limit.text(name));
      }
    }
    return ShownText.plain(text.toString());
  }
}
