package dev.weir.engine;

import dev.weir.Reason;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The subjects of one request, and what is known of their limits. Reusable; for one thread at a
 * time.
 */
final class Subjects {
  /** A subject that the request has to wait for. */
  private static final class Wanted {
    final String key;
    final String value;
    @Nullable SubjectLimits limits;

    Wanted(String key, String value) {
      this.key = key;
      this.value = value;
    }
  }

  /** Nearly every request has one subject, whose limits are at hand: this is all it needs. */
  private String lastKey = "";

  private String lastValue = "";
  private @Nullable SubjectLimits last;

  private final List<Wanted> wanted = new ArrayList<>(1);

  /** Why limits stay unknown, once the request has waited for them; null before. */
  private @Nullable Reason unknownBecause;

  /** Forgets everything, ready for the next request. */
  void clear() {
    lastKey = "";
    lastValue = "";
    last = null;
    wanted.clear();
    unknownBecause = null;
  }

  /** Returns a subject's limits, or null if they are not known. */
  @Nullable SubjectLimits find(KeyPolicies policies, String domain, String key, String value) {
    if (last != null && key.equals(lastKey) && value.equals(lastValue)) {
      return last;
    }
    Wanted known = wanted.isEmpty() ? null : wanted(key, value);
    last = known == null ? policies.find(domain, key, value) : known.limits;
    lastKey = key;
    lastValue = value;
    return last;
  }

  private @Nullable Wanted wanted(String key, String value) {
    for (Wanted each : wanted) {
      if (each.key.equals(key) && each.value.equals(value)) {
        return each;
      }
    }
    return null;
  }

  /** Notes that the request has to wait for a subject's limits. */
  void want(String key, String value) {
    if (wanted(key, value) == null) {
      wanted.add(new Wanted(key, value));
    }
  }

  /** Returns whether the request has to wait. */
  boolean wanting() {
    return unknownBecause == null && !wanted.isEmpty();
  }

  /** Returns how many subjects the request waits for. */
  int size() {
    return wanted.size();
  }

  String key(int i) {
    return wanted.get(i).key;
  }

  String value(int i) {
    return wanted.get(i).value;
  }

  /** Says what has become known of a subject that the request waits for, null if nothing has. */
  void known(int i, @Nullable SubjectLimits limits) {
    wanted.get(i).limits = limits;
  }

  /** Says that the request waits no more, and with which reason what is unknown is answered. */
  void waited(Reason because) {
    last = null;
    unknownBecause = because;
  }

  /** Returns why limits stay unknown, or null if the request has not waited. */
  @Nullable Reason unknownBecause() {
    return unknownBecause;
  }
}
