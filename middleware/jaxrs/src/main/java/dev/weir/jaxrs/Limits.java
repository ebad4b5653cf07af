package dev.weir.jaxrs;

import dev.weir.http.Refusal;
import dev.weir.http.RequestLimiter;
import dev.weir.http.Verdict;
import dev.weir.protocol.http.ProblemType;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Limiters that a request passes one after the other. */
final class Limits {
  /** The property under which a request keeps the verdicts of all limiters that it has passed. */
  static final String VERDICTS = "dev.weir.jaxrs.verdicts";

  private static final int UNAVAILABLE = 503;

  /** The verdicts on one request: a type of its own, so that it can be recognized. */
  private static final class Verdicts {
    final List<Verdict> all = new ArrayList<>();
    boolean answered;
  }

  private final List<RequestLimiter> limiters;
  private final Patience patience;

  Limits(List<RequestLimiter> limiters, Patience patience) {
    this.limiters = limiters;
    this.patience = patience;
  }

  /** Answers the request if one of the limiters refuses it. */
  void apply(ContainerRequestContext request, ContainerRequest view) {
    for (RequestLimiter limiter : limiters) {
      Verdict verdict = patience.decide(limiter, view);
      if (verdict == null) {
        request.abortWith(undecided(request));
        return;
      }
      verdicts(request).all.add(verdict);
      if (!verdict.passes()) {
        request.abortWith(refusal(request, verdict));
        return;
      }
    }
  }

  private static Verdicts verdicts(ContainerRequestContext request) {
    if (request.getProperty(VERDICTS) instanceof Verdicts known) {
      return known;
    }
    Verdicts verdicts = new Verdicts();
    request.setProperty(VERDICTS, verdicts);
    return verdicts;
  }

  /** Completes the limiters' verdicts; the status is the one that is sent. */
  static void answered(ContainerRequestContext request, ContainerResponseContext response) {
    // An error during the answer may bring it here again.
    if (request.getProperty(VERDICTS) instanceof Verdicts verdicts && !verdicts.answered) {
      verdicts.answered = true;
      for (Verdict verdict : verdicts.all) {
        verdict.fields(response.getHeaders()::add);
        verdict.responded(response.getStatus(), response.getHeaderString(HttpHeaders.LOCATION));
      }
      if (!response.hasEntity()) {
        ended(verdicts);
      }
    }
  }

  /** Gives back the seats of a request, which has ended. */
  static void ended(@Nullable Object verdicts) {
    if (verdicts instanceof Verdicts known) {
      known.all.forEach(Verdict::ended);
    }
  }

  /** Counts the request in all limits that count by such calls. */
  static void count(ContainerRequestContext request) {
    if (request.getProperty(VERDICTS) instanceof Verdicts verdicts) {
      verdicts.all.forEach(Verdict::count);
    }
  }

  /** Charges costs to all limits that take reports. */
  static void charge(ContainerRequestContext request, long permits) {
    if (request.getProperty(VERDICTS) instanceof Verdicts verdicts) {
      verdicts.all.forEach(verdict -> verdict.charge(permits));
    }
  }

  private static Response refusal(ContainerRequestContext request, Verdict verdict) {
    Refusal refusal = verdict.refusal();
    return response(request, verdict.status(), refusal.contentType(), refusal.bytes());
  }

  private static Response undecided(ContainerRequestContext request) {
    byte[] problem =
        ProblemType.document(
            UNAVAILABLE, "Temporarily unavailable", "The limit could not be checked in time.");
    return response(request, UNAVAILABLE, "application/problem+json", problem);
  }

  private static Response response(
      ContainerRequestContext request, int status, String contentType, byte[] body) {
    @Nullable Object entity = request.getMethod().equals(HttpMethod.HEAD) ? null : body;
    return Response.status(status)
        .header(HttpHeaders.CONTENT_TYPE, contentType)
        .entity(entity)
        .build();
  }
}
