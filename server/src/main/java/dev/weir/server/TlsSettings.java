package dev.weir.server;

import java.nio.file.Path;
import java.util.Optional;

/** The settings that belong together for TLS. */
record TlsSettings(
    Setting<Optional<Path>> certificate,
    Setting<Optional<Path>> key,
    Setting<Optional<Path>> clientCa) {

  /** Of all doors. */
  static final TlsSettings ALL =
      new TlsSettings(Setting.TLS_CERT, Setting.TLS_KEY, Setting.TLS_CLIENT_CA);

  /** Of the gRPC door alone. */
  static final TlsSettings GRPC =
      new TlsSettings(Setting.GRPC_TLS_CERT, Setting.GRPC_TLS_KEY, Setting.GRPC_TLS_CLIENT_CA);
}
