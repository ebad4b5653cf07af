package dev.weir.internal;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 without its checked exception, which no Java platform throws. [FIPS 180-4] */
public final class Sha256 {
  private Sha256() {}

  /** Returns an empty digest. */
  public static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-256: missing (expected: in every Java platform)", e);
    }
  }

  /** Returns the 32 bytes of the hash of bytes. */
  public static byte[] of(byte[] bytes) {
    return digest().digest(bytes);
  }

  /** Returns the hash of a text's UTF-8 as 64 hexadecimal digits in lower case. */
  public static String hex(String text) {
    return HexFormat.of().formatHex(of(text.getBytes(UTF_8)));
  }
}
