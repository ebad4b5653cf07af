package dev.weir.siege.guests;

import dev.weir.protocol.envoy.BucketId;
import dev.weir.protocol.envoy.RateLimitQuotaResponse;
import dev.weir.protocol.envoy.RateLimitQuotaServiceGrpc;
import dev.weir.protocol.envoy.RateLimitQuotaUsageReports;
import dev.weir.protocol.envoy.RateLimitQuotaUsageReports.BucketQuotaUsage;
import dev.weir.siege.Target;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The attacks by values as long as a server accepts, all of them different, on the memory for them:
 * buckets of Envoys, and refusals of a server that forwards requests to another one.
 */
enum LongTexts implements Attack {
  /** Buckets that get an assignment. */
  LENT_BUCKETS("lent", 13_800) {
    @Override
    long send(Target target, String value, int texts, Duration atMost) throws IOException {
      return report(target, value, texts, atMost);
    }
  },

  /** Buckets whose rule no assignment can express. */
  ABANDONED_BUCKETS("strict", 13_800) {
    @Override
    long send(Target target, String value, int texts, Duration atMost) throws IOException {
      return report(target, value, texts, atMost);
    }
  },

  /** Buckets without a rule. */
  FREE_BUCKETS("unknown", 13_800) {
    @Override
    long send(Target target, String value, int texts, Duration atMost) throws IOException {
      return report(target, value, texts, atMost);
    }
  },

  /** Keys that their rule refuses. */
  REFUSED_KEYS("zero", 12_000) {
    @Override
    long send(Target target, String key, int texts, Duration atMost) throws IOException {
      return check(target, key, texts, atMost);
    }
  };

  /** The rules in their domain, one for each of these attacks. */
  static final String RULES =
      """
      domain: siege
      descriptors:
        - key: lent
          rate_limit: {unit: hour, requests_per_unit: 100, consistency: leased, sync_interval: 4m}
        - key: strict
          rate_limit: {unit: hour, requests_per_unit: 100}
        - key: zero
          rate_limit: {unit: hour, requests_per_unit: 0}
      """;

  private static final int VALUE_LENGTH = 3_900;
  private static final int BUCKETS_A_MESSAGE = 230;
  private static final int STREAMS = 2;
  private static final int COMMANDS_A_TIME = 100;
  private static final String PONG = "+PONG\r\n";

  private final String key;
  private final int texts;

  LongTexts(String key, int texts) {
    this.key = key;
    this.texts = texts;
  }

  /** Sends so many texts, and returns their bytes. */
  abstract long send(Target target, String key, int texts, Duration atMost) throws IOException;

  @Override
  public Outcome run(Target target, Duration atMost) throws IOException {
    long bytes = send(target, key, texts, atMost);
    return new Outcome(texts, 0, bytes, List.of());
  }

  private static String value(int i) {
    return String.format("%0" + VALUE_LENGTH + "d", i);
  }

  /** An Envoy, which reads its answers. */
  private static final class Envoy implements StreamObserver<RateLimitQuotaResponse> {
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final StreamObserver<RateLimitQuotaUsageReports> reports;

    Envoy(ManagedChannel channel) {
      reports = RateLimitQuotaServiceGrpc.newStub(channel).streamRateLimitQuotas(this);
    }

    @Override
    public void onNext(RateLimitQuotaResponse response) {
      answers.add("");
    }

    @Override
    public void onError(Throwable error) {
      answers.add(Status.fromThrowable(error).toString());
    }

    @Override
    public void onCompleted() {
      answers.add("completed");
    }

    void awaitAnswer(Duration atMost) throws IOException {
      try {
        String answer = answers.poll(atMost.toNanos(), TimeUnit.NANOSECONDS);
        if (!"".equals(answer)) {
          throw new IOException("a report: " + answer + " (expected: an answer)");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted", e);
      }
    }
  }

  /** Reports buckets on several streams of one connection, which stay open until the end. */
  private static long report(Target target, String key, int texts, Duration atMost)
      throws IOException {
    ManagedChannel channel =
        Grpc.newChannelBuilderForAddress(
                target.host(), target.grpc(), InsecureChannelCredentials.create())
            .build();
    long bytes = 0;
    try {
      List<Envoy> envoys = new ArrayList<>();
      for (int i = 0; i < STREAMS; i++) {
        envoys.add(new Envoy(channel));
      }
      for (int from = 0; from < texts; from += STREAMS * BUCKETS_A_MESSAGE) {
        for (int i = 0; i < STREAMS; i++) {
          RateLimitQuotaUsageReports report =
              report(key, from + i * BUCKETS_A_MESSAGE, BUCKETS_A_MESSAGE);
          bytes += report.getSerializedSize();
          envoys.get(i).reports.onNext(report);
        }
        for (Envoy envoy : envoys) {
          envoy.awaitAnswer(atMost);
        }
      }
    } finally {
      channel.shutdownNow();
    }
    return bytes;
  }

  private static RateLimitQuotaUsageReports report(String key, int from, int buckets) {
    RateLimitQuotaUsageReports.Builder report =
        RateLimitQuotaUsageReports.newBuilder().setDomain("siege");
    for (int i = from; i < from + buckets; i++) {
      report.addBucketQuotaUsages(
          BucketQuotaUsage.newBuilder()
              .setBucketId(BucketId.newBuilder().putBucket(key, value(i)))
              .setNumRequestsDenied(1));
    }
    return report.build();
  }

  /** Requests permits of keys by the Redis protocol, on one connection. */
  private static long check(Target target, String key, int texts, Duration atMost)
      throws IOException {
    long bytes = 0;
    try (Socket socket = new Socket(target.host(), target.resp())) {
      socket.setSoTimeout((int) atMost.toMillis());
      InputStream in = socket.getInputStream();
      for (int from = 0; from < texts; from += COMMANDS_A_TIME) {
        StringBuilder commands = new StringBuilder();
        for (int i = from; i < from + COMMANDS_A_TIME; i++) {
          commands.append("WEIR.CHECK siege 1 ").append(key).append(' ').append(value(i));
          commands.append("\r\n");
        }
        byte[] sent = commands.append("PING\r\n").toString().getBytes(StandardCharsets.US_ASCII);
        socket.getOutputStream().write(sent);
        bytes += sent.length;
        ByteArrayOutputStream replies = new ByteArrayOutputStream();
        while (!replies.toString(StandardCharsets.US_ASCII).endsWith(PONG)) {
          byte[] read = new byte[1 << 16];
          int length = in.read(read);
          if (length < 0) {
            throw new IOException("closed after " + from + " commands");
          }
          replies.write(read, 0, length);
        }
      }
    }
    return bytes;
  }

  @Override
  public String toString() {
    return texts + " long texts, " + key;
  }
}
