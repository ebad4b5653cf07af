package dev.weir;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the folder that a server finds at a start, by clocks that the test sets. */
class StateFolderTest {
  private static final long SECOND = 1_000_000_000L;
  private static final Policy POLICY =
      Policy.builder(new Quota(10, 60 * SECOND))
          .name("p")
          .algorithm(Algorithm.SLIDING_WINDOW)
          .build();

  @TempDir Path folder;
  private final List<String> log = new ArrayList<>();
  private long wall = 1_000_000 * SECOND;
  private long monotonic = 77 * SECOND;
  private String boot = "one";
  private AfterCrash afterCrash = AfterCrash.DENY;
  private StateDurability durability = StateDurability.NONE;

  /** The name of a second store of each run, if there is one. */
  private @Nullable String second;

  private final StateFolder.Log lines =
      new StateFolder.Log() {
        @Override
        public void info(String line) {
          log.add(line);
        }

        @Override
        public void warning(String line) {
          log.add(line);
        }
      };

  /** A server from the view of its folder. */
  private final class Run implements AutoCloseable {
    final StateFolder state;
    final Ticker ticker;
    final MemoryStore store;
    final Binding binding;

    /** Run at the next look at the clock, unless it is null. */
    @Nullable Runnable duringSave;

    Run() throws IOException {
      this("rules", "its own");
    }

    Run(String name, String keys) throws IOException {
      long anchor = wall - monotonic; // The anchor that a process sets when it begins.
      Ticker system =
          () -> {
            Runnable event = duringSave;
            duringSave = null;
            if (event != null) {
              event.run();
            }
            return monotonic + anchor;
          };
      StateClock clock = new StateClock(system, () -> monotonic, boot);
      state =
          StateFolder.builder(folder.resolve("state"))
              .durability(durability)
              .fileBytes(16 << 10)
              .afterCrash(afterCrash)
              .clock(clock)
              .log(lines)
              .open();
      ticker = state.ticker();
      store = state.store(name, keys, 1_000, 1 << 20);
      if (second != null) {
        MemoryStore unused = state.store(second, keys, 1_000, 1 << 20);
      }
      binding = store.bind("p", POLICY, ticker.nanos());
      state.begin();
    }

    boolean admits(long permits) {
      return PackedDecision.allowed(store.decide(binding, 1, permits, ticker.nanos()));
    }

    void stop() throws IOException {
      state.save();
      state.close();
    }

    @Override
    public void close() {
      state.die();
    }
  }

  private void useJournal() {
    durability = StateDurability.PROCESS;
  }

  private void pass(long seconds) {
    wall += seconds * SECOND;
    monotonic += seconds * SECOND;
  }

  /** Charges 10 permits and stops in order. */
  private void runOnce() throws Exception {
    Run run = new Run();
    assertThat(run.admits(10)).isTrue();
    assertThat(run.admits(1)).isFalse();
    run.stop();
  }

  @Test
  void orderlyRestart_goesOnToTheNanosecond() throws Exception {
    runOnce();
    pass(59);
    try (Run run = new Run()) {
      assertThat(run.admits(1)).isFalse();
      pass(1);
      assertThat(run.admits(10)).isTrue();
    }
    assertThat(String.join("\n", log)).contains("state: 1 keys saved", "rules: 1 keys restored");
  }

  @Test
  void steppedWallClock_countsNothing() throws Exception {
    for (long step : new long[] {-86_400, 86_400}) {
      runOnce();
      wall += step * SECOND;
      pass(59);
      try (Run run = new Run()) {
        assertThat(run.ticker.nanos()).isEqualTo(wall); // Calendars follow, counts do not.
        assertThat(run.admits(1)).isFalse();
        pass(1);
        assertThat(run.admits(10)).isTrue();
        pass(61);
        run.stop();
      }
    }
  }

  @Test
  void slewedWallClock_keepsTheTimeThatWas() throws Exception {
    runOnce();
    wall += SECOND / 2;
    pass(10);
    try (Run run = new Run()) {
      assertThat(run.ticker.nanos()).isEqualTo(wall - SECOND / 2);
    }
  }

  @Test
  void reboot_countsAsIfNoTimeHadPassed() throws Exception {
    runOnce();
    wall += 3_600 * SECOND;
    monotonic = 5 * SECOND;
    boot = "two";
    try (Run run = new Run()) {
      assertThat(run.admits(1)).isFalse();
      pass(60);
      assertThat(run.admits(10)).isTrue();
    }
    assertThat(String.join("\n", log)).contains("how long the machine was down is not known");
  }

  @Test
  void crash_refusesUntilTheWindowHasPassed() throws Exception {
    try (Run run = new Run()) {
      assertThat(run.admits(5)).isTrue();
    }
    pass(30);
    try (Run run = new Run()) {
      assertThat(run.admits(1)).isFalse();
      pass(59);
      assertThat(run.admits(1)).isFalse();
      pass(1);
      assertThat(run.admits(10)).isTrue();
      run.stop();
    }
    try (Run run = new Run()) {
      assertThat(run.admits(1)).isFalse(); // Orderly again: the charges are known.
      pass(60);
      assertThat(run.admits(10)).isTrue();
    }
    assertThat(String.join("\n", log)).contains("what it admitted is not known: keys are refused");
  }

  @Test
  void amnesty_goesOnWithTheLastImage() throws Exception {
    runOnce();
    afterCrash = AfterCrash.AMNESTY;
    pass(60);
    try (Run run = new Run()) {
      assertThat(run.admits(5)).isTrue(); // After the last image.
    }
    try (Run run = new Run()) {
      assertThat(run.admits(10)).isTrue();
    }
    assertThat(String.join("\n", log))
        .contains("what it admitted after the last state that is known is forgotten");
  }

  @Test
  void damagedImage_isSetAside() throws Exception {
    runOnce();
    Path image = folder.resolve("state/rules.image");
    byte[] bytes = Files.readAllBytes(image);
    for (int i = 0; i < bytes.length; i += 7) {
      byte[] damaged = bytes.clone();
      damaged[i] ^= 4;
      Files.write(image, damaged);
      Files.deleteIfExists(folder.resolve("state/running")); // The state after an orderly end.
      try (Run run = new Run()) {
        assertThat(run.admits(1)).as("byte %s", i).isFalse();
      }
      assertThat(folder.resolve("state/rules.image.damaged")).hasBinaryContent(damaged);
      assertThat(image).doesNotExist();
    }
    assertThat(String.join("\n", log)).contains("rules.image.damaged, and keys are refused");
  }

  @Test
  void damagedImage_isNotForgottenByAStartThatFails() throws Exception {
    runOnce();
    Files.write(folder.resolve("state/rules.image"), new byte[] {1, 2, 3});
    Run failed = new Run();
    failed.stop();
    try (Run run = new Run()) {
      assertThat(run.admits(1)).isFalse();
      pass(60);
      assertThat(run.admits(10)).isTrue();
    }
  }

  @Test
  void tableThatTheRunAfterACrashDoesNotHave_isUnknownToTheNext() throws Exception {
    try (Run run = new Run("throttle", "its own")) {
      assertThat(run.admits(10)).isTrue();
    }
    new Run().stop();
    try (Run run = new Run("throttle", "its own")) {
      assertThat(run.admits(1)).isFalse();
      pass(60);
      assertThat(run.admits(10)).isTrue();
    }
  }

  @Test
  void otherFingerprints_areOtherKeys() throws Exception {
    runOnce();
    try (Run run = new Run("rules", "shared")) {
      assertThat(run.admits(1)).isFalse();
      run.stop();
    }
    assertThat(String.join("\n", log))
        .contains("counts keys by fingerprints that are its own (expected: shared)");
  }

  @Test
  void startThatFails_changesNothing() throws Exception {
    runOnce();
    Run failed = new Run();
    failed.stop();
    try (Run run = new Run()) {
      assertThat(run.admits(1)).isFalse();
      pass(60);
      assertThat(run.admits(10)).isTrue();
    }
  }

  @Test
  void folderInUse_isRefused() throws Exception {
    try (Run run = new Run()) {
      assertThatThrownBy(Run::new)
          .isInstanceOf(IOException.class)
          .hasMessageContaining(
              ": in use by another server or store (expected: a folder for each)");
      assertThat(run.admits(10)).isTrue();
    }
  }

  @Test
  void countsThatCannotBeSaved_areReported() throws Exception {
    try (Run run = new Run()) {
      assertThat(run.admits(10)).isTrue();
      Files.createDirectories(folder.resolve("state/rules.image.next/full"));
      assertThatThrownBy(run::stop)
          .isInstanceOf(IOException.class)
          .hasMessageStartingWith("not saved, the next start is one after a crash: ");
      assertThat(folder.resolve("state/running")).exists();
    }
  }

  /** Another server that took the folder would be overwritten by the end of the save. */
  @Test
  void folderThatIsClosedDuringASave_staysInUseUntilItsEnd() throws Exception {
    Run run = new Run();
    assertThat(run.admits(10)).isTrue();
    run.duringSave =
        () -> {
          CompletableFuture.runAsync(run.state::close).join();
          assertThatThrownBy(Run::new).hasMessageContaining(": in use by another server");
        };
    run.state.save();
    assertThat(run.duringSave).isNull();
    try (Run next = new Run()) {
      assertThat(next.admits(1)).isFalse();
    }
  }

  @Test
  void deathDuringTheLastSave_forgetsNothingAndRefusesNobody() throws Exception {
    useJournal();
    second = "throttle";
    try (Run run = new Run()) {
      assertThat(run.admits(4)).isTrue();
      Files.createDirectories(folder.resolve("state/throttle.image.next/full"));
      assertThatThrownBy(run.state::save).isInstanceOf(IOException.class);
    }
    Files.delete(folder.resolve("state/throttle.image.next/full"));
    try (Run run = new Run()) {
      assertThat(run.admits(7)).isFalse();
      assertThat(run.admits(6)).isTrue();
    }
  }

  @Test
  void runWithoutAJournal_endsTheJournalOfTheRunBefore() throws Exception {
    useJournal();
    try (Run run = new Run()) {
      assertThat(run.admits(4)).isTrue();
    }
    durability = StateDurability.NONE;
    try (Run run = new Run()) {
      assertThat(run.admits(7)).isFalse();
      assertThat(run.admits(6)).isTrue();
    }
    useJournal();
    try (Run run = new Run()) {
      assertThat(run.admits(1)).isFalse();
      pass(60);
      assertThat(run.admits(10)).isTrue();
    }
  }

  @Test
  void amnestyWithoutAJournal_goesOnWithWhatTheJournalHad() throws Exception {
    useJournal();
    try (Run run = new Run()) {
      assertThat(run.admits(4)).isTrue();
    }
    durability = StateDurability.NONE;
    afterCrash = AfterCrash.AMNESTY;
    for (int i = 0; i < 2; i++) { // The first takes over the journal, the second its image.
      try (Run run = new Run()) {
        assertThat(run.admits(7)).isFalse();
      }
    }
  }

  @Test
  void machinesEnd_isFollowedByAJournalAsAnyStart() throws Exception {
    useJournal();
    try (Run run = new Run()) {
      assertThat(run.admits(4)).isTrue();
    }
    boot = "two";
    try (Run run = new Run()) {
      assertThat(run.admits(1)).isFalse();
      pass(60);
      assertThat(run.admits(4)).isTrue();
    }
    try (Run run = new Run()) {
      assertThat(run.admits(7)).isFalse();
      assertThat(run.admits(6)).isTrue();
    }
  }

  /** Tests that a record is not taken for a later one when its number comes again. */
  @Test
  void changeBeforeManyImages_isCountedOnce() throws Exception {
    useJournal();
    try (Run run = new Run()) {
      assertThat(run.admits(4)).isTrue();
      for (int i = 0; i < 300; i++) {
        run.state.fold();
        if (i == 140) {
          assertThat(run.admits(1)).isTrue();
        }
      }
    }
    try (Run run = new Run()) {
      assertThat(run.admits(6)).isFalse();
      assertThat(run.admits(5)).isTrue();
    }
  }

  @Test
  void fileInPlaceOfTheFolder_isRefused() throws Exception {
    Files.writeString(folder.resolve("state"), "a file");
    assertThatThrownBy(Run::new)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("(expected: a folder that can be written)");
  }

  @Test
  void deathOfTheProcess_forgetsNothingAndRefusesNobody() throws Exception {
    useJournal();
    for (int life = 0; life < 3; life++) {
      try (Run run = new Run()) {
        assertThat(run.admits(3)).isTrue();
      }
      pass(1);
    }
    try (Run run = new Run()) {
      assertThat(run.admits(2)).isFalse();
      assertThat(run.admits(1)).isTrue();
      pass(57); // A minute after the first life.
      assertThat(run.admits(4)).isFalse();
      assertThat(run.admits(3)).isTrue();
      run.stop();
    }
    assertThat(folder.resolve("state/rules.kept")).doesNotExist();
    assertThat(String.join("\n", log)).contains("changes since their image repeated");
    assertThat(log).noneMatch(line -> line.contains("refused until"));
  }

  @Test
  void clockThatIsSetWhileTheProcessIsDown_changesNoCount() throws Exception {
    useJournal();
    for (long step : new long[] {-86_400, 86_400}) {
      try (Run run = new Run()) {
        assertThat(run.admits(10)).isTrue();
      }
      wall += step * SECOND;
      pass(59);
      try (Run run = new Run()) {
        assertThat(run.ticker.nanos()).isEqualTo(wall);
        assertThat(run.admits(1)).isFalse();
        pass(1);
        assertThat(run.admits(10)).isTrue();
        pass(61);
      }
    }
  }

  @Test
  void amnestyAfterABoot_goesOnWithWhatTheJournalHas() throws Exception {
    useJournal();
    afterCrash = AfterCrash.AMNESTY;
    try (Run run = new Run()) {
      assertThat(run.admits(10)).isTrue();
    }
    boot = "two";
    try (Run run = new Run()) {
      assertThat(run.admits(1)).isFalse();
    }
    assertThat(String.join("\n", log)).contains("the machine was booted");
  }

  /** Neither the mark of the folder nor an orderly run without the store ends what is kept. */
  @Test
  void storeThatSomeRunsDoNotHave_isKeptForTheNext() throws Exception {
    useJournal();
    try (Run run = new Run("throttle", "its own")) {
      assertThat(run.admits(4)).isTrue();
    }
    new Run().stop();
    try (Run run = new Run("throttle", "its own")) {
      assertThat(run.admits(7)).isFalse();
      assertThat(run.admits(6)).isTrue();
    }
    new Run().stop();
    boot = "two";
    try (Run run = new Run("throttle", "its own")) {
      assertThat(run.admits(1)).isFalse();
    }
    assertThat(String.join("\n", log)).contains("throttle: the last run did not end in order");
  }

  @Test
  void imageThatIsGone_isACrash() throws Exception {
    useJournal();
    try (Run run = new Run()) {
      assertThat(run.admits(3)).isTrue();
    }
    Files.delete(folder.resolve("state/rules.image"));
    try (Run run = new Run()) {
      assertThat(run.admits(1)).isFalse();
    }
    assertThat(String.join("\n", log)).contains("rules.image: is not there");
  }

  /** An image of the version before has no number. */
  @Test
  void imageOfTheVersionBefore_isRead() throws Exception {
    runOnce();
    Path image = folder.resolve("state/rules.image");
    byte[] bytes = Files.readAllBytes(image);
    bytes[3] = '1';
    int head = 4 + 8 + 8 + 2 + "one".length();
    byte[] before = new byte[bytes.length - 4];
    System.arraycopy(bytes, 0, before, 0, head);
    System.arraycopy(bytes, head + 4, before, head, before.length - head);
    CRC32C sum = new CRC32C();
    ByteBuffer numbers = ByteBuffer.wrap(bytes);
    sum.update((numbers.getLong(4) + " " + numbers.getLong(12) + " one").getBytes(UTF_8));
    ByteBuffer.wrap(before).putLong(head, sum.getValue());
    Files.write(image, before);
    try (Run run = new Run()) {
      assertThat(run.admits(1)).isFalse();
      pass(60);
      assertThat(run.admits(10)).isTrue();
    }
  }

  /** A thread that a stop has left behind can still admit. */
  @Test
  void runThatIsClosedWithoutASave_isKeptUntilTheProcessEnds() throws Exception {
    useJournal();
    Run run = new Run();
    assertThat(run.admits(3)).isTrue();
    run.state.close();
    assertThatThrownBy(Run::new).hasMessageContaining(": in use by another server");
    assertThat(run.admits(4)).isTrue();
    run.close();
    try (Run next = new Run()) {
      assertThat(next.admits(4)).isFalse();
      assertThat(next.admits(3)).isTrue();
    }
  }

  /** Writes images in vain: a folder is in their place. */
  private static void failImages(Run run, Path image, int times) throws IOException {
    Files.delete(image);
    Files.createDirectories(image.resolve("full"));
    for (int i = 0; i < times; i++) {
      assertThatThrownBy(run.state::fold).isInstanceOf(IOException.class);
    }
  }

  /** Records have the numbers of images in few bits, which would come round. */
  @Test
  void imagesThatFailAllTheTime_endTheJournal() throws Exception {
    useJournal();
    Path image = folder.resolve("state/rules.image");
    try (Run run = new Run()) {
      failImages(run, image, 20);
      Files.delete(image.resolve("full"));
      Files.delete(image);
      run.state.fold();
      assertThat(run.admits(1)).isTrue();
      assertThat(run.state.isComplete()).isTrue();
      failImages(run, image, 50);
      assertThat(run.state.isComplete()).isFalse();
      assertThat(run.admits(1)).isTrue();
    }
    assertThat(String.join("\n", log)).contains("images could not be written");
    assertThat(folder.resolve("state/rules.kept")).doesNotExist();
    Files.delete(image.resolve("full"));
    Files.delete(image);
    try (Run run = new Run()) {
      assertThat(run.admits(1)).isFalse();
    }
  }

  private void useJournalOfTheMachine() {
    durability = StateDurability.MACHINE;
  }

  @Test
  void endOfAMachineWhoseAnswersWaited_forgetsNothingAndRefusesNobody() throws Exception {
    useJournalOfTheMachine();
    for (String id : List.of("two", "three", "")) { // An id is not needed.
      try (Run run = new Run()) {
        assertThat(run.admits(3)).isTrue();
      }
      boot = id;
    }
    try (Run run = new Run()) {
      assertThat(run.admits(2)).isFalse();
      assertThat(run.admits(1)).isTrue();
      pass(60);
      assertThat(run.admits(10)).isTrue();
    }
    assertThat(log).noneMatch(line -> line.contains("refused until"));
  }

  /** Spoils the last record of a journal, as one that was being written. */
  private void spoilLastRecord() throws IOException {
    Path file = folder.resolve("state/rules.journal-0");
    byte[] bytes = Files.readAllBytes(file);
    int last = bytes.length - 1;
    while (bytes[last] == 0) {
      last--;
    }
    bytes[last - 9] ^= 1;
    Files.write(file, bytes);
  }

  @Test
  void recordThatWasBeingWrittenAtTheEndOfTheMachine_isPassedOver() throws Exception {
    useJournalOfTheMachine();
    try (Run run = new Run()) {
      assertThat(run.admits(3)).isTrue();
      assertThat(run.admits(2)).isTrue();
    }
    spoilLastRecord();
    boot = "two";
    try (Run run = new Run()) {
      assertThat(run.admits(8)).isFalse();
      assertThat(run.admits(7)).isTrue();
    }
    assertThat(log).noneMatch(line -> line.contains("damaged"));
  }

  @Test
  void recordThatIsDamagedWhileTheMachineRunsOn_refuses() throws Exception {
    useJournalOfTheMachine();
    try (Run run = new Run()) {
      assertThat(run.admits(3)).isTrue();
    }
    spoilLastRecord();
    try (Run run = new Run()) {
      assertThat(run.admits(1)).isFalse();
    }
    assertThat(String.join("\n", log)).contains("damaged at byte 64");
  }

  @Test
  void runWithoutWaitingAnswers_endsThePromiseOfTheRunBefore() throws Exception {
    for (StateDurability later : List.of(StateDurability.NONE, StateDurability.PROCESS)) {
      useJournalOfTheMachine();
      try (Run run = new Run()) {
        assertThat(run.admits(3)).isTrue();
      }
      durability = later;
      try (Run run = new Run()) {
        assertThat(run.admits(1)).isTrue();
      }
      useJournalOfTheMachine();
      boot += "+";
      try (Run run = new Run()) {
        assertThat(run.admits(1)).as("after %s", later).isFalse();
        pass(60);
      }
    }
  }
}
