package dev.weir.identity;

import java.util.List;

/** What a template has made of a request. */
public sealed interface Filled {
  /** A descriptor: its entries in their order, one at least. */
  record Entries(List<KeyValue> entries) implements Filled {
    public Entries {
      entries = List.copyOf(entries);
    }
  }

  /**
   * No descriptor, because a value is missing ({@link Missing#SKIP}).
   *
   * @param missing the field as the template has it, for example {@code header:X-Api-Key}
   */
  record LeftOut(String missing) implements Filled {}

  /**
   * A bad request, because a value is missing ({@link Missing#REFUSE}).
   *
   * @param missing the field as the template has it, for example {@code header:X-Api-Key}
   */
  record Refused(String missing) implements Filled {}

  /** One entry of a descriptor. */
  record KeyValue(String key, String value) {}
}
