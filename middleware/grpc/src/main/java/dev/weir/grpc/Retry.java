package dev.weir.grpc;

import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.RetryInfo;
import io.grpc.Metadata;
import io.grpc.protobuf.ProtoUtils;
import java.util.concurrent.TimeUnit;

/** The time after which a refused call may come again, in the two forms that gRPC has for it. */
final class Retry {
  /** The value if no time is stated. */
  static final long UNKNOWN = -1;

  /** The key of a status's details: {@code google.rpc.Status}. */
  static final Metadata.Key<com.google.rpc.Status> DETAILS =
      Metadata.Key.of(
          "grpc-status-details-bin",
          ProtoUtils.metadataMarshaller(com.google.rpc.Status.getDefaultInstance()));

  /** The key of the pushback: milliseconds, or -1 for never (gRFC A6). */
  static final Metadata.Key<String> PUSHBACK =
      Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER);

  static final String NEVER = "-1";

  /**
   * The longest time, a year: more might not fit a number of nanoseconds, and no caller waits for
   * it.
   */
  private static final long MAX_SECONDS = TimeUnit.DAYS.toSeconds(366);

  private Retry() {}

  /**
   * Returns the text of a pushback. Clients read it as a 32-bit number; for more than that, 24
   * days, it orders them not to retry.
   *
   * @param millis at least 0
   */
  static String pushback(long millis) {
    return millis > Integer.MAX_VALUE ? NEVER : Long.toString(millis);
  }

  static RetryInfo info(long millis) {
    return RetryInfo.newBuilder()
        .setRetryDelay(
            Duration.newBuilder()
                .setSeconds(millis / 1000)
                .setNanos((int) TimeUnit.MILLISECONDS.toNanos(millis % 1000)))
        .build();
  }

  /**
   * Returns the nanoseconds after which the call may come again by the server's trailers, or {@link
   * #UNKNOWN}. Never fails, whatever the server sent.
   */
  static long nanos(Metadata trailers) {
    long detailed = detailedNanos(trailers);
    if (detailed != UNKNOWN) {
      return detailed;
    }
    String pushback = trailers.get(PUSHBACK);
    try {
      long millis = pushback == null ? UNKNOWN : Integer.parseInt(pushback);
      return millis < 0 ? UNKNOWN : TimeUnit.MILLISECONDS.toNanos(millis);
    } catch (NumberFormatException e) {
      return UNKNOWN;
    }
  }

  private static long detailedNanos(Metadata trailers) {
    try {
      com.google.rpc.Status details = trailers.get(DETAILS);
      if (details == null) {
        return UNKNOWN;
      }
      for (Any detail : details.getDetailsList()) {
        if (detail.is(RetryInfo.class)) {
          Duration delay = detail.unpack(RetryInfo.class).getRetryDelay();
          return delay.getSeconds() < 0 || delay.getNanos() < 0
              ? UNKNOWN
              : TimeUnit.SECONDS.toNanos(Math.min(delay.getSeconds(), MAX_SECONDS))
                  + delay.getNanos();
        }
      }
    } catch (IllegalArgumentException | InvalidProtocolBufferException e) {
      return UNKNOWN; // It is not in the standard's form.
    }
    return UNKNOWN;
  }
}
