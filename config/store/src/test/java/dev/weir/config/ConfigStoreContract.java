package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.config.ConfigException.Kind;
import dev.weir.config.rows.Tree;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract of every configuration store, whatever keeps its data. */
public abstract class ConfigStoreContract {
  private static final Cause CAUSE =
      new Cause("ops", "editor", "cli", "127.0.0.1", "r1", "because of a test");
  private static final int THREADS = 8;

  @SuppressWarnings("NullAway.Init") // Set before each test.
  private ConfigStore store;

  /** Returns a new, empty store; it is closed after the test. */
  public abstract ConfigStore createStore();

  @BeforeEach
  void open() {
    store = createStore();
  }

  @AfterEach
  void closeStore() {
    store.close();
    store.close();
  }

  private static Subject subject(String value) {
    return new Subject("shop", "user", value);
  }

  private static SubjectRecord record(String value, long requests) {
    return SubjectRecord.ofLimits(subject(value), OwnLimit.of("user-minute", requests));
  }

  private Change write(SubjectRecord record, long expectedVersion) {
    return store.write(List.of(RecordWrite.put(record, expectedVersion)), CAUSE).get(0);
  }

  private @Nullable SubjectRecord read(String value) {
    return store.records(List.of(subject(value))).found().get(subject(value));
  }

  private Revision commit(long expectedRevision, Map<String, String> files) {
    return store.commit(expectedRevision, Tree.of(files), files.values(), CAUSE);
  }

  private static void assertConflict(Runnable write) {
    assertThatThrownBy(write::run)
        .isInstanceOfSatisfying(
            ConfigException.class, e -> assertThat(e.kind()).isEqualTo(Kind.CONFLICT));
  }

  @Test
  void newStore_hasNothing() {
    Head head = store.head();
    assertThat(head.revision()).isZero();
    assertThat(head.position()).isZero();
    assertThat(head.store()).matches("[0-9a-f]{32}");
    assertThat(store.revision(0)).isEmpty();
    assertThat(store.revision(1)).isEmpty();
    assertThat(store.changes(0, 10)).isEmpty();
    assertThat(store.nodes()).isEmpty();
    assertThat(store.list("shop", "user", "", null, 10).found()).isEmpty();
    assertThat(ChangeLog.verify(store).ok()).isTrue();
  }

  @Test
  void revisions_areCountedAndKept() {
    Map<String, String> first = Map.of("a.yaml", "domain: a # comment\n", "b.yml", "domain: b\n");
    Map<String, String> second = Map.of("a.yaml", "domain: ä€😀\n", "b.yml", "domain: b\n");
    Revision one = commit(0, first);
    Revision two = commit(1, second);
    assertThat(one.number()).isEqualTo(1);
    assertThat(two.number()).isEqualTo(2);
    assertThat(store.revision(1)).contains(one);
    assertThat(store.revision(2)).contains(two);
    assertThat(store.revision(3)).isEmpty();
    assertThat(one.author()).isEqualTo("ops");
    assertThat(one.reason()).isEqualTo("because of a test");
    assertThat(store.head().revision()).isEqualTo(2);
    assertThat(store.head().position()).isEqualTo(two.position());
    assertThat(Tree.of(texts(one.tree()))).isEqualTo(one.tree());
    assertThat(texts(two.tree())).isEqualTo(second);
  }

  private Map<String, String> texts(Tree tree) {
    Map<String, String> texts = store.texts(tree.files().values());
    Map<String, String> files = new TreeMap<>();
    tree.files().forEach((file, hash) -> files.put(file, String.valueOf(texts.get(hash))));
    return files;
  }

  @Test
  void oldTree_isRestoredWithoutItsTexts() {
    Tree first = commit(0, Map.of("a.yaml", "domain: a\n")).tree();
    commit(1, Map.of("a.yaml", "domain: b\n"));
    Revision third = store.commit(2, first, List.of(), CAUSE);
    assertThat(third.number()).isEqualTo(3);
    assertThat(texts(third.tree())).containsEntry("a.yaml", "domain: a\n");
  }

  @Test
  void commitOnAnotherRevision_isAConflictAndWritesNothing() {
    commit(0, Map.of("a.yaml", "domain: a\n"));
    Head head = store.head();
    for (long wrong : new long[] {0, 2, 100}) {
      assertConflict(() -> commit(wrong, Map.of("a.yaml", "domain: other\n")));
    }
    assertThat(store.head()).isEqualTo(head);
    assertThat(store.texts(Tree.of(Map.of("a.yaml", "domain: other\n")).files().values()))
        .isEmpty();
  }

  @Test
  void badCommits_areRefusedAndWriteNothing() {
    Tree tree = Tree.of(Map.of("a.yaml", "domain: a\n", "b.yaml", "domain: b\n"));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.commit(0, tree, List.of("domain: a\n"), CAUSE))
        .withMessageContaining("b.yaml: no text (expected:");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.commit(0, tree, List.of("domain: a\n", "domain: b\n", "c"), CAUSE))
        .withMessageContaining("(expected: a text of the tree)");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.commit(0, Tree.of(Map.of()), List.of(), CAUSE))
        .withMessage("files: 0 (expected: 1..1000)");
    String large = "#".repeat(ConfigStore.MAX_TEXT_BYTES + 1);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> commit(0, Map.of("a.yaml", large)))
        .withMessageContaining("1048577 bytes");
    assertThat(store.head().position()).isZero();
  }

  @Test
  void commitsOfManyThreads_haveOneWinnerARevision() throws Exception {
    int rounds = 20;
    AtomicInteger winners = new AtomicInteger();
    for (int round = 0; round < rounds; round++) {
      long expected = round;
      Threads.race(
          THREADS,
          thread -> {
            String text = "domain: t" + thread + "\n# " + expected + "\n";
            if (wins(() -> commit(expected, Map.of("a.yaml", text)))) {
              winners.incrementAndGet();
              Tree tree = store.revision(expected + 1).orElseThrow().tree();
              assertThat(texts(tree)).containsEntry("a.yaml", text);
            }
          });
      assertThat(winners).hasValue(round + 1);
      assertThat(store.head().revision()).isEqualTo(round + 1);
    }
    assertThat(store.head().position()).isEqualTo(rounds);
    assertThat(ChangeLog.verify(store).ok()).isTrue();
  }

  private static boolean wins(Runnable write) {
    try {
      write.run();
      return true;
    } catch (ConfigException e) {
      assertThat(e.kind()).isEqualTo(Kind.CONFLICT);
      return false;
    }
  }

  @Test
  void writesOfManyThreads_haveOneWinnerAVersion() throws Exception {
    long version = RecordWrite.ABSENT;
    for (int round = 0; round < 20; round++) {
      long expected = version;
      List<Change> won = Collections.synchronizedList(new ArrayList<>());
      Threads.race(
          THREADS,
          thread -> {
            boolean unused = wins(() -> won.add(write(record("alice", thread), expected)));
          });
      assertThat(won).hasSize(1);
      SubjectRecord stored = Objects.requireNonNull(read("alice"));
      version = won.get(0).number();
      assertThat(stored.version()).isEqualTo(version);
      assertThat(won.get(0).details().after())
          .contains("\"requests_per_unit\":" + stored.limits().get(0).requestsPerUnit());
    }
    assertThat(store.head().position()).isEqualTo(20);
    assertThat(ChangeLog.verify(store).ok()).isTrue();
  }

  @Test
  void records_areReadAsTheyWereWritten() {
    OwnLimit all =
        new OwnLimit(
            "user-day",
            4294967295L,
            Duration.ofDays(366),
            4294967295L,
            Instant.parse("9999-12-31T23:59:59Z"));
    OwnLimit least = new OwnLimit("ü", 0, Duration.ofMillis(1), 0L, Instant.EPOCH);
    List<SubjectRecord> records =
        List.of(
            new SubjectRecord(subject(""), "", List.of(), "", 0),
            new SubjectRecord(subject("alice"), "gold", List.of(all, least), "a\nnote ✓", 0),
            SubjectRecord.ofPlan(subject("\0\n%2F/..😀"), "silver"),
            record("x".repeat(4_096), 7));
    List<Change> changes =
        store.write(
            records.stream().map(each -> RecordWrite.put(each, RecordWrite.ABSENT)).toList(),
            CAUSE);
    List<Subject> wanted = new ArrayList<>(records.stream().map(SubjectRecord::subject).toList());
    wanted.add(2, subject("nobody"));
    Records read = store.records(wanted);
    assertThat(read.unreadable()).isEmpty();
    assertThat(read.found()).hasSize(records.size());
    for (int i = 0; i < records.size(); i++) {
      assertThat(read.found().get(records.get(i).subject()))
          .isEqualTo(records.get(i).at(changes.get(i).number()));
    }
  }

  @Test
  void oneWriteOfManyConflicts_noneIsWritten() {
    long version = write(record("b", 1), RecordWrite.ABSENT).number();
    Head head = store.head();
    assertConflict(
        () ->
            store.write(
                List.of(
                    RecordWrite.put(record("a", 2), RecordWrite.ABSENT),
                    RecordWrite.put(record("b", 2), version + 1),
                    RecordWrite.delete(subject("c"), RecordWrite.ANY)),
                CAUSE));
    assertThat(store.head()).isEqualTo(head);
    assertThat(read("a")).isNull();
    assertThat(read("b")).isEqualTo(record("b", 1).at(version));
  }

  @Test
  void deletedRecord_hasAnotherVersionWhenItComesBack() {
    long first = write(record("a", 1), RecordWrite.ABSENT).number();
    store.write(List.of(RecordWrite.delete(subject("a"), first)), CAUSE);
    assertThat(read("a")).isNull();
    assertConflict(() -> write(record("a", 1), first));
    long second = write(record("a", 1), RecordWrite.ABSENT).number();
    assertThat(second).isGreaterThan(first);
    assertConflict(() -> write(record("a", 2), first));
    assertThat(write(record("a", 3), RecordWrite.ANY).number()).isGreaterThan(second);
  }

  @Test
  void deletionOfWhatIsNotThere_isNoChange() {
    assertThat(store.write(List.of(RecordWrite.delete(subject("a"), RecordWrite.ANY)), CAUSE))
        .isEmpty();
    assertThat(store.head().position()).isZero();
    assertConflict(() -> store.write(List.of(RecordWrite.delete(subject("a"), 3)), CAUSE));
  }

  @Test
  void changes_sayWhatWasChangedByWhomAndWhy() {
    commit(0, Map.of("a.yaml", "domain: a\n"));
    write(SubjectRecord.ofPlan(subject("alice"), "silver"), RecordWrite.ABSENT);
    write(SubjectRecord.ofPlan(subject("alice"), "gold"), 2);
    store.write(List.of(RecordWrite.delete(subject("alice"), 3)), CAUSE);
    List<ChangeDetails> details = store.changes(0, 10).stream().map(Change::details).toList();
    assertThat(details).extracting(ChangeDetails::cause).containsOnly(CAUSE);
    assertThat(details)
        .extracting(ChangeDetails::kind)
        .containsExactly("rules", "record", "record", "record");
    assertThat(details.get(0).revision()).isEqualTo(1);
    assertThat(details.get(0).before()).isEmpty();
    assertThat(details.get(2).subject()).contains(subject("alice"));
    assertThat(details.get(2).before()).isEqualTo("{\"plan\":\"silver\"}");
    assertThat(details.get(2).after()).isEqualTo("{\"plan\":\"gold\"}");
    assertThat(details.get(3).after()).isEmpty();
  }

  @Test
  void entries_areOfOneKindInTheOrderOfTheirNames() {
    long first = put("token", "b", "{\"role\":\"viewer\"}", RecordWrite.ABSENT);
    put("token", "a", "{\"list\":[{\"n\":1}],\"role\":\"editor\"}", RecordWrite.ABSENT);
    put("token-x", "c", "{}", RecordWrite.ABSENT);
    put("toke", "n", "{}", RecordWrite.ABSENT);
    assertThat(store.entries("token"))
        .containsExactly(
            new Entry("token", "a", "{\"list\":[{\"n\":1}],\"role\":\"editor\"}", 2),
            new Entry("token", "b", "{\"role\":\"viewer\"}", first));
    assertThat(store.entries("rollout")).isEmpty();
    store.write(EntryWrite.delete("token", "b", first), CAUSE);
    assertThat(store.entries("token")).extracting(Entry::name).containsExactly("a");
  }

  private long put(String kind, String name, String json, long expectedVersion) {
    return store
        .write(EntryWrite.put(kind, name, json, expectedVersion), CAUSE)
        .orElseThrow()
        .number();
  }

  @Test
  void entryOfAnotherVersion_isAConflictAndStays() {
    long version = put("token", "a", "{\"role\":\"viewer\"}", RecordWrite.ABSENT);
    assertConflict(() -> put("token", "a", "{}", RecordWrite.ABSENT));
    assertConflict(() -> put("token", "a", "{}", version + 1));
    assertConflict(() -> store.write(EntryWrite.delete("token", "a", version + 1), CAUSE));
    assertConflict(() -> store.write(EntryWrite.delete("token", "b", version), CAUSE));
    assertThat(store.write(EntryWrite.delete("token", "b", RecordWrite.ANY), CAUSE)).isEmpty();
    assertThat(store.head().position()).isEqualTo(version);
    assertThat(put("token", "a", "{}", version)).isEqualTo(version + 1);
  }

  @Test
  void entriesAndNotes_areInTheLogWithoutTheirSecrets() {
    EntryWrite write =
        new EntryWrite("token", "a", "{\"role\":\"viewer\",\"hash\":\"x1\"}", 0, Set.of("hash"));
    store.write(write, CAUSE);
    store.write(EntryWrite.delete("token", "a", 1), CAUSE);
    Change note = store.log("login", "{\"refused\":true}", CAUSE);
    List<ChangeDetails> details = store.changes(0, 10).stream().map(Change::details).toList();
    assertThat(details).extracting(ChangeDetails::kind).containsExactly("token", "token", "login");
    assertThat(details).extracting(ChangeDetails::cause).containsOnly(CAUSE);
    assertThat(details.get(0).name()).contains("a");
    assertThat(details.get(0).after()).isEqualTo("{\"role\":\"viewer\"}");
    assertThat(details.get(1).after()).isEmpty();
    assertThat(details.get(2).after()).isEqualTo("{\"refused\":true}");
    assertThat(note.number()).isEqualTo(3);
    assertThat(ChangeLog.verify(store).ok()).isTrue();
  }

  @Test
  void badEntries_areRefused() {
    for (String kind : List.of("rules", "record", "", "Token", "a b", "x".repeat(51))) {
      assertThatThrownBy(() -> store.log(kind, "{}", CAUSE))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("kind: ");
    }
    for (String json : List.of("", "[]", "{", "{}{}", "{\"a\":1.5}", "{\"a\":1,\"a\":2}")) {
      assertThatThrownBy(() -> put("token", "a", json, 0))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("json: ");
    }
    assertThatThrownBy(() -> put("token", "a\n", "{}", 0)).hasMessageStartingWith("name: ");
    assertThat(store.head().position()).isZero();
  }

  @Test
  void pages_haveEveryRecordOnceWhileOthersAreWritten() throws Exception {
    int records = 500;
    List<RecordWrite> writes = new ArrayList<>();
    for (int i = 0; i < records; i++) {
      writes.add(RecordWrite.put(record("stays-%04d".formatted(i), i), RecordWrite.ABSENT));
    }
    store.write(writes, CAUSE);
    AtomicBoolean done = new AtomicBoolean();
    AtomicInteger written = new AtomicInteger();
    Threads.race(
        2,
        thread -> {
          if (thread == 0) {
            for (int i = 0; !done.get() || i < 50; i++) {
              // New values before, between and behind the old ones, and new versions of the old
              // ones.
              write(record("%s-%d".formatted(i % 2 == 0 ? "new" : "stayz", i), i), 0);
              write(record("stays-%04d".formatted(i % records), i), RecordWrite.ANY);
              written.incrementAndGet();
            }
          } else {
            try {
              while (written.get() < 10) {
                assertThat(stays(7)).hasSize(records).isSorted().doesNotHaveDuplicates();
              }
            } finally {
              done.set(true);
            }
          }
        });
    assertThat(stays(500)).hasSize(records);
  }

  private List<String> stays(int limit) {
    return values("shop", "user", "", limit).stream().filter(v -> v.startsWith("stays-")).toList();
  }

  private List<String> values(String domain, String key, String prefix, int limit) {
    List<String> values = new ArrayList<>();
    Optional<String> after = Optional.empty();
    do {
      Records page = store.list(domain, key, prefix, after.orElse(null), limit);
      assertThat(page.found()).hasSizeBetween(1, limit);
      page.found().keySet().forEach(subject -> values.add(subject.value()));
      after = page.next();
    } while (after.isPresent());
    return values;
  }

  @Test
  void list_isOfOneDomainKeyAndPrefix_inTheOrderOfBytes() {
    List<Subject> subjects =
        List.of(
            new Subject("shop", "user", "b"),
            new Subject("shop", "user", "ab"),
            new Subject("shop", "user", "a"),
            new Subject("shop", "user", "aé"),
            new Subject("shop", "user", "a😀"),
            new Subject("shop", "user", "a\uffee"),
            new Subject("shop", "users", "a"),
            new Subject("shop", "use", "ra"),
            new Subject("sho", "puser", "a"),
            new Subject("shops", "user", "a"));
    store.write(
        subjects.stream()
            .map(each -> RecordWrite.put(SubjectRecord.ofPlan(each, "p"), RecordWrite.ABSENT))
            .toList(),
        CAUSE);
    for (int limit = 1; limit < 5; limit++) {
      assertThat(values("shop", "user", "", limit))
          .containsExactly("a", "ab", "aé", "a\uffee", "a😀", "b");
      assertThat(values("shop", "user", "a", limit))
          .containsExactly("a", "ab", "aé", "a\uffee", "a😀");
      assertThat(values("shop", "users", "", limit)).containsExactly("a");
    }
    assertThat(store.list("shop", "user", "ab", "a", 10).found())
        .containsOnlyKeys(new Subject("shop", "user", "ab"));
    assertThat(store.list("shop", "user", "a", "b", 10).found()).isEmpty();
  }

  @Test
  void allRecords_arePagedByDomainOrAltogether() {
    List<Subject> subjects =
        List.of(
            new Subject("a", "user", "1"),
            new Subject("shop", "tenant", ""),
            new Subject("shop", "user", "a"),
            new Subject("shop", "user", "ä\0b"),
            new Subject("shop-eu", "user", "a"));
    for (int i = subjects.size() - 1; i >= 0; i--) {
      write(SubjectRecord.ofPlan(subjects.get(i), "gold"), RecordWrite.ABSENT);
    }
    for (int limit : List.of(1, 2, 10)) {
      assertThat(all("", limit)).isEqualTo(subjects);
      assertThat(all("shop", limit)).isEqualTo(subjects.subList(1, 4));
      assertThat(all("other", limit)).isEmpty();
    }
    assertThatIllegalArgumentException().isThrownBy(() -> store.all("", null, 0));
  }

  private List<Subject> all(String domain, int limit) {
    List<Subject> all = new ArrayList<>();
    Optional<Subject> after = Optional.empty();
    do {
      RecordPage page = store.all(domain, after.orElse(null), limit);
      assertThat(page.records().found()).hasSizeLessThanOrEqualTo(limit);
      all.addAll(page.records().found().keySet());
      after = page.next();
    } while (after.isPresent());
    return all;
  }

  @Test
  void feed_hasEveryChangeOnceAndInOrder() throws Exception {
    int writers = 4;
    int each = 25;
    List<Change> heard = new ArrayList<>();
    AtomicInteger written = new AtomicInteger();
    Threads.race(
        writers + 1,
        thread -> {
          if (thread < writers) {
            for (int i = 0; i < each; i++) {
              int value = i;
              store.write(
                  IntStream.rangeClosed(0, i % 3)
                      .mapToObj(part -> record(thread + "-" + value + "-" + part, value))
                      .map(record -> RecordWrite.put(record, RecordWrite.ABSENT))
                      .toList(),
                  CAUSE);
              written.addAndGet(i % 3 + 1);
            }
          } else {
            long after = 0;
            int total = writers * IntStream.range(0, each).map(i -> i % 3 + 1).sum();
            while (heard.size() < total) {
              List<Change> page = store.changes(after, 7);
              heard.addAll(page);
              after = heard.size();
            }
          }
        });
    assertThat(heard).hasSize(written.get());
    assertThat(heard)
        .extracting(Change::number)
        .containsExactlyElementsOf(LongStream.rangeClosed(1, heard.size()).boxed().toList());
    for (Change change : heard) {
      Subject subject = change.details().subject().orElseThrow();
      SubjectRecord stored = store.records(List.of(subject)).found().get(subject);
      assertThat(Objects.requireNonNull(stored).version()).isEqualTo(change.number());
    }
    assertThat(ChangeLog.verify(store).ok()).isTrue();
    assertThat(store.changes(heard.size(), 10)).isEmpty();
  }

  @Test
  void editedOrMissingChange_isFound() {
    for (int i = 0; i < 5; i++) {
      write(record("a", i), RecordWrite.ANY);
    }
    Head known = store.head();
    assertThat(ChangeLog.verify(store, known).position()).isEqualTo(5);
    assertThat(ChangeLog.verify(store, known).hash()).isEqualTo(known.hash());
    for (int broken = 1; broken <= 5; broken++) {
      for (Tampered.How how : Tampered.How.values()) {
        ChangeLog.Verification result = ChangeLog.verify(new Tampered(store, broken, how), known);
        assertThat(result.ok()).as("%s of %d", how, broken).isFalse();
        assertThat(result.problem()).startsWith("change ");
        assertThat(result.position()).isLessThanOrEqualTo(broken);
      }
    }
  }

  @Test
  void nodes_areAsTheyLastSaid() {
    Node first =
        Node.builder("n1")
            .address("10.0.0.1:8080")
            .version("1.0")
            .revision(3)
            .position(7)
            .problems(List.of("a.yaml:1:1 x"))
            .build();
    store.beat(first);
    store.beat(Node.builder("n2").build());
    store.beat(
        Node.builder("n1").address("10.0.0.1:8080").version("1.0").revision(4).position(8).build());
    assertThat(store.nodes()).extracting(Node::id).containsExactly("n1", "n2");
    Node one = store.nodes().get(0);
    assertThat(one.revision()).isEqualTo(4);
    assertThat(one.position()).isEqualTo(8);
    assertThat(one.problems()).isEmpty();
    assertThat(one.address()).isEqualTo("10.0.0.1:8080");
    assertThat(one.at()).isAfter(Instant.EPOCH);
    assertThat(store.head().position()).isZero();
  }

  @Test
  void tooMuchAtOnce_isRefused() {
    List<Subject> subjects =
        IntStream.rangeClosed(0, ConfigStore.MAX_BATCH).mapToObj(i -> subject("u" + i)).toList();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.records(subjects))
        .withMessage("subjects: 1001 (expected: 0..1000)");
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                store.write(
                    subjects.stream().map(each -> RecordWrite.delete(each, 0)).toList(), CAUSE));
    assertThatIllegalArgumentException().isThrownBy(() -> store.changes(0, 1_001));
    assertThatIllegalArgumentException().isThrownBy(() -> store.list("shop", "user", "", null, 0));
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                store.write(
                    List.of(RecordWrite.put(record("a", 1), 0), RecordWrite.put(record("a", 2), 0)),
                    CAUSE))
        .withMessageContaining("twice (expected: each subject once)");
  }
}
