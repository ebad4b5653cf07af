package dev.weir.server;

import dev.weir.engine.Answer;
import dev.weir.rules.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The checks of one call, each for itself: one that makes no sense is answered with an error and
 * does not disturb the others. Not safe for use by several threads.
 */
final class CheckBatch {
  /** Decided in a row on an event loop, they must not keep other callers waiting for long. */
  static final int MAX_CHECKS = 1_000;

  /** Ten for each check; a call of tiny descriptors must not have an answer of many megabytes. */
  static final int MAX_DESCRIPTORS = 10_000;

  /**
   * One check, decided: either request and answer, or why it could not be.
   *
   * @param answer without an error
   */
  record Result(@Nullable Request request, @Nullable Answer answer, @Nullable String error) {}

  /** All checks, decided, by one revision of the rules. */
  record Results(long revision, List<Result> results) {}

  private final List<Request> requests = new ArrayList<>();

  /** By check: what is wrong with it, or null for the next of the requests. */
  private final List<@Nullable String> errors = new ArrayList<>();

  private int descriptors;

  /**
   * Adds a check.
   *
   * @throws BadRequest if these are too many for one call
   */
  void add(Request request) throws BadRequest {
    descriptors += request.descriptors().size();
    if (descriptors > MAX_DESCRIPTORS) {
      throw new BadRequest(
          "checks: " + descriptors + " descriptors (expected: at most " + MAX_DESCRIPTORS + ")");
    }
    add(request, null);
  }

  /**
   * Adds a check that makes no sense.
   *
   * @throws BadRequest if these are too many for one call
   */
  void addInvalid(String error) throws BadRequest {
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

  /** Has the engine decide, and gives the results in the order in which the checks were added. */
  void decide(Decider decider, Consumer<? super Results> done) {
    decider.decideAll(requests, answers -> done.accept(results(decider, answers)));
  }

  private Results results(Decider decider, List<Answer> answers) {
    long revision = answers.isEmpty() ? decider.engine().revision() : answers.get(0).revision();
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
