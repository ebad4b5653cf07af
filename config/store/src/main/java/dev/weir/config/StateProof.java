package dev.weir.config;

import dev.weir.config.internal.bytes.HexHash;
import dev.weir.config.internal.bytes.RecordCodec;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A proof that what is in force in a store is what the last change of its log says. It reads the
 * log in order, and then what is in force. Used by one thread, once.
 */
final class StateProof {
  /*
   * Each record and each entry has the number of the change that wrote it. So nothing has to be
   * kept of a record that is as its change says but one bit for that change. A record that is older
   * than a change of its subject is found at that change, and one whose subject has no change at
   * the end: then there are more records than confirmed changes. The store may be written
   * meanwhile: what is newer than the log that was read is left out.
   */

  private final ConfigStore store;

  /** The changes that wrote a record as it is now. */
  private final BitSet confirmed = new BitSet();

  /**
   * The last changes of subjects whose record is not there, although they have put one; by the
   * subject's digest, since most subjects that were ever deleted are here for a while.
   */
  private final Map<Long, Long> missing = new HashMap<>();

  /** The last change of each entry that is not deleted. */
  private final Map<String, LastChange> entries = new HashMap<>();

  private @Nullable ChangeDetails rules;
  private String problem = "";

  /**
   * The last change of an entry.
   *
   * @param digest of the entry, with the members that are left out of the log
   */
  private record LastChange(long number, String digest) {}

  StateProof(ConfigStore store) {
    this.store = store;
  }

  /** Reads the next changes of the log. */
  void read(List<Change> page) {
    Map<Long, ChangeDetails> records = new HashMap<>();
    Set<Subject> subjects = new HashSet<>();
    for (Change change : page) {
      ChangeDetails details = readable(change);
      if (details == null) {
        continue;
      }
      if (details.kind().equals(ChangeDetails.RULES)) {
        rules = details;
      } else if (details.kind().equals(ChangeDetails.RECORD) && details.subject().isPresent()) {
        records.put(change.number(), details);
        subjects.add(details.subject().get());
      } else if (details.name().isPresent()) {
        entry(change.number(), details);
      }
    }
    if (subjects.isEmpty()) {
      return;
    }
    Records now = store.records(subjects);
    for (Change change : page) {
      ChangeDetails details = records.get(change.number());
      if (details != null) {
        record(change.number(), details, details.subject().orElseThrow(), now);
      }
    }
  }

  /** Returns what a change says, or null if it is of a newer version of Weir. */
  private static @Nullable ChangeDetails readable(Change change) {
    try {
      return change.details();
    } catch (ConfigException e) {
      return null;
    }
  }

  private void entry(long number, ChangeDetails details) {
    String key = key(details.kind(), details.name().orElseThrow());
    if (details.after().isEmpty()) {
      entries.remove(key);
    } else {
      entries.put(key, new LastChange(number, details.digest()));
    }
  }

  private static String key(String kind, String name) {
    return kind + " " + name;
  }

  private void record(long number, ChangeDetails details, Subject subject, Records now) {
    SubjectRecord record = now.found().get(subject);
    if (record == null && !now.unreadable().containsKey(subject)) {
      if (details.after().isEmpty()) {
        missing.remove(digest(subject));
      } else {
        missing.put(digest(subject), number);
      }
      return;
    }
    missing.remove(digest(subject));
    if (record == null) {
      return; // It cannot be read: compareRecords reports it.
    }
    if (record.version() < number) {
      found(text(subject) + ": of change " + record.version() + " (expected: " + number + ")");
    } else if (record.version() == number) {
      if (Json.write(RecordCodec.members(record)).equals(details.after())) {
        confirmed.set(Math.toIntExact(number));
      } else {
        found(text(subject) + ": not as change " + number + " says");
      }
    }
  }

  private static long digest(Subject subject) {
    return ByteBuffer.wrap(HexHash.bytes(HexHash.of(subject.toString()))).getLong();
  }

  private static String text(Subject subject) {
    return "record " + subject.domain() + ", " + subject.key() + "=" + subject.value();
  }

  private void found(String what) {
    problem = problem.isEmpty() ? what : problem;
  }

  /**
   * Compares what is in force with the changes up to a number, the last that was read.
   *
   * @return the first difference, or empty
   */
  String difference(long position) {
    List<String> differences = new ArrayList<>();
    if (!problem.isEmpty()) {
      differences.add(problem);
    }
    missing.values().stream()
        .min(Comparator.naturalOrder())
        .ifPresent(number -> gone("the record of change " + number, differences));
    compareRules(position, differences);
    compareEntries(position, differences);
    compareRecords(position, differences);
    return differences.isEmpty() ? "" : "in force: " + differences.get(0);
  }

  private static void gone(String what, List<String> differences) {
    differences.add(what + ": missing");
  }

  private void compareRules(long position, List<String> differences) {
    Head head = store.head();
    long logged = rules == null ? 0 : rules.revision();
    if (head.position() > position) {
      return; // The log may have newer rules by now.
    }
    if (head.revision() != logged) {
      differences.add("rules: revision " + head.revision() + " (expected: " + logged + ")");
    } else if (rules != null) {
      compareRevision(rules, differences);
    }
  }

  private void compareRevision(ChangeDetails change, List<String> differences) {
    Optional<Revision> revision = store.revision(change.revision());
    String name = "rules, revision " + change.revision();
    if (revision.isEmpty()) {
      gone(name, differences);
      return;
    }
    var tree = revision.get().tree();
    if (!change.after().equals(Json.write(Map.of("tree", tree.hash())))) {
      differences.add(name + ": not as its change says");
      return;
    }
    Set<String> texts = Set.copyOf(tree.files().values());
    if (!store.texts(texts).keySet().equals(texts)) {
      gone(name + ", a text", differences);
    }
  }

  /** Returns whether a row is as old as the log that was read; a newer one has to be in the log. */
  private boolean isRead(String name, long version, long position, List<String> differences) {
    if (version > position && version > store.head().position()) {
      differences.add(name + ": of change " + version + ", which is not in the log");
    }
    return version <= position;
  }

  private void compareEntries(long position, List<String> differences) {
    Set<String> seen = new HashSet<>();
    for (Entry each : store.entries()) {
      String key = key(each.kind(), each.name());
      seen.add(key);
      if (isRead(key, each.version(), position, differences)) {
        LastChange last = entries.get(key);
        if (last == null) {
          differences.add(key + ": not in the log");
        } else if (each.version() != last.number) {
          differences.add(
              key + ": of change " + each.version() + " (expected: " + last.number + ")");
        } else if (!last.digest.equals(HexHash.of(each.json()))) {
          differences.add(key + ": not as change " + last.number + " says");
        }
      }
    }
    entries.keySet().stream()
        .filter(each -> !seen.contains(each))
        .sorted()
        .limit(1)
        .forEach(each -> gone(each, differences));
  }

  private void compareRecords(long position, List<String> differences) {
    BitSet seen = new BitSet();
    Subject after = null;
    do {
      RecordPage page = store.all("", after, ConfigStore.MAX_BATCH);
      for (Subject each : page.records().unreadable().keySet()) {
        differences.add(text(each) + ": cannot be read, so it cannot be compared");
      }
      for (SubjectRecord each : page.records().found().values()) {
        if (isRead(text(each.subject()), each.version(), position, differences)) {
          int version = Math.toIntExact(each.version());
          if (!confirmed.get(version) || seen.get(version)) {
            differences.add(text(each.subject()) + ": not in the log");
          }
          seen.set(version);
        }
      }
      after = page.next().orElse(null);
    } while (after != null);
  }
}
