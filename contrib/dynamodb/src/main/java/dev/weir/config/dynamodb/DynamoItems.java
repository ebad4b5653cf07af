package dev.weir.config.dynamodb;

import dev.weir.Ticker;
import dev.weir.config.rows.Items;
import dev.weir.internal.Sha256;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionCheck;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.Put;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;
import software.amazon.awssdk.services.dynamodb.model.TransactionConflictException;

/** Items in a table of DynamoDB, laid out as {@link Layout} describes. All reads are consistent. */
final class DynamoItems implements Items {
  /** Below DynamoDB's own limits for a transaction: 100 actions and 4 MB. */
  private static final Limits LIMITS = new Limits(90, 2_000_000, 300_000, true);

  private static final int READ_AT_ONCE = 100;
  private static final int LEAST_PAGE = 10;

  private static final byte[] NO_KEY = new byte[0];
  private static final String STATE = "state";

  private final DynamoTable table;
  private final Ticker wall;

  DynamoItems(DynamoTable table, Ticker wall) {
    this.table = table;
    this.wall = wall;
  }

  /** Opens a table, and creates it if it is missing. */
  static DynamoItems open(DynamoSettings settings, Ticker ticker, Ticker wall) {
    return new DynamoItems(DynamoTable.open(settings, ticker, wall), wall);
  }

  @Override
  public Limits limits() {
    return LIMITS;
  }

  @Override
  public State state() {
    Map<String, AttributeValue> found = table.get(Layout.address(STATE, NO_KEY));
    if (found.isEmpty()) {
      return State.NONE;
    }
    AttributeValue version = found.get(Layout.VERSION);
    AttributeValue pending = found.get(Layout.PENDING);
    if (version == null || version.n() == null || pending == null || pending.s() == null) {
      throw table.damaged("state that cannot be read");
    }
    return new State(Long.parseLong(version.n()), pending.s());
  }

  private static Map<String, AttributeValue> item(State state) {
    Map<String, AttributeValue> item = Layout.address(STATE, NO_KEY);
    item.put(Layout.VERSION, Layout.number(state.version()));
    item.put(Layout.PENDING, Layout.text(state.pending()));
    return item;
  }

  private static String condition(State expected) {
    return expected.equals(State.NONE) ? "attribute_not_exists(p)" : "v = :v and pending = :p";
  }

  private static Map<String, AttributeValue> values(State expected) {
    return expected.equals(State.NONE)
        ? Map.of()
        : Map.of(":v", Layout.number(expected.version()), ":p", Layout.text(expected.pending()));
  }

  @Override
  public boolean transact(State expected, State next, List<Write> writes) {
    List<TransactWriteItem> actions = new ArrayList<>();
    Map<String, AttributeValue> values = values(expected);
    if (expected.equals(next)) {
      ConditionCheck.Builder check =
          ConditionCheck.builder()
              .tableName(table.name())
              .key(Layout.address(STATE, NO_KEY))
              .conditionExpression(condition(expected));
      if (!values.isEmpty()) {
        check.expressionAttributeValues(values);
      }
      actions.add(TransactWriteItem.builder().conditionCheck(check.build()).build());
    } else {
      Put.Builder put =
          Put.builder()
              .tableName(table.name())
              .item(item(next))
              .conditionExpression(condition(expected));
      if (!values.isEmpty()) {
        put.expressionAttributeValues(values);
      }
      actions.add(TransactWriteItem.builder().put(put.build()).build());
    }
    for (Write write : writes) {
      Put put =
          Put.builder()
              .tableName(table.name())
              .item(item(write.table(), write.key(), write.value(), next.version()))
              .build();
      actions.add(TransactWriteItem.builder().put(put).build());
    }
    return table.call(
        () -> {
          try {
            return table.client().transactWriteItems(each -> each.transactItems(actions)) != null;
          } catch (ConditionalCheckFailedException | TransactionConflictException e) {
            return false;
          } catch (TransactionCanceledException e) {
            boolean another =
                e.cancellationReasons().stream()
                    .anyMatch(
                        each ->
                            "ConditionalCheckFailed".equals(each.code())
                                || "TransactionConflict".equals(each.code()));
            if (another) {
              return false;
            }
            throw e;
          }
        });
  }

  /** Returns the attributes to store; writes the parts of a large value at once. */
  private Map<String, AttributeValue> item(
      String table, byte[] key, byte @Nullable [] value, long version) {
    Map<String, AttributeValue> item = Layout.address(table, key);
    item.put(Layout.VERSION, Layout.number(version));
    if (key.length > Layout.PREFIX_BYTES) {
      item.put(Layout.KEY, Layout.bytes(key));
    }
    if (value == null) {
      long seconds = wall.nanos() / 1_000_000_000L + TOMBSTONE_SECONDS;
      item.put(Layout.GONE, Layout.number(seconds));
    } else if (value.length <= LIMITS.partBytes()) {
      item.put(Layout.DATA, Layout.bytes(value));
    } else {
      byte[] hash = Sha256.of(value);
      item.put(Layout.HASH, Layout.bytes(hash));
      item.put(Layout.PARTS, Layout.number(writeParts(hash, value)));
    }
    return item;
  }

  private int writeParts(byte[] hash, byte[] value) {
    int parts = 0;
    for (int from = 0; from < value.length; from += LIMITS.partBytes()) {
      Map<String, AttributeValue> part = new HashMap<>();
      part.put(Layout.PARTITION, Layout.text(Layout.partsOf(hash)));
      part.put(Layout.SORT, Layout.bytes(ByteBuffer.allocate(4).putInt(parts).array()));
      int to = Math.min(value.length, from + LIMITS.partBytes());
      part.put(Layout.DATA, Layout.bytes(Arrays.copyOfRange(value, from, to)));
      table.put(part);
      parts++;
    }
    return parts;
  }

  private Item item(Map<String, AttributeValue> stored) {
    AttributeValue version = stored.get(Layout.VERSION);
    if (version == null || version.n() == null) {
      throw table.damaged("an item without a version");
    }
    return new Item(key(stored), value(stored), Long.parseLong(version.n()));
  }

  private byte[] key(Map<String, AttributeValue> stored) {
    byte[] sort = bytes(stored, Layout.SORT);
    return Layout.isLong(sort)
        ? bytes(stored, Layout.KEY)
        : Arrays.copyOfRange(sort, 1, sort.length);
  }

  private byte[] bytes(Map<String, AttributeValue> stored, String name) {
    AttributeValue value = stored.get(name);
    if (value == null || value.b() == null) {
      throw table.damaged("an item without " + name);
    }
    return value.b().asByteArray();
  }

  private byte @Nullable [] value(Map<String, AttributeValue> stored) {
    if (stored.containsKey(Layout.HASH)) {
      byte[] hash = bytes(stored, Layout.HASH);
      DynamoTable.Query parts =
          table.new Query(Layout.partsOf(hash), new byte[1], null, READ_AT_ONCE);
      ByteArrayOutputStream value = new ByteArrayOutputStream();
      for (Map<String, AttributeValue> part = parts.next(); part != null; part = parts.next()) {
        value.writeBytes(bytes(part, Layout.DATA));
      }
      if (!Arrays.equals(Sha256.of(value.toByteArray()), hash)) {
        throw table.damaged("a large item of which a part is missing");
      }
      return value.toByteArray();
    }
    return stored.containsKey(Layout.GONE) ? null : bytes(stored, Layout.DATA);
  }

  @Override
  public List<@Nullable Item> get(String table, List<byte[]> keys) {
    Map<ByteBuffer, Item> found = new HashMap<>();
    Map<ByteBuffer, Map<String, AttributeValue>> wanted = new LinkedHashMap<>();
    keys.forEach(key -> wanted.put(ByteBuffer.wrap(key), Layout.address(table, key)));
    List<Map<String, AttributeValue>> all = List.copyOf(wanted.values());
    for (int from = 0; from < all.size(); from += READ_AT_ONCE) {
      List<Map<String, AttributeValue>> some =
          all.subList(from, Math.min(all.size(), from + READ_AT_ONCE));
      for (Map<String, AttributeValue> stored : this.table.get(some)) {
        Item item = item(stored);
        found.put(ByteBuffer.wrap(item.key()), item);
      }
    }
    List<@Nullable Item> items = new ArrayList<>(keys.size());
    keys.forEach(key -> items.add(found.get(ByteBuffer.wrap(key))));
    return items;
  }

  /** The items of a partition in the order of their whole keys. */
  private final class SortedItems {
    private final DynamoTable.Query query;
    private final Deque<Item> group = new ArrayDeque<>();
    private @Nullable Map<String, AttributeValue> ahead;

    SortedItems(DynamoTable.Query query) {
      this.query = query;
      ahead = query.next();
    }

    @Nullable Item peek() {
      if (group.isEmpty() && ahead != null) {
        List<Item> alike = new ArrayList<>();
        byte[] first = bytes(ahead, Layout.SORT);
        do {
          alike.add(item(ahead));
          ahead = query.next();
        } while (Layout.isLong(first)
            && ahead != null
            && Arrays.equals(
                first,
                0,
                Layout.PREFIX_BYTES + 1,
                prefix(bytes(ahead, Layout.SORT)),
                0,
                Layout.PREFIX_BYTES + 1));
        alike.sort((a, b) -> Arrays.compareUnsigned(a.key(), b.key()));
        group.addAll(alike);
      }
      return group.peek();
    }

    private byte[] prefix(byte[] sort) {
      return Arrays.copyOf(sort, Layout.PREFIX_BYTES + 1);
    }

    void poll() {
      group.poll();
    }
  }

  @Override
  public List<Item> scan(String table, byte[] from, byte @Nullable [] to, int limit) {
    List<String> partitions = Layout.partitions(table);
    List<SortedItems> sources = new ArrayList<>();
    for (String partition : partitions) {
      int pageSize = limit / partitions.size() + LEAST_PAGE;
      byte[] end = to == null ? null : Layout.to(to);
      sources.add(
          new SortedItems(this.table.new Query(partition, Layout.from(from), end, pageSize)));
    }
    List<Item> items = new ArrayList<>();
    while (items.size() < limit) {
      SortedItems least = null;
      Item next = null;
      for (SortedItems source : sources) {
        Item item = source.peek();
        if (item != null && (next == null || Arrays.compareUnsigned(item.key(), next.key()) < 0)) {
          least = source;
          next = item;
        }
      }
      if (least == null || next == null) {
        break;
      }
      least.poll();
      boolean below = to == null || Arrays.compareUnsigned(next.key(), to) < 0;
      if (below && Arrays.compareUnsigned(next.key(), from) >= 0) {
        items.add(next);
      }
    }
    return items;
  }

  @Override
  public void put(String table, byte[] key, byte[] value, long version) {
    this.table.put(item(table, key, value, version));
  }

  @Override
  public void delete(String table, byte[] key) {
    this.table.delete(Layout.address(table, key));
  }

  @Override
  public long wallNanos() {
    return table.wallNanos();
  }

  @Override
  public void close() {
    table.close();
  }

  @Override
  public String toString() {
    return table.toString();
  }
}
