package dev.weir.config.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Ticker;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.config.StoreAddress;
import dev.weir.config.rows.Items;
import dev.weir.config.rows.Items.State;
import dev.weir.config.rows.Items.Write;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Long keys, many partitions, and the state as a fence. */
@Tag("service")
class DynamoItemsTest {
  private static Items items() {
    DynamoSettings settings = DynamoSettings.of(StoreAddress.parse(Dynamo.newAddress(), ""));
    return DynamoItems.open(settings, Ticker.system(), Ticker.wall());
  }

  @Test
  void longKeys_areFoundAndPagedInTheirOrder() {
    SplittableRandom random = new SplittableRandom(960);
    List<byte[]> keys = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      byte[] key = new byte[i % 2 == 0 ? 1_500 : 950 + i];
      random.nextBytes(key);
      // Some keys agree in more bytes than a sort key has of them.
      Arrays.fill(key, 0, Math.min(key.length, i % 4 == 0 ? 1_000 : 2), (byte) 7);
      keys.add(key);
    }
    for (int length : List.of(0, 1, 959, 960, 961, 962)) {
      byte[] key = new byte[length];
      Arrays.fill(key, (byte) 7);
      keys.add(key);
    }
    try (Items items = items()) {
      State one = new State(1, "");
      assertThat(
              items.transact(
                  State.NONE,
                  one,
                  keys.stream().map(key -> new Write("record", key, key)).toList()))
          .isTrue();
      List<Items.Item> found = new ArrayList<>(items.get("record", keys));
      for (int i = 0; i < keys.size(); i++) {
        assertThat(found.get(i).value()).isEqualTo(keys.get(i));
      }
      keys.sort(Arrays::compareUnsigned);
      for (int limit : List.of(1, 7, 100)) {
        List<byte[]> paged = new ArrayList<>();
        byte[] next = new byte[0];
        List<Items.Item> page;
        do {
          page = items.scan("record", next, null, limit);
          page.forEach(item -> paged.add(item.key()));
          next = page.isEmpty() ? next : after(page.get(page.size() - 1).key());
        } while (page.size() == limit);
        assertThat(paged).hasSize(keys.size());
        for (int i = 0; i < keys.size(); i++) {
          assertThat(paged.get(i)).isEqualTo(keys.get(i));
        }
      }
      for (int from = 0; from < keys.size(); from += 5) {
        for (int to = from; to < keys.size(); to += 7) {
          assertThat(items.scan("record", keys.get(from), keys.get(to), 100)).hasSize(to - from);
        }
      }
    }
  }

  private static byte[] after(byte[] key) {
    return Arrays.copyOf(key, key.length + 1);
  }

  @Test
  void writerWhoseStateIsGone_writesNothing() {
    byte[] key = {1};
    try (Items items = items()) {
      State five = new State(5, "x");
      State six = new State(6, "");
      List<Write> writes = List.of(new Write("record", key, key));
      assertThat(items.state()).isEqualTo(State.NONE);
      assertThat(items.transact(five, five, writes)).isFalse();
      assertThat(items.transact(State.NONE, five, List.of())).isTrue();
      assertThat(items.transact(State.NONE, six, List.of())).isFalse();
      assertThat(items.get("record", List.of(key)).get(0)).isNull();
      assertThat(items.transact(five, five, writes)).isTrue();
      assertThat(items.transact(five, six, List.of(new Write("record", key, null)))).isTrue();
      assertThat(items.transact(five, five, writes)).isFalse();
      Items.Item mark = items.get("record", List.of(key)).get(0);
      assertThat(mark).isNotNull();
      assertThat(mark.value()).isNull();
      assertThat(mark.version()).isEqualTo(6);
    }
  }

  @Test
  void closedStore_isUnavailable() {
    ConfigStore closed = ConfigStores.open(Dynamo.newAddress());
    closed.close();
    assertThatThrownBy(closed::head)
        .isInstanceOfSatisfying(
            ConfigException.class, e -> assertThat(e.kind()).isEqualTo(Kind.UNAVAILABLE));
  }
}
