package dev.weir.replay;

import dev.weir.MemoryStore;
import dev.weir.traffic.Traffic;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What to replay, and how. Immutable. Nothing is checked before {@link Replay#run}, which says all
 * that is wrong at once.
 *
 * @param rules rule files, or folders of them
 * @param traffic what is replayed; one descriptor at least
 * @param domain whose rules decide
 * @param decisions where to write a row for each record, or null for nowhere
 * @param report where to write the report, a page of HTML, or null for nowhere
 * @param load the load that elastic rules listen to: a column like {@code {cpu}} of shares, or the
 *     requests that are full load, like {@code 200/1s}; null for none, and then they are hard
 * @param maxKeys how many keys may have state at once, at least 1
 */
public record ReplayOptions(
    List<Path> rules,
    Traffic traffic,
    String domain,
    @Nullable Path decisions,
    @Nullable Path report,
    @Nullable String load,
    long maxKeys) {

  public ReplayOptions {
    rules = List.copyOf(rules);
  }

  /** Returns a builder of options to replay traffic through one domain's rules. */
  public static Builder builder(Traffic traffic, String domain) {
    return new Builder(traffic, domain);
  }

  /** Collects options. Not safe for use by several threads. */
  public static final class Builder {
    private final Traffic traffic;
    private final String domain;
    private final List<Path> rules = new ArrayList<>();
    private @Nullable Path decisions;
    private @Nullable Path report;
    private @Nullable String load;
    private long maxKeys = MemoryStore.DEFAULT_MAX_KEYS;

    private Builder(Traffic traffic, String domain) {
      this.traffic = traffic;
      this.domain = domain;
    }

    /** Adds a rule file, or a folder of them. At least one is needed. */
    public Builder rules(Path fileOrFolder) {
      rules.add(fileOrFolder);
      return this;
    }

    /** Sets where to write a row for each record. Default: nowhere. */
    public Builder decisions(@Nullable Path file) {
      this.decisions = file;
      return this;
    }

    /** Sets where to write the report, a page of HTML. Default: nowhere. */
    public Builder report(@Nullable Path file) {
      this.report = file;
      return this;
    }

    /** Sets the load that elastic rules listen to. Default: none, and they are hard. */
    public Builder load(@Nullable String columnOrRate) {
      this.load = columnOrRate;
      return this;
    }

    /**
     * Sets how many keys may have state at once. Default: {@link MemoryStore#DEFAULT_MAX_KEYS}, as
     * a server's.
     */
    public Builder maxKeys(long keys) {
      this.maxKeys = keys;
      return this;
    }

    public ReplayOptions build() {
      return new ReplayOptions(rules, traffic, domain, decisions, report, load, maxKeys);
    }
  }
}
