package dev.weir.engine.internal.subjects;

import dev.weir.Reason;
import dev.weir.engine.KeyPolicies;
import dev.weir.engine.SubjectLimits;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The subjects of one request, and their limits as far as they are known. Reusable; for one thread
 * at a time.
 */
public final class Subjects {
  private static final class Subject {
    String key = "";
    String value = "";
    @Nullable SubjectLimits limits;

    /** True if the request has to wait for this subject. */
    boolean wanted;

    void clear() {
      key = "";
      value = "";
      limits = null;
      wanted = false;
    }
  }

  /** The subjects of the request; nearly every request has one. */
  private Subject[] subjects = {new Subject()};

  private int size;
  private int wanted;

  /** The reason why limits stay unknown, once the request has waited for them; null before. */
  private @Nullable Reason unknownBecause;

  /** Removes everything, ready for the next request. */
  public void clear() {
    for (int i = 0; i < size; i++) {
      subjects[i].clear();
    }
    size = 0;
    wanted = 0;
    unknownBecause = null;
  }

  /**
   * Returns a subject's limits, or null if they are not known; calls the source once for each
   * subject. If the source fails, nothing is known.
   */
  @Nullable
  public SubjectLimits find(
      KeyPolicies policies, SubjectCounters counters, String domain, String key, String value) {
    Subject known = subject(key, value);
    if (known != null) {
      return known.limits;
    }
    Subject next = add(key, value);
    try {
      next.limits = policies.find(domain, key, value);
    } catch (RuntimeException e) {
      counters.findsFailed.increment();
    }
    return next.limits;
  }

  private @Nullable Subject subject(String key, String value) {
    for (int i = 0; i < size; i++) {
      if (subjects[i].key.equals(key) && subjects[i].value.equals(value)) {
        return subjects[i];
      }
    }
    return null;
  }

  private Subject add(String key, String value) {
    if (size == subjects.length) {
      subjects = Arrays.copyOf(subjects, 2 * size);
      for (int i = size; i < subjects.length; i++) {
        subjects[i] = new Subject();
      }
    }
    Subject next = subjects[size++];
    next.key = key;
    next.value = value;
    return next;
  }

  /** Records that the request has to wait for a subject's limits, which were not found. */
  public void require(String key, String value) {
    Subject subject = subject(key, value);
    if (subject != null && !subject.wanted) {
      subject.wanted = true;
      wanted++;
    }
  }

  /** Returns whether the request has to wait, or has waited, for a subject. */
  public boolean wanted(String key, String value) {
    Subject subject = subject(key, value);
    return subject != null && subject.wanted;
  }

  /** Returns whether the request has to wait. */
  public boolean wanting() {
    return unknownBecause == null && wanted > 0;
  }

  /** Returns how many subjects the request waits for. */
  int wanted() {
    return wanted;
  }

  /** Returns whether the request has to wait, or has waited, for subject {@code i}. */
  boolean wanted(int i) {
    return subjects[i].wanted;
  }

  String key(int i) {
    return subjects[i].key;
  }

  String value(int i) {
    return subjects[i].value;
  }

  /**
   * Sets the limits of a subject that the request waits for; null if they have not become known.
   */
  void known(int i, @Nullable SubjectLimits limits) {
    subjects[i].limits = limits;
  }

  /** Ends the wait of the request, with the reason by which unknown limits are answered. */
  void waited(Reason because) {
    unknownBecause = because;
  }

  /** Returns the reason why limits stay unknown, or null if the request has not waited. */
  @Nullable
  public Reason unknownBecause() {
    return unknownBecause;
  }
}
