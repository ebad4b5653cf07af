package dev.weir.grpc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.Duration;
import com.google.rpc.RetryInfo;
import io.grpc.Metadata;
import org.junit.jupiter.api.Test;

/** Tests of a client's reading of trailers that any server may send. */
class RetryTest {
  private static Metadata pushback(String value) {
    Metadata trailers = new Metadata();
    trailers.put(Retry.PUSHBACK, value);
    return trailers;
  }

  private static Metadata details(Any... details) {
    Metadata trailers = new Metadata();
    trailers.put(
        Retry.DETAILS,
        com.google.rpc.Status.newBuilder().addAllDetails(java.util.List.of(details)).build());
    return trailers;
  }

  private static Any retry(long seconds, int nanos) {
    Duration delay = Duration.newBuilder().setSeconds(seconds).setNanos(nanos).build();
    return Any.pack(RetryInfo.newBuilder().setRetryDelay(delay).build());
  }

  @Test
  void retryInfo_isRead() {
    assertThat(Retry.nanos(details(Any.getDefaultInstance(), retry(2, 5))))
        .isEqualTo(2_000_000_005L);
  }

  @Test
  void pushback_isReadWhereThereIsNoRetryInfo() {
    assertThat(Retry.nanos(pushback("1500"))).isEqualTo(1_500_000_000L);
    assertThat(Retry.nanos(pushback("-1"))).isEqualTo(Retry.UNKNOWN);
  }

  @Test
  void nothingOrNonsense_isUnknown() {
    assertThat(Retry.nanos(new Metadata())).isEqualTo(Retry.UNKNOWN);
    assertThat(Retry.nanos(pushback("soon"))).isEqualTo(Retry.UNKNOWN);
    assertThat(Retry.nanos(pushback("99999999999"))).isEqualTo(Retry.UNKNOWN);
    assertThat(Retry.nanos(details(retry(-5, 0)))).isEqualTo(Retry.UNKNOWN);
    Any broken =
        retry(1, 0).toBuilder().setValue(ByteString.copyFrom(new byte[] {-1, -1, -1})).build();
    assertThat(Retry.nanos(details(broken))).isEqualTo(Retry.UNKNOWN);
    Metadata noProto = new Metadata();
    noProto.put(
        Metadata.Key.of(Retry.DETAILS.name(), Metadata.BINARY_BYTE_MARSHALLER),
        "no proto".getBytes(UTF_8));
    assertThat(Retry.nanos(noProto)).isEqualTo(Retry.UNKNOWN);
  }

  @Test
  void endlessRetryInfo_isAYear() {
    assertThat(Retry.nanos(details(retry(Long.MAX_VALUE, 999_999_999))))
        .isBetween(0L, java.time.Duration.ofDays(367).toNanos());
  }
}
