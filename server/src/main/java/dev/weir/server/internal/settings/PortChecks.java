package dev.weir.server.internal.settings;

import java.util.List;
import java.util.Optional;

/** The checks of the settings of the ports for requests: numbers, TLS, authentication. */
final class PortChecks {
  private static final List<Setting<Optional<Integer>>> PORTS =
      List.of(Settings.PORT, Settings.GRPC_PORT, Settings.RESP_PORT);

  private PortChecks() {}

  /** Returns the number of a port; 0 if it is any free one, or none. */
  private static int number(ServerSettings settings, Setting<Optional<Integer>> port) {
    return settings.value(port).orElse(0);
  }

  static void check(ServerSettings settings, List<String> problems) {
    int port = number(settings, Settings.PORT);
    int grpc = number(settings, Settings.GRPC_PORT);
    int resp = number(settings, Settings.RESP_PORT);
    if (port != 0 && port == grpc) {
      problems.add(
          settings.source(Settings.GRPC_PORT)
              + ": "
              + port
              + " (expected: a port other than HTTP's)");
    }
    if (resp != 0 && (resp == port || resp == grpc)) {
      problems.add(
          settings.source(Settings.RESP_PORT)
              + ": "
              + resp
              + " (expected: a port that neither HTTP"
              + " nor gRPC uses)");
    }
    if (PORTS.stream().allMatch(each -> settings.value(each).isEmpty())) {
      problems.add(
          settings.source(Settings.PORT)
              + ": off, as "
              + settings.source(Settings.GRPC_PORT)
              + " and "
              + settings.source(Settings.RESP_PORT)
              + " (expected: at least one of them with a port for requests)");
    }
    checkTls(settings, TlsSettings.ALL, problems);
    checkTls(settings, TlsSettings.GRPC, problems);
    settings.checkReadable(Settings.TOKEN_FILE, problems);
    settings.checkReadable(Settings.HOLD_KEY_FILE, problems);
  }

  /** Checks that clients on other machines must authenticate. */
  static void checkReach(ServerSettings settings, List<String> problems, List<String> warnings) {
    if (!settings.loopback(Settings.HOST) && !authenticated(settings)) {
      if (settings.value(Settings.INSECURE)) {
        warnings.add(
            settings.source(Settings.INSECURE)
                + ": anyone who reaches "
                + settings.value(Settings.HOST)
                + " can ask for permits and use up those of others");
      } else {
        problems.add(
            settings.source(Settings.HOST)
                + ": "
                + settings.value(Settings.HOST)
                + " can be reached from other machines (expected: --token-file,"
                + " --tls-client-ca or --insecure)");
      }
    }
  }

  private static void checkTls(ServerSettings settings, TlsSettings tls, List<String> problems) {
    boolean cert = settings.value(tls.certificate()).isPresent();
    if (cert != settings.value(tls.key()).isPresent()) {
      Setting<?> given = cert ? tls.certificate() : tls.key();
      problems.add(settings.source(given) + ": only one of certificate and key (expected: both)");
    }
    if (!cert && settings.value(tls.clientCa()).isPresent()) {
      problems.add(
          settings.source(tls.clientCa())
              + ": client CA without a certificate (expected:"
              + " a certificate too)");
    }
    settings.checkReadable(tls.certificate(), problems);
    settings.checkReadable(tls.key(), problems);
    settings.checkReadable(tls.clientCa(), problems);
  }

  /** Returns whether every port requires a token or a client certificate. */
  private static boolean authenticated(ServerSettings settings) {
    boolean grpcAlone = settings.value(Settings.GRPC_TLS_CERT).isPresent();
    boolean all = settings.value(Settings.TLS_CLIENT_CA).isPresent();
    boolean grpc = grpcAlone ? settings.value(Settings.GRPC_TLS_CLIENT_CA).isPresent() : all;
    return settings.value(Settings.TOKEN_FILE).isPresent() || (all && grpc);
  }
}
