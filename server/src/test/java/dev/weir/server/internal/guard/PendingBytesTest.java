package dev.weir.server.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class PendingBytesTest {
  private static final int KB = 1 << 10;

  private final PendingBytes pending = new PendingBytes(800 * KB, new FakeTicker());
  private final DoorCounters counters = new DoorCounters(10, pending);
  private final List<String> evicted = new ArrayList<>();

  private PendingBytes.Account open(String name) {
    return counters.account(() -> evicted.add(name));
  }

  @Test
  void withinTheBudget_nobodyIsClosed() {
    PendingBytes.Account one = open("one");
    assertThat(one.add(800 * KB)).isTrue();
    assertThat(one.add(-100 * KB)).isTrue();
    assertThat(open("two").add(100 * KB)).isTrue();
    assertThat(evicted).isEmpty();
    assertThat(pending.bytes()).isEqualTo(800 * KB);
  }

  @Test
  void beyondTheBudget_theLargestAreClosed_untilAnEighthIsFree() {
    PendingBytes.Account small = open("small");
    PendingBytes.Account largest = open("largest");
    PendingBytes.Account large = open("large");
    small.add(90 * KB);
    largest.add(450 * KB);
    large.add(260 * KB);
    assertThat(evicted).isEmpty();
    assertThat(small.add(2 * KB)).isTrue();
    assertThat(evicted).containsExactly("largest");
    assertThat(counters.evictedConnections()).isEqualTo(1);
    largest.close();
    assertThat(pending.bytes()).isEqualTo(352 * KB);
  }

  @Test
  void whatComesWhileRoomIsMade_isLookedAtAfterIt() {
    List<PendingBytes.Account> later = new ArrayList<>();
    AtomicReference<PendingBytes.Account> self = new AtomicReference<>();
    PendingBytes.Account first =
        counters.account(
            () -> {
              Objects.requireNonNull(self.get()).close();
              for (int i = 0; i < 100; i++) { // More than the budget, from others.
                PendingBytes.Account other = counters.account(() -> evicted.add("later"));
                later.add(other);
                boolean unused = other.add(16 * KB);
              }
            });
    self.set(first);
    boolean unused = first.add(801 * KB);
    assertThat(evicted).hasSizeGreaterThan(50);
    assertThat(later.stream().filter(each -> !each.evicted()).mapToLong(each -> each.held()).sum())
        .isLessThanOrEqualTo(800 * KB);
  }

  @Test
  void whatHasBeenClosed_makesNoRoomForMoreThanTheBudget() {
    PendingBytes.Account first = open("first");
    first.add(790 * KB);
    for (int i = 0; i < 12; i++) {
      assertThat(open("next").add(60 * KB)).isTrue();
    }
    assertThat(evicted).containsExactly("first");
    first.close();
    for (int i = 0; i < 5; i++) {
      boolean unused = open("later").add(60 * KB);
    }
    assertThat(evicted).hasSizeGreaterThan(1);
  }

  @Test
  void whatIsBeingClosed_isNotChosenAgain_norIsAnother() {
    PendingBytes.Account first = open("first");
    first.add(790 * KB);
    PendingBytes.Account second = open("second");
    second.add(20 * KB);
    assertThat(evicted).containsExactly("first");
    assertThat(second.add(20 * KB)).isTrue();
    assertThat(evicted).containsExactly("first");
  }

  @Test
  void whileOthersAreStillClosing_whoGrowsBeyondTheStrictBoundIsClosed_butNotASmallOne() {
    PendingBytes.Account first = open("first");
    first.add(900 * KB);
    assertThat(evicted).containsExactly("first");
    assertThat(open("second").add(110 * KB)).isFalse();
    assertThat(open("small").add(PendingBytes.PATIENT_BYTES)).isTrue();
    assertThat(evicted).containsExactly("first", "second");
  }

  @Test
  void aClosedAccount_holdsNothing_whateverIsAdded() {
    PendingBytes.Account account = open("one");
    account.add(5);
    account.close();
    account.add(7);
    account.close();
    assertThat(account.held()).isZero();
    assertThat(pending.bytes()).isZero();
  }

  @Test
  void anAccountThatRecovered_countsAgain() {
    PendingBytes.Account account = open("one");
    assertThat(account.add(900 * KB)).isFalse();
    account.add(-900 * KB);
    account.recovered();
    assertThat(account.add(1)).isTrue();
    assertThat(account.add(900 * KB)).isFalse();
    assertThat(evicted).containsExactly("one", "one");
  }

  @Test
  void manyThreads_neverHoldMoreThanTheBound_andInTheEndNothing() throws Exception {
    int threads = 4;
    int each = 50;
    long most =
        1_000 * KB + (long) threads * each * PendingBytes.PATIENT_BYTES + threads * 40L * KB;
    CountDownLatch done = new CountDownLatch(threads);
    List<String> wrong = new ArrayList<>();
    SplittableRandom seeds = Trials.random("pending bytes");
    for (int t = 0; t < threads; t++) {
      SplittableRandom random = seeds.split();
      new Thread(
              () -> {
                PendingBytes.Account[] open = new PendingBytes.Account[each];
                for (int i = 0; i < 20_000; i++) {
                  int at = random.nextInt(each);
                  if (open[at] == null) {
                    open[at] = counters.account(() -> {});
                  }
                  if (!open[at].add(random.nextInt(40 * KB)) || random.nextInt(20) == 0) {
                    open[at].close();
                    open[at] = null;
                  }
                  if (pending.bytes() > most) {
                    synchronized (wrong) {
                      wrong.add(pending.bytes() + " bytes");
                    }
                  }
                }
                for (PendingBytes.Account account : open) {
                  if (account != null) {
                    account.close();
                  }
                }
                done.countDown();
              })
          .start();
    }
    done.await();
    assertThat(wrong).isEmpty();
    assertThat(pending.bytes()).isZero();
  }
}
