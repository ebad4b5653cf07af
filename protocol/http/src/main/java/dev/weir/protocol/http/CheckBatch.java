package dev.weir.protocol.http;

import dev.weir.engine.Answer;
import dev.weir.rules.Request;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The checks of one call, each decided on its own. A malformed check is answered with an error and
 * does not affect the others. Not safe for use by several threads.
 */
public final class CheckBatch {
  /**
   * The most checks in one call: they are decided in a row on an event loop and must not keep other
   * clients waiting for long.
   */
  public static final int MAX_CHECKS = 1_000;

  /**
   * The most descriptors in one call, ten for each check: many tiny descriptors must not lead to an
   * answer of many megabytes.
   */
  static final int MAX_DESCRIPTORS = 10_000;

  /**
   * The result of one check: either its request and answer, or the error for which it was not
   * decided.
   *
   * @param answer without an error
   */
  public record Result(
      @Nullable Request request, @Nullable Answer answer, @Nullable String error) {}

  /** The results of all checks, decided by one revision of the rules. */
  public record Results(long revision, List<Result> results) {}

  private final List<Request> requests = new ArrayList<>();

  /** The error of each check, or null if the next of the requests belongs to it. */
  private final List<@Nullable String> errors = new ArrayList<>();

  private int descriptors;

  /**
   * Adds a check.
   *
   * @throws BadRequest if these are too many for one call
   */
  public void add(Request request) throws BadRequest {
    descriptors += request.descriptors().size();
    if (descriptors > MAX_DESCRIPTORS) {
      throw new BadRequest(
          "checks: " + descriptors + " descriptors (expected: at most " + MAX_DESCRIPTORS + ")");
    }
    add(request, null);
  }

  /**
   * Adds a malformed check.
   *
   * @throws BadRequest if these are too many for one call
   */
  public void addInvalid(String error) throws BadRequest {
    add(null, error);
  }

  private void add(@Nullable Request request, @Nullable String error) throws BadRequest {
    if (errors.size() == MAX_CHECKS) {
      throw new BadRequest(
          "checks: more than " + MAX_CHECKS + " (expected: at most " + MAX_CHECKS + ")");
    }
    errors.add(error);
    if (request != null) {
      requests.add(request);
    }
  }

  /** Returns the requests to decide, in the order in which they were added. */
  public List<Request> requests() {
    return Collections.unmodifiableList(requests);
  }

  /**
   * Returns the results in the order in which the checks were added.
   *
   * @param answers one for each of {@link #requests()}
   * @param current the revision of the rules in force, for a batch without a request
   */
  public Results results(List<Answer> answers, long current) {
    long revision = answers.isEmpty() ? current : answers.get(0).revision();
    List<Result> results = new ArrayList<>(errors.size());
    int next = 0;
    for (String error : errors) {
      if (error != null) {
        results.add(new Result(null, null, error));
      } else {
        Answer answer = answers.get(next);
        Request request = requests.get(next++);
        results.add(
            answer.error() == null
                ? new Result(request, answer, null)
                : new Result(null, null, answer.error()));
      }
    }
    return new Results(revision, results);
  }
}
