package dev.weir.traffic.internal.read;

import dev.weir.rules.ShownText;
import dev.weir.traffic.Format;
import dev.weir.traffic.TrafficException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A search for an input's format by its name and its beginning. */
public final class Detection {
  /*
   * How is a format found, and why by hand? Libraries guess a media type from the first bytes, and
   * all of these formats are text/plain to them. Here the first lines are read by each format's own
   * reader. A format is chosen if it alone reads them, with a plausible time, status and client. If
   * two read the same lines, or each reads some of them, an error names them, because a wrong
   * column as the key is a wrong answer that nobody notices. If no format reads the lines, they are
   * tried once more without the text that other programs write before a record. If no line has an
   * address as its client, the first word may be anything, and the input is refused.
   */

  /**
   * The formats of lines of text that are distinguished by their own readers, those of {@link
   * Readers#COMBINED_LINES} first.
   */
  private static final List<Format> CANDIDATES =
      List.of(
          Format.COMBINED,
          Format.VHOST,
          Format.NGINX_INGRESS,
          Format.TRAEFIK,
          Format.ALB,
          Format.ELB,
          Format.S3,
          Format.ENVOY,
          Format.ISTIO,
          Format.HAPROXY,
          Format.SQUID);

  /**
   * The formats of combined lines with more values at the end: each of their lines is also a
   * combined one.
   */
  private static final List<Format> SPECIAL = List.of(Format.NGINX_INGRESS, Format.TRAEFIK);

  /**
   * The lines for each line of a log from which on a text is no log: a page of documentation may
   * quote some lines of one.
   */
  private static final int FEW = 10;

  private static final String EXPECTED =
      "--format with one of "
          + Arrays.stream(Format.values())
              .filter(format -> format != Format.AUTO && format != Format.LAYOUT)
              .map(Format::text)
              .collect(Collectors.joining(", "))
          + " (IIS and CloudFront write w3c); if it is none of them, --layout with the order of the"
          + " values, such as 'ip - user [time] \"request\" status'; without a time in each line it"
          + " cannot be read";

  /**
   * The result of a search: the format of an input.
   *
   * @param prefixed true if other text stands before the records
   */
  record Found(Format format, boolean prefixed) {}

  /** A text that no column's name contains: a date, a time of day, a quote, a bracket, a label. */
  private static final Pattern VALUE =
      Pattern.compile(
          "\\d{4}[-/]\\d\\d[-/]\\d\\d|\\d\\d?[/ ]\\p{Alpha}{3}[/ ]\\d{4}|\\d\\d:\\d\\d|[\"\\[{]"
              + "|^[^:]+:(?!(?:s|ms|us|ns)$)");

  /** A format and the lines of the sample that it reads. */
  private record Fit(Format format, BitSet lines) {}

  private Detection() {}

  /**
   * Finds the format of the input.
   *
   * @param head the input's beginning
   * @param asked the format, or {@link Format#AUTO} to detect it
   * @throws TrafficException if neither the name nor the content shows it with certainty
   */
  static Found find(String name, byte[] head, Format asked) throws TrafficException {
    try {
      return asked == Format.AUTO
          ? found(name, head)
          : new Found(asked, needsPrefixes(asked, head));
    } catch (IOException e) {
      throw new IllegalStateException(e); // Reading bytes in memory cannot fail.
    }
  }

  /** Returns the detected format. */
  public static Format format(String name, byte[] head) throws TrafficException {
    return find(name, head, Format.AUTO).format;
  }

  private static Found found(String name, byte[] head) throws IOException, TrafficException {
    if (head.length >= 2 && (mark(head, 0xff, 0xfe) || mark(head, 0xfe, 0xff))) {
      throw new TrafficException("input: " + name + " is in UTF-16 (expected: UTF-8)");
    }
    Format named = byName(name);
    if (head.length == 0 && named == null) {
      throw new TrafficException("input: " + name + " is empty (expected: records)");
    }
    Sample sample = new Sample(head, false);
    if (named == null) {
      return byContent(name, sample, new Sample(head, true));
    }
    if (named == Format.JSONL) {
      return new Found(json(sample), false);
    }
    if (!sample.lines().isEmpty()) {
      header(name, named, sample);
    }
    return new Found(named, false);
  }

  /** Returns whether the format reads more lines if the text before each record is left out. */
  private static boolean needsPrefixes(Format format, byte[] head)
      throws IOException, TrafficException {
    Sample behind = new Sample(head, true);
    int prefixed = fits(format, behind);
    return 2 * prefixed > behind.lines().size() && prefixed > fits(format, new Sample(head, false));
  }

  /** Returns the number of lines that fit a requested format; 0 for a format without such lines. */
  private static int fits(Format format, Sample sample) throws IOException, TrafficException {
    if (CANDIDATES.contains(format)) {
      return sample.fitting(format).addresses().cardinality();
    }
    if (format == Format.LTSV) {
      return labelled(sample).cardinality();
    }
    return Readers.isJson(format) ? objects(sample).cardinality() : 0;
  }

  /** Returns the lines that may be JSON objects. */
  private static BitSet objects(Sample sample) {
    BitSet objects = new BitSet();
    for (int i = 0; i < sample.lines().size(); i++) {
      objects.set(i, sample.lines().get(i).strip().startsWith("{"));
    }
    return objects;
  }

  /** Returns the lines whose values all have labels. */
  private static BitSet labelled(Sample sample) {
    BitSet labelled = new BitSet();
    for (int i = 0; i < sample.lines().size(); i++) {
      labelled.set(i, !LtsvReader.labels(sample.lines().get(i)).isEmpty());
    }
    return labelled;
  }

  private static boolean mark(byte[] head, int first, int second) {
    return head[0] == (byte) first && head[1] == (byte) second;
  }

  private static @Nullable Format byName(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    for (String compressed : List.of(".gz", ".zst")) {
      if (lower.endsWith(compressed)) {
        lower = lower.substring(0, lower.length() - compressed.length());
      }
    }
    if (lower.endsWith(".csv")) {
      return Format.CSV;
    }
    if (lower.endsWith(".tsv") || lower.endsWith(".tab")) {
      return Format.TSV;
    }
    return lower.endsWith(".jsonl") || lower.endsWith(".ndjson") ? Format.JSONL : null;
  }

  private static Found byContent(String name, Sample sample, Sample behind)
      throws IOException, TrafficException {
    List<String> lines = sample.lines();
    if (lines.isEmpty()) {
      throw new TrafficException("input: " + name + " is blank (expected: records)");
    }
    if (lines.get(0).indexOf('\0') >= 0) {
      throw new TrafficException(
          "input: "
              + name
              + " begins with binary data (expected: text; for a log whose beginning is lost,"
              + " --format with the format's name)");
    }
    if (lines.stream().anyMatch(line -> line.startsWith("#Fields:"))) {
      return new Found(Format.W3C, false);
    }
    List<Fit> fitting = fitting(sample);
    if (10 * most(fitting) < 9 * lines.size()) {
      List<Fit> others = fitting(behind);
      if (most(others) > most(fitting) && 2 * most(others) >= lines.size()) {
        return new Found(certain(name, behind, others), true);
      }
    }
    if (fitting.isEmpty()) {
      names(name, sample);
      return new Found(table(name, sample), false);
    }
    return new Found(certain(name, sample, fitting), false);
  }

  /** Returns the most lines that any one format fits. */
  private static int most(List<Fit> fitting) {
    return fitting.stream().mapToInt(fit -> fit.lines.cardinality()).max().orElse(0);
  }

  /** Returns the formats that fit some lines, with an address as the client in at least one. */
  private static List<Fit> fitting(Sample sample) throws IOException, TrafficException {
    List<String> lines = sample.lines();
    List<Fit> fitting = new ArrayList<>();
    for (Format each : CANDIDATES) {
      boolean related = Readers.COMBINED_LINES.contains(each);
      if (!related && most(fitting) == lines.size()) {
        break; // The others have another structure: no line of theirs is a combined one.
      }
      Sample.Fitting those = sample.fitting(each);
      if (!those.addresses().isEmpty()) {
        fitting.add(new Fit(each, those.lines()));
      }
    }
    BitSet objects = objects(sample);
    BitSet labelled = labelled(sample);
    if (!objects.isEmpty()) {
      fitting.add(new Fit(json(sample), objects));
    }
    if (2 * labelled.cardinality() > lines.size()) {
      fitting.add(new Fit(Format.LTSV, labelled));
    }
    return fitting;
  }

  /** Refuses lines of which a format reads everything except the client's address. */
  private static void names(String name, Sample sample) throws IOException, TrafficException {
    for (Format format : List.of(Format.COMBINED, Format.VHOST)) {
      BitSet lines = sample.fitting(format).lines();
      if (2 * lines.cardinality() > sample.lines().size()) {
        throw new TrafficException(
            "format: no address in the place of the client in "
                + shown(name, sample)
                + " (expected: "
                + flag(format)
                + " if that is the client's name; else --layout with the order of the values)");
      }
    }
  }

  private static Format json(Sample sample) throws IOException {
    return Readers.jsonFormat(new JsonLinesReader(sample.opened()).columns());
  }

  /** Returns the only format that reads most lines, if no other one reads the same lines. */
  private static Format certain(String name, Sample sample, List<Fit> fitting)
      throws IOException, TrafficException {
    preferSpecial(fitting);
    fitting.sort((a, b) -> b.lines.cardinality() - a.lines.cardinality());
    Format first = fitting.get(0).format;
    BitSet all = fitting.get(0).lines;
    int lines = sample.lines().size();
    BitSet any = new BitSet();
    fitting.forEach(fit -> any.or(fit.lines));
    if (FEW * any.cardinality() < lines) {
      throw unknown(name, sample);
    }
    for (Fit other : fitting.subList(1, fitting.size())) {
      if (other.lines.intersects(all)) {
        throw ambiguous(name, sample, first, other.format);
      }
    }
    if (fitting.size() > 1 && 10 * all.cardinality() < 9 * lines) {
      throw mixed(name, sample, fitting);
    }
    boolean words = first == Format.COMBINED || first == Format.VHOST;
    if (words && 2 * sample.twoAddresses(first) > all.cardinality()) {
      throw new TrafficException(
          "format: two addresses before the time in "
              + shown(name, sample)
              + ": either may be the client's (expected: --format "
              + first
              + " with --descriptor 'ip={ip}' for the first, 'ip={ident}' for the second)");
    }
    if (2 * all.cardinality() < lines) {
      throw new TrafficException(
          "format: only "
              + all.cardinality()
              + " of the first "
              + lines
              + " lines of "
              + ShownText.quoted(name)
              + " are "
              + first
              + " (expected: --format "
              + first
              + ", which reads "
              + readable(sample, fitting.get(0))
              + " of these and counts the others as unreadable)");
    }
    return first;
  }

  /**
   * Keeps either combined or the formats with more values behind it: the latter if they read most
   * lines.
   */
  private static void preferSpecial(List<Fit> fitting) {
    BitSet combined = new BitSet();
    fitting.stream()
        .filter(fit -> fit.format == Format.COMBINED)
        .forEach(f -> combined.or(f.lines));
    boolean asMuch =
        fitting.stream().anyMatch(f -> SPECIAL.contains(f.format) && most(f.lines, combined));
    if (!combined.isEmpty()) {
      fitting.removeIf(
          fit -> asMuch ? fit.format == Format.COMBINED : SPECIAL.contains(fit.format));
    }
  }

  /**
   * Returns whether the part is at least half of the whole; a line that was cut off is not in the
   * part.
   */
  private static boolean most(BitSet part, BitSet whole) {
    return 2 * part.cardinality() >= whole.cardinality();
  }

  private static TrafficException ambiguous(
      String name, Sample sample, Format first, Format second) {
    return new TrafficException(
        "format: "
            + shown(name, sample)
            + " may be "
            + first
            + " or "
            + second
            + " (expected: "
            + flag(first)
            + " or "
            + flag(second)
            + ")");
  }

  private static String flag(Format format) {
    return "--format "
        + format
        + switch (format) {
          case COMBINED -> ", the client in the first word,";
          case VHOST -> ", the client in the second word,";
          default -> "";
        };
  }

  private static TrafficException mixed(String name, Sample sample, List<Fit> fitting)
      throws IOException, TrafficException {
    StringBuilder text = new StringBuilder();
    text.append("format: ").append(ShownText.quoted(name)).append(" has lines of several formats:");
    for (Fit each : fitting) {
      text.append(text.charAt(text.length() - 1) == ':' ? " " : ", ")
          .append(each.format)
          .append(" (");
      text.append(each.lines.cardinality()).append(", the first is line ");
      text.append(each.lines.nextSetBit(0) + 1).append(')');
    }
    text.append(" (expected: one; --format with its name reads that one");
    for (Fit each : fitting) {
      int readable = readable(sample, each);
      if (readable > each.lines.cardinality()) {
        text.append(", ").append(each.format).append(" ").append(readable).append(" lines");
      }
    }
    return new TrafficException(
        text.append(", and the other lines count as unreadable)").toString());
  }

  /**
   * Returns the number of lines that the format reads, including those that do not look like it.
   */
  private static int readable(Sample sample, Fit fit) throws IOException, TrafficException {
    int fitting = fit.lines.cardinality();
    return CANDIDATES.contains(fit.format)
        ? Math.max(fitting, sample.readable(fit.format))
        : fitting;
  }

  private static String shown(String name, Sample sample) {
    return ShownText.quoted(name) + ", line 1 " + ShownText.quoted(sample.lines().get(0));
  }

  /** Returns CSV or TSV if the first line can be its header and the lines below it fit. */
  private static Format table(String name, Sample sample) throws IOException, TrafficException {
    String first = sample.lines().get(0).strip();
    boolean tabs = first.indexOf('\t') >= 0;
    boolean commas = first.indexOf(',') >= 0;
    Format format = tabs ? Format.TSV : Format.CSV;
    if (tabs == commas
        || 2 * records(format, sample) < sample.lines().size() - 1
        || isProse(format, sample)) {
      throw unknown(name, sample);
    }
    header(name, format, sample);
    return format;
  }

  private static TrafficException unknown(String name, Sample sample) {
    return new TrafficException(
        "format: not a log that is known, by its name "
            + ShownText.quoted(name)
            + " and its first line "
            + ShownText.quoted(sample.lines().get(0).strip())
            + " (expected: "
            + EXPECTED
            + ")");
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
    RecordFields none = new RecordFields(0);
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

  /** Refuses values in the place of the columns' names. */
  private static void header(String name, Format format, Sample sample)
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
