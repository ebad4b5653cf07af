package dev.weir.rules;

import java.util.List;

/**
 * One request for a decision.
 *
 * @param permits what it costs each descriptor that does not say otherwise; 0 means 1
 */
public record Request(String domain, List<Descriptor> descriptors, long permits) {
  public Request {
    descriptors = List.copyOf(descriptors);
  }

  /** Returns a request for one permit by one descriptor. */
  public static Request of(String domain, String... keysAndValues) {
    return new Request(domain, List.of(Descriptor.of(keysAndValues)), 1);
  }
}
