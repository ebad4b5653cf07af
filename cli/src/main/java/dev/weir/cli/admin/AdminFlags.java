package dev.weir.cli.admin;

import dev.weir.cli.command.FlagValues;
import dev.weir.cli.command.ServerClient;
import dev.weir.cli.command.TokenFlag;
import dev.weir.rules.ValueErrors;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The flags for the address of the administration interface and for the token that is sent to it.
 */
public final class AdminFlags {
  static final String SERVER_VARIABLE = "WEIR_ADMIN_SERVER";
  static final String TOKEN_VARIABLE = "WEIR_ADMIN_TOKEN";

  private static final int MAX_SECONDS = 3_600;

  @Option(
      names = {"--server", "--url"},
      paramLabel = "URL",
      description =
          "The administration interface of a server. Environment: WEIR_ADMIN_SERVER."
              + " Default: http://127.0.0.1:8090, or https://127.0.0.1:8090 with --tls-ca")
  private @Nullable String server;

  @Option(
      names = "--token",
      paramLabel = "TOKEN",
      description =
          "The token to show. Users of this machine can read it in the list of processes;"
              + " --token-file and the environment do not show it. Environment: WEIR_ADMIN_TOKEN")
  private @Nullable String token;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "Show the first token in this file.")
  private @Nullable Path tokenFile;

  @Option(
      names = "--tls-ca",
      paramLabel = "FILE",
      description = "Use TLS, and trust only the CA certificates in this file.")
  private @Nullable Path tlsCa;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "How long to wait for each answer. Default: ${DEFAULT-VALUE}")
  private int timeoutSeconds = 30;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /** Returns a client for the server, with the token. */
  public AdminClient client() {
    return client(System.getenv());
  }

  AdminClient client(Map<String, String> environment) {
    PrintWriter err = command.commandLine().getErr();
    try {
      ValueErrors.range("--timeout", timeoutSeconds, 1, MAX_SECONDS);
      String shown = token(environment);
      URI url = server(environment);
      if (token != null) {
        err.println(
            "weir: --token: users of this machine can read it in the list of processes"
                + " (expected: --token-file FILE, or the environment variable "
                + TOKEN_VARIABLE
                + ")");
      }
      if (!url.getScheme().equalsIgnoreCase("https") && !isLoopback(url.getHost())) {
        err.println(
            "weir: "
                + url
                + ": the token is sent without encryption (expected: https, or a loopback address)");
      }
      return new AdminClient(
          new ServerClient(
              url,
              tlsCa == null ? null : FlagValues.readable("--tls-ca", tlsCa),
              shown,
              Duration.ofSeconds(timeoutSeconds),
              new ServerClient.Words(
                  "--server", command.qualifiedName(), "a running 'weir serve' with --admin-port")),
          Duration.ofSeconds(timeoutSeconds),
          tokenSource());
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    }
  }

  /** Returns whether any of the flags here is given; they only make sense with a server. */
  public boolean given() {
    return server != null || token != null || tokenFile != null || tlsCa != null;
  }

  private URI server(Map<String, String> environment) {
    String variable = environment.getOrDefault(SERVER_VARIABLE, "");
    if (server != null) {
      return ServerClient.address("--server", server, tlsCa != null);
    }
    if (!variable.isEmpty()) {
      return ServerClient.address(SERVER_VARIABLE, variable, tlsCa != null);
    }
    return URI.create((tlsCa == null ? "http" : "https") + "://127.0.0.1:8090");
  }

  private String token(Map<String, String> environment) {
    if (token != null && tokenFile != null) {
      throw ValueErrors.error("--token", "given with --token-file", "one of the two");
    }
    if (tokenFile != null) {
      return TokenFlag.first("--token-file", tokenFile);
    }
    if (token != null) {
      return TokenFlag.sendable("--token", token);
    }
    String variable = environment.getOrDefault(TOKEN_VARIABLE, "").strip();
    if (variable.isEmpty()) {
      throw ValueErrors.error(
          "token",
          "none",
          "--token-file FILE, or the environment variable "
              + TOKEN_VARIABLE
              + "; 'weir tokens create' makes one");
    }
    return TokenFlag.sendable(TOKEN_VARIABLE, variable);
  }

  private String tokenSource() {
    if (tokenFile != null) {
      return "--token-file: " + tokenFile;
    }
    return token != null ? "--token" : TOKEN_VARIABLE;
  }

  private static boolean isLoopback(String host) {
    try {
      return InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return true; // The request will fail with the reason, and nothing is sent.
    }
  }
}
