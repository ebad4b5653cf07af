package dev.weir.server;

import io.grpc.util.AdvancedTlsX509KeyManager;
import io.grpc.util.AdvancedTlsX509TrustManager;
import io.grpc.util.CertificateUtils;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
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
 * A door's certificate and key, and the certificates that must have signed its clients'. Read again
 * when their files change: new connections then get the new ones, those that are open go on. Safe
 * for use by many threads.
 */
final class Certificates {
  private final Setting<Optional<Path>> setting;
  private final Path certificate;
  private final Path key;
  private final @Nullable Path clientCa;
  private final AdvancedTlsX509KeyManager keys = new AdvancedTlsX509KeyManager();
  private final @Nullable AdvancedTlsX509TrustManager clients;
  private List<FileTime> read;
  private String trouble = "";

  private Certificates(
      Setting<Optional<Path>> setting, Path certificate, Path key, @Nullable Path clientCa)
      throws IOException, GeneralSecurityException {
    this.setting = setting;
    this.certificate = certificate;
    this.key = key;
    this.clientCa = clientCa;
    this.clients =
        clientCa == null
            ? null
            : AdvancedTlsX509TrustManager.newBuilder()
                .setVerification(
                    AdvancedTlsX509TrustManager.Verification.CERTIFICATE_ONLY_VERIFICATION)
                .build();
    this.read = times();
    read();
  }

  /**
   * Returns the certificates by the settings, or null if there are none.
   *
   * @throws StartException if they cannot be used
   */
  static @Nullable Certificates of(ServerSettings settings, TlsSettings tls) throws StartException {
    Optional<Path> certificate = settings.value(tls.certificate());
    Optional<Path> key = settings.value(tls.key());
    if (certificate.isEmpty() || key.isEmpty()) {
      return null;
    }
    try {
      Path clientCa = settings.value(tls.clientCa()).orElse(null);
      return new Certificates(tls.certificate(), certificate.get(), key.get(), clientCa);
    } catch (IOException | GeneralSecurityException | RuntimeException e) {
      throw new StartException(
          settings.source(tls.certificate()) + ": cannot be used: " + e.getMessage(), e);
    }
  }

  /** Puts in force what is in the files, all of it or nothing. */
  private void read() throws IOException, GeneralSecurityException {
    X509Certificate[] chain = certificates(certificate);
    PrivateKey own;
    try (InputStream in = Files.newInputStream(key)) {
      own = CertificateUtils.getPrivateKey(in);
    }
    checkPair(chain[0], own);
    if (clients != null && clientCa != null) {
      clients.updateTrustCredentials(certificates(clientCa));
    }
    keys.updateIdentityCredentials(chain, own);
  }

  private static X509Certificate[] certificates(Path path)
      throws IOException, GeneralSecurityException {
    try (InputStream in = Files.newInputStream(path)) {
      X509Certificate[] found = CertificateUtils.getX509Certificates(in);
      if (found.length == 0) {
        throw new CertificateException(path + ": no certificate");
      }
      return found;
    }
  }

  /** Makes sure that what the key signs, the certificate's holder has signed. */
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
      throw new CertificateException("the key is not the certificate's");
    }
  }

  private List<FileTime> times() throws IOException {
    List<FileTime> times = new ArrayList<>();
    times.add(Files.getLastModifiedTime(certificate));
    times.add(Files.getLastModifiedTime(key));
    if (clientCa != null) {
      times.add(Files.getLastModifiedTime(clientCa));
    }
    return times;
  }

  /** Reads the files if they have changed; if they cannot be used, what was read before stays. */
  synchronized void refresh() {
    try {
      List<FileTime> now = times();
      if (!now.equals(read)) {
        read();
        read = now;
        trouble = "";
        Logs.LOG.info(setting.flag() + ": changed, in force for new connections");
      }
    } catch (IOException | GeneralSecurityException | RuntimeException e) {
      String said = String.valueOf(e.getMessage());
      if (!said.equals(trouble)) { // It is tried again and again, but said once.
        trouble = said;
        Logs.LOG.warning(
            setting.flag() + ": cannot be used, the one before stays in force: " + said);
      }
    }
  }

  X509KeyManager keys() {
    return keys;
  }

  /** Returns who tells whether a client is one, or null if every client is. */
  @Nullable X509TrustManager clients() {
    return clients;
  }
}
