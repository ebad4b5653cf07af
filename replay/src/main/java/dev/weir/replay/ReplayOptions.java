package dev.weir.replay;

import dev.weir.MemoryStore;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What to replay, and how. Immutable. Nothing is checked before {@link Replay#run}, which says all
 * that is wrong at once.
 *
 * @param rules rule files, or folders of them
 * @param input a file's name, or {@code -} for standard input; may be compressed with gzip
 * @param domain whose rules decide
 * @param descriptors one or more, each {@code key={column}[,key2={column2}]}; a record is a request
 *     with all of them
 * @param format how the input is written
 * @param time the column with the time, with {@code :s}, {@code :ms}, {@code :us} or {@code :ns}
 *     behind it if numbers in it are not to be told by their size; null to look for a usual name
 * @param permits what a record costs: a number, or a column in braces
 * @param decisions where to write a row for each record, or null for nowhere
 * @param sort whether to sort the records by time first, which holds them in memory
 * @param maxKeys how many keys may have state at once, at least 1
 */
public record ReplayOptions(
    List<Path> rules,
    String input,
    String domain,
    List<String> descriptors,
    Format format,
    @Nullable String time,
    String permits,
    @Nullable Path decisions,
    boolean sort,
    long maxKeys) {

  public ReplayOptions {
    rules = List.copyOf(rules);
    descriptors = List.copyOf(descriptors);
  }

  /** Returns a builder of options to replay an input through one domain's rules. */
  public static Builder builder(String input, String domain) {
    return new Builder(input, domain);
  }

  /** Collects options. Not safe for use by several threads. */
  public static final class Builder {
    private final String input;
    private final String domain;
    private final List<Path> rules = new ArrayList<>();
    private final List<String> descriptors = new ArrayList<>();
    private Format format = Format.AUTO;
    private @Nullable String time;
    private String permits = "1";
    private @Nullable Path decisions;
    private boolean sort;
    private long maxKeys = MemoryStore.DEFAULT_MAX_KEYS;

    private Builder(String input, String domain) {
      this.input = input;
      this.domain = domain;
    }

    /** Adds a rule file, or a folder of them. At least one is needed. */
    public Builder rules(Path fileOrFolder) {
      rules.add(fileOrFolder);
      return this;
    }

    /** Adds a descriptor, {@code key={column}[,key2={column2}]}. At least one is needed. */
    public Builder descriptor(String template) {
      descriptors.add(template);
      return this;
    }

    /** Sets how the input is written. Default: {@link Format#AUTO}. */
    public Builder format(Format format) {
      this.format = format;
      return this;
    }

    /** Sets the column with the time. Default: one with a usual name. */
    public Builder time(@Nullable String column) {
      this.time = column;
      return this;
    }

    /** Sets what a record costs: a number, or a column in braces. Default: 1. */
    public Builder permits(String template) {
      this.permits = template;
      return this;
    }

    /** Sets where to write a row for each record. Default: nowhere. */
    public Builder decisions(@Nullable Path file) {
      this.decisions = file;
      return this;
    }

    /** Sets whether to sort the records by time first. Default: no. */
    public Builder sort(boolean sort) {
      this.sort = sort;
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
      return new ReplayOptions(
          rules, input, domain, descriptors, format, time, permits, decisions, sort, maxKeys);
    }
  }
}
