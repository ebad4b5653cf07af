package dev.weir.config;

import dev.weir.config.internal.bytes.Check;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The address of a configuration store: {@code SCHEME:PLACE?OPTION=VALUE&...}.
 *
 * @param scheme in lower case
 * @param place the text between the scheme's colon and the question mark
 * @param options by name
 * @param password of the store's user, or empty; never part of the text
 */
public record StoreAddress(
    String scheme, String place, Map<String, String> options, String password) {
  public StoreAddress {
    options = Map.copyOf(options);
  }

  /**
   * Reads an address.
   *
   * @throws IllegalArgumentException if the text is not an address
   */
  public static StoreAddress parse(String text, String password) {
    int colon = text.indexOf(':');
    if (colon <= 0) {
      throw Check.wrong(
          "configuration store", shown(text), "SCHEME:PLACE, for example rocksdb:data");
    }
    int question = text.indexOf('?');
    int end = question < 0 ? text.length() : question;
    Map<String, String> options = new LinkedHashMap<>();
    if (question >= 0) {
      for (String option : text.substring(question + 1).split("&", -1)) {
        int equals = option.indexOf('=');
        if (equals <= 0 || options.putIfAbsent(option.substring(0, equals), "") != null) {
          throw Check.wrong("configuration store", shown(text), "?NAME=VALUE&..., each name once");
        }
        options.put(option.substring(0, equals), option.substring(equals + 1));
      }
    }
    return new StoreAddress(
        text.substring(0, colon).toLowerCase(Locale.ROOT),
        text.substring(colon + 1, Math.max(colon + 1, end)),
        options,
        password);
  }

  /**
   * Returns an address as messages may show it: without options and without a possible password.
   */
  static String shown(String text) {
    return text.replaceFirst("(?s)\\?.*", "?...").replaceFirst("(?s)//.*@", "//...@");
  }

  /**
   * Checks that all options are among the store's.
   *
   * @throws IllegalArgumentException if there is any other option
   */
  public void requireOptions(Set<String> known) {
    for (String name : options.keySet()) {
      if (!known.contains(name)) {
        throw Check.wrong("option", name, String.join(", ", known.stream().sorted().toList()));
      }
    }
  }

  /** Returns the address without the password. */
  @Override
  public String toString() {
    return scheme + ":" + place;
  }
}
