package dev.weir.protocol.http;

import com.fasterxml.jackson.core.JsonEncoding;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.BufferRecycler;
import com.fasterxml.jackson.core.util.ByteArrayBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * A writer of JSON text as UTF-8 that uses Jackson's generator and buffers. Half of a surrogate
 * pair, which has no UTF-8, is written as its escape. Safe for use by many threads.
 */
public final class JsonBytes {
  /*
   * Why a generator and no writer of our own? A writer straight into one array was tried. For an
   * answer with one status it took 0.9 us, the generator 1.1 us (it allocated 800 bytes, the
   * generator 704). For three statuses both took the same time. For 30 the generator was faster by
   * a quarter and allocated half. (Medians of 41 interleaved rounds on one thread of a busy
   * machine.)
   */

  private static final JsonFactory JSON = new JsonFactory();

  private JsonBytes() {}

  /** The content of a JSON text. */
  @FunctionalInterface
  public interface Content {
    /** Writes one JSON value. */
    void write(JsonGenerator json) throws IOException;
  }

  /** Returns the content as UTF-8. */
  public static byte[] of(Content content) {
    BufferRecycler buffers = JSON._getBufferRecycler();
    try (ByteArrayBuilder bytes = new ByteArrayBuilder(buffers)) {
      try (JsonGenerator json = JSON.createGenerator(bytes, JsonEncoding.UTF8)) {
        content.write(json);
      }
      return bytes.getClearAndRelease();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // Not valid JSON: writing to memory does not fail.
    } finally {
      buffers.releaseToPool();
    }
  }
}
