package dev.weir.cli.command;

import dev.weir.internal.IoCauses;
import dev.weir.rules.ValueErrors;
import dev.weir.server.ServerOptions;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URISyntaxException;
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

/**
 * A client that sends requests to a server over HTTP or TLS. If there is no answer, the failure's
 * text explains the reason and the remedy. Safe for use by many threads.
 */
public final class ServerClient {
  /**
   * The names of things in messages.
   *
   * @param flag the flag that gives the address: {@code --url}
   * @param command the command that sends the request: {@code weir check}
   * @param server the server that should answer: {@code a running 'weir serve'}
   */
  public record Words(String flag, String command, String server) {}

  private final URI url;
  private final @Nullable Path tlsCa;
  private final @Nullable String token;
  private final Duration timeout;
  private final Words words;
  private final HttpClient http;

  /**
   * @param url the address, as {@link #address} returns it
   * @param tlsCa the certificates that are trusted instead of the platform's, or null
   * @param token the token that is sent to the server, or null
   * @param timeout the longest time to connect, and again for each answer
   * @throws CommandFailure if the certificates cannot be used
   */
  public ServerClient(
      URI url, @Nullable Path tlsCa, @Nullable String token, Duration timeout, Words words) {
    this.url = url;
    this.tlsCa = tlsCa;
    this.token = token;
    this.timeout = timeout;
    this.words = words;
    HttpClient.Builder client =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(timeout);
    if (tlsCa != null) {
      client.sslContext(trusting(tlsCa));
    }
    http = client.build();
  }

  /**
   * Reads the address of a server. With certificates to trust, only TLS makes sense.
   *
   * @throws IllegalArgumentException if the text is not the address of a server
   */
  public static URI address(String flag, String text, boolean tls) {
    String lower = text.toLowerCase(Locale.ROOT);
    if (lower.startsWith("https://") || (lower.startsWith("http://") && !tls)) {
      try {
        URI uri = new URI(text);
        // A path with two leading slashes would be read as another host once paths are added to it.
        if (uri.getHost() != null
            && uri.getUserInfo() == null
            && uri.getQuery() == null
            && uri.getFragment() == null
            && !uri.getPath().startsWith("//")) {
          return uri;
        }
      } catch (URISyntaxException e) {
        // It is refused below, together with other wrong addresses.
      }
    }
    throw ValueErrors.error(
        flag,
        ServerOptions.withoutPasswords(text),
        tls ? "https://host:port, with --tls-ca" : "http://host:port or https://host:port");
  }

  public URI url() {
    return url;
  }

  boolean hasToken() {
    return token != null;
  }

  /**
   * Returns a request for a path of the server, with the token and the usual time for an answer.
   */
  public HttpRequest.Builder request(String path) {
    return request(path, timeout);
  }

  /**
   * Returns a request for a path of the server with another time for the answer. See {@link
   * #request(String)}.
   */
  public HttpRequest.Builder request(String path, Duration longest) {
    HttpRequest.Builder request = HttpRequest.newBuilder(url.resolve(path)).timeout(longest);
    if (token != null) {
      request.header("Authorization", "Bearer " + token);
    }
    return request;
  }

  /**
   * Sends a request and returns the answer, whatever its status.
   *
   * @throws CommandFailure if there is none, with the reason and the remedy
   */
  public <T> HttpResponse<T> send(HttpRequest.Builder request, HttpResponse.BodyHandler<T> body)
      throws InterruptedException {
    try {
      return http.send(request.build(), body);
    } catch (IOException e) {
      throw noAnswer(e);
    }
  }

  /** Returns a failure with the reason for which there is no answer, or only a part of it. */
  public CommandFailure noAnswer(IOException e) {
    return new CommandFailure(url + ": " + why(e), e);
  }

  private boolean https() {
    return "https".equalsIgnoreCase(url.getScheme());
  }

  private String why(IOException e) {
    if (e instanceof HttpTimeoutException) {
      return "no answer within "
          + timeout.toSeconds()
          + " s (expected: "
          + words.server()
          + ", or a longer --timeout)";
    }
    if (e instanceof SSLException || caused(e, CertificateException.class) != null) {
      return tls(e);
    }
    String message = e.getMessage() == null ? "no connection" : IoCauses.of(e);
    // To a client of plain HTTP, a port with TLS returns bytes that are not HTTP, or none.
    boolean cut =
        message.contains("header parser received no bytes")
            || message.contains("EOF")
            || message.contains("Invalid status line")
            || message.contains("closed")
            || message.contains("reset");
    if (!https() && cut) {
      return "the connection was closed without an answer; the port may speak TLS"
          + " (expected: https:// in "
          + words.flag()
          + ", or --tls-ca FILE)";
    }
    return message + " (expected: " + words.server() + ")";
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
          + " (expected: a name in it as the host of "
          + words.flag()
          + ")";
    }
    String message = String.valueOf(e.getMessage());
    String lower = message.toLowerCase(Locale.ROOT);
    if (lower.contains("unrecognized ssl message") || lower.contains("not an ssl/tls record")) {
      return "the port does not speak TLS (expected: http:// in "
          + words.flag()
          + ", without --tls-ca)";
    }
    if (lower.contains("certificate_required") || lower.contains("bad_certificate")) {
      return "the server requires a client certificate, which '"
          + words.command()
          + "' cannot send (expected: a server without --tls-client-ca)";
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
