package dev.weir.server.internal.access;

import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Setting;
import dev.weir.server.internal.settings.TlsSettings;
import dev.weir.server.settings.StartException;
import io.grpc.util.AdvancedTlsX509KeyManager;
import io.grpc.util.AdvancedTlsX509TrustManager;
import io.grpc.util.CertificateUtils;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.X509KeyManager;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * A port's certificate and key, and the CA certificates that must have signed its clients'.
 * Reloaded when the files change: new connections use the new ones, open connections go on. Safe
 * for use by many threads.
 */
public final class Certificates {
  /** The certificates of ports in plain text. */
  public static final Certificates NONE = new Certificates();

  private final Optional<WatchedFiles> files;
  private final AdvancedTlsX509KeyManager keys = new AdvancedTlsX509KeyManager();
  private final @Nullable AdvancedTlsX509TrustManager clients;

  private Certificates() {
    clients = null;
    files = Optional.empty();
  }

  private Certificates(
      Setting<Optional<Path>> setting, Path certificate, Path key, @Nullable Path clientCa)
      throws IOException, GeneralSecurityException {
    this.clients =
        clientCa == null
            ? null
            : AdvancedTlsX509TrustManager.newBuilder()
                .setVerification(
                    AdvancedTlsX509TrustManager.Verification.CERTIFICATE_ONLY_VERIFICATION)
                .build();
    List<Path> paths = new ArrayList<>(List.of(certificate, key));
    if (clientCa != null) {
      paths.add(clientCa);
    }
    WatchedFiles watched =
        new WatchedFiles(setting.flag(), " for new connections", paths, this::take);
    files = Optional.of(watched);
    watched.first();
  }

  /**
   * Returns the certificates of the settings, or {@link #NONE}.
   *
   * @throws StartException if they cannot be used
   */
  public static Certificates of(ServerSettings settings, TlsSettings tls) throws StartException {
    Optional<Path> certificate = settings.value(tls.certificate());
    Optional<Path> key = settings.value(tls.key());
    if (certificate.isEmpty() || key.isEmpty()) {
      return NONE;
    }
    try {
      Path clientCa = settings.value(tls.clientCa()).orElse(null);
      return new Certificates(tls.certificate(), certificate.get(), key.get(), clientCa);
    } catch (IOException | GeneralSecurityException | RuntimeException e) {
      throw new StartException(
          settings.source(tls.certificate()) + ": cannot be used: " + WatchedFiles.reason(e), e);
    }
  }

  /** Puts certificate, key and, if there is one, the clients' CA in force. */
  private void take(List<byte[]> contents) throws IOException, GeneralSecurityException {
    X509Certificate[] chain = certificates("certificate", contents.get(0));
    PrivateKey own = key(contents.get(1));
    checkPair(chain[0], own);
    if (clients != null) {
      clients.updateTrustCredentials(certificates("client certificates", contents.get(2)));
    }
    keys.updateIdentityCredentials(chain, own);
  }

  private static X509Certificate[] certificates(String what, byte[] content)
      throws GeneralSecurityException {
    X509Certificate[] found = {};
    String why = "none";
    try {
      found = CertificateUtils.getX509Certificates(new ByteArrayInputStream(content));
    } catch (GeneralSecurityException e) {
      why = WatchedFiles.reason(e);
    }
    if (found.length == 0) {
      throw new CertificateException(what + ": " + why + " (expected: one in PEM)");
    }
    return found;
  }

  private static PrivateKey key(byte[] content) throws GeneralSecurityException {
    try {
      return CertificateUtils.getPrivateKey(new ByteArrayInputStream(content));
    } catch (IOException | GeneralSecurityException | RuntimeException e) {
      throw new CertificateException(
          "key: " + WatchedFiles.reason(e) + " (expected: one in PEM, PKCS #8, no password)", e);
    }
  }

  /** Checks that the key belongs to the certificate: one verifies what the other signs. */
  private static void checkPair(X509Certificate certificate, PrivateKey key)
      throws GeneralSecurityException {
    String algorithm =
        switch (key.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          default -> key.getAlgorithm();
        };
    byte[] text = {1, 2, 3};
    Signature signer = Signature.getInstance(algorithm);
    signer.initSign(key);
    signer.update(text);
    byte[] signed = signer.sign();
    Signature verifier = Signature.getInstance(algorithm);
    verifier.initVerify(certificate.getPublicKey());
    verifier.update(text);
    if (!verifier.verify(signed)) {
      throw new CertificateException("the key does not belong to the certificate");
    }
  }

  /** Reads the files; if they cannot be used, the old content stays in force. */
  public void refresh() {
    files.ifPresent(WatchedFiles::check);
  }

  /** Returns whether there are certificates; if not, the port speaks plain text. */
  public boolean exist() {
    return files.isPresent();
  }

  public X509KeyManager keys() {
    return keys;
  }

  /** Returns the verifier of client certificates, or null if none is required. */
  public @Nullable X509TrustManager clients() {
    return clients;
  }
}
