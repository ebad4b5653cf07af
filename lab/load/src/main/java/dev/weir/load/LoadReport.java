package dev.weir.load;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import dev.weir.rules.ShareText;
import java.io.IOException;
import java.io.StringWriter;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The report of a load's result, as text and as JSON. docs/bench.md documents the fields. */
public final class LoadReport {
  private static final double[] PERCENTILES = {50, 90, 99, 99.9};
  private static final String[] PERCENTILE_FIELDS = {"p50", "p90", "p99", "p99_9"};

  private final LoadPlan plan;
  private final LoadResult result;

  public LoadReport(LoadPlan plan, LoadResult result) {
    this.plan = plan;
    this.result = result;
  }

  /** Returns the result as text. */
  public String text() {
    LoopTally.Counts counts = result.counts();
    StringBuilder out = new StringBuilder();
    out.append(plan.text()).append(System.lineSeparator());
    line(
        out,
        "answered  %,12d  %,.0f/s for %.1f s%s",
        counts.answered(),
        result.perSecond(),
        result.elapsedNanos() / 1e9,
        result.endedEarly() ? ", ended early" : "");
    line(out, "allowed   %,12d  %6.2f %%", counts.allowed(), percent(counts.allowed()));
    line(out, "denied    %,12d  %6.2f %%", counts.denied(), percent(counts.denied()));
    line(out, "errors    %,12d", counts.failed());
    counts.errors().forEach((kind, count) -> line(out, "          %,12d  %s", count, kind));
    if (result.unfinished() > 0) {
      line(out, "unanswered%,12d  were due and got no answer before the end", result.unfinished());
    }
    if (counts.lostConnections() > 0) {
      line(out, "lost      %,12d  connections, opened again", counts.lostConnections());
    }
    if (counts.answered() > 0) {
      line(out, "latency ms%12s%12s%12s%12s%12s", "p50", "p90", "p99", "p99.9", "max");
      line(
          out,
          "          %12.3f%12.3f%12.3f%12.3f%12.3f",
          millis(50),
          millis(90),
          millis(99),
          millis(99.9),
          result.latency().getMaxValue() / 1e6);
    }
    return out.toString();
  }

  private static void line(StringBuilder out, String format, Object... arguments) {
    out.append("  ")
        .append(String.format(Locale.ROOT, format, arguments).stripTrailing())
        .append(System.lineSeparator());
  }

  private double percent(long count) {
    return 100.0 * count / Math.max(1, result.counts().answered());
  }

  private double millis(double percentile) {
    return result.latency().getValueAtPercentile(percentile) / 1e6;
  }

  /** Returns the result as JSON. */
  public String json() {
    StringWriter text = new StringWriter();
    try (JsonGenerator out = new JsonFactory().createGenerator(text)) {
      out.setPrettyPrinter(new DefaultPrettyPrinter());
      out.writeStartObject();
      options(out);
      out.writeStringField("started_at", result.started().toString());
      out.writeBooleanField("ended_early", result.endedEarly());
      number(out, "elapsed_seconds", result.elapsedNanos() / 1e9);
      counts(out);
      latency(out);
      seconds(out);
      out.writeEndObject();
    } catch (IOException e) {
      throw new IllegalStateException("a string cannot be written", e);
    }
    return text.append(System.lineSeparator()).toString();
  }

  private void options(JsonGenerator out) throws IOException {
    out.writeObjectFieldStart("options");
    LoadPlan.Timing timing = plan.timing();
    LoadPlan.Requests requests = plan.requests();
    out.writeStringField("door", plan.door().toString());
    out.writeStringField("target", plan.authority());
    out.writeNumberField("connections", plan.connections().count());
    out.writeNumberField("in_flight", plan.connections().inFlight());
    if (timing.rate() == 0) {
      out.writeNullField("rate");
    } else {
      out.writeNumberField("rate", timing.rate());
    }
    out.writeNumberField("duration_ms", TimeUnit.NANOSECONDS.toMillis(timing.durationNanos()));
    out.writeNumberField("warmup_ms", TimeUnit.NANOSECONDS.toMillis(timing.warmupNanos()));
    out.writeNumberField("keys", requests.keys().count());
    out.writeStringField("draw", requests.keys().draw().toString());
    out.writeStringField("domain", requests.domain());
    out.writeStringField("descriptor", requests.descriptor());
    out.writeNumberField("denied", requests.keys().deniedMillionths() / (double) ShareText.WHOLE);
    if (plan.door() == Door.RESP) {
      out.writeStringField("throttle", requests.throttle().toString());
    }
    out.writeBooleanField("token", plan.access().token() != null);
    out.writeBooleanField("tls", plan.access().tlsCa() != null);
    out.writeEndObject();
  }

  private void counts(JsonGenerator out) throws IOException {
    LoopTally.Counts counts = result.counts();
    number(out, "answered_per_second", result.perSecond());
    out.writeNumberField("answered", counts.answered());
    out.writeNumberField("allowed", counts.allowed());
    out.writeNumberField("denied", counts.denied());
    out.writeNumberField("errors", counts.failed());
    out.writeNumberField("unanswered", result.unfinished());
    out.writeNumberField("lost_connections", counts.lostConnections());
    out.writeObjectFieldStart("errors_by_kind");
    for (Map.Entry<String, Long> error : counts.errors().entrySet()) {
      out.writeNumberField(error.getKey(), error.getValue());
    }
    out.writeEndObject();
  }

  /** Writes the latencies; without answers they are null, which is not zero. */
  private void latency(JsonGenerator out) throws IOException {
    if (result.latency().getTotalCount() == 0) {
      out.writeNullField("latency_us");
      return;
    }
    out.writeObjectFieldStart("latency_us");
    for (int i = 0; i < PERCENTILES.length; i++) {
      number(
          out, PERCENTILE_FIELDS[i], result.latency().getValueAtPercentile(PERCENTILES[i]) / 1e3);
    }
    number(out, "max", result.latency().getMaxValue() / 1e3);
    number(out, "mean", result.latency().getMean() / 1e3);
    out.writeEndObject();
  }

  private void seconds(JsonGenerator out) throws IOException {
    out.writeArrayFieldStart("seconds");
    for (LoadResult.Part second : result.parts()) {
      out.writeStartObject();
      number(out, "at", second.endNanos() / 1e9);
      out.writeNumberField("answered", second.answered());
      number(out, "answered_per_second", second.perSecond());
      if (second.answered() == 0) {
        out.writeNullField("p99_us");
      } else {
        number(out, "p99_us", second.p99Nanos() / 1e3);
      }
      out.writeEndObject();
    }
    out.writeEndArray();
  }

  /** Writes a number to three places: more would be noise. */
  private static void number(JsonGenerator out, String name, double value) throws IOException {
    out.writeFieldName(name);
    out.writeNumber(String.format(Locale.ROOT, "%.3f", value));
  }
}
