package dev.weir.config.etcd;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.follow.DateClock;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A client of etcd's JSON gateway, which calls a member that answers. Safe for use by many threads.
 */
final class Gateway {
  /** Codes of etcd's error answers, those of {@code google.rpc.Code}. */
  private static final int INVALID_ARGUMENT = 3;

  private static final int NOT_FOUND = 5;
  private static final int PERMISSION_DENIED = 7;
  private static final int RESOURCE_EXHAUSTED = 8;
  private static final int UNAVAILABLE = 14;
  private static final int DATA_LOSS = 15;
  private static final int UNAUTHENTICATED = 16;

  private final EtcdSettings settings;
  private final DateClock clock;
  private final HttpClient client;

  /**
   * The reader of answers, in which bytes are Base64, large numbers are texts, and members with
   * their type's default are left out. A row of a megabyte is longer in Base64, and a page has many
   * rows, so texts may be long. It writes requests as well.
   */
  private static final JsonMapper JSON =
      new JsonMapper(
          JsonFactory.builder()
              .streamReadConstraints(
                  StreamReadConstraints.builder().maxStringLength(Integer.MAX_VALUE).build())
              .build());

  /** The index of the member that answered last. */
  private volatile int member;

  private volatile String token = "";

  Gateway(EtcdSettings settings, DateClock clock) {
    this.settings = settings;
    this.clock = clock;
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(settings.timeoutSeconds()));
    if (!settings.caFile().isEmpty()) {
      builder.sslContext(Trust.only(settings.caFile()));
    }
    client = builder.build();
  }

  /** An error answer of etcd. */
  private static final class GatewayRefusal extends Exception {
    private static final long serialVersionUID = 1;

    final int status;
    final int code;

    GatewayRefusal(int status, int code, String message) {
      super(message);
      this.status = status;
      this.code = code;
    }

    boolean isOfTheToken() {
      return code == UNAUTHENTICATED
          || (code == INVALID_ARGUMENT && String.valueOf(getMessage()).contains("auth"));
    }
  }

  /** A call without an answer, or with one that is not etcd's. */
  private static final class GatewayFailure extends Exception {
    private static final long serialVersionUID = 1;

    final boolean sent;

    GatewayFailure(boolean sent, String how, Throwable cause) {
      super(how, cause);
      this.sent = sent;
    }
  }

  /** Makes a call that may be repeated: if one member does not answer, calls the next. */
  JsonNode read(String path, Map<String, ?> body) {
    return call(path, body, true);
  }

  /**
   * Makes a call that must be made at most once: calls the next member only if the one before was
   * not reached.
   *
   * @throws ConfigException if the call failed; it may or may not have taken effect
   */
  JsonNode write(String path, Map<String, ?> body) {
    return call(path, body, false);
  }

  private JsonNode call(String path, Map<String, ?> body, boolean again) {
    byte[] json = bytes(body);
    int first = member;
    int count = settings.hosts().size();
    for (int i = 0; ; i++) {
      int next = (first + i) % count;
      boolean last = i == count - 1;
      try {
        JsonNode answer = authenticated(next, path, json);
        member = next;
        return answer;
      } catch (GatewayFailure e) {
        if (last || (e.sent && !again)) {
          throw new ConfigException(
              Kind.UNAVAILABLE, settings + ": " + String.valueOf(e.getMessage()), e);
        }
      } catch (GatewayRefusal e) {
        if (last || !again || e.code != UNAVAILABLE) {
          throw exception(e);
        }
      }
    }
  }

  private JsonNode authenticated(int next, String path, byte[] json)
      throws GatewayRefusal, GatewayFailure {
    if (settings.user().isEmpty()) {
      return post(next, path, json, "");
    }
    String before = token;
    if (!before.isEmpty()) {
      try {
        return post(next, path, json, before);
      } catch (GatewayRefusal e) {
        if (!e.isOfTheToken()) {
          throw e;
        }
        // The token was refused before the request was read; tokens expire after some minutes.
      }
    }
    Map<String, String> user = Map.of("name", settings.user(), "password", settings.password());
    String made = post(next, "/v3/auth/authenticate", bytes(user), "").path("token").asText();
    token = made;
    return post(next, path, json, made);
  }

  private JsonNode post(int next, String path, byte[] json, String authorization)
      throws GatewayRefusal, GatewayFailure {
    String address = (settings.tls() ? "https://" : "http://") + settings.hosts().get(next) + path;
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(address))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(json));
    if (!authorization.isEmpty()) {
      request.header("Authorization", authorization);
    }
    HttpResponse<byte[]> response = send(request.build());
    try {
      JsonNode answer = JSON.readTree(response.body());
      if (!answer.isObject()) {
        throw new IOException("no object");
      }
      if (response.statusCode() != 200) {
        String message = answer.path("message").asText();
        String text = message.isEmpty() ? answer.path("error").asText() : message;
        throw new GatewayRefusal(response.statusCode(), answer.path("code").asInt(), text);
      }
      if (!path.startsWith("/v3/auth/") && !answer.has("header")) {
        throw new IOException("no header");
      }
      response.headers().firstValue("Date").ifPresent(clock::received);
      return answer;
    } catch (IOException e) {
      throw new GatewayFailure(
          true,
          "HTTP %d, %s (expected: etcd 3.4 or newer)"
              .formatted(response.statusCode(), line(String.valueOf(e.getMessage()))),
          e);
    }
  }

  /** Sends a request; the timeout holds for the whole answer, including its body. */
  private HttpResponse<byte[]> send(HttpRequest request) throws GatewayFailure {
    CompletableFuture<HttpResponse<byte[]>> answer =
        client.sendAsync(request, HttpResponse.BodyHandlers.ofByteArray());
    try {
      return answer.get(settings.timeoutSeconds(), TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      answer.cancel(true);
      throw new GatewayFailure(
          true,
          "no answer within " + settings.timeoutSeconds() + " s (expected: etcd that answers)",
          e);
    } catch (InterruptedException e) {
      answer.cancel(true);
      Thread.currentThread().interrupt();
      throw new GatewayFailure(true, "interrupted (expected: time to wait)", e);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      boolean connected = !(cause instanceof ConnectException);
      throw new GatewayFailure(connected, reason(cause), cause);
    }
  }

  private static String reason(Throwable cause) {
    if (cause instanceof ConnectException) {
      return cause.getCause() instanceof UnresolvedAddressException
          ? "no such host (expected: names that can be looked up)"
          : "connection refused (expected: etcd that listens there)";
    }
    return line(String.valueOf(cause.getMessage())) + " (expected: etcd that answers)";
  }

  private ConfigException exception(GatewayRefusal e) {
    Kind kind =
        switch (e.code) {
          case RESOURCE_EXHAUSTED ->
              String.valueOf(e.getMessage()).contains("space exceeded")
                  ? Kind.FULL
                  : Kind.UNAVAILABLE;
          case DATA_LOSS -> Kind.DAMAGED;
          default -> Kind.UNAVAILABLE;
        };
    String expected =
        switch (e.code) {
          case INVALID_ARGUMENT, PERMISSION_DENIED, UNAUTHENTICATED ->
              "a user and password that etcd accepts, with rights to the prefix";
          case RESOURCE_EXHAUSTED -> "room in etcd's quota: compact, defragment, disarm the alarm";
          case NOT_FOUND ->
              e.status == 404 && String.valueOf(e.getMessage()).equals("Not Found")
                  ? "etcd 3.4 or newer"
                  : "what was there before";
          case DATA_LOSS -> "a member without damage";
          default -> "etcd that answers";
        };
    return new ConfigException(
        kind,
        settings + ": " + line(String.valueOf(e.getMessage())) + " (expected: " + expected + ")",
        e);
  }

  private static byte[] bytes(Map<String, ?> body) {
    try {
      return JSON.writeValueAsBytes(body);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e); // A value that is none of JSON's.
    }
  }

  private static String line(String text) {
    String line = text.replaceAll("\\s+", " ");
    return line.length() > 200 ? line.substring(0, 200) + "..." : line;
  }
}
