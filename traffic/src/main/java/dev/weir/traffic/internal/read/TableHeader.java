package dev.weir.traffic.internal.read;

import dev.weir.rules.ShownText;
import dev.weir.traffic.Format;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.internal.values.UnreadableException;
import java.io.IOException;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The first line of a sample as the header of a table, CSV or TSV. */
final class TableHeader {
  /** A text that no column's name contains: a date, a time of day, a quote, a bracket, a label. */
  private static final Pattern VALUE =
      Pattern.compile(
          "\\d{4}[-/]\\d\\d[-/]\\d\\d|\\d\\d?[/ ]\\p{Alpha}{3}[/ ]\\d{4}|\\d\\d:\\d\\d|[\"\\[{]"
              + "|^[^:]+:(?!(?:s|ms|us|ns)$)");

  private TableHeader() {}

  /** Returns CSV or TSV if the first line can be its header and the lines below it fit; or null. */
  static @Nullable Format format(Sample sample) throws IOException, TrafficException {
    String first = sample.lines().get(0).strip();
    boolean tabs = first.indexOf('\t') >= 0;
    boolean commas = first.indexOf(',') >= 0;
    Format format = tabs ? Format.TSV : Format.CSV;
    boolean table =
        tabs != commas
            && 2 * records(format, sample) >= sample.lines().size() - 1
            && !isProse(format, sample);
    return table ? format : null;
  }

  /**
   * Checks that the first line has the columns' names.
   *
   * @param name the input's name
   * @throws TrafficException if it has values in their place
   */
  static void check(String name, Format format, Sample sample)
      throws IOException, TrafficException {
    for (String cell : sample.reader(format).columns()) {
      if (isNumber(cell) || Address.is(cell)) {
        throw new TrafficException(
            "format: the first line of "
                + ShownText.quoted(name)
                + " has the value "
                + ShownText.quoted(cell)
                + " (expected: a header with the columns' names)");
      }
    }
  }

  /** Returns whether the first line is text with commas or tabs instead of names of columns. */
  private static boolean isProse(Format format, Sample sample)
      throws IOException, TrafficException {
    for (String cell : sample.reader(format).columns()) {
      List<String> words = List.of(cell.split(" ", -1));
      boolean address = words.size() > 1 && words.stream().anyMatch(Address::is);
      if (address || VALUE.matcher(cell).find()) {
        return true;
      }
    }
    return false;
  }

  private static int records(Format format, Sample sample) throws IOException, TrafficException {
    RecordReader reader = sample.reader(format);
    RecordValues none = new RecordValues(0);
    int count = 0;
    boolean more = true;
    while (more) {
      try {
        more = reader.next(none);
        count += more ? 1 : 0;
      } catch (UnreadableException e) {
        more = true; // This line is not of the format; the next one may be.
      }
    }
    return count;
  }

  /** Returns whether a value is a number in digits, with or without a sign and a fraction. */
  static boolean isNumber(String text) {
    boolean digit = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean isDigit = c >= '0' && c <= '9';
      digit |= isDigit;
      if (!isDigit && c != '.' && !(i == 0 && c == '-')) {
        return false;
      }
    }
    return digit;
  }
}
