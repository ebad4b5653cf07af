package dev.weir.config.internal.bytes;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.internal.Sha256;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.regex.Pattern;

/** SHA-256 hashes as 64 hexadecimal digits in lower case. */
public final class HexHash {
  private static final Pattern HEX = Pattern.compile("[0-9a-f]{64}");

  /** The previous hash of the first change of a log. */
  public static final String NONE = "0".repeat(64);

  private HexHash() {}

  public static String of(String text) {
    return Sha256.hex(text);
  }

  /** Returns the hash of the previous one's 32 bytes followed by the text. */
  public static String chained(String previous, String text) {
    MessageDigest digest = Sha256.digest();
    digest.update(bytes(previous));
    return hex(digest.digest(text.getBytes(UTF_8)));
  }

  public static String require(String name, String hash) {
    if (!HEX.matcher(hash).matches()) {
      throw Check.wrong(name, hash, "64 hexadecimal digits in lower case");
    }
    return hash;
  }

  public static byte[] bytes(String hash) {
    return HexFormat.of().parseHex(hash);
  }

  public static String hex(byte[] hash) {
    return HexFormat.of().formatHex(hash);
  }
}
