package dev.weir.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.weir.Ticker;
import dev.weir.config.Cause;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.config.OwnLimit;
import dev.weir.config.RecordWrite;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A measurement of the embedded configuration store beside other embedded databases: entries with a
 * key of 26 and a value of 32 bytes in random order, everything on disk when a call returns, a
 * cache of 64 MiB each. Then records of customers are written through the whole store, with their
 * log of changes.
 */
final class ConfigFigures {
  private static final int BATCH = 1_000;
  private static final int VALUE_BYTES = 32;
  private static final int GETS = 200_000;
  private static final long SINGLE_NANOS = 3_000_000_000L;

  private static final Ticker TICKER = Ticker.system();

  private ConfigFigures() {}

  /** The results of one round. */
  private record Round(
      double putsPerSecond,
      double bytesAnEntry,
      double singlePutsPerSecond,
      double singleP99Micros,
      double presentMicros,
      double presentP99Micros,
      double absentMicros) {}

  /** Runs the measurement. Arguments: entries, rounds. */
  public static void main(String[] arguments) throws Exception {
    int entries = Integer.parseInt(arguments[0]);
    int rounds = Integer.parseInt(arguments[1]);
    Map<String, Entries.Opener> contenders = new LinkedHashMap<>();
    contenders.put("RocksDB, as Weir sets it", Entries::rocksDb);
    contenders.put("MVStore", Entries::mvStore);
    contenders.put("SQLite, WAL, full sync", Entries::sqlite);
    Map<String, List<Round>> found = new LinkedHashMap<>();
    for (int round = 0; round < rounds; round++) {
      for (Map.Entry<String, Entries.Opener> each : contenders.entrySet()) {
        System.err.printf("round %d: %s%n", round + 1, each.getKey());
        found
            .computeIfAbsent(each.getKey(), name -> new ArrayList<>())
            .add(measure(each.getValue(), entries, round));
      }
    }
    System.out.printf(
        "%n**%,d entries of 58 bytes, medians of %d**%n%n"
            + "| | puts/s, 1,000 a batch | bytes an entry on disk | single puts/s | p99, us |"
            + " get, us | p99, us | get of none, us |%n|---|---|---|---|---|---|---|---|%n",
        entries, rounds);
    found.forEach(
        (name, all) ->
            System.out.printf(
                "| %s | %,.0f | %.0f | %,.0f | %,.0f | %.1f | %.0f | %.1f |%n",
                name,
                Median.of(all.stream().mapToDouble(Round::putsPerSecond)),
                Median.of(all.stream().mapToDouble(Round::bytesAnEntry)),
                Median.of(all.stream().mapToDouble(Round::singlePutsPerSecond)),
                Median.of(all.stream().mapToDouble(Round::singleP99Micros)),
                Median.of(all.stream().mapToDouble(Round::presentMicros)),
                Median.of(all.stream().mapToDouble(Round::presentP99Micros)),
                Median.of(all.stream().mapToDouble(Round::absentMicros))));
    records(entries);
  }

  private static Round measure(Entries.Opener opening, int entries, int seed) throws Exception {
    Path folder = Files.createTempDirectory("weir-bench-config");
    SplittableRandom values = new SplittableRandom(seed);
    int[] order = order(entries, seed);
    try {
      double puts;
      double single;
      double singleP99;
      double[] present;
      double[] absent;
      try (Entries database = opening.open(folder)) {
        long begin = TICKER.nanos();
        for (int from = 0; from < entries; from += BATCH) {
          Map<byte[], byte[]> batch = new TreeMap<>(Arrays::compareUnsigned);
          for (int i = from; i < Math.min(entries, from + BATCH); i++) {
            batch.put(key(order[i]), value(values));
          }
          database.put(batch);
        }
        puts = entries * 1e9 / (TICKER.nanos() - begin);
        List<Double> micros = new ArrayList<>();
        SplittableRandom random = new SplittableRandom(seed + 1);
        long end = TICKER.nanos() + SINGLE_NANOS;
        for (long now = TICKER.nanos(); now < end; ) {
          database.put(Map.of(key(random.nextInt(entries)), value(values)));
          long after = TICKER.nanos();
          micros.add((after - now) / 1e3);
          now = after;
        }
        single = micros.size() * 1e9 / SINGLE_NANOS;
        singleP99 = sorted(micros.stream().mapToDouble(each -> each).toArray(), 0.99);
        present = gets(database, random, 0, entries);
        absent = gets(database, random, entries, entries);
      }
      return new Round(
          puts,
          (double) bytes(folder) / entries,
          single,
          singleP99,
          sorted(present, 0.5),
          sorted(present, 0.99),
          sorted(absent, 0.5));
    } finally {
      delete(folder);
    }
  }

  /** Returns a random value, so that compression gains nothing. */
  private static byte[] value(SplittableRandom random) {
    byte[] value = new byte[VALUE_BYTES];
    random.nextBytes(value);
    return value;
  }

  private static double[] gets(Entries database, SplittableRandom random, int from, int count)
      throws Exception {
    double[] micros = new double[GETS];
    int missing = 0;
    for (int i = 0; i < GETS; i++) {
      byte[] key = key(from + random.nextInt(count));
      long begin = TICKER.nanos();
      missing += database.has(key) ? 0 : 1;
      micros[i] = (TICKER.nanos() - begin) / 1e3;
    }
    if (missing != (from == 0 ? 0 : GETS)) {
      throw new IllegalStateException(missing + " keys missing");
    }
    return micros;
  }

  private static double sorted(double[] values, double share) {
    Arrays.sort(values);
    return values[(int) Math.min(values.length - 1, values.length * share)];
  }

  private static int[] order(int entries, int seed) {
    int[] order = new int[entries];
    Arrays.setAll(order, i -> i);
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = entries - 1; i > 0; i--) {
      int other = random.nextInt(i + 1);
      int swapped = order[i];
      order[i] = order[other];
      order[other] = swapped;
    }
    return order;
  }

  /** Returns a key of 26 bytes, the length of a subject's key. */
  private static byte[] key(int number) {
    return "shop\0user\0customer%08d".formatted(number).getBytes(US_ASCII);
  }

  /** Prints the disk space of the whole store for records, with a change in the log for each. */
  private static void records(int records) throws IOException {
    Path folder = Files.createTempDirectory("weir-bench-config");
    try {
      Cause cause = Cause.of("bench", "measures an import");
      long nanos;
      try (ConfigStore store = ConfigStores.open("rocksdb:" + folder)) {
        long begin = TICKER.nanos();
        for (int from = 0; from < records; from += BATCH) {
          List<RecordWrite> writes = new ArrayList<>(BATCH);
          for (int i = from; i < Math.min(records, from + BATCH); i++) {
            Subject subject = new Subject("shop", "user", "customer%08d".formatted(i));
            writes.add(
                RecordWrite.put(
                    SubjectRecord.ofLimits(subject, OwnLimit.of("user-minute", 100 + i % 900)),
                    RecordWrite.ANY));
          }
          int unused = store.write(writes, cause).size();
        }
        nanos = TICKER.nanos() - begin;
      }
      System.out.printf(
          "%nImport of %,d records through the store: %.1f s (%,.0f records/s); records and their"
              + " log take %.0f bytes each on disk.%n",
          records, nanos / 1e9, records * 1e9 / nanos, (double) bytes(folder) / records);
    } finally {
      delete(folder);
    }
  }

  private static long bytes(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      long bytes = 0;
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        if (!file.startsWith(folder.resolve("native"))) {
          bytes += Files.size(file);
        }
      }
      return bytes;
    }
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted((a, b) -> b.compareTo(a)).toList()) {
        Files.delete(file);
      }
    }
  }
}
