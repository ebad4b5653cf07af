package dev.weir.server;

import io.grpc.util.AdvancedTlsX509KeyManager;
import io.grpc.util.AdvancedTlsX509TrustManager;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.GeneralSecurityException;
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
   * Returns the certificates by the first of some settings that is there, or null for plain text.
   *
   * @throws StartException if they cannot be used
   */
  static @Nullable Certificates of(ServerSettings settings, TlsSettings... choices)
      throws StartException {
    for (TlsSettings choice : choices) {
      Optional<Path> certificate = settings.value(choice.certificate());
      Optional<Path> key = settings.value(choice.key());
      if (certificate.isPresent() && key.isPresent()) {
        try {
          return new Certificates(
              choice.certificate(),
              certificate.get(),
              key.get(),
              settings.value(choice.clientCa()).orElse(null));
        } catch (IOException | GeneralSecurityException | RuntimeException e) {
          throw new StartException(
              settings.source(choice.certificate()) + ": cannot be used: " + e.getMessage(), e);
        }
      }
    }
    return null;
  }

  private void read() throws IOException, GeneralSecurityException {
    keys.updateIdentityCredentials(certificate.toFile(), key.toFile());
    if (clients != null && clientCa != null) {
      clients.updateTrustCredentials(clientCa.toFile());
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
        read = now;
        read();
        Logs.LOG.info(setting.flag() + ": changed, in force for new connections");
      }
    } catch (IOException | GeneralSecurityException | RuntimeException e) {
      Logs.LOG.warning(
          setting.flag() + ": cannot be used, the one before stays in force: " + e.getMessage());
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
