package dev.weir.config;

import dev.weir.config.internal.bytes.Check;
import dev.weir.config.rows.Counts;
import java.time.Instant;
import java.util.List;

/**
 * The last report of a server that follows the store.
 *
 * @param id distinguishes it from all others, 1 to 200 bytes in UTF-8
 * @param address for people, up to 200 bytes; may be empty
 * @param admin the address of its interface for administration, for the other servers, up to 300
 *     bytes: {@code http://10.0.0.5:8090}; empty if it has none that they can reach
 * @param version of Weir, up to 50 bytes; may be empty
 * @param revision of the rules in force there; 0 if they are from elsewhere
 * @param position the last change that it has read
 * @param problems the reasons why a newer revision is not in force there, at most 20 lines of 500
 *     bytes
 * @param counts the decisions that it has made since it was started
 * @param at the time of the report, by the store's clock; ignored in a report to be written
 */
public record Node(
    String id,
    String address,
    String admin,
    String version,
    long revision,
    long position,
    List<String> problems,
    Counts counts,
    Instant at) {
  /** Enough lines to find the error; the server's own log has all. */
  public static final int MAX_PROBLEMS = 20;

  public static final int MAX_PROBLEM_BYTES = 500;

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if a value is out of its range
   */
  public Node {
    Check.line("id", id, 1, 200);
    Check.line("address", address, 0, 200);
    Check.line("admin", admin, 0, 300);
    Check.line("version", version, 0, 50);
    Check.range("revision", revision, 0, Long.MAX_VALUE);
    Check.range("position", position, 0, Long.MAX_VALUE);
    problems = List.copyOf(problems);
    Check.range("problems", problems.size(), 0, MAX_PROBLEMS);
    problems.forEach(problem -> Check.text("problem", problem, 0, MAX_PROBLEM_BYTES));
  }

  /** Returns a builder of a report. */
  public static Builder builder(String id) {
    return new Builder(id);
  }

  /** A builder of a report. Not safe for use by several threads. */
  public static final class Builder {
    private final String id;
    private String address = "";
    private String admin = "";
    private String version = "";
    private long revision;
    private long position;
    private List<String> problems = List.of();
    private Counts counts = Counts.NONE;
    private Instant at = Instant.EPOCH;

    private Builder(String id) {
      this.id = id;
    }

    /** Sets the address for people. Default: none. */
    public Builder address(String newAddress) {
      address = newAddress;
      return this;
    }

    /** Sets the address of the interface for administration. Default: none that others reach. */
    public Builder admin(String newAdmin) {
      admin = newAdmin;
      return this;
    }

    /** Sets the version of Weir. Default: none. */
    public Builder version(String newVersion) {
      version = newVersion;
      return this;
    }

    /** Sets the revision of the rules in force. Default: they are from elsewhere. */
    public Builder revision(long number) {
      revision = number;
      return this;
    }

    /** Sets the last change that was read. Default: none. */
    public Builder position(long number) {
      position = number;
      return this;
    }

    /** Sets the reasons why a newer revision is not in force. Default: none. */
    public Builder problems(List<String> lines) {
      problems = lines;
      return this;
    }

    /** Sets the decisions since the start. Default: none. */
    public Builder counts(Counts newCounts) {
      counts = newCounts;
      return this;
    }

    /** Sets the time of the report. Default: the Unix epoch. */
    public Builder at(Instant time) {
      at = time;
      return this;
    }

    /**
     * Returns the report.
     *
     * @throws IllegalArgumentException if a value is out of its range
     */
    public Node build() {
      return new Node(id, address, admin, version, revision, position, problems, counts, at);
    }
  }
}
