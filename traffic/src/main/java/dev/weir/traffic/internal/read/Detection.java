package dev.weir.traffic.internal.read;

import dev.weir.traffic.Format;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.internal.read.LineLogs.Kind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The choice of an input's format by its name and its beginning. */
public final class Detection {
  /*
   * How is a format detected, and why by hand? Libraries guess a media type from the first bytes,
   * and all of these formats are text/plain to them. Here the first lines are read by each format's
   * own reader. A format is chosen if it alone reads them, with a plausible time, status and
   * client; an object of JSON has its format by its columns. If two read the same lines, or each reads some of them, an error names them, because a
   * wrong column as the key is a wrong answer that nobody notices. If no format reads the lines,
   * they are tried once more without the text that other programs write before a record. If no line
   * has an address as its client, the first word may be anything, and the input is refused.
   */

  /**
   * The lines for each line of a log from which on a text is no log: a page of documentation may
   * quote some lines of one.
   */
  private static final int FEW = 10;

  /**
   * The format of an input.
   *
   * @param prefixed true if other text stands before the records
   */
  record Result(Format format, boolean prefixed) {}

  private Detection() {}

  /**
   * Returns the format of the input.
   *
   * @param head the input's beginning
   * @param asked the format, or {@link Format#AUTO} to detect it
   * @throws TrafficException if neither the name nor the content shows it with certainty
   */
  static Result of(String name, byte[] head, Format asked) throws TrafficException {
    try {
      return asked == Format.AUTO
          ? detected(name, head)
          : new Result(asked, needsPrefixes(asked, head));
    } catch (IOException e) {
      throw new IllegalStateException(e); // Reading bytes in memory cannot fail.
    }
  }

  /** Returns the detected format. */
  public static Format format(String name, byte[] head) throws TrafficException {
    return of(name, head, Format.AUTO).format;
  }

  private static Result detected(String name, byte[] head) throws IOException, TrafficException {
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
      return new Result(json(sample), false);
    }
    if (!sample.lines().isEmpty()) {
      TableHeader.check(name, named, sample);
    }
    return new Result(named, false);
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

  /** Returns whether the format reads more lines if the text before each record is left out. */
  private static boolean needsPrefixes(Format format, byte[] head)
      throws IOException, TrafficException {
    Sample behind = new Sample(head, true);
    int prefixed = records(format, behind);
    return 2 * prefixed > behind.lines().size()
        && prefixed > records(format, new Sample(head, false));
  }

  /** Returns the number of records of a requested format; 0 for a format without such lines. */
  private static int records(Format format, Sample sample) throws IOException, TrafficException {
    if (Readers.LINES.contains(format)) {
      return sample.linesOf(format).addresses().cardinality();
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
      objects.set(i, isObject(sample.lines().get(i).strip()));
    }
    return objects;
  }

  /** Returns whether the text begins as an object does; HAProxy writes words in braces. */
  private static boolean isObject(String text) {
    String rest = text.startsWith("{") ? text.substring(1).stripLeading() : "-";
    return rest.isEmpty() || rest.startsWith("\"") || rest.startsWith("}");
  }

  /** Returns the lines whose values all have labels. */
  private static BitSet labelled(Sample sample) {
    BitSet labelled = new BitSet();
    for (int i = 0; i < sample.lines().size(); i++) {
      labelled.set(i, !LtsvReader.labels(sample.lines().get(i)).isEmpty());
    }
    return labelled;
  }

  private static Format json(Sample sample) throws IOException {
    return JsonLogs.format(new JsonLinesReader(sample.opened()).columns());
  }

  private static Result byContent(String name, Sample sample, Sample behind)
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
      return new Result(Format.W3C, false);
    }
    List<FormatLines> formats = formats(sample);
    if (10 * most(formats) < 9 * lines.size()) {
      List<FormatLines> others = formats(behind);
      if (most(others) > most(formats) && 2 * most(others) >= lines.size()) {
        return new Result(certain(name, behind, others), true);
      }
    }
    if (!formats.isEmpty()) {
      return new Result(certain(name, sample, formats), false);
    }
    refuseNames(name, sample);
    Format table = TableHeader.format(sample);
    if (table == null) {
      throw new DetectionErrors(name, sample).unknown();
    }
    TableHeader.check(name, table, sample);
    return new Result(table, false);
  }

  /** Returns the most lines that any one format has. */
  private static int most(List<FormatLines> formats) {
    return formats.stream().mapToInt(FormatLines::count).max().orElse(0);
  }

  /** Returns the formats that have some lines, with an address as the client in at least one. */
  private static List<FormatLines> formats(Sample sample) throws IOException, TrafficException {
    List<String> lines = sample.lines();
    List<FormatLines> formats = new ArrayList<>();
    for (Format each : Readers.LINES) {
      boolean related = Readers.COMBINED_LINES.contains(each);
      if (!related && most(formats) == lines.size()) {
        break; // The others have another structure: no line of theirs is a combined one.
      }
      FormatLines those = sample.linesOf(each);
      if (!those.addresses().isEmpty()) {
        formats.add(those);
      }
    }
    BitSet objects = objects(sample);
    BitSet labelled = labelled(sample);
    if (!objects.isEmpty()) {
      formats.add(FormatLines.of(json(sample), objects));
    }
    if (2 * labelled.cardinality() > lines.size()) {
      formats.add(FormatLines.of(Format.LTSV, labelled));
    }
    return formats;
  }

  /** Refuses lines of which a format reads everything except the client's address. */
  private static void refuseNames(String name, Sample sample) throws IOException, TrafficException {
    for (Format format : List.of(Format.COMBINED, Format.VHOST)) {
      if (2 * sample.linesOf(format).count() > sample.lines().size()) {
        throw new DetectionErrors(name, sample).noAddress(format);
      }
    }
  }

  /** Returns the only format that reads most lines, if no other one reads the same lines. */
  private static Format certain(String name, Sample sample, List<FormatLines> formats)
      throws IOException, TrafficException {
    preferLonger(formats);
    formats.sort((a, b) -> b.count() - a.count());
    DetectionErrors errors = new DetectionErrors(name, sample);
    FormatLines first = formats.get(0);
    int lines = sample.lines().size();
    BitSet any = new BitSet();
    formats.forEach(each -> any.or(each.lines()));
    if (FEW * any.cardinality() < lines) {
      throw errors.unknown();
    }
    for (FormatLines other : formats.subList(1, formats.size())) {
      if (other.lines().intersects(first.lines())) {
        throw errors.ambiguous(first.format(), other.format());
      }
    }
    if (formats.size() > 1 && 10 * first.count() < 9 * lines) {
      throw errors.mixed(formats);
    }
    boolean words = first.format() == Format.COMBINED || first.format() == Format.VHOST;
    if (words && 2 * sample.twoAddresses(first.format()) > first.count()) {
      throw errors.twoAddresses(first.format());
    }
    if (2 * first.count() < lines) {
      throw errors.few(first);
    }
    return first.format();
  }

  /**
   * Keeps either combined or the formats with more values behind it: the latter if one of them has
   * at least half of the combined lines. A line that was cut off is only combined.
   */
  private static void preferLonger(List<FormatLines> formats) {
    int combined =
        formats.stream()
            .filter(each -> each.format() == Format.COMBINED)
            .mapToInt(FormatLines::count)
            .sum();
    if (combined > 0) {
      boolean longer =
          formats.stream().anyMatch(each -> isLonger(each) && 2 * each.count() >= combined);
      formats.removeIf(each -> longer ? each.format() == Format.COMBINED : isLonger(each));
    }
  }

  private static boolean isLonger(FormatLines lines) {
    return LineLogs.is(Kind.COMBINED, lines.format());
  }
}
