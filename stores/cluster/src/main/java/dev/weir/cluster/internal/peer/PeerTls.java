package dev.weir.cluster.internal.peer;

import io.netty.channel.Channel;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;

/**
 * Mutual TLS 1.3 between members. Both sides show a certificate of the same authorities, made out
 * to the name of the member. Safe for use by many threads.
 */
public final class PeerTls {
  private static final String PROTOCOL = "TLSv1.3";

  /** The type of a subject's alternative name that is a name of the DNS; RFC 5280, 4.2.1.6. */
  private static final int DNS_NAME = 2;

  private final Path certificate;
  private final Path key;
  private final Path authorities;
  private final Consumer<? super String> log;

  // Guarded by this.
  private Contexts contexts;
  private List<Object> stamps;

  /** The contexts for both sides of new connections. */
  record Contexts(SslContext server, SslContext client) {}

  /**
   * Reads the files.
   *
   * @param certificate the member's certificate, then those between it and an authority's; PEM
   * @param key its private key in PKCS #8, without a password; PEM
   * @param authorities certificates of the authorities that sign members'; PEM
   * @throws IOException if a file cannot be read or has the wrong content
   */
  public PeerTls(Path certificate, Path key, Path authorities, Consumer<? super String> log)
      throws IOException {
    this.certificate = certificate;
    this.key = key;
    this.authorities = authorities;
    this.log = log;
    stamps = stamps();
    contexts = read();
  }

  /**
   * Returns the contexts for new connections: read again if a file has changed. If the new files
   * cannot be read, the old contexts stay in use. Blocks.
   */
  synchronized Contexts current() {
    try {
      List<Object> now = stamps();
      if (!now.equals(stamps)) {
        stamps = now;
        contexts = read();
        log.accept("the certificate for members was read again: " + certificate);
      }
    } catch (IOException e) {
      log.accept("the old certificate for members stays in use: " + e.getMessage());
    }
    return contexts;
  }

  private List<Object> stamps() throws IOException {
    List<Object> now = new ArrayList<>();
    for (Path file : List.of(certificate, key, authorities)) {
      now.add(Files.getLastModifiedTime(file));
      now.add(Files.size(file));
    }
    return now;
  }

  private Contexts read() throws IOException {
    File certificateFile = certificate.toFile();
    File keyFile = key.toFile();
    File authoritiesFile = authorities.toFile();
    try {
      return new Contexts(
          SslContextBuilder.forServer(certificateFile, keyFile)
              .sslProvider(SslProvider.JDK)
              .trustManager(authoritiesFile)
              .clientAuth(ClientAuth.REQUIRE)
              .protocols(PROTOCOL)
              .build(),
          SslContextBuilder.forClient()
              .sslProvider(SslProvider.JDK)
              .keyManager(certificateFile, keyFile)
              .trustManager(authoritiesFile)
              .protocols(PROTOCOL)
              // Members are identified by their names, not by their hosts.
              .endpointIdentificationAlgorithm(null)
              .build());
    } catch (IOException | IllegalArgumentException e) {
      throw new IOException(
          "TLS of members (" + certificate + ", " + key + ", " + authorities + "): " + e, e);
    }
  }

  /**
   * Returns the reason why the other side of a connection is not that member; null if it is, or if
   * the connection is plain.
   */
  static @Nullable String mismatch(Channel channel, String member) {
    SslHandler tls = channel.pipeline().get(SslHandler.class);
    if (tls == null) {
      return null;
    }
    try {
      X509Certificate shown = (X509Certificate) tls.engine().getSession().getPeerCertificates()[0];
      List<String> names = names(shown);
      return names.contains(member.toLowerCase(Locale.ROOT))
          ? null
          : "certificate of " + names + " (expected: " + member + ")";
    } catch (SSLPeerUnverifiedException
        | CertificateParsingException
        | InvalidNameException
        | ClassCastException e) {
      return "certificate: " + e.getMessage();
    }
  }

  private static List<String> names(X509Certificate shown)
      throws CertificateParsingException, InvalidNameException {
    List<String> names = new ArrayList<>();
    Collection<List<?>> alternatives = shown.getSubjectAlternativeNames();
    if (alternatives != null) {
      for (List<?> alternative : alternatives) {
        if (alternative.get(0) instanceof Integer type && type == DNS_NAME) {
          names.add(String.valueOf(alternative.get(1)).toLowerCase(Locale.ROOT));
        }
      }
    }
    for (Rdn part : new LdapName(shown.getSubjectX500Principal().getName()).getRdns()) {
      if (part.getType().equalsIgnoreCase("CN")) {
        names.add(String.valueOf(part.getValue()).toLowerCase(Locale.ROOT));
      }
    }
    return names;
  }
}
