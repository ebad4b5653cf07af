package dev.weir.rules;

import java.util.List;

/**
 * One request for a decision.
 *
 * @param permits the permits for each descriptor that does not set its own; 0 means 1
 * @param charge whether the request reports costs that are known only now: every limit counts them
 *     whatever is left, also those of rules that take costs {@link CostMode#BEFORE}
 */
public record Request(String domain, List<Descriptor> descriptors, long permits, boolean charge) {
  // The bytes that objects take, about, without their texts: the request with everything made until
  // its answer, a descriptor with its status, and an entry.
  private static final long REQUEST_BYTES = 512;
  private static final long DESCRIPTOR_BYTES = 256;
  private static final long ENTRY_BYTES = 128;

  public Request {
    descriptors = List.copyOf(descriptors);
  }

  /** Returns a request that is refused if its permits do not fit. */
  public Request(String domain, List<Descriptor> descriptors, long permits) {
    this(domain, descriptors, permits, false);
  }

  /** Returns a request for one permit by one descriptor. */
  public static Request of(String domain, String... keysAndValues) {
    return new Request(domain, List.of(Descriptor.of(keysAndValues)), 1);
  }

  /** Returns the request as one that reports costs: see {@code charge}. */
  public Request charging() {
    return new Request(domain, descriptors, permits, true);
  }

  /**
   * Returns about how much memory the request takes until it is answered, in bytes: its texts, at
   * two bytes for each character, and the objects of the request and its answer.
   */
  public long memoryBytes() {
    long bytes = REQUEST_BYTES + 2L * domain.length();
    for (int i = 0; i < descriptors.size(); i++) {
      bytes += DESCRIPTOR_BYTES;
      List<Entry> entries = descriptors.get(i).entries();
      for (int j = 0; j < entries.size(); j++) {
        Entry entry = entries.get(j);
        bytes += ENTRY_BYTES + 2L * (entry.key().length() + entry.value().length());
      }
    }
    return bytes;
  }
}
