package dev.weir.traffic;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** The first lines of an input, tried as records of one format after the other. */
final class Sample {
  /** As many lines are looked at: enough to see a rare kind of line. */
  private static final int LINES = 200;

  private final List<String> lines;
  private final byte[] bytes;

  Sample(byte[] head) {
    lines =
        new String(head, StandardCharsets.UTF_8)
            .lines()
            .filter(line -> !line.isBlank())
            .limit(LINES)
            .toList();
    bytes = (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8);
  }

  /** Returns the lines that are not blank. */
  List<String> lines() {
    return lines;
  }

  RecordReader reader(Format format) throws IOException, TrafficException {
    return Readers.of(format, Lines.of(new ByteArrayInputStream(bytes)));
  }

  /** A record of a format: its line, from 0, and the columns that were asked for. */
  interface Taker {
    void take(int line, List<String> values);
  }

  /** Hands on the records of the sample with a time that can be read, the time first. */
  void each(Format format, List<String> wanted, Taker taker) throws IOException, TrafficException {
    RecordReader reader = reader(format);
    reader.want(wanted);
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
      } catch (Unreadable e) {
        more = true; // This line is not of the format; the next one may be.
      }
    }
  }

  /**
   * Returns the lines that are of the format beyond doubt of their own: a time, a status, and a
   * client where the format has one.
   */
  BitSet fitting(Format format) throws IOException, TrafficException {
    BitSet fitting = new BitSet();
    boolean words = format == Format.COMBINED || format == Format.VHOST;
    boolean named = words || format == Format.NGINX_INGRESS || format == Format.TRAEFIK;
    List<String> wanted = new ArrayList<>(List.of("time", "status"));
    String telling = Readers.telling(format);
    if (format != Format.ENVOY) {
      wanted.add("ip");
    }
    if (words) {
      wanted.addAll(List.of("ident", "user"));
    }
    if (!wanted.contains(telling)) {
      wanted.add(telling);
    }
    each(
        format,
        wanted,
        (line, values) -> {
          String client = format == Format.ENVOY ? "-" : values.get(2);
          boolean known =
              Address.is(client) || (named ? Address.mayBeHost(client) : isNone(client));
          if (known && isStatus(values.get(1)) && (!words || wordsFit(format, values))) {
            fitting.set(line);
          }
        });
    return fitting;
  }

  private static boolean isNone(String client) {
    return client.equals("-");
  }

  private static boolean isStatus(String status) {
    return status.equals("-")
        || (status.length() <= 3 && status.chars().allMatch(c -> c >= '0' && c <= '9'));
  }

  /**
   * Whether the words before the time are {@code ip ident user}, with the host's name before them
   * in a log with virtual hosts. A user's name may have spaces.
   */
  private static boolean wordsFit(Format format, List<String> values) {
    boolean address = Address.is(values.get(2));
    String ident = values.get(3);
    String user = values.get(4);
    if (format == Format.VHOST) {
      return address || ident.equals("-");
    }
    return Address.is(ident) ? address : !user.startsWith("- ");
  }

  /** Returns how many records have two addresses before the time. */
  int twoAddresses() throws IOException, TrafficException {
    int[] count = {0};
    each(
        Format.COMBINED,
        List.of("time", "ident"),
        (line, values) -> count[0] += Address.is(values.get(1)) ? 1 : 0);
    return count[0];
  }
}
