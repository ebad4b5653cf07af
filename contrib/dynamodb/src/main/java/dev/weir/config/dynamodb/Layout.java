package dev.weir.config.dynamodb;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Where items are in the table. */
final class Layout {
  /*
   * An item has the partition "p" and in it the sort key "s", which is a zero byte and the item's
   * key, since a sort key may not be empty; "v" is its version and "d" its bytes. A mark of a
   * deleted row has no "d" but "gone", from when on DynamoDB removes it.
   *
   * Records are over 16 partitions by their hash, so that millions of them are not asked of one
   * machine; a page is merged from all. Other tables have one partition each: they are small, or,
   * as changes, written no more often than the one item of the state is.
   *
   * A sort key has at most 1,024 bytes, and a record's key some 6,000. Of a longer key the sort key
   * has the first bytes and a hash, and "k" has all of it. Such keys that begin alike are next to
   * each other, in an order of their own: readers read all of them and sort them.
   *
   * An item has at most 400 KB. Of a larger value "h" is the SHA-256, and its parts are in a
   * partition of that name. They are never changed and never removed; only texts of rules are so
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

  /** Of a longer key. */
  static final int PREFIX_BYTES = 960;

  private Layout() {}

  static byte[] sha256(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-256: missing (expected: in every Java runtime)", e);
    }
  }

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
    return partitions.get((sha256(key)[0] & 0xff) % partitions.size());
  }

  static byte[] sort(byte[] key) {
    if (key.length <= PREFIX_BYTES) {
      return from(key);
    }
    byte[] prefix = from(key);
    byte[] hash = sha256(key);
    byte[] sort = Arrays.copyOf(prefix, prefix.length + hash.length);
    System.arraycopy(hash, 0, sort, prefix.length, hash.length);
    return sort;
  }

  /** Returns a sort key that is not behind any key from this one on. */
  static byte[] from(byte[] key) {
    int length = Math.min(key.length, PREFIX_BYTES);
    byte[] sort = new byte[length + 1];
    System.arraycopy(key, 0, sort, 1, length);
    return sort;
  }

  /** Returns a sort key that is not before any key below this one. */
  static byte[] to(byte[] key) {
    byte[] from = from(key);
    if (key.length <= PREFIX_BYTES) {
      return from;
    }
    byte[] sort = Arrays.copyOf(from, from.length + 33);
    Arrays.fill(sort, from.length, sort.length, (byte) 0xff);
    return sort;
  }

  /** Whether a sort key is that of a longer key. */
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
