package dev.weir.config.dynamodb;

import dev.weir.Ticker;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.DateClock;
import dev.weir.config.Items;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.AwsResponse;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.DefaultRetryStrategy;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClientBuilder;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemResponse;
import software.amazon.awssdk.services.dynamodb.model.ConditionCheck;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.KeysAndAttributes;
import software.amazon.awssdk.services.dynamodb.model.Put;
import software.amazon.awssdk.services.dynamodb.model.QueryResponse;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;
import software.amazon.awssdk.services.dynamodb.model.TransactionConflictException;

/** Items in a table of DynamoDB; {@link Layout} says where. All reads are consistent ones. */
final class DynamoItems implements Items {
  /** DynamoDB's own are 100 actions and 4 MB in a transaction. */
  private static final Limits LIMITS = new Limits(90, 2_000_000, 300_000, true);

  private static final int READ_AT_ONCE = 100;
  private static final int LEAST_PAGE = 10;

  /** DynamoDB may answer a part of a batch only; it says so, and is asked for the rest. */
  private static final int MAX_ROUNDS = 100;

  private static final byte[] NO_KEY = new byte[0];
  private static final String STATE = "state";

  private final DynamoSettings settings;
  private final Ticker wall;
  private final DateClock clock;
  private final DynamoDbClient client;

  private volatile boolean closed;

  private DynamoItems(DynamoSettings settings, Ticker wall) {
    this.settings = settings;
    this.wall = wall;
    clock = new DateClock(wall);
    Duration timeout = Duration.ofSeconds(settings.timeoutSeconds());
    DynamoDbClientBuilder builder =
        DynamoDbClient.builder()
            .httpClientBuilder(
                UrlConnectionHttpClient.builder().connectionTimeout(timeout).socketTimeout(timeout))
            // A write that is made twice says that its condition fails; Weir asks again by itself.
            .overrideConfiguration(
                each ->
                    each.apiCallTimeout(timeout).retryStrategy(DefaultRetryStrategy.doNotRetry()));
    if (!settings.region().isEmpty()) {
      builder.region(Region.of(settings.region()));
    }
    if (!settings.endpoint().isEmpty()) {
      builder.endpointOverride(URI.create(settings.endpoint()));
    }
    try {
      client = builder.build();
    } catch (SdkException e) {
      throw failure(e);
    }
  }

  /** Opens a table, and makes it if it is missing. */
  static DynamoItems open(DynamoSettings settings, Ticker ticker, Ticker wall) {
    DynamoItems items = new DynamoItems(settings, wall);
    try {
      boolean unused =
          items.call(
              () -> {
                Schema.require(items.client, settings, ticker);
                return true;
              });
      return items;
    } catch (RuntimeException | Error e) {
      items.close();
      throw e;
    }
  }

  private <T> T call(Supplier<T> call) {
    if (closed) {
      throw new ConfigException(Kind.UNAVAILABLE, settings + ": closed (expected: a store in use)");
    }
    try {
      T result = call.get();
      if (result instanceof AwsResponse response) {
        response.sdkHttpResponse().firstMatchingHeader("Date").ifPresent(clock::heard);
      }
      return result;
    } catch (SdkException e) {
      throw failure(e);
    }
  }

  private ConfigException failure(SdkException e) {
    String expected =
        e instanceof ResourceNotFoundException
            ? "the table as Weir made it"
            : "DynamoDB that answers within " + settings.timeoutSeconds() + " s, and its rights";
    String message = String.valueOf(e.getMessage()).replaceAll("\\s+", " ");
    String line = message.length() > 200 ? message.substring(0, 200) + "..." : message;
    return new ConfigException(
        Kind.UNAVAILABLE, settings + ": " + line + " (expected: " + expected + ")", e);
  }

  private ConfigException damaged(String what) {
    return new ConfigException(
        Kind.DAMAGED, settings + ": " + what + " (expected: as Weir wrote it)");
  }

  @Override
  public Limits limits() {
    return LIMITS;
  }

  @Override
  public State state() {
    Map<String, AttributeValue> found =
        call(() ->
                client.getItem(
                    each ->
                        each.tableName(settings.table())
                            .key(Layout.address(STATE, NO_KEY))
                            .consistentRead(true)))
            .item();
    if (found.isEmpty()) {
      return State.NONE;
    }
    AttributeValue version = found.get(Layout.VERSION);
    AttributeValue pending = found.get(Layout.PENDING);
    if (version == null || version.n() == null || pending == null || pending.s() == null) {
      throw damaged("state that cannot be read");
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
              .tableName(settings.table())
              .key(Layout.address(STATE, NO_KEY))
              .conditionExpression(condition(expected));
      if (!values.isEmpty()) {
        check.expressionAttributeValues(values);
      }
      actions.add(TransactWriteItem.builder().conditionCheck(check.build()).build());
    } else {
      Put.Builder put =
          Put.builder()
              .tableName(settings.table())
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
              .tableName(settings.table())
              .item(item(write.table(), write.key(), write.value(), next.version()))
              .build();
      actions.add(TransactWriteItem.builder().put(put).build());
    }
    return call(
        () -> {
          try {
            return client.transactWriteItems(each -> each.transactItems(actions)) != null;
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

  /** Returns what is stored; parts of a large value are written at once. */
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
      byte[] hash = Layout.sha256(value);
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
      putItem(part);
      parts++;
    }
    return parts;
  }

  private void putItem(Map<String, AttributeValue> item) {
    boolean unused =
        call(() -> client.putItem(each -> each.tableName(settings.table()).item(item)) != null);
  }

  private Item item(Map<String, AttributeValue> stored) {
    AttributeValue version = stored.get(Layout.VERSION);
    if (version == null || version.n() == null) {
      throw damaged("an item without a version");
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
      throw damaged("an item without " + name);
    }
    return value.b().asByteArray();
  }

  private byte @Nullable [] value(Map<String, AttributeValue> stored) {
    if (stored.containsKey(Layout.HASH)) {
      byte[] hash = bytes(stored, Layout.HASH);
      Query parts = new Query(Layout.partsOf(hash), new byte[1], null, READ_AT_ONCE);
      ByteArrayOutputStream value = new ByteArrayOutputStream();
      for (Map<String, AttributeValue> part = parts.next(); part != null; part = parts.next()) {
        value.writeBytes(bytes(part, Layout.DATA));
      }
      if (!Arrays.equals(Layout.sha256(value.toByteArray()), hash)) {
        throw damaged("a large item of which a part is missing");
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
      for (Map<String, AttributeValue> stored : get(some)) {
        Item item = item(stored);
        found.put(ByteBuffer.wrap(item.key()), item);
      }
    }
    List<@Nullable Item> items = new ArrayList<>(keys.size());
    keys.forEach(key -> items.add(found.get(ByteBuffer.wrap(key))));
    return items;
  }

  private List<Map<String, AttributeValue>> get(List<Map<String, AttributeValue>> addresses) {
    List<Map<String, AttributeValue>> found = new ArrayList<>();
    List<Map<String, AttributeValue>> rest = addresses;
    for (int round = 0; round < MAX_ROUNDS; round++) {
      KeysAndAttributes keys = KeysAndAttributes.builder().keys(rest).consistentRead(true).build();
      BatchGetItemResponse answer =
          call(
              () -> client.batchGetItem(each -> each.requestItems(Map.of(settings.table(), keys))));
      found.addAll(answer.responses().getOrDefault(settings.table(), List.of()));
      KeysAndAttributes left = answer.unprocessedKeys().get(settings.table());
      if (left == null || left.keys().isEmpty()) {
        return found;
      }
      rest = left.keys();
    }
    throw new ConfigException(
        Kind.UNAVAILABLE, settings + ": throttled (expected: capacity for what is read)");
  }

  /** The items of a partition, read page by page as they are asked for. */
  private final class Query {
    private final String partition;
    private final byte[] from;
    private final byte @Nullable [] to;
    private final int pageSize;
    private final Deque<Map<String, AttributeValue>> page = new ArrayDeque<>();
    private Map<String, AttributeValue> after = Map.of();
    private boolean atEnd;

    Query(String partition, byte[] from, byte @Nullable [] to, int pageSize) {
      this.partition = partition;
      this.from = from;
      this.to = to;
      this.pageSize = pageSize;
    }

    @Nullable Map<String, AttributeValue> next() {
      while (page.isEmpty() && !atEnd) {
        read();
      }
      return page.poll();
    }

    private void read() {
      Map<String, AttributeValue> values = new HashMap<>();
      values.put(":p", Layout.text(partition));
      values.put(":from", Layout.bytes(from));
      if (to != null) {
        values.put(":to", Layout.bytes(to));
      }
      QueryResponse answer =
          call(
              () ->
                  client.query(
                      each -> {
                        each.tableName(settings.table())
                            .consistentRead(true)
                            .limit(pageSize)
                            .keyConditionExpression(
                                to == null
                                    ? "p = :p and s >= :from"
                                    : "p = :p and s between :from and :to")
                            .expressionAttributeValues(values);
                        if (!after.isEmpty()) {
                          each.exclusiveStartKey(after);
                        }
                      }));
      page.addAll(answer.items());
      after = answer.lastEvaluatedKey();
      atEnd = after.isEmpty();
    }
  }

  /** The items of a partition in the order of their whole keys. */
  private final class Sorted {
    private final Query query;
    private final Deque<Item> group = new ArrayDeque<>();
    private @Nullable Map<String, AttributeValue> ahead;

    Sorted(Query query) {
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
    List<Sorted> sources = new ArrayList<>();
    for (String partition : partitions) {
      int pageSize = limit / partitions.size() + LEAST_PAGE;
      byte[] end = to == null ? null : Layout.to(to);
      sources.add(new Sorted(new Query(partition, Layout.from(from), end, pageSize)));
    }
    List<Item> items = new ArrayList<>();
    while (items.size() < limit) {
      Sorted least = null;
      Item next = null;
      for (Sorted source : sources) {
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
    putItem(item(table, key, value, version));
  }

  @Override
  public void delete(String table, byte[] key) {
    boolean unused =
        call(
            () ->
                client.deleteItem(
                        each -> each.tableName(settings.table()).key(Layout.address(table, key)))
                    != null);
  }

  @Override
  public long wallNanos() {
    return clock.nanos();
  }

  @Override
  public void close() {
    closed = true;
    client.close();
  }

  @Override
  public String toString() {
    return settings.toString();
  }
}
