package dev.weir.config;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Records that were found.
 *
 * @param found by subject; in a page, in the order of the subjects' values
 * @param unreadable subjects whose record this version of Weir cannot read, and why: an older one
 *     must not guess what a newer one has stored. They harm no other record
 * @param next in a page, where the next one goes on; empty if there is no more
 */
public record Records(
    Map<Subject, SubjectRecord> found, Map<Subject, String> unreadable, Optional<String> next) {
  public Records {
    found = Collections.unmodifiableMap(new LinkedHashMap<>(found));
    unreadable = Collections.unmodifiableMap(new LinkedHashMap<>(unreadable));
  }
}
