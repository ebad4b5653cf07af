package dev.weir.armeria;

import com.linecorp.armeria.common.HttpData;
import com.linecorp.armeria.common.HttpHeaderNames;
import com.linecorp.armeria.common.HttpMethod;
import com.linecorp.armeria.common.HttpRequest;
import com.linecorp.armeria.common.HttpResponse;
import com.linecorp.armeria.common.ResponseHeaders;
import com.linecorp.armeria.common.ResponseHeadersBuilder;
import com.linecorp.armeria.common.logging.RequestLogProperty;
import com.linecorp.armeria.server.HttpService;
import com.linecorp.armeria.server.ServiceRequestContext;
import dev.weir.engine.Ticket;
import dev.weir.http.Refusal;
import dev.weir.http.RequestLimiter;
import dev.weir.http.Verdict;
import dev.weir.identity.RequestView;
import io.netty.util.AttributeKey;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One request on its path through a limiter. It begins on the thread that serves it, and goes on in
 * the request's event loop.
 */
final class LimitedRequest {
  /**
   * The time for which the rest of a refused request's body is read: long enough for most uploads.
   */
  private static final long MAX_DRAIN_MILLIS = 10_000;

  private static final AttributeKey<PassedVerdict> PASSED =
      AttributeKey.valueOf(LimitedRequest.class, "PASSED");

  /** The verdicts of the limiters that a request has passed, the last one first. */
  private record PassedVerdict(Verdict verdict, @Nullable PassedVerdict before) {}

  private final RequestLimiter limiter;
  private final ServiceRequestContext context;
  private final HttpRequest request;
  private final HttpService service;

  private volatile boolean gone;
  private volatile Ticket ticket = Ticket.USED;

  /** The reading of the body while the request waits; null if it has none, or does not wait. */
  private @Nullable WaitingUpload upload;

  LimitedRequest(
      RequestLimiter limiter,
      ServiceRequestContext context,
      HttpRequest request,
      HttpService service) {
    this.limiter = limiter;
    this.context = context;
    this.request = request;
    this.service = service;
  }

  HttpResponse serve(RequestView view) throws Exception {
    CompletableFuture<Verdict> decision = new CompletableFuture<>();
    limiter.decide(view, decision::complete);
    Verdict verdict = decision.getNow(null);
    if (verdict != null && !waits(verdict)) {
      return answer(verdict);
    }
    CompletableFuture<HttpResponse> answer = new CompletableFuture<>();
    HttpResponse response = HttpResponse.of(answer, context.eventLoop());
    CompletableFuture<Void> unusedEnd =
        response.whenComplete().whenComplete((nothing, cause) -> leave());
    if (!request.isEmpty()) {
      upload = WaitingUpload.begin(request, context.eventLoop());
    }
    if (verdict != null) {
      enqueue(verdict, answer);
    } else {
      CompletableFuture<Void> unused =
          decision.thenAccept(late -> context.eventLoop().execute(() -> decided(late, answer)));
    }
    return response;
  }

  private static boolean waits(Verdict verdict) {
    return !verdict.passes() && verdict.maxWaitNanos() > 0;
  }

  private void decided(Verdict verdict, CompletableFuture<HttpResponse> answer) {
    if (gone) {
      verdict.abandoned();
    } else if (waits(verdict)) {
      enqueue(verdict, answer);
    } else {
      complete(verdict, answer);
    }
  }

  private void enqueue(Verdict verdict, CompletableFuture<HttpResponse> answer) {
    ticket =
        verdict.enqueue(
            Long.MAX_VALUE, turn -> context.eventLoop().execute(() -> complete(turn, answer)));
    if (gone) {
      ticket.leave();
    }
  }

  private void complete(Verdict verdict, CompletableFuture<HttpResponse> answer) {
    if (gone) {
      verdict.abandoned();
      return;
    }
    try {
      answer.complete(answer(verdict));
    } catch (Exception | Error e) {
      answer.completeExceptionally(e);
    }
  }

  /**
   * Leaves the limiter: the client has gone, the request's time is over, or the response is
   * complete.
   */
  private void leave() {
    gone = true;
    ticket.leave();
  }

  private HttpResponse answer(Verdict verdict) throws Exception {
    if (!verdict.passes()) {
      return refusal(verdict);
    }
    HttpRequest served = served();
    if (verdict.answer() == null && !verdict.holdsSeat()) {
      return service.serve(context, served);
    }
    context.setAttr(PASSED, new PassedVerdict(verdict, context.attr(PASSED)));
    CompletableFuture<Void> unused =
        context
            .log()
            .whenAvailable(RequestLogProperty.RESPONSE_HEADERS)
            .thenAccept(log -> responded(verdict, log.responseHeaders()));
    if (verdict.holdsSeat()) {
      CompletableFuture<Void> unusedEnd =
          context.log().whenComplete().thenAccept(log -> verdict.ended());
    }
    return service
        .serve(context, served)
        .mapHeaders(headers -> headers.withMutations(fields -> verdict.fields(fields::add)));
  }

  /** Returns the request for the service. */
  private HttpRequest served() {
    if (upload == null) {
      return request;
    }
    HttpRequest whole = upload.served();
    context.updateRequest(whole);
    return whole;
  }

  /** Counts the request in all limits that count by such calls. */
  static void count(ServiceRequestContext context) {
    for (PassedVerdict each = context.attr(PASSED); each != null; each = each.before) {
      each.verdict.count();
    }
  }

  /** Charges costs to all limits that take reports. */
  static void charge(ServiceRequestContext context, long permits) {
    for (PassedVerdict each = context.attr(PASSED); each != null; each = each.before) {
      each.verdict.charge(permits);
    }
  }

  private static void responded(Verdict verdict, ResponseHeaders head) {
    int status = head.status().code();
    // The request of a client that goes before its answer may be one that counts: no permits back.
    if (status > 0) {
      verdict.responded(status, head.get(HttpHeaderNames.LOCATION));
    }
  }

  private HttpResponse refusal(Verdict verdict) {
    // A client that first sends its whole body would wait for room for ever (RFC 9113, 6.9): so the
    // rest is read and dropped, up to the service's own longest request.
    context.setRequestAutoAbortDelayMillis(MAX_DRAIN_MILLIS);
    if (upload == null) {
      CompletableFuture<Void> unused = request.subscribe();
    } else {
      upload.drop();
    }
    Refusal refusal = verdict.refusal();
    ResponseHeadersBuilder headers = ResponseHeaders.builder(verdict.status());
    verdict.fields(headers::add);
    headers.set(HttpHeaderNames.CONTENT_TYPE, refusal.contentType());
    headers.contentLength(refusal.length());
    return request.method() == HttpMethod.HEAD
        ? HttpResponse.of(headers.build())
        : HttpResponse.of(headers.build(), HttpData.wrap(refusal.bytes()));
  }
}
