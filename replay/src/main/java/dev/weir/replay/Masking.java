package dev.weir.replay;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * A mask for values that people may recognize and not read: {@code al…e·3f9c}. The ends are the
 * value's; the four digits are those of an HMAC-SHA-256 under a secret. An address is shown as its
 * network, {@code 192.0.2.0/24·81d0} or {@code 2001:db8:1::/48·07aa}. Safe for use by many threads.
 */
public final class Masking {
  private static final String ALGORITHM = "HmacSHA256";
  private static final int SECRET_BYTES = 32;
  private static final int TAG_BYTES = 2;
  private static final int HASH_BYTES = 8;

  /** The length in characters from which on two are shown at the beginning and one at the end. */
  private static final int LONG = 5;

  /** The length in characters from which on one is shown at the beginning. */
  private static final int SHORT = 3;

  private static final Pattern IPV4 =
      Pattern.compile("(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})\\.\\d{1,3}(:\\d{1,5})?(/\\d{1,2})?");
  private static final Pattern IPV6 =
      Pattern.compile("\\[?([0-9a-fA-F:.]{2,45})(%[\\w.]{1,32})?]?(:\\d{1,5})?(/\\d{1,3})?");
  private static final Pattern GROUP = Pattern.compile("[0-9a-fA-F]{1,4}");
  private static final int GROUPS = 8;

  /** The number of an address's groups that are shown: 48 bits. */
  private static final int SHOWN_GROUPS = 3;

  private final SecretKeySpec secret;

  /**
   * @param secret at least 16 bytes; the same value looks the same only under the same secret
   * @throws IllegalArgumentException if it is shorter
   */
  public Masking(byte[] secret) {
    if (secret.length < 16) {
      throw new IllegalArgumentException(
          "secret: " + secret.length + " bytes (expected: at least 16)");
    }
    this.secret = new SecretKeySpec(secret, ALGORITHM);
  }

  /** Returns masking under a secret that is random and kept nowhere else. */
  public static Masking random() {
    byte[] secret = new byte[SECRET_BYTES];
    new SecureRandom().nextBytes(secret);
    return new Masking(secret);
  }

  /** Returns the masked form of a value. */
  public String masked(String value) {
    String network = network(value);
    return (network == null ? ends(value) : network) + '\u00b7' + tag(value);
  }

  private static String ends(String value) {
    int length = value.codePointCount(0, value.length());
    int first = length >= LONG ? 2 : length >= SHORT ? 1 : 0;
    int last = length >= LONG ? 1 : 0;
    return value.substring(0, value.offsetByCodePoints(0, first))
        + '\u2026'
        + value.substring(value.offsetByCodePoints(value.length(), -last));
  }

  /**
   * Returns 16 hexadecimal digits by which a value is recognized; they reveal nothing else of it.
   */
  public String hashed(String value) {
    return digits(value, HASH_BYTES);
  }

  private String tag(String value) {
    return digits(value, TAG_BYTES);
  }

  private String digits(String value, int bytes) {
    byte[] hash;
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(secret);
      hash = mac.doFinal(value.getBytes(StandardCharsets.UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(ALGORITHM + ": " + e.getMessage(), e); // Every JDK has HMAC.
    }
    StringBuilder digits = new StringBuilder();
    for (int i = 0; i < bytes; i++) {
      digits.append(Character.forDigit(hash[i] >> 4 & 15, 16));
      digits.append(Character.forDigit(hash[i] & 15, 16));
    }
    return digits.toString();
  }

  /** Returns the network of an address, or null if the value is not an address. */
  private static @Nullable String network(String value) {
    Matcher v4 = IPV4.matcher(value);
    if (v4.matches()) {
      for (int i = 1; i <= v4.groupCount() - 2; i++) {
        if (Integer.parseInt(v4.group(i)) > 255) {
          return null;
        }
      }
      return v4.group(1) + '.' + v4.group(2) + '.' + v4.group(3) + ".0/24";
    }
    Matcher v6 = IPV6.matcher(value);
    return v6.matches() ? network6(v6.group(1)) : null;
  }

  /** Returns the first three groups of an address with colons, or null if the text is not one. */
  private static @Nullable String network6(String address) {
    int gap = address.indexOf("::");
    String before = gap < 0 ? address : address.substring(0, gap);
    List<String> first = groups(before);
    List<String> last = gap < 0 ? List.of() : groups(address.substring(gap + 2));
    int size = first.size() + last.size();
    if (!areGroups(first) || !areGroups(last) || size > GROUPS) {
      return null;
    }
    if (gap < 0 ? size != GROUPS : size == GROUPS) {
      return null;
    }
    List<String> all = new ArrayList<>(first);
    all.addAll(Collections.nCopies(GROUPS - size, "0"));
    all.addAll(last);
    StringBuilder network = new StringBuilder();
    for (String group : all.subList(0, SHOWN_GROUPS)) {
      network.append(Integer.toHexString(Integer.parseInt(group, 16))).append(':');
    }
    return network + ":/48";
  }

  private static boolean areGroups(List<String> groups) {
    return groups.stream().allMatch(each -> GROUP.matcher(each).matches());
  }

  /** Returns the groups between colons; a dotted end counts as two of them. */
  private static List<String> groups(String text) {
    List<String> groups = new ArrayList<>();
    if (!text.isEmpty()) {
      groups.addAll(List.of(text.split(":", -1)));
      String end = groups.get(groups.size() - 1);
      if (end.indexOf('.') >= 0) {
        // Its value is not shown: it is behind the first 48 bits.
        groups.set(groups.size() - 1, "0");
        groups.add("0");
      }
    }
    return groups;
  }
}
