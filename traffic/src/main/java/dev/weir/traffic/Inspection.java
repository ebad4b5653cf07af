package dev.weir.traffic;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.weir.rules.ShownText;
import dev.weir.traffic.internal.read.Order;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The result of an {@link Inspector}: the contents of an input. Immutable.
 *
 * @param input its name
 * @param format the format of its records
 * @param records the number of records that could be read
 * @param timeColumn the column with the time; empty if none is known
 * @param flags the flags that the other commands need to read it, without a descriptor; a value in
 *     capitals is to be filled in
 * @param firstNanos the earliest time, in nanoseconds since the Unix epoch; null if there is none
 * @param lastNanos the latest time, likewise
 * @param outOfOrder records earlier than one before them
 * @param columns the contents of each column, at most 200
 * @param candidates the columns that tell clients apart, the likeliest first
 * @param durations the durations that the records have; null if they have none, which the notes
 *     explain
 * @param notes the inferences, one line each
 * @param warnings the doubts, one line each
 */
public record Inspection(
    String input,
    Format format,
    long records,
    String timeColumn,
    List<String> flags,
    @Nullable Long firstNanos,
    @Nullable Long lastNanos,
    long outOfOrder,
    List<Column> columns,
    List<String> candidates,
    @Nullable RequestDurations durations,
    List<String> notes,
    List<String> warnings) {

  public Inspection {
    flags = List.copyOf(flags);
    columns = List.copyOf(columns);
    candidates = List.copyOf(candidates);
    notes = List.copyOf(notes);
    warnings = List.copyOf(warnings);
  }

  /**
   * The contents of a column.
   *
   * @param name its name
   * @param distinct the number of its different values, without those that stand for an absent one
   * @param exact true if that number is exact; otherwise it is within some 3 %
   * @param keys the number of keys that its values make: IPv6 addresses of one network are one key
   * @param empty the number of records in which it is empty or {@code -}
   * @param addresses true if most of its values are IP addresses
   * @param examples the first different values, at most three
   */
  public record Column(
      String name,
      long distinct,
      boolean exact,
      long keys,
      long empty,
      boolean addresses,
      List<String> examples) {
    public Column {
      examples = List.copyOf(examples);
    }
  }

  /** Returns the inspection as text for people, in several lines. */
  public String text() {
    StringBuilder text = new StringBuilder();
    text.append(ShownText.plain(input)).append(": ").append(format).append(", ");
    text.append(number(records)).append(" records\n");
    Long first = firstNanos;
    Long last = lastNanos;
    if (first != null && last != null) {
      text.append("  from ").append(instant(first)).append(" to ").append(instant(last));
      text.append(last > first ? ", " + Order.text(last - first) : "").append('\n');
      text.append("  time in column ").append(ShownText.plain(timeColumn)).append("; ");
      text.append(
          outOfOrder == 0 ? "all in order" : number(outOfOrder) + " earlier than one before");
      text.append('\n');
    }
    if (durations != null) {
      text.append("  ").append(durations.text()).append('\n');
    }
    notes.forEach(note -> text.append("  ").append(ShownText.plain(note)).append('\n'));
    text.append("\ncolumns\n");
    int width = 6;
    for (Column column : columns) {
      width = Math.max(width, ShownText.brief(column.name).length());
    }
    String row = "  %-" + width + "s  %11s  %11s  %s%n";
    text.append(String.format(Locale.ROOT, row, "column", "different", "empty", "for example"));
    for (Column column : columns) {
      text.append(
          String.format(
                  Locale.ROOT,
                  row,
                  ShownText.brief(column.name),
                  count(column, column.distinct),
                  number(column.empty),
                  String.join("  ", column.examples))
              .stripTrailing());
      text.append('\n');
    }
    text.append("\nkeys\n");
    for (String candidate : candidates) {
      Column column = column(candidate);
      text.append("  --descriptor '").append(descriptor(candidate)).append("'  ");
      text.append(count(column, column.keys)).append(" keys");
      text.append(column.empty > 0 ? ", and " + number(column.empty) + " records without" : "");
      text.append('\n');
    }
    if (candidates.isEmpty()) {
      text.append("  no column has addresses or a usual name for a key, and several values\n");
    }
    return text.append("\nnext\n  ").append(command()).append('\n').toString();
  }

  /** Returns a command that suggests limits for this input. */
  private String command() {
    StringBuilder command = new StringBuilder("weir suggest");
    for (String flag : flags) {
      boolean plain = flag.matches("[A-Za-z0-9_@%+=:,./-]+");
      command.append(' ').append(plain ? flag : "'" + flag.replace("'", "'\\''") + "'");
    }
    String key = candidates.isEmpty() ? "k={COLUMN}" : descriptor(candidates.get(0));
    return command.append(" --descriptor '").append(key).append('\'').toString();
  }

  private static String descriptor(String column) {
    StringBuilder field = new StringBuilder();
    for (int i = 0; i < column.length(); i++) {
      char c = column.charAt(i);
      field.append("{},=|\\".indexOf(c) >= 0 ? "\\" : "").append(c);
    }
    String key = column.substring(column.lastIndexOf('.') + 1).replaceAll("[^A-Za-z0-9_-]", "_");
    return ShownText.plain(key + "={" + field + "}");
  }

  private Column column(String name) {
    return columns.stream().filter(each -> each.name.equals(name)).findFirst().orElseThrow();
  }

  private static String count(Column column, long count) {
    return (column.exact ? "" : "about ") + number(count);
  }

  private static String number(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }

  private static String instant(long nanos) {
    return Instant.ofEpochSecond(
            Math.floorDiv(nanos, 1_000_000_000L), Math.floorMod(nanos, 1_000_000_000L))
        .toString();
  }

  /** Returns the inspection as one JSON object, ended by a line feed. */
  public String json() {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = new JsonFactory().createGenerator(text)) {
      json.useDefaultPrettyPrinter();
      json.writeStartObject();
      json.writeStringField("input", input);
      json.writeStringField("format", format.text());
      json.writeNumberField("records", records);
      json.writeStringField("time_column", timeColumn.isEmpty() ? null : timeColumn);
      json.writeStringField("first_time", firstNanos == null ? null : instant(firstNanos));
      json.writeStringField("last_time", lastNanos == null ? null : instant(lastNanos));
      json.writeNumberField("out_of_order", outOfOrder);
      RequestDurations took = durations;
      json.writeStringField("duration_column", took == null ? null : took.column());
      json.writeStringField(
          "duration_unit", took == null || took.unit().isEmpty() ? null : took.unit());
      json.writeStringField("time_is", took == null ? null : took.timeIs().text());
      if (took != null) {
        json.writeNumberField("without_duration", took.unknown());
      }
      json.writeArrayFieldStart("columns");
      for (Column column : columns) {
        json.writeStartObject();
        json.writeStringField("name", column.name);
        json.writeNumberField("distinct", column.distinct);
        json.writeBooleanField("exact", column.exact);
        json.writeNumberField("keys", column.keys);
        json.writeNumberField("empty", column.empty);
        json.writeBooleanField("addresses", column.addresses);
        texts(json, "examples", column.examples);
        json.writeEndObject();
      }
      json.writeEndArray();
      texts(json, "candidates", candidates);
      texts(json, "flags", flags);
      texts(json, "notes", notes);
      texts(json, "warnings", warnings);
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // Writing to a string cannot fail.
    }
    return text + "\n";
  }

  private static void texts(JsonGenerator json, String name, List<String> texts)
      throws IOException {
    json.writeArrayFieldStart(name);
    for (String text : texts) {
      json.writeString(text);
    }
    json.writeEndArray();
  }
}
