package dev.weir.config.follow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Cause;
import dev.weir.config.Change;
import dev.weir.config.ChangeDetails;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.config.ForwardingConfigStore;
import dev.weir.config.Head;
import dev.weir.config.RecordWrite;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import dev.weir.config.WrappedConfigStore;
import dev.weir.config.internal.bytes.HexHash;
import dev.weir.config.rows.Tree;
import dev.weir.testkit.FakeTicker;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A feed on a store in memory, with time that stands still and one thread for everything. */
class FeedTest {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Cause CAUSE = Cause.of("test", "a test");
  private static final Subject ALICE = new Subject("shop", "user", "alice");

  private final FakeTicker ticker = new FakeTicker(1_800_000_000_000_000_000L);
  private final SwitchedStore store = new SwitchedStore(ConfigStores.inMemory(ticker));
  private final List<String> heard = new ArrayList<>();
  private final Feed feed = new Feed(store, ticker, SECOND, bound -> bound, Runnable::run);

  /** A store that can be exchanged for another one, and fail. */
  private static final class SwitchedStore extends ForwardingConfigStore {
    ConfigStore current;
    int heads;
    int pages;
    boolean away;
    boolean cut;

    SwitchedStore(ConfigStore first) {
      current = first;
    }

    @Override
    protected ConfigStore delegate() {
      return current;
    }

    @Override
    public Head head() {
      heads++;
      if (away) {
        throw new ConfigException(ConfigException.Kind.UNAVAILABLE, "away");
      }
      return super.head();
    }

    @Override
    public List<Change> changes(long after, int limit) {
      pages++;
      if (cut) {
        throw new ConfigException(ConfigException.Kind.DAMAGED, "change 1: missing");
      }
      return super.changes(after, limit);
    }
  }

  private final class Noting implements FeedListener {
    @Override
    public void changed(long number, ChangeDetails change) {
      heard.add(change.kind() + " " + number);
    }

    @Override
    public void missed(Head head) {
      heard.add("missed " + head.position());
    }

    @Override
    public void failed(Throwable error) {
      heard.add("failed " + error.getMessage());
    }
  }

  @BeforeEach
  void listen() {
    feed.listen(ChangeDetails.RECORD, new Noting());
    feed.start();
  }

  private void write() {
    RecordWrite write = RecordWrite.put(SubjectRecord.ofPlan(ALICE, "gold"), RecordWrite.ANY);
    store.write(List.of(write), CAUSE);
  }

  private List<String> afterASecond() {
    heard.clear();
    ticker.advance(SECOND);
    return heard;
  }

  @Test
  void changes_areToldOnceByTheirKindAndInOrder() {
    write();
    assertThat(afterASecond()).containsExactly("missed 1");
    store.pages = 0;
    assertThat(afterASecond()).isEmpty();
    assertThat(store.pages).isZero();
    write();
    Map<String, String> files = Map.of("a.yaml", "domain: a\n");
    store.current.commit(0, Tree.of(files), files.values(), CAUSE);
    write();
    assertThat(afterASecond()).containsExactly("record 2", "record 4");
    for (int i = 0; i < 2_500; i++) {
      write();
    }
    assertThat(afterASecond()).hasSize(2_500).startsWith("record 5").endsWith("record 2504");
  }

  @Test
  void anotherStoreOrOneThatWasRestored_isMissed() {
    write();
    write();
    assertThat(afterASecond()).containsExactly("missed 2");
    store.current = ConfigStores.inMemory(ticker);
    assertThat(afterASecond()).containsExactly("missed 0");
    write();
    assertThat(afterASecond()).containsExactly("record 1");

    ConfigStore behind = ConfigStores.inMemory(ticker);
    Head before = store.current.head();
    store.current = sameName(behind, before.store());
    assertThat(afterASecond()).containsExactly("missed 0"); // The feed was at change 1.
    write();
    assertThat(afterASecond()).containsExactly("record 1");
    ConfigStore rewritten = ConfigStores.inMemory(ticker);
    SubjectRecord other = SubjectRecord.ofPlan(ALICE, "silver");
    rewritten.write(List.of(RecordWrite.put(other, RecordWrite.ANY)), CAUSE);
    store.current = sameName(rewritten, before.store());
    assertThat(afterASecond()).containsExactly("missed 1"); // Another change of this number.
    ConfigStore further = ConfigStores.inMemory(ticker);
    further.write(List.of(RecordWrite.put(other, RecordWrite.ANY)), Cause.of("x", "other"));
    store.current = sameName(further, before.store());
    write();
    assertThat(afterASecond()).containsExactly("missed 2"); // Change 2 follows another change 1.
  }

  private static ConfigStore sameName(ConfigStore of, String name) {
    return new WrappedConfigStore(of) {
      @Override
      public Head head() {
        Head head = super.head();
        return new Head(name, head.revision(), head.position(), head.hash());
      }
    };
  }

  @Test
  void tooFarBehindOrALogThatIsCut_isMissed() {
    assertThat(afterASecond()).containsExactly("missed 0");
    write();
    store.cut = true;
    assertThat(afterASecond()).containsExactly("missed 1");
    store.cut = false;
    Head head = store.current.head();
    ConfigStore inner = store.current;
    store.current =
        new WrappedConfigStore(inner) {
          @Override
          public Head head() {
            return new Head(
                head.store(), 0, head.position() + Feed.MAX_BEHIND + 1, HexHash.of("x"));
          }
        };
    store.pages = 0;
    assertThat(afterASecond()).containsExactly("missed 100002");
    assertThat(store.pages).isZero();
  }

  @Test
  void listenerThatThrows_keepsNothingFromOthersAndHearsThatItMissedSomething() {
    List<String> told = new ArrayList<>();
    FeedListener first =
        new FeedListener() {
          @Override
          public void changed(long number, ChangeDetails change) {
            told.add("change " + number);
            throw new IllegalStateException("not now");
          }

          @Override
          public void missed(Head head) {
            told.add("missed " + head.position());
            if (told.size() == 3) {
              throw new IllegalStateException("still not");
            }
          }

          @Override
          public void failed(Throwable error) {
            told.add(String.valueOf(error.getMessage()));
          }
        };
    Feed other = new Feed(store, ticker, SECOND, bound -> bound, Runnable::run);
    other.listen(ChangeDetails.RECORD, first);
    other.listen(ChangeDetails.RECORD, new Noting());
    assertThat(other.poll()).isTrue();
    told.clear();
    heard.clear();
    write();
    write();
    assertThat(other.poll()).isFalse();
    assertThat(heard).containsExactly("record 1", "record 2");
    assertThat(told).containsExactly("change 1", "not now", "missed 2", "still not");
    heard.clear();
    told.clear();
    assertThat(other.poll()).isTrue(); // Its missed changes are reported again.
    assertThat(heard).isEmpty();
    assertThat(told).containsExactly("missed 2");
    told.clear();
    assertThat(other.poll()).isTrue();
    assertThat(told).isEmpty();
  }

  @Test
  void storeThatIsAway_isToldAndChangesFollowItsReturn() {
    assertThat(afterASecond()).containsExactly("missed 0");
    store.away = true;
    assertThat(afterASecond()).containsExactly("failed away");
    write();
    write();
    store.heads = 0;
    feed.hint(); // Ignored.
    assertThat(store.heads).isZero();
    store.away = false;
    assertThat(afterASecond()).isEmpty(); // It waits for a random part of two intervals.
    assertThat(afterASecond()).containsExactly("record 1", "record 2");
  }

  @Test
  void hint_asksAtOnceAndLeavesTheIntervalAsItIs() {
    assertThat(afterASecond()).containsExactly("missed 0");
    write();
    heard.clear();
    feed.hint();
    assertThat(heard).containsExactly("record 1");
    store.heads = 0;
    assertThat(afterASecond()).isEmpty();
    assertThat(store.heads).isEqualTo(1);
    assertThat(ticker.scheduled()).isEqualTo(1);
  }

  @Test
  void listenerThatThrows_keepsNothingFromOthers() {
    List<String> calls = new ArrayList<>();
    feed.listen(
        ChangeDetails.RECORD,
        new FeedListener() {
          @Override
          public void caughtUp(Head head, long asOfNanos) throws IOException {
            throw new IOException("disk");
          }

          @Override
          public void failed(Throwable error) {
            calls.add(String.valueOf(error.getMessage()));
          }
        });
    feed.listen(
        ChangeDetails.RECORD,
        new FeedListener() {
          @Override
          public void caughtUp(Head head, long asOfNanos) {
            calls.add("heard as of " + (asOfNanos - ticker.nanos()));
          }
        });
    assertThat(afterASecond()).containsExactly("missed 0");
    assertThat(calls).containsExactly("disk", "heard as of 0");
  }

  @Test
  void closedFeed_asksNothing() {
    feed.close();
    store.heads = 0;
    assertThat(afterASecond()).isEmpty();
    feed.hint();
    assertThat(store.heads).isZero();
  }
}
