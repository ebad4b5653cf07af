package dev.weir.admin.internal.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.admin.internal.limits.ShownText;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;

/** The percent-encoding of texts in addresses, decoded once, and strictly. [RFC 3986, 2.1] */
public final class PercentText {
  private static final String PLAIN = "-._~";

  private PercentText() {}

  /**
   * Returns the text of a part of an address.
   *
   * @param plus true if a plus stands for a space, as in queries
   * @throws RequestException with 400 if an escape is malformed, or the bytes are not UTF-8
   */
  static String decode(String part, boolean plus) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(part.length());
    for (int i = 0; i < part.length(); i++) {
      char c = part.charAt(i);
      if (c == '%') {
        int high = i + 2 < part.length() ? Character.digit(part.charAt(i + 1), 16) : -1;
        int low = i + 2 < part.length() ? Character.digit(part.charAt(i + 2), 16) : -1;
        if (high < 0 || low < 0 || part.charAt(i + 1) > 'f' || part.charAt(i + 2) > 'f') {
          throw new RequestException(
              400, ShownText.wrong("address", part, "two hexadecimal digits behind each %"));
        }
        bytes.write(16 * high + low);
        i += 2;
      } else if (c == '+' && plus) {
        bytes.write(' ');
      } else if (c > ' ' && c < 0x7f) {
        bytes.write(c);
      } else {
        throw new RequestException(
            400, ShownText.wrong("address", part, "ASCII, others with % escapes"));
      }
    }
    try {
      return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes.toByteArray())).toString();
    } catch (CharacterCodingException e) {
      throw new RequestException(400, ShownText.wrong("address", part, "UTF-8 behind % escapes"));
    }
  }

  /** Returns a text as a part of an address. */
  public static String encode(String text) {
    StringBuilder part = new StringBuilder();
    for (byte each : text.getBytes(UTF_8)) {
      char c = (char) (each & 0xff);
      boolean letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (letter || PLAIN.indexOf(c) >= 0) {
        part.append(c);
      } else {
        part.append('%');
        part.append(Character.toUpperCase(Character.forDigit(c >> 4, 16)));
        part.append(Character.toUpperCase(Character.forDigit(c & 15, 16)));
      }
    }
    return part.toString();
  }
}
