package dev.weir.config.internal.rows;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.config.Subject;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Keys of rows. */
public final class Keys {
  /** The end of a domain and of a key, which have no control characters. */
  private static final byte END = 0;

  private Keys() {}

  public static byte[] text(String text) {
    return text.getBytes(UTF_8);
  }

  /** Returns a key in the order of the numbers, which must not be negative. */
  public static byte[] number(long number) {
    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
  }

  public static long number(byte[] key) {
    return ByteBuffer.wrap(key).getLong();
  }

  public static byte[] subject(Subject subject) {
    return subject(subject.domain(), subject.key(), subject.value());
  }

  /** Returns the first key of subjects whose values begin with this text. */
  static byte[] subject(String domain, String key, String value) {
    byte[] first = text(domain);
    byte[] second = text(key);
    byte[] third = text(value);
    return ByteBuffer.allocate(first.length + second.length + third.length + 2)
        .put(first)
        .put(END)
        .put(second)
        .put(END)
        .put(third)
        .array();
  }

  /** Returns the first key of the subjects of a domain; of all domains, if it is empty. */
  public static byte[] domain(String domain) {
    return domain.isEmpty() ? new byte[0] : after(text(domain));
  }

  /** Returns the subject that a key stands for. */
  public static Subject subject(byte[] row) {
    int domain = end(row, 0);
    int key = end(row, domain + 1);
    return new Subject(
        new String(row, 0, domain, UTF_8),
        new String(row, domain + 1, key - domain - 1, UTF_8),
        new String(row, key + 1, row.length - key - 1, UTF_8));
  }

  private static int end(byte[] row, int from) {
    int at = from;
    while (row[at] != END) {
      at++;
    }
    return at;
  }

  /** Returns the key of an entry; if the name is empty, the first key of entries of its kind. */
  public static byte[] entry(String kind, String name) {
    byte[] first = text(kind);
    byte[] second = text(name);
    return ByteBuffer.allocate(first.length + second.length + 1)
        .put(first)
        .put(END)
        .put(second)
        .array();
  }

  /** Returns the kind of the entry that a key stands for. */
  public static String kind(byte[] row) {
    return new String(row, 0, end(row, 0), UTF_8);
  }

  /** Returns the name of an entry of this kind. */
  public static String name(byte[] row, String kind) {
    int start = text(kind).length + 1;
    return new String(row, start, row.length - start, UTF_8);
  }

  /** Returns the value of a subject with this domain and key. */
  public static String value(byte[] row, String domain, String key) {
    int start = text(domain).length + text(key).length + 2;
    return new String(row, start, row.length - start, UTF_8);
  }

  /** Returns the next key after this one. */
  public static byte[] after(byte[] key) {
    return Arrays.copyOf(key, key.length + 1);
  }

  /** Returns the first key after all keys with this prefix, or null if there is none. */
  public static byte @Nullable [] afterAll(byte[] prefix) {
    for (int last = prefix.length - 1; last >= 0; last--) {
      if (prefix[last] != (byte) 0xff) {
        byte[] key = Arrays.copyOf(prefix, last + 1);
        key[last]++;
        return key;
      }
    }
    return null;
  }
}
