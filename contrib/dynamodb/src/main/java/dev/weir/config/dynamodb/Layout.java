package dev.weir.config.dynamodb;

import dev.weir.internal.Sha256;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** The layout of items in the table. */
final class Layout {
  /*
   * An item has the partition "p" and in it the sort key "s", which is a zero byte and the item's
   * key, since a sort key may not be empty; "v" is its version and "d" its bytes. A deleted row's
   * mark has no "d" but "gone", the time after which DynamoDB removes it.
   *
   * Records are spread over 16 partitions by their hash, so that one machine does not serve
   * millions of them; a page is merged from all partitions. Other tables have one partition each:
   * they are small, or, like the changes, written no more often than the one item of the state.
   *
   * A sort key has at most 1,024 bytes, and a record's key some 6,000. For a longer key, the sort
   * key has its first bytes and a hash, and "k" has the whole key. Long keys with the same first
   * bytes stand next to each other, in the order of their hashes: readers read all of them and sort
   * them.
   *
   * An item has at most 400 KB. For a larger value, "h" is its SHA-256, and its parts are in a
   * partition of that name. The parts are never changed or removed; only texts of rules are so
   * large, and those are never removed either.
   */

  static final String PARTITION = "p";
  static final String SORT = "s";
  static final String VERSION = "v";
  static final String DATA = "d";
  static final String KEY = "k";
  static final String HASH = "h";
  static final String PARTS = "n";
  static final String GONE = "gone";
  static final String PENDING = "pending";

  private static final int PARTITIONS = 16;

  /** The number of bytes of a longer key that its sort key begins with. */
  static final int PREFIX_BYTES = 960;

  private Layout() {}

  static AttributeValue text(String value) {
    return AttributeValue.fromS(value);
  }

  static AttributeValue number(long value) {
    return AttributeValue.fromN(Long.toString(value));
  }

  static AttributeValue bytes(byte[] value) {
    return AttributeValue.fromB(SdkBytes.fromByteArray(value));
  }

  /** Returns all partitions of a table. */
  static List<String> partitions(String table) {
    return table.equals("record")
        ? IntStream.range(0, PARTITIONS).mapToObj(i -> table + "#" + i).toList()
        : List.of(table);
  }

  static String partition(String table, byte[] key) {
    List<String> partitions = partitions(table);
    return partitions.get((Sha256.of(key)[0] & 0xff) % partitions.size());
  }

  static byte[] sort(byte[] key) {
    if (key.length <= PREFIX_BYTES) {
      return from(key);
    }
    byte[] prefix = from(key);
    byte[] hash = Sha256.of(key);
    byte[] sort = Arrays.copyOf(prefix, prefix.length + hash.length);
    System.arraycopy(hash, 0, sort, prefix.length, hash.length);
    return sort;
  }

  /** Returns a sort key that is at or before that of every key from this one on. */
  static byte[] from(byte[] key) {
    int length = Math.min(key.length, PREFIX_BYTES);
    byte[] sort = new byte[length + 1];
    System.arraycopy(key, 0, sort, 1, length);
    return sort;
  }

  /** Returns a sort key that is at or behind that of every key below this one. */
  static byte[] to(byte[] key) {
    byte[] from = from(key);
    if (key.length <= PREFIX_BYTES) {
      return from;
    }
    byte[] sort = Arrays.copyOf(from, from.length + 33);
    Arrays.fill(sort, from.length, sort.length, (byte) 0xff);
    return sort;
  }

  /** Returns true if a sort key is that of a longer key. */
  static boolean isLong(byte[] sort) {
    return sort.length > PREFIX_BYTES + 1;
  }

  static Map<String, AttributeValue> address(String table, byte[] key) {
    Map<String, AttributeValue> address = new HashMap<>();
    address.put(PARTITION, text(partition(table, key)));
    address.put(SORT, bytes(sort(key)));
    return address;
  }

  static String partsOf(byte[] hash) {
    return "part#" + HexFormat.of().formatHex(hash);
  }
}
