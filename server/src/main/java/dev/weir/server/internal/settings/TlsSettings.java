package dev.weir.server.internal.settings;

import java.nio.file.Path;
import java.util.Optional;

/** The settings of TLS that belong together. */
public record TlsSettings(
    Setting<Optional<Path>> certificate,
    Setting<Optional<Path>> key,
    Setting<Optional<Path>> clientCa) {

  /** The settings of all ports. */
  public static final TlsSettings ALL =
      new TlsSettings(Settings.TLS_CERT, Settings.TLS_KEY, Settings.TLS_CLIENT_CA);

  /** The settings of the gRPC port alone. */
  public static final TlsSettings GRPC =
      new TlsSettings(Settings.GRPC_TLS_CERT, Settings.GRPC_TLS_KEY, Settings.GRPC_TLS_CLIENT_CA);
}
