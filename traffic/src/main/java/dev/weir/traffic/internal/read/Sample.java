package dev.weir.traffic.internal.read;

import dev.weir.traffic.Format;
import dev.weir.traffic.TrafficException;
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
    RecordFields fields = new RecordFields(wanted.size());
    TimeReader time = new TimeReader(TimeReader.Unit.BY_SIZE);
    boolean more = true;
    while (more) {
      try {
        more = reader.next(fields);
        if (!more) {
          return;
        }
        time.nanos(fields.data(0), fields.from(0), fields.to(0));
        List<String> values = new ArrayList<>();
        for (int i = 0; i < wanted.size(); i++) {
          values.add(fields.text(i));
        }
        taker.take((int) reader.line() - 1, values);
      } catch (UnreadableException e) {
        more = true; // This line is not of the format; the next one may be.
      }
    }
  }

  /** The lines that a format fits, and those of them in which the client is an address. */
  record Fitting(BitSet lines, BitSet addresses) {}

  /**
   * Returns the lines that by themselves are certainly of the format: with a time, a status, and a
   * client if the format has one.
   */
  Fitting fitting(Format format) throws IOException, TrafficException {
    Fitting fitting = new Fitting(new BitSet(), new BitSet());
    boolean words = format == Format.COMBINED || format == Format.VHOST;
    boolean named = Readers.COMBINED_LINES.contains(format);
    boolean hasClient = hasClient(format);
    List<String> wanted = new ArrayList<>(List.of("time", "status"));
    String last = Readers.lastCertainColumn(format);
    if (hasClient) {
      wanted.add("ip");
    }
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
          String client = hasClient ? CanonicalAddresses.of(values.get(2)) : "-";
          boolean address = !named || Address.is(client);
          boolean known = named ? address || Address.mayBeHost(client) : client(client);
          if (known && isStatus(values.get(1)) && (!words || wordsFit(format, values))) {
            fitting.lines.set(line);
            fitting.addresses.set(line, address);
          }
        });
    return fitting;
  }

  /** Returns whether the format has a column with the client's address. */
  private boolean hasClient(Format format) throws IOException, TrafficException {
    return reader(format).columns().contains("ip");
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
    List<String> wanted = hasClient(format) ? List.of("time", "ip") : List.of("time");
    each(format, wanted, (line, values) -> count[0]++);
    return count[0];
  }

  private static boolean isStatus(String status) {
    return status.equals("-")
        || (status.length() <= 3 && status.chars().allMatch(c -> c >= '0' && c <= '9'));
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
