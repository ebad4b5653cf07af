package dev.weir.server.http;

import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * The page that Prometheus reads: OpenMetrics 1.0.0 if the request's {@code Accept} names it, else
 * Prometheus's text format 0.0.4. Safe for use by many threads.
 */
final class MetricsPage {
  private static final int USUAL_BYTES = 32_768;

  private final ExpositionFormatWriter openMetrics;
  private final ExpositionFormatWriter classic;
  private final PrometheusRegistry registry;

  MetricsPage(PrometheusRegistry registry) {
    ExpositionFormats formats = ExpositionFormats.init();
    openMetrics = formats.getOpenMetricsTextFormatWriter();
    classic = formats.getPrometheusTextFormatWriter();
    this.registry = registry;
  }

  /** Reads all metrics and sends them. */
  void send(HttpServerRequest request) {
    // Not findWriter, which returns a writer for protobuf even if that is not on the class path.
    String accept = request.getHeader(HttpHeaders.ACCEPT);
    ExpositionFormatWriter format =
        accept != null && openMetrics.accepts(accept) ? openMetrics : classic;
    ByteArrayOutputStream page = new ByteArrayOutputStream(USUAL_BYTES);
    try {
      format.write(page, registry.scrape());
    } catch (IOException e) {
      throw new UncheckedIOException(e); // Not in memory.
    }
    Reply.send(request, 200, format.getContentType(), page.toByteArray());
  }
}
