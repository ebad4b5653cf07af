package dev.weir.server.internal.deciding;

import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.Status;
import dev.weir.protocol.http.CheckBatch;
import dev.weir.rules.Request;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import org.jspecify.annotations.Nullable;

/**
 * The spans of requests whose callers trace them. A span states the policy that decided and its
 * decision, but no value of a descriptor. Safe for use by many threads.
 */
public final class Tracing {
  /** A source without spans. */
  public static final Tracing OFF = new Tracing(null);

  private final @Nullable Tracer tracer;
  private final TextMapPropagator propagator;

  private Tracing(@Nullable OpenTelemetry telemetry) {
    tracer = telemetry == null ? null : telemetry.getTracer("dev.weir");
    propagator =
        telemetry == null
            ? TextMapPropagator.noop()
            : telemetry.getPropagators().getTextMapPropagator();
  }

  /** Returns a source of spans that are sent through an instance of OpenTelemetry. */
  public static Tracing of(OpenTelemetry telemetry) {
    return new Tracing(telemetry);
  }

  /** Returns whether spans are made. */
  public boolean isOn() {
    return tracer != null;
  }

  /** Returns the trace of a request, from its fields. */
  public <C> Context parent(C fields, TextMapGetter<C> getter) {
    return propagator.extract(Context.root(), fields, getter);
  }

  /**
   * Begins the span of a request; {@link #end(Span, Request, Answer)} must follow.
   *
   * @param name the name of the call, not of the caller
   */
  public Span begin(String name, Context parent) {
    return tracer == null
        ? Span.getInvalid()
        : tracer.spanBuilder(name).setParent(parent).setSpanKind(SpanKind.SERVER).startSpan();
  }

  /** Ends the span of a request with its answer. */
  public static void end(Span span, Request request, Answer answer) {
    if (!span.isRecording()) {
      return;
    }
    span.setAttribute("weir.domain", request.domain());
    span.setAttribute("weir.descriptors", request.descriptors().size());
    if (answer.error() != null) {
      span.setStatus(StatusCode.ERROR, answer.error());
    } else {
      Reason reason = answer.reason();
      span.setAttribute("weir.allowed", answer.allowed());
      span.setAttribute("weir.reason", reason.name());
      if (!answer.cause().isEmpty()) {
        span.setAttribute("weir.cause", answer.cause());
      }
      span.setAttribute("weir.revision", answer.revision());
      Status deciding = answer.deciding();
      if (deciding != null && deciding.decision() != null) {
        span.setAttribute("weir.policy", deciding.decision().policy());
        span.setAttribute("weir.limit", deciding.decision().limit());
        span.setAttribute("weir.remaining", deciding.limitRemaining());
      }
    }
    span.end();
  }

  /** Ends the span of several requests that were decided together. */
  public static void end(Span span, CheckBatch.Results results) {
    if (span.isRecording()) {
      span.setAttribute("weir.requests", results.results().size());
      span.setAttribute(
          "weir.refused", results.results().stream().filter(Tracing::refused).count());
      span.setAttribute("weir.revision", results.revision());
      span.end();
    }
  }

  private static boolean refused(CheckBatch.Result result) {
    return result.answer() != null && !result.answer().allowed();
  }

  /** Ends the span of a request that could not be read. */
  public static void failed(Span span, @Nullable String problem) {
    if (span.isRecording()) {
      span.setStatus(StatusCode.ERROR, String.valueOf(problem));
      span.end();
    }
  }
}
