package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Replica.Entry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A store that is made again from an image and a journal has the state of the one that died: of
 * every key, whatever was done to it.
 */
class JournalTest {
  private static final long WALL = 1_000_000_000_000L;

  @TempDir Path folder;

  /** The lines that a folder has written. */
  private static final class Lines implements StateFolder.Log {
    final StringBuilder all = new StringBuilder();

    @Override
    public void info(String line) {
      all.append(line).append('\n');
    }

    @Override
    public void warning(String line) {
      all.append("warning: ").append(line).append('\n');
    }
  }

  private static StateFolder open(Path at, Lines lines) throws IOException {
    return StateFolder.builder(at)
        .clock(new StateClock(() -> WALL, () -> WALL, "boot"))
        .log(lines)
        .open();
  }

  @Test
  void storeAfterADeath_hasEveryChange() throws Exception {
    int runs = 300;
    SplittableRandom seeds = Seed.random("JournalTest", runs);
    for (int trial = 0; trial < runs; trial++) {
      Path own = folder.resolve("" + trial);
      String difference = difference(own, new SplittableRandom(seeds.nextLong()), trial % 100 == 1);
      assertThat(difference).as("-Dweir.seed=%s, trial %s", Seed.SEED, trial).isNull();
      delete(own);
    }
  }

  /** Returns the first difference between a store and the one that is made from its files. */
  private static String difference(Path at, SplittableRandom random, boolean manyKeys)
      throws IOException {
    Operations operations = new Operations(random.split(), manyKeys);
    MemoryStore before = null;
    for (int lives = random.nextInt(2, 5); lives > 0; lives--) {
      Lines lines = new Lines();
      try (StateFolder state = open(at, lines)) {
        MemoryStore store = state.store("s", "", Replica.UNBOUNDED, Replica.UNBOUNDED);
        if (before != null) {
          String had = contents(before, operations.now());
          String has = contents(store, operations.now());
          if (!had.equals(has)) {
            return had + "\nbut " + has + "\n" + lines.all;
          }
        }
        store.verify();
        if (random.nextInt(4) == 0) {
          continue; // A start that fails.
        }
        state.begin();
        Replica replica = new Replica(store);
        int count = random.nextInt(200);
        for (int i = 0; i < count; i++) {
          Entry entry = operations.next();
          replica.apply(entry);
          if (random.nextInt(60) == 0) {
            state.fold();
          }
        }
        if (!state.isComplete()) {
          return "not complete\n" + lines.all;
        }
        before = store;
      }
    }
    return null;
  }

  /** Returns all keys that have not reset, with the counts of their states. */
  private static String contents(MemoryStore store, long now) {
    Map<String, String> contents = new TreeMap<>();
    for (String name : List.of("a", "b", "c")) {
      Binding any = store.rebound(name, Policy.of(new Quota(1, Operations.WINDOW)));
      for (ShapeTable each : store.tables(any)) {
        Table table = each.table();
        table.forEach(
            0,
            -1,
            (fingerprint, state) -> {
              if (table.meter.resetAtNanos(state, 0) > now) {
                contents.put(
                    name + " " + table.shape + " " + fingerprint,
                    Replica.text(table.meter, state, each.widest(now), now));
              }
            });
      }
    }
    return contents.toString();
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path each : all.sorted((a, b) -> b.compareTo(a)).toList()) {
        Files.delete(each);
      }
    }
  }
}
