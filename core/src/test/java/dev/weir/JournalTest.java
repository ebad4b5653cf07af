package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Replica.Entry;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A store that is made again from an image and a journal has the state of the one that died: of
 * every key, whatever was done to it.
 */
class JournalTest {
  private static final long SECOND = 1_000_000_000L;

  /** The algorithms that can count several keys together: seats need a key. */
  private static final List<Algorithm> SKETCHED = Algorithm.rates();

  private static final int FILE_BYTES = 16 << 10;
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

  /** A process from the view of its folder, which ends by dying. */
  private record Life(StateFolder state) implements AutoCloseable {
    @Override
    public void close() {
      state.die();
    }
  }

  private static Life open(Path at, Lines lines) throws IOException {
    return open(at, lines, WALL);
  }

  private static Life open(Path at, Lines lines, long wall) throws IOException {
    StateFolder state =
        StateFolder.builder(at)
            .clock(new StateClock(() -> wall, () -> wall, "boot"))
            .fileBytes(FILE_BYTES)
            .log(lines)
            .open();
    return new Life(state);
  }

  @Test
  void storeAfterADeath_hasEveryChange() throws Exception {
    int runs = 100;
    SplittableRandom seeds = Seed.random("JournalTest", runs);
    for (int trial = 0; trial < runs; trial++) {
      Path own = folder.resolve("" + trial);
      @Nullable String difference =
          difference(own, new SplittableRandom(seeds.nextLong()), trial % 100 == 1);
      assertThat(difference).as("-Dweir.seed=%s, trial %s", Seed.SEED, trial).isNull();
      delete(own);
    }
  }

  /** Returns the first difference between a store and the one that is made from its files. */
  private static @Nullable String difference(Path at, SplittableRandom random, boolean manyKeys)
      throws IOException {
    Operations operations = new Operations(random.split(), manyKeys);
    @Nullable MemoryStore before = null;
    for (int lives = random.nextInt(2, 5); lives > 0; lives--) {
      Lines lines = new Lines();
      try (Life life = open(at, lines)) {
        StateFolder state = life.state();
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
          if (random.nextInt(20) == 0) {
            ColocationTest.colocate(store, random);
          }
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

  /**
   * The version before counted small limits of the default algorithm in exact logs, under the same
   * policy.
   */
  @Test
  void journalOfExactLogs_isRepeated_andIsNotMadeAgain() throws Exception {
    Policy byDefault = Policy.builder(new Quota(3, 3_600 * SECOND)).build();
    Lines lines = new Lines();
    try (Life life = open(folder, lines)) {
      StateFolder state = life.state();
      MemoryStore store = state.store("s", "", Replica.UNBOUNDED, Replica.UNBOUNDED);
      state.begin();
      Binding exact = store.bind("p", byDefault.countedExactly(), WALL);
      assertThat(PackedDecision.allowed(store.decide(exact, 1, 2, WALL))).isTrue();
    }
    StoreFiles files = new StoreFiles(folder, "s");
    List<Journal.Ref> refs = files.readNames().refs();
    assertThat(refs).hasSize(1);
    Files.delete(files.names());
    try (FileChannel names = StoreFiles.create(files.names())) {
      Journal.Ref ref = refs.get(0);
      StoreFiles.append(
          names,
          new Journal.Ref(
              ref.name(), ref.shape(), ref.cellBits(), new Journal.PolicyValues(byDefault)));
    }
    try (Life life = open(folder, lines)) {
      StateFolder state = life.state();
      MemoryStore store = state.store("s", "", Replica.UNBOUNDED, Replica.UNBOUNDED);
      state.begin();
      Binding compact = store.bind("p", byDefault, WALL);
      assertThat(PackedDecision.allowed(store.decide(compact, 1, 2, WALL))).isFalse();
      assertThat(PackedDecision.allowed(store.decide(compact, 1, 1, WALL))).isTrue();
      assertThat(store.keys()).as("the log and its witness").isEqualTo(2);
      state.fold();
    }
    for (int start = 1; start <= 2; start++) { // Later, when the witness is over.
      long later = WALL + start * 20_000L * SECOND;
      try (Life life = open(folder, lines, later)) {
        StateFolder state = life.state();
        MemoryStore store = state.store("s", "", Replica.UNBOUNDED, Replica.UNBOUNDED);
        state.begin();
        Binding compact = store.bind("p", byDefault, later);
        assertThat(PackedDecision.allowed(store.decide(compact, 2, 1, later))).isTrue();
        store.expire(later);
        assertThat(store.tables(compact)).as("start " + start).hasSize(1);
        state.fold();
      }
    }
  }

  /** Threads charge many keys, whose tables grow and are split, while images are written. */
  @Test
  void storeOfSeveralThreads_hasEveryChange() throws Exception {
    int runs = 3;
    SplittableRandom seeds = Seed.random("JournalTest, threads", runs);
    for (int trial = 0; trial < runs; trial++) {
      Path own = folder.resolve("threads" + trial);
      Lines lines = new Lines();
      List<Binding> bindings = new ArrayList<>();
      String had;
      try (Life life = open(own, lines)) {
        StateFolder state = life.state();
        MemoryStore store = state.store("s", "", Replica.UNBOUNDED, Replica.UNBOUNDED);
        state.begin();
        for (Algorithm each : Algorithm.values()) {
          Policy policy = Policy.builder(new Quota(20, 3_600 * SECOND)).algorithm(each).build();
          bindings.add(store.bind(each.name(), policy, WALL));
        }
        AtomicInteger left = new AtomicInteger(3);
        List<CompletableFuture<Void>> threads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
          SplittableRandom random = seeds.split();
          threads.add(
              CompletableFuture.runAsync(
                  () -> {
                    for (int op = 0; op < 40_000; op++) {
                      charge(store, bindings, random, 100_000);
                    }
                    left.decrementAndGet();
                  }));
        }
        int images = 0;
        while (left.get() > 0) {
          state.fold();
          images++;
        }
        for (CompletableFuture<Void> each : threads) {
          each.join();
        }
        assertThat(images).isGreaterThan(1);
        assertThat(state.isComplete()).as(lines.all.toString()).isTrue();
        had = contents(store, bindings);
      }
      try (Life life = open(own, lines)) {
        StateFolder state = life.state();
        MemoryStore store = state.store("s", "", Replica.UNBOUNDED, Replica.UNBOUNDED);
        store.verify();
        // Compared as hashes first: a difference of millions of characters is not shown well.
        String has = contents(store, bindings);
        assertThat(has.hashCode())
            .as("-Dweir.seed=%s, %s", Seed.SEED, lines.all)
            .isEqualTo(had.hashCode());
      }
      delete(own);
    }
  }

  private static void charge(
      MemoryStore store, List<Binding> bindings, SplittableRandom random, int keys) {
    Binding binding = bindings.get(random.nextInt(bindings.size()));
    // The first bits are those of one segment, so that it is split.
    long key = (random.nextLong(1, keys + 1) * 0x9e3779b97f4a7c15L) >>> 5;
    long now = WALL + random.nextLong(SECOND);
    if (random.nextInt(4) == 0) {
      Charges several = new Charges();
      several.add(binding, key, 1);
      several.add(bindings.get((bindings.indexOf(binding) + 1) % bindings.size()), key, 2);
      store.decide(several, now);
    } else if (random.nextInt(200) == 0) {
      store.reset(binding, key, now);
    } else {
      store.decide(binding, key, random.nextInt(1, 4), now);
    }
  }

  private static String contents(MemoryStore store, List<Binding> bindings) {
    StringBuilder all = new StringBuilder();
    for (Binding each : bindings) {
      Map<Long, String> keys = new TreeMap<>();
      Table table = store.tables(store.rebound(each.name(), each.policy()))[0].table();
      table.forEach(
          0,
          -1,
          (fingerprint, state) ->
              keys.put(fingerprint, Replica.text(table.meter, state, each.policy(), WALL)));
      all.append(each.name()).append(keys);
    }
    return all.toString();
  }

  /** Keys that find no room are counted together, in cells of a sketch. */
  @Test
  void storeWithoutRoom_hasItsCells() throws Exception {
    int runs = 20;
    SplittableRandom seeds = Seed.random("JournalTest, cells", runs);
    for (int trial = 0; trial < runs; trial++) {
      SplittableRandom random = seeds.split();
      Path own = folder.resolve("cells" + trial);
      Policy policy =
          Policy.builder(new Quota(50, 3_600 * SECOND))
              .algorithm(SKETCHED.get(trial % SKETCHED.size()))
              .name("p")
              .whenFull(FullMode.SKETCH)
              .build();
      Lines lines = new Lines();
      List<String> had = new ArrayList<>();
      try (Life life = open(own, lines)) {
        StateFolder state = life.state();
        MemoryStore store = state.store("s", "", 64, 1 << 20);
        state.begin();
        Binding binding = store.bind("p", policy, WALL);
        for (int i = 0; i < 400; i++) {
          long key = random.nextLong(1, 200) * 0x9e3779b97f4a7c15L;
          store.decide(binding, key, 1, WALL + i);
          if (i == 300) {
            state.fold();
          }
        }
        assertThat(store.tables(binding)[0].table().sketching()).isTrue();
        remaining(store, binding, had);
      }
      try (Life life = open(own, lines)) {
        StateFolder state = life.state();
        MemoryStore store = state.store("s", "", 64, 1 << 20);
        store.verify();
        List<String> has = new ArrayList<>();
        remaining(store, store.bind("p", policy, WALL), has);
        assertThat(has).as("-Dweir.seed=%s, trial %s", Seed.SEED, trial).isEqualTo(had);
      }
    }
  }

  private static void remaining(MemoryStore store, Binding binding, List<String> all) {
    for (int i = 1; i < 220; i++) {
      all.add(store.decision(binding, i * 0x9e3779b97f4a7c15L, 0, WALL + 400).toString());
    }
  }

  /** A caller that describes another limit in each request must not fill memory or disk. */
  @Test
  void limitsWithoutEnd_areNotAllKept() throws Exception {
    Path own = folder.resolve("limits");
    Lines lines = new Lines();
    Policy bucket = Policy.builder(new Quota(10, SECOND)).algorithm(Algorithm.TOKEN_BUCKET).build();
    Policy counter =
        Policy.builder(new Quota(10, 3_600 * SECOND))
            .algorithm(Algorithm.SLIDING_WINDOW_COUNTER)
            .build();
    int limits = 70_000; // More than a journal numbers.
    List<Binding> bindings;
    String had;
    try (Life life = open(own, lines)) {
      StateFolder state = life.state();
      MemoryStore store = state.store("s", "", Replica.UNBOUNDED, Replica.UNBOUNDED);
      state.begin();
      bindings = List.of(store.bind("b", bucket, WALL), store.bind("c", counter, WALL));
      for (int i = 1; i <= limits; i++) {
        Policy burst =
            Policy.builder(new Quota(10, SECOND))
                .algorithm(Algorithm.TOKEN_BUCKET)
                .burst(11 + i)
                .build();
        store.decide(store.variant(bindings.get(0), burst), 7 + i % 100, 1, WALL + i);
        Policy falling = counter.withPermits(limits + 10 - i);
        store.decide(store.variant(bindings.get(1), falling), 7 + i % 100, 1, WALL + i);
      }
      had = contents(store, bindings);
      assertThat(state.isComplete()).as(lines.all.toString()).isTrue();
    }
    int kept = new StoreFiles(own, "s").readNames().refs().size();
    assertThat(kept).isLessThanOrEqualTo(1 << 16);
    try (Life life = open(own, lines)) {
      StateFolder state = life.state();
      MemoryStore store = state.store("s", "", Replica.UNBOUNDED, Replica.UNBOUNDED);
      store.verify();
      assertThat(contents(store, bindings)).isEqualTo(had);
    }
  }

  /** One key, so that every record is in one file: cut anywhere, some prefix of changes is left. */
  @Test
  void journalThatEndsAnywhere_hasThePrefix() throws Exception {
    Path own = folder.resolve("cut");
    List<String> states = new ArrayList<>();
    long used = fewCharges(own, states);
    Path file = journalOf(own, "s.journal-");
    byte[] whole = Files.readAllBytes(file);
    int[] records = {0, 32, 64, 96, 160}; // The fourth is the refund, of two units.
    for (int at = JournalFile.FIRST; at <= used; at += 8) {
      byte[] cut = whole.clone();
      Arrays.fill(cut, at, cut.length, (byte) 0);
      for (int record : records) {
        int head = JournalFile.FIRST + record;
        int end = head + (record == 96 ? 2 : 1) * JournalFile.UNIT;
        if (head < at && at < end) { // Its head is stored last, and before the words its length.
          Arrays.fill(cut, head, head + 8, (byte) 0);
          cut[head] = (byte) (record == 96 ? 4 : 0);
        }
      }
      Files.write(file, cut);
      Lines lines = new Lines();
      try (Life life = open(own, lines)) {
        StateFolder state = life.state();
        MemoryStore store = state.store("s", "", 100, 1 << 20);
        assertThat(lines.all.toString()).doesNotContain("warning");
        assertThat(states).contains(contents(store, List.of(binding(store))));
      }
    }
  }

  @Test
  void flippedBit_isFoundOrDoesNotMatter() throws Exception {
    Path own = folder.resolve("flipped");
    List<String> states = new ArrayList<>();
    long used = fewCharges(own, states);
    String whole = states.get(states.size() - 1);
    int found = 0;
    Path[] files = {journalOf(own, "s.journal-"), own.resolve("s.names"), own.resolve("s.image")};
    byte[] image = Files.readAllBytes(files[2]);
    for (Path file : files) {
      byte[] right = Files.readAllBytes(file);
      long end = file == files[0] ? used + 2 * JournalFile.UNIT : right.length;
      for (int at = 0; at < end; at++) {
        byte[] flipped = right.clone();
        flipped[at] ^= (byte) (1 << at % 8);
        Files.write(file, flipped);
        Lines lines = new Lines();
        try (Life life = open(own, lines)) {
          StateFolder state = life.state();
          MemoryStore store = state.store("s", "", 100, 1 << 20);
          if (lines.all.toString().contains("warning")) {
            found++;
            boolean admitted = PackedDecision.allowed(store.decide(binding(store), 77, 1, WALL));
            assertThat(admitted).as("%s, byte %s: %s", file, at, lines.all).isFalse();
          } else {
            assertThat(contents(store, List.of(binding(store))))
                .as("%s, byte %s", file, at)
                .isEqualTo(whole);
          }
        }
        Files.write(files[2], image); // A damaged one is set aside.
        Files.writeString(own.resolve("s.kept"), "");
      }
      Files.write(file, right);
    }
    assertThat(found).isGreaterThan(100);
  }

  private static final Policy DAILY =
      Policy.builder(new Quota(10, 86_400 * SECOND)).name("daily").build();

  private static Binding binding(MemoryStore store) {
    return store.bind("daily", DAILY, WALL);
  }

  /** Returns the bytes that a journal of a few charges of one key takes in its file. */
  private static long fewCharges(Path at, List<String> states) throws IOException {
    Lines lines = new Lines();
    try (Life life = open(at, lines)) {
      StateFolder state = life.state();
      MemoryStore store = state.store("s", "", 100, 1 << 20);
      state.begin();
      Binding binding = binding(store);
      states.add(contents(store, List.of(binding)));
      for (int i = 0; i < 4; i++) {
        Charges charge = new Charges().add(binding, 77, 1);
        store.decide(charge, WALL + i);
        states.add(contents(store, List.of(binding)));
        if (i == 2) {
          Decision charged = charge.decision(0, DAILY, true);
          assertThat(store.refund(binding, 77, 1, charged, WALL + i)).isEqualTo(1);
          states.add(contents(store, List.of(binding)));
        }
      }
      assertThat(store.decide(binding, 77, 9, WALL + 9)).isNegative();
    }
    return JournalFile.FIRST + 4 * JournalFile.UNIT + 2 * JournalFile.UNIT;
  }

  /** Returns the file that has records. */
  private static Path journalOf(Path at, String prefix) throws IOException {
    try (Stream<Path> all = Files.list(at)) {
      for (Path each :
          all.filter(file -> file.getFileName().toString().startsWith(prefix)).toList()) {
        JournalFile file = JournalFile.open(each);
        if (file != null && file.head(JournalFile.FIRST) != 0) {
          return each;
        }
      }
    }
    throw new IOException("no records in " + at);
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
