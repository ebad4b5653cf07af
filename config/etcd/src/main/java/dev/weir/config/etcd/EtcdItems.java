package dev.weir.config.etcd;

import static java.nio.charset.StandardCharsets.US_ASCII;

import com.fasterxml.jackson.databind.JsonNode;
import dev.weir.Ticker;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.follow.DateClock;
import dev.weir.config.rows.Items;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Items in etcd. */
final class EtcdItems implements Items {
  /*
   * An item's key is the prefix, its table, a slash and its own key; the state is at the prefix and
   * "state". A value is its version in eight bytes, a byte that is 0 for a mark and 1 for a row,
   * and the bytes of the row. A deleted row's mark is attached to a lease of etcd, and is removed
   * when that ends.
   *
   * The limits are below etcd's own: 128 operations and 1.5 MiB in a request.
   */

  private static final Limits LIMITS = new Limits(100, 1_000_000, 1_000_000, true);

  /** The number of keys in one request for many. */
  private static final int READ_AT_ONCE = 100;

  private static final Pattern STATE = Pattern.compile("([1-9][0-9]{0,18}) ([!-~]*)");
  private static final int HEADER_BYTES = Long.BYTES + 1;
  private static final byte ROW = 1;
  private static final byte MARK = 0;

  /** The time for which one lease is used for new marks: an hour. */
  private static final long LEASE_USED_SECONDS = 3_600;

  private final EtcdSettings settings;
  private final Gateway gateway;
  private final DateClock clock;
  private final Ticker ticker;
  private final byte[] stateKey;

  /** The lease of new marks. */
  private volatile @Nullable Lease lease;

  private volatile boolean closed;

  private record Lease(long id, long sinceNanos) {}

  EtcdItems(EtcdSettings settings, Ticker ticker, Ticker wall) {
    this.settings = settings;
    this.ticker = ticker;
    clock = new DateClock(wall);
    gateway = new Gateway(settings, clock);
    stateKey = (settings.prefix() + "state").getBytes(US_ASCII);
  }

  @Override
  public Limits limits() {
    return LIMITS;
  }

  private byte[] key(String table, byte[] key) {
    byte[] folder = (settings.prefix() + table + "/").getBytes(US_ASCII);
    byte[] whole = Arrays.copyOf(folder, folder.length + key.length);
    System.arraycopy(key, 0, whole, folder.length, key.length);
    return whole;
  }

  private static byte[] value(byte @Nullable [] row, long version) {
    byte[] bytes = row == null ? new byte[0] : row;
    return ByteBuffer.allocate(HEADER_BYTES + bytes.length)
        .putLong(version)
        .put(row == null ? MARK : ROW)
        .put(bytes)
        .array();
  }

  private static byte[] bytes(JsonNode of, String name) {
    return Base64.getDecoder().decode(of.path(name).asText());
  }

  private Item item(int folderBytes, JsonNode stored) {
    byte[] key = bytes(stored, "key");
    byte[] value = bytes(stored, "value");
    if (value.length < HEADER_BYTES || value[Long.BYTES] < MARK || value[Long.BYTES] > ROW) {
      throw new ConfigException(
          Kind.DAMAGED, settings + ": a key that is not Weir's (expected: another ?prefix=/NAME/)");
    }
    return new Item(
        Arrays.copyOfRange(key, folderBytes, key.length),
        value[Long.BYTES] == MARK ? null : Arrays.copyOfRange(value, HEADER_BYTES, value.length),
        ByteBuffer.wrap(value).getLong());
  }

  private JsonNode read(String path, Map<String, ?> body) {
    requireOpen();
    return gateway.read(path, body);
  }

  private JsonNode write(String path, Map<String, ?> body) {
    requireOpen();
    return gateway.write(path, body);
  }

  private void requireOpen() {
    if (closed) {
      throw new ConfigException(Kind.UNAVAILABLE, settings + ": closed (expected: a store in use)");
    }
  }

  @Override
  public State state() {
    JsonNode found = read("/v3/kv/range", Map.of("key", stateKey)).path("kvs").path(0);
    if (found.isMissingNode()) {
      return State.NONE;
    }
    Matcher state = STATE.matcher(new String(bytes(found, "value"), US_ASCII));
    if (!state.matches()) {
      throw new ConfigException(
          Kind.DAMAGED, settings + ": state that cannot be read (expected: as Weir wrote it)");
    }
    return new State(Long.parseLong(state.group(1)), state.group(2));
  }

  private static byte[] bytes(State state) {
    return (state.version() + " " + state.pending()).getBytes(US_ASCII);
  }

  @Override
  public boolean transact(State expected, State next, List<Write> writes) {
    Map<String, Object> compare = new LinkedHashMap<>();
    compare.put("key", stateKey);
    compare.put("result", "EQUAL");
    if (expected.equals(State.NONE)) {
      compare.put("target", "VERSION");
      compare.put("version", 0);
    } else {
      compare.put("target", "VALUE");
      compare.put("value", bytes(expected));
    }
    List<Map<String, ?>> operations = new ArrayList<>();
    if (!next.equals(expected)) {
      operations.add(Map.of("request_put", Map.of("key", stateKey, "value", bytes(next))));
    }
    for (Write write : writes) {
      Map<String, Object> put = new HashMap<>();
      put.put("key", key(write.table(), write.key()));
      put.put("value", value(write.value(), next.version()));
      if (write.value() == null) {
        put.put("lease", leaseId());
      }
      operations.add(Map.of("request_put", put));
    }
    try {
      return write("/v3/kv/txn", Map.of("compare", List.of(compare), "success", operations))
          .path("succeeded")
          .asBoolean();
    } catch (ConfigException e) {
      lease = null; // The lease may have been the cause.
      throw e;
    }
  }

  private long leaseId() {
    Lease used = lease;
    long now = ticker.nanos();
    if (used == null || now - used.sinceNanos() > LEASE_USED_SECONDS * 1_000_000_000L) {
      long seconds = TOMBSTONE_SECONDS + LEASE_USED_SECONDS;
      used = new Lease(write("/v3/lease/grant", Map.of("TTL", seconds)).path("ID").asLong(), now);
      lease = used;
    }
    return used.id();
  }

  @Override
  public List<@Nullable Item> get(String table, List<byte[]> keys) {
    int folderBytes = key(table, new byte[0]).length;
    List<@Nullable Item> items = new ArrayList<>(keys.size());
    for (int from = 0; from < keys.size(); from += READ_AT_ONCE) {
      List<byte[]> some = keys.subList(from, Math.min(keys.size(), from + READ_AT_ONCE));
      List<Map<String, ?>> ranges = new ArrayList<>();
      some.forEach(key -> ranges.add(Map.of("request_range", Map.of("key", key(table, key)))));
      JsonNode answers = read("/v3/kv/txn", Map.of("success", ranges)).path("responses");
      for (int i = 0; i < some.size(); i++) {
        JsonNode found = answers.path(i).path("response_range").path("kvs").path(0);
        items.add(found.isMissingNode() ? null : item(folderBytes, found));
      }
    }
    return items;
  }

  @Override
  public List<Item> scan(String table, byte[] from, byte @Nullable [] to, int limit) {
    byte[] folder = key(table, new byte[0]);
    byte[] end;
    if (to == null) {
      end = folder.clone();
      end[end.length - 1]++; // The first key after those that begin with the slash.
    } else {
      end = key(table, to);
    }
    List<Item> items = new ArrayList<>();
    Map<String, ?> range =
        Map.of("key", key(table, from), "range_end", end, "limit", Integer.toString(limit));
    for (JsonNode stored : read("/v3/kv/range", range).path("kvs")) {
      items.add(item(folder.length, stored));
    }
    return items;
  }

  @Override
  public void put(String table, byte[] key, byte[] value, long version) {
    JsonNode unused =
        write("/v3/kv/put", Map.of("key", key(table, key), "value", value(value, version)));
  }

  @Override
  public void delete(String table, byte[] key) {
    JsonNode unused = write("/v3/kv/deleterange", Map.of("key", key(table, key)));
  }

  @Override
  public long wallNanos() {
    return clock.nanos();
  }

  @Override
  public void close() {
    closed = true;
  }

  @Override
  public String toString() {
    return settings.toString();
  }
}
