package dev.weir.admin.internal.rules;

import dev.weir.admin.internal.http.RequestException;
import dev.weir.admin.internal.limits.ShownText;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigStore;
import dev.weir.config.Revision;
import dev.weir.rules.RuleDefaults;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The reader of revisions of the rules; the last few stay in memory. Safe for use by many threads.
 */
public final class RuleVersions {
  private static final int KEPT = 3;

  private final ConfigStore store;
  private final Supplier<RuleDefaults> defaults;
  private final @Nullable Supplier<Map<String, String>> files;

  private final Map<Long, RuleVersion> kept =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, RuleVersion> eldest) {
          return size() > KEPT;
        }
      };

  public RuleVersions(
      ConfigStore store,
      Supplier<RuleDefaults> defaults,
      @Nullable Supplier<Map<String, String>> files) {
    this.store = store;
    this.defaults = defaults;
    this.files = files;
  }

  /** Returns whether files are the source; the interface cannot change those. */
  boolean areFiles() {
    return files != null;
  }

  RuleDefaults defaults() {
    return defaults.get();
  }

  /** Returns the rules that are meant to be in force. */
  public RuleVersion head() {
    if (files != null) {
      return RuleVersion.of(0, files.get(), defaults());
    }
    long revision = store.head().revision();
    return revision == 0 ? RuleVersion.of(0, Map.of(), defaults()) : at(revision);
  }

  /**
   * @throws RequestException with 404 if there is no such revision
   */
  Revision revision(long number) {
    Optional<Revision> revision = files == null ? store.revision(number) : Optional.empty();
    return revision.orElseThrow(
        () -> new RequestException(404, "revision: " + number + " (expected: one that was made)"));
  }

  /**
   * @throws RequestException with 404 if there is no such revision
   */
  RuleVersion at(long number) {
    synchronized (kept) {
      RuleVersion version = kept.get(number);
      if (version != null) {
        return version;
      }
    }
    Map<String, String> hashes = revision(number).tree().files();
    Map<String, String> stored = store.texts(new HashSet<>(hashes.values()));
    Map<String, String> texts = new TreeMap<>();
    hashes.forEach(
        (file, hash) -> {
          String text = stored.get(hash);
          if (text == null) {
            throw new ConfigException(
                ConfigException.Kind.DAMAGED,
                "revision " + number + ": no text of " + file + " (expected: as committed)");
          }
          texts.put(file, text);
        });
    RuleVersion version = RuleVersion.of(number, texts, defaults());
    synchronized (kept) {
      kept.put(number, version);
    }
    return version;
  }

  /** Returns the version with some files replaced and others deleted. */
  RuleVersion changed(RuleVersion base, Map<String, String> put, List<String> delete) {
    Map<String, String> texts = new HashMap<>(base.texts());
    for (String file : delete) {
      if (texts.remove(file) == null || put.containsKey(file)) {
        throw new RequestException(
            422, ShownText.wrong("delete", file, "a file of the rules that is not put as well"));
      }
    }
    texts.putAll(put);
    return RuleVersion.of(0, texts, defaults());
  }
}
