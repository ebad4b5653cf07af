package dev.weir.cli;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Collection;
import java.util.Locale;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** Asks a server's {@code /v1/check}, and says in words that help why it got no answer. */
final class CheckClient {
  private final URI url;
  private final @Nullable Path tlsCa;
  private final @Nullable String token;
  private final Duration timeout;

  /**
   * @param url http or https, with a host
   * @param tlsCa certificates that are trusted instead of the platform's, or null
   * @param token shown to the server, or null
   */
  CheckClient(URI url, @Nullable Path tlsCa, @Nullable String token, Duration timeout) {
    this.url = url;
    this.tlsCa = tlsCa;
    this.token = token;
    this.timeout = timeout;
  }

  /**
   * Posts a check and returns the answer, which is a decision.
   *
   * @throws CommandFailure if there is none; says why and what to do
   */
  HttpResponse<String> post(String body) throws InterruptedException {
    HttpClient.Builder client = HttpClient.newBuilder().connectTimeout(timeout);
    if (tlsCa != null) {
      client.sslContext(trusting(tlsCa));
    }
    HttpRequest.Builder request =
        HttpRequest.newBuilder(url.resolve("/v1/check"))
            .timeout(timeout)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body));
    if (token != null) {
      request.header("Authorization", "Bearer " + token);
    }
    try {
      HttpResponse<String> response =
          client.build().send(request.build(), HttpResponse.BodyHandlers.ofString());
      int status = response.statusCode();
      if (status != 200 && status != 429) {
        throw new CommandFailure(url + ": " + refusal(status, response.body()));
      }
      return response;
    } catch (IOException e) {
      throw new CommandFailure(url + ": " + why(e), e);
    }
  }

  private String refusal(int status, String body) {
    if (status == 401) {
      return token == null
          ? "the server requires a token (expected: --token-file FILE)"
          : "the server does not accept this token (expected: --token-file with a token"
              + " from the server's own --token-file)";
    }
    return "answered " + status + " " + body.strip();
  }

  private boolean https() {
    return "https".equalsIgnoreCase(url.getScheme());
  }

  private String why(IOException e) {
    if (e instanceof HttpTimeoutException) {
      return "no answer within "
          + timeout.toSeconds()
          + " s (expected: a running 'weir serve', or a longer --timeout)";
    }
    if (e instanceof SSLException || caused(e, CertificateException.class) != null) {
      return tls(e);
    }
    String message = e.getMessage() == null ? "no connection" : e.getMessage();
    // What a client of plain HTTP sees of a port that speaks TLS: bytes that are no HTTP, or none.
    boolean cut =
        message.contains("header parser received no bytes")
            || message.contains("EOF")
            || message.contains("Invalid status line")
            || message.contains("closed")
            || message.contains("reset");
    if (!https() && cut) {
      return "the connection was closed without an answer; the port may speak TLS"
          + " (expected: https:// in --url, or --tls-ca FILE)";
    }
    return message + " (expected: a running 'weir serve')";
  }

  private String tls(IOException e) {
    String trusted = tlsCa == null ? "of this machine" : "in " + tlsCa;
    if (caused(e, CertificateExpiredException.class) != null) {
      return "the server's certificate has expired (expected: a valid certificate)";
    }
    if (caused(e, CertPathBuilderException.class) != null
        || caused(e, CertPathValidatorException.class) != null) {
      return "the server's certificate is not signed by any authority "
          + trusted
          + " (expected: --tls-ca FILE with the certificate, in PEM, that signed the server's)";
    }
    CertificateException certificate = caused(e, CertificateException.class);
    if (certificate != null) {
      return "the server's certificate is for another name: "
          + certificate.getMessage()
          + " (expected: a name in it as the host of --url)";
    }
    String message = String.valueOf(e.getMessage());
    String lower = message.toLowerCase(Locale.ROOT);
    if (lower.contains("unrecognized ssl message") || lower.contains("not an ssl/tls record")) {
      return "the port does not speak TLS (expected: http:// in --url, without --tls-ca)";
    }
    if (lower.contains("certificate_required") || lower.contains("bad_certificate")) {
      return "the server requires a client certificate, which 'weir check' cannot send"
          + " (expected: a server without --tls-client-ca)";
    }
    return "no TLS connection: " + message;
  }

  private static <T extends Throwable> @Nullable T caused(Throwable e, Class<T> type) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (type.isInstance(cause)) {
        return type.cast(cause);
      }
    }
    return null;
  }

  private static SSLContext trusting(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      Collection<? extends Certificate> certificates =
          CertificateFactory.getInstance("X.509").generateCertificates(in);
      if (certificates.isEmpty()) {
        throw new CommandFailure(
            "--tls-ca: " + file + " has no certificate (expected: certificates in PEM)");
      }
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      int number = 0;
      for (Certificate certificate : certificates) {
        trusted.setCertificateEntry(Integer.toString(number++), certificate);
      }
      TrustManagerFactory managers =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      managers.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, managers.getTrustManagers(), null);
      return context;
    } catch (IOException | GeneralSecurityException e) {
      throw new CommandFailure(
          "--tls-ca: " + file + " cannot be used (expected: certificates in PEM)", e);
    }
  }
}
