package dev.weir.server.internal.http;

import dev.weir.internal.DaemonThreads;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The page for Prometheus: OpenMetrics 1.0.0 if the request's {@code Accept} names it, else
 * Prometheus's text format 0.0.4. Safe for use by many threads.
 */
final class MetricsPage {
  /*
   * A page takes milliseconds, and with many rules a tenth of a second. So event loops leave it to
   * a thread of its own, which makes one page after the other. A client that requests many of them
   * at once holds up other readers of the page, but no request for a decision.
   */

  /**
   * The most requests that wait: there are a handful of collectors, and each sends one every few
   * seconds.
   */
  static final int MOST_WAITING = 16;

  private static final int USUAL_BYTES = 32_768;
  private static final int IDLE_SECONDS = 60;

  private final ExpositionFormatWriter openMetrics;
  private final ExpositionFormatWriter classic;
  private final PrometheusRegistry registry;
  private final ThreadPoolExecutor maker =
      new ThreadPoolExecutor(
          1,
          1,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new ArrayBlockingQueue<>(MOST_WAITING),
          DaemonThreads.named("weir-metrics"));

  MetricsPage(PrometheusRegistry registry) {
    ExpositionFormats formats = ExpositionFormats.init();
    openMetrics = formats.getOpenMetricsTextFormatWriter();
    classic = formats.getPrometheusTextFormatWriter();
    this.registry = registry;
    maker.allowCoreThreadTimeOut(true);
  }

  /** Reads and sends all metrics; answers 503 if too many requests wait already. */
  void send(HttpServerRequest request) {
    // Not findWriter, which returns a writer for protobuf even if that is not on the class path.
    String accept = request.getHeader(HttpHeaders.ACCEPT);
    ExpositionFormatWriter format =
        accept != null && openMetrics.accepts(accept) ? openMetrics : classic;
    Consumer<byte[]> done =
        Reply.onLoop(request, page -> Reply.send(request, 200, format.getContentType(), page));
    Consumer<RuntimeException> failed =
        Reply.onLoop(request, failure -> Reply.failed(request, failure));
    try {
      maker.execute(
          () -> {
            try {
              done.accept(page(format));
            } catch (RuntimeException e) {
              failed.accept(e);
            }
          });
    } catch (RejectedExecutionException e) {
      Reply.problem(
          request,
          503,
          "Too much at once",
          "/metrics: " + MOST_WAITING + " others wait for it (expected: fewer at a time)");
    }
  }

  private byte[] page(ExpositionFormatWriter format) {
    ByteArrayOutputStream page = new ByteArrayOutputStream(USUAL_BYTES);
    try {
      format.write(page, registry.scrape());
    } catch (IOException e) {
      throw new UncheckedIOException(e); // Memory has no such errors.
    }
    return page.toByteArray();
  }
}
