package dev.weir.replay;

import dev.weir.MemoryStore;
import dev.weir.traffic.Traffic;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The options of a replay. Immutable. Nothing is checked before {@link Replay#run}, which reports
 * all problems at once.
 *
 * @param rules rule files, or folders of them
 * @param traffic the traffic that is replayed; it has at least one descriptor
 * @param domain the domain whose rules decide
 * @param decisions the file that receives a row for each record, or null for none
 * @param report the file for the report, a page of HTML, or null for none
 * @param load the load for elastic rules: a column like {@code {cpu}} of shares, or the requests
 *     that are full load, like {@code 200/1s}; null for none, and then elastic rules are hard
 * @param maxKeys the most keys that may have state at once, at least 1
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

  /** A builder of options. Not safe for use by several threads. */
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

    /** Sets the file that receives a row for each record. Default: none. */
    public Builder decisions(@Nullable Path file) {
      this.decisions = file;
      return this;
    }

    /** Sets the file for the report, a page of HTML. Default: none. */
    public Builder report(@Nullable Path file) {
      this.report = file;
      return this;
    }

    /** Sets the load for elastic rules. Default: none, and they are hard. */
    public Builder load(@Nullable String columnOrRate) {
      this.load = columnOrRate;
      return this;
    }

    /**
     * Sets the most keys that may have state at once. Default: {@link
     * MemoryStore#DEFAULT_MAX_KEYS}, as in a server.
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
