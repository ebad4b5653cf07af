package dev.weir.traffic.internal.read;

import dev.weir.traffic.Format;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.internal.values.TimeReader;
import dev.weir.traffic.internal.values.UnreadableException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** The first lines of an input, which are tried as records of one format after the other. */
final class Sample {
  /** The number of lines that are read: enough to see a rare kind of line. */
  private static final int LINES = 200;

  private final List<String> lines;
  private final byte[] bytes;
  private final boolean prefixed;

  /**
   * @param head the input's beginning
   * @param prefixed true to leave out the text that others have written before each record
   */
  Sample(byte[] head, boolean prefixed) {
    this.prefixed = prefixed;
    List<String> all =
        new String(head, StandardCharsets.UTF_8)
            .lines()
            .filter(line -> !line.isBlank())
            .limit(LINES)
            .toList();
    bytes = (String.join("\n", all) + "\n").getBytes(StandardCharsets.UTF_8);
    lines = prefixed ? all.stream().map(Sample::record).toList() : all;
  }

  private static String record(String line) {
    byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
    int from = LinePrefix.end(bytes, 0, bytes.length);
    return new String(bytes, from, bytes.length - from, StandardCharsets.UTF_8);
  }

  /** Returns the lines that are not blank, without the text that is left out before the records. */
  List<String> lines() {
    return lines;
  }

  RecordReader reader(Format format) throws IOException, TrafficException {
    return Readers.of(format, opened());
  }

  /** Returns the lines, ready to be read. */
  Lines opened() throws IOException {
    Lines all = Lines.of(new ByteArrayInputStream(bytes));
    return prefixed ? all.behindPrefixes() : all;
  }

  /** A receiver of records of a format: each with its line, from 0, and the requested columns. */
  interface Taker {
    void take(int line, List<String> values);
  }

  /** Passes on the records of the sample with a time that can be read, the time first. */
  void each(Format format, List<String> wanted, Taker taker) throws IOException, TrafficException {
    RecordReader reader = reader(format);
    reader.select(wanted);
    RecordValues values = new RecordValues(wanted.size());
    TimeReader time = new TimeReader(TimeReader.Unit.BY_SIZE);
    boolean more = true;
    while (more) {
      try {
        more = reader.next(values);
        if (!more) {
          return;
        }
        time.nanos(values.data(0), values.from(0), values.to(0));
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < wanted.size(); i++) {
          texts.add(values.text(i));
        }
        taker.take((int) reader.line() - 1, texts);
      } catch (UnreadableException e) {
        more = true; // This line is not of the format; the next one may be.
      }
    }
  }

  /**
   * Returns the lines that by themselves are certainly of the format: with a time, and with a
   * status and a client if the format has them.
   */
  FormatLines linesOf(Format format) throws IOException, TrafficException {
    FormatLines those = new FormatLines(format, new BitSet(), new BitSet());
    boolean words = format == Format.COMBINED || format == Format.VHOST;
    boolean named = Readers.COMBINED_LINES.contains(format);
    List<String> columns = reader(format).columns();
    List<String> wanted = new ArrayList<>(List.of("time"));
    for (String each : List.of("status", "ip")) {
      if (columns.contains(each)) {
        wanted.add(each);
      }
    }
    int statusAt = wanted.indexOf("status");
    int clientAt = wanted.indexOf("ip");
    String last = Readers.lastCertainColumn(format);
    if (words) {
      wanted.addAll(List.of("ident", "user"));
    }
    if (format == Format.VHOST) {
      wanted.add("vhost");
    }
    if (!wanted.contains(last)) {
      wanted.add(last);
    }
    each(
        format,
        wanted,
        (line, values) -> {
          String client = clientAt >= 0 ? CanonicalAddresses.of(values.get(clientAt)) : "-";
          boolean address = !named || Address.is(client);
          boolean known = named ? address || Address.mayBeHost(client) : client(client);
          boolean status = statusAt < 0 || isStatus(values.get(statusAt));
          if (known && status && (!words || wordsFit(format, values))) {
            those.lines().set(line);
            those.addresses().set(line, address);
          }
        });
    return those;
  }

  private static boolean client(String client) {
    return client.equals("-") || Address.is(client);
  }

  /**
   * Returns the number of lines that have a time and a client of the format, whatever is behind
   * them.
   */
  int readable(Format format) throws IOException, TrafficException {
    int[] count = {0};
    boolean hasClient = reader(format).columns().contains("ip");
    List<String> wanted = hasClient ? List.of("time", "ip") : List.of("time");
    each(format, wanted, (line, values) -> count[0]++);
    return count[0];
  }

  private static boolean isStatus(String status) {
    return status.equals("-")
        || (!status.isEmpty()
            && status.length() <= 3
            && status.chars().allMatch(c -> c >= '0' && c <= '9'));
  }

  /**
   * Returns whether the words before the time are {@code ip ident user}, with the host's name
   * before them in a log with virtual hosts. A user's name may have spaces.
   */
  private static boolean wordsFit(Format format, List<String> values) {
    boolean address = Address.is(CanonicalAddresses.of(values.get(2)));
    String ident = values.get(3);
    String user = values.get(4);
    if (format == Format.VHOST) {
      // A word with a colon behind it is a label, such as a logger's INFO:
      return !values.get(5).endsWith(":") && (address || ident.equals("-"));
    }
    // An address with a port before another address is a virtual host's.
    return Address.is(ident) ? Address.is(values.get(2)) : !user.startsWith("- ");
  }

  /** Returns the number of records that have two addresses before the time. */
  int twoAddresses(Format format) throws IOException, TrafficException {
    int[] count = {0};
    each(
        format,
        List.of("time", "ident"),
        (line, values) -> count[0] += Address.is(values.get(1)) ? 1 : 0);
    return count[0];
  }
}
