package dev.weir.config;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The result of a look-up of records.
 *
 * @param found by subject; in a page, in the order of the subjects' values
 * @param unreadable subjects whose record this version of Weir cannot read, with the reason: an
 *     older version must not guess at the records of a newer one. They do not affect other records
 * @param next in a page, the value after which the next page begins; empty if there is none
 */
public record Records(
    Map<Subject, SubjectRecord> found, Map<Subject, String> unreadable, Optional<String> next) {
  public Records {
    found = Collections.unmodifiableMap(new LinkedHashMap<>(found));
    unreadable = Collections.unmodifiableMap(new LinkedHashMap<>(unreadable));
  }
}
