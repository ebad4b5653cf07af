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

  /**
   * Creates a node that other servers cannot reach.
   *
   * @throws IllegalArgumentException if a value is out of its range
   */
  public Node(
      String id,
      String address,
      String version,
      long revision,
      long position,
      List<String> problems,
      Counts counts,
      Instant at) {
    this(id, address, "", version, revision, position, problems, counts, at);
  }

  /**
   * Creates a node that has not decided anything yet.
   *
   * @throws IllegalArgumentException if a value is out of its range
   */
  public Node(
      String id,
      String address,
      String version,
      long revision,
      long position,
      List<String> problems,
      Instant at) {
    this(id, address, version, revision, position, problems, Counts.NONE, at);
  }
}
