package dev.weir.core.test;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** The permits that the clients of a {@link PoweredProcess} have asked for and were answered. */
final class ClientCounts {
  /** A key, by the number of its policy. */
  record Key(int policy, long fingerprint) {}

  /** The permits that may be charged to a key. */
  record Bounds(long least, long most) {}

  /** The sums of one key. */
  private static final class Sums {
    long asked;
    long admitted;
    long returned;
    long refunded;
  }

  private final Path file;
  private final Map<Key, Sums> keys = new HashMap<>();
  private long read;
  private long answered;

  ClientCounts(Path file) {
    this.file = file;
  }

  /** Reads what clients have written since the last time, while they are suspended. */
  void read() throws IOException {
    try (RandomAccessFile in = new RandomAccessFile(file.toFile(), "r")) {
      in.seek(read);
      byte[] more = new byte[Math.toIntExact(in.length() - read)];
      in.readFully(more);
      String text = new String(more, StandardCharsets.US_ASCII);
      int whole = text.lastIndexOf('\n') + 1;
      read += whole;
      text.substring(0, whole).lines().forEach(this::count);
    }
  }

  private void count(String line) {
    String[] words = line.split(" ", -1);
    Sums sums =
        keys.computeIfAbsent(
            new Key(Integer.parseInt(words[1]), Long.parseLong(words[2])), key -> new Sums());
    long permits = Long.parseLong(words[3]);
    switch (words[0]) {
      case "asks" -> sums.asked += permits;
      case "admitted" -> sums.admitted += permits;
      case "returns" -> sums.returned += permits;
      case "refunded" -> sums.refunded += permits;
      default -> throw new IllegalArgumentException(line);
    }
    answered += words[0].equals("admitted") ? 1 : 0;
  }

  Set<Key> keys() {
    return keys.keySet();
  }

  /** Returns how many requests were admitted. */
  long answered() {
    return answered;
  }

  /**
   * Returns the permits that are charged if every answer counts, and what was not answered may
   * count.
   */
  Bounds bounds(Key key) {
    Sums sums = Objects.requireNonNull(keys.get(key));
    return new Bounds(
        Math.max(0, sums.admitted - sums.returned),
        Math.min(PoweredProcess.LIMIT, sums.asked - sums.refunded));
  }
}
