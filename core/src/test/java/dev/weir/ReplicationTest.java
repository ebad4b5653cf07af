package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Replica.Entry;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A replica that continues from an image gives the same answers as the store that the image is of,
 * which went on while it was written.
 */
class ReplicationTest {
  /**
   * The ways to take an image and to make a replica of it; all but the first are known to be bad.
   */
  private enum Way {
    RIGHT,
    WITHOUT_BEFORE,
    WITHOUT_EXACT_RESTORE,
    WITHOUT_BARS
  }

  @Test
  void resumedReplica_answersAsTheOneThatWentOn() throws IOException {
    int runs = 200;
    SplittableRandom seeds = Seed.random("ReplicationTest", runs);
    for (int trial = 0; trial < runs; trial++) {
      long own = seeds.nextLong();
      boolean manyKeys = trial % 100 == 1;
      assertThat(new Trial(own, manyKeys, Way.RIGHT).difference())
          .as("-Dweir.seed=%s, trial %s", Seed.SEED, trial)
          .isNull();
    }
  }

  @ParameterizedTest
  @EnumSource(value = Way.class, names = "RIGHT", mode = EnumSource.Mode.EXCLUDE)
  void knownBadWay_isCaught(Way way) throws IOException {
    SplittableRandom seeds = new SplittableRandom(Seed.SEED);
    @Nullable String difference = null;
    int runs = 0;
    for (; runs < 400 && difference == null; runs++) {
      difference = new Trial(seeds.nextLong(), false, way).difference();
    }
    Seed.report("ReplicationTest, " + way, runs);
    assertThat(difference).as("-Dweir.seed=%s", Seed.SEED).isNotNull();
  }

  /** One history of operations, with an image somewhere in it. */
  private static final class Trial {
    private final SplittableRandom random;
    private final Operations operations;
    private final Way way;
    private final Replica first =
        new Replica(new MemoryStore(Replica.UNBOUNDED, Replica.UNBOUNDED));
    private final List<Entry> since = new ArrayList<>();
    private final List<String> answers = new ArrayList<>();

    Trial(long seed, boolean manyKeys, Way way) {
      this.random = new SplittableRandom(seed);
      this.operations = new Operations(random.split(), manyKeys);
      this.way = way;
    }

    /** Returns the first difference between the replicas, or null. */
    @Nullable String difference() throws IOException {
      int before = random.nextInt(300);
      for (int i = 0; i < before; i++) {
        first.apply(operations.next());
      }
      byte[] image = imageWhileItGoesOn();
      Replica second = new Replica(restored(image, operations.now()));
      for (int i = 0; i < since.size(); i++) {
        String difference = compared(since.get(i), answers.get(i), second);
        if (difference != null) {
          return "replayed " + difference;
        }
      }
      for (int i = 0; i < 100; i++) {
        Entry entry = operations.next();
        String difference = compared(entry, first.apply(entry), second);
        if (difference != null) {
          return difference;
        }
      }
      var one = Replica.contents(first.store, operations.now());
      var other = Replica.contents(second.store, operations.now());
      first.store.verify();
      second.store.verify();
      return one.equals(other) ? null : "contents: " + one + "\nbut " + other;
    }

    private @Nullable String compared(Entry entry, String answer, Replica second) {
      if (random.nextInt(5) == 0) {
        second.sweep(entry.now()); // The times at which keys are forgotten must not matter.
      }
      String other = second.apply(entry);
      return answer.equals(other) ? null : entry.what() + ": " + answer + "\nbut " + other;
    }

    private MemoryStore restored(byte[] image, long now) throws IOException {
      if (way == Way.WITHOUT_EXACT_RESTORE) {
        return MemoryStore.restored(
            new ByteArrayInputStream(image), Replica.UNBOUNDED, Replica.UNBOUNDED, now, now);
      }
      MemoryStore store = Replica.resumed(image);
      if (way == Way.WITHOUT_BARS) {
        for (String name : List.of("a", "b", "c")) {
          Binding any = store.rebound(name, Policy.of(new Quota(1, Operations.WINDOW)));
          for (ShapeTable each : store.tables(any)) {
            TableImage table = each.table().beginImage(each, 0);
            for (Segment segment : table.directory()) {
              long floor = segment.floorNanos();
              long latest = segment.latestNanos(each.table());
              segment.forgetBars(Long.MAX_VALUE);
              segment.restoreTimes(each.table(), floor, latest);
            }
          }
        }
      }
      return store;
    }

    private byte[] imageWhileItGoesOn() throws IOException {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      Image image = first.store.beginImage();
      goOn(image, random.nextInt(40));
      if (random.nextInt(4) > 0) {
        // On one thread, step by step, so that a seed determines everything.
        int often = random.nextInt(1, 40);
        image.write(
            out,
            () -> {
              if (random.nextInt(often) == 0) {
                goOn(image, 1);
              }
            });
      } else {
        CompletableFuture<Void> written =
            CompletableFuture.runAsync(
                () -> {
                  try {
                    image.write(out);
                  } catch (IOException e) {
                    throw new AssertionError(e);
                  }
                });
        goOn(image, 100);
        written.join();
      }
      goOn(image, random.nextInt(20));
      return out.toByteArray();
    }

    private void goOn(Image image, int entries) {
      for (int i = 0; i < entries; i++) {
        Entry entry = operations.next();
        if (way != Way.WITHOUT_BEFORE) {
          first.before(image, entry);
        }
        since.add(entry);
        answers.add(first.apply(entry));
      }
    }
  }
}
