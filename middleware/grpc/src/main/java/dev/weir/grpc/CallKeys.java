package dev.weir.grpc;

import dev.weir.Fingerprint;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Fingerprints of calls, by which the refusals of servers are kept: a call's values may come from a
 * client of the application. Two calls with one fingerprint by chance share a refusal. Safe for use
 * by many threads.
 */
final class CallKeys {
  private final Fingerprint fingerprint = Fingerprint.random();

  /** Returns the fingerprint of calls that a server counts together, from the view of a client. */
  long key(@Nullable String authority, String method, List<Descriptor> descriptors) {
    long key = fingerprint.add(authority == null ? 0 : fingerprint.of(authority), method);
    for (Descriptor descriptor : descriptors) {
      key = fingerprint.add(key, String.valueOf(descriptor.permits()));
      key = fingerprint.add(key, String.valueOf(descriptor.limitOverride()));
      for (Entry entry : descriptor.entries()) {
        key = fingerprint.add(fingerprint.add(key, entry.key()), entry.value());
      }
    }
    return key;
  }
}
