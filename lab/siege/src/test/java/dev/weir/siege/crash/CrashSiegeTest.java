package dev.weir.siege.crash;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.Trials;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A test of a server in a process of its own that is killed while clients send requests. */
@Tag("siege")
class CrashSiegeTest {
  private static final int KNOWN_BAD_ROUNDS = 3;

  @TempDir private Path folder;

  @Test
  @Tag("sample")
  void kills_areAsIfTheyHadNotBeen() throws Exception {
    int rounds = Trials.runs(3, 15);
    SplittableRandom random = Trials.random("crash siege", rounds);
    List<CrashSiege.Round> all = new ArrayList<>();
    try (CrashSiege siege = new CrashSiege(folder, random)) {
      for (int i = 0; i < rounds; i++) {
        CrashSiege.Round round = siege.round();
        all.add(round);
        System.out.println("round " + i + ": " + round);
        assertHolds(round.balance(), siege.log());
      }
      Ledger.Balance whole = siege.end();
      System.out.println(whole);
      assertHolds(whole, siege.log());
      assertThat(whole.given()).isPositive();
      assertThat(whole.undecided()).isZero();
    } finally {
      System.out.print(text(all));
    }
  }

  private static void assertHolds(Ledger.Balance balance, String log) {
    assertThat(balance.excess()).as("%s%n%s", balance, log).isZero();
    assertThat(balance.falseRefusals()).as("%s%n%s", balance, log).isZero();
  }

  private static String text(List<CrashSiege.Round> rounds) {
    if (rounds.isEmpty()) {
      return "";
    }
    Map<CrashSiege.Moment, Integer> moments = new EnumMap<>(CrashSiege.Moment.class);
    List<Long> ready = new ArrayList<>();
    List<Long> answers = new ArrayList<>();
    int inImage = 0;
    long repeated = 0;
    for (CrashSiege.Round each : rounds) {
      moments.merge(each.moment(), 1, Integer::sum);
      ready.add(each.readyNanos());
      answers.add(each.answerNanos());
      inImage += each.inImage() ? 1 : 0;
      repeated += each.repeated();
    }
    return String.format(
        Locale.ROOT,
        "kills: %s, %d in an image; %,d changes repeated%nstart to ready: %s%nstart to first answer:"
            + " %s%n",
        moments,
        inImage,
        repeated,
        millis(ready),
        millis(answers));
  }

  private static String millis(List<Long> nanos) {
    Collections.sort(nanos);
    return String.format(
        Locale.ROOT,
        "%,d to %,d ms, half within %,d ms",
        nanos.get(0) / 1_000_000,
        nanos.get(nanos.size() - 1) / 1_000_000,
        nanos.get(nanos.size() / 2) / 1_000_000);
  }

  private Ledger.Balance without(String afterCrash) throws Exception {
    SplittableRandom random = Trials.random("crash siege, " + afterCrash);
    try (CrashSiege siege =
        new CrashSiege(
            folder, random, "--state-durability", "none", "--state-after-crash", afterCrash)) {
      for (int i = 0; i < KNOWN_BAD_ROUNDS; i++) {
        CrashSiege.Round unused = siege.round();
      }
      return siege.end();
    }
  }

  @Test
  void withoutAJournal_amnestyIsFoundOut() throws Exception {
    Ledger.Balance found = without("amnesty");
    assertThat(found.excess()).as("%s", found).isPositive();
  }

  @Test
  void withoutAJournal_denialIsFoundOut() throws Exception {
    Ledger.Balance found = without("deny");
    assertThat(found.falseRefusals()).as("%s", found).isPositive();
  }
}
