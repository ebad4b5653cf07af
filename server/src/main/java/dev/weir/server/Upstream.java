package dev.weir.server;

import dev.weir.client.WeirClient;
import dev.weir.server.internal.access.PasswordFile;
import dev.weir.server.internal.metrics.ClientFamilies;
import dev.weir.server.internal.metrics.Families;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import dev.weir.server.internal.settings.UpstreamUri;
import dev.weir.server.settings.StartException;
import io.grpc.ChannelCredentials;
import io.grpc.TlsChannelCredentials;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/** The server whose limits this one holds, if it has none of its own. */
final class Upstream implements AutoCloseable {
  /** The upstream of a server that has limits of its own. */
  static final Upstream NONE = new Upstream(Optional.empty());

  private final Optional<WeirClient> client;

  private Upstream(Optional<WeirClient> client) {
    this.client = client;
  }

  /**
   * Opens a client of the server that the settings name, or returns {@link #NONE}.
   *
   * @throws StartException if a certificate or the token cannot be used
   */
  static Upstream open(ServerSettings settings) throws StartException {
    Optional<UpstreamUri> upstream = settings.value(Settings.UPSTREAM);
    if (upstream.isEmpty()) {
      return NONE;
    }
    WeirClient.Builder builder =
        WeirClient.builder(upstream.get().target())
            .deadline(settings.value(Settings.UPSTREAM_TIMEOUT))
            .onFailure(settings.value(Settings.ON_FAILURE));
    if (upstream.get().tls()) {
      builder.credentials(credentials(settings.value(Settings.UPSTREAM_TLS_CA)));
    }
    Optional<Path> token = settings.value(Settings.UPSTREAM_TOKEN_FILE);
    if (token.isPresent()) {
      String source = settings.source(Settings.UPSTREAM_TOKEN_FILE);
      String text = PasswordFile.read(source, token.get());
      builder.token(() -> text);
    }
    return new Upstream(Optional.of(builder.build()));
  }

  /** Returns the client of the server; empty if this server has limits of its own. */
  Optional<WeirClient> client() {
    return client;
  }

  /** Adds the metrics of the client. */
  void addMetrics(Families to) {
    client.ifPresent(from -> ClientFamilies.add(to, from.metrics()));
  }

  @Override
  public void close() {
    client.ifPresent(WeirClient::close);
  }

  private static ChannelCredentials credentials(Optional<Path> ca) throws StartException {
    TlsChannelCredentials.Builder credentials = TlsChannelCredentials.newBuilder();
    if (ca.isPresent()) {
      try {
        credentials.trustManager(ca.get().toFile());
      } catch (IOException e) {
        throw new StartException(
            Settings.UPSTREAM_TLS_CA.flag()
                + ": "
                + ca.get()
                + ": cannot be used: "
                + e.getMessage()
                + " (expected: certificates in PEM)",
            e);
      }
    }
    return credentials.build();
  }
}
