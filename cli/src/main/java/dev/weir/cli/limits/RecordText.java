package dev.weir.cli.limits;

import dev.weir.cli.command.JsonObject;
import dev.weir.rules.ShownText;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** The text of a customer's record for people. */
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

  /** Shows the parts of a record that have no effect under the rules in force. */
  static void warn(JsonObject record, PrintWriter err) {
    record
        .texts("problems")
        .forEach(problem -> err.println("weir: has no effect now: " + ShownText.plain(problem)));
  }

  /** Returns a limit in the form of {@code --limit}. */
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
