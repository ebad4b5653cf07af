package dev.weir.cli.command;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The flags for the running server to which requests are sent over HTTP. */
public final class ServerFlags {
  @Option(
      names = {"--url", "--server"},
      paramLabel = "URL",
      description =
          "The server. Default: http://127.0.0.1:8080, or https://127.0.0.1:8080 with --tls-ca")
  private @Nullable String url;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "Sends the first token in this file to the server.")
  private @Nullable Path tokenFile;

  @Option(
      names = "--tls-ca",
      paramLabel = "FILE",
      description = "Use TLS, and trust only the CA certificates in this file.")
  private @Nullable Path tlsCa;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "How long to wait for the answer. Default: ${DEFAULT-VALUE}")
  private int timeoutSeconds = 5;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /** Returns a client for the server; a flag that cannot be used is wrong usage. */
  public ServerClient client() {
    ServerClient.Words words =
        new ServerClient.Words("--url", command.qualifiedName(), "a running 'weir serve'");
    try {
      return new ServerClient(
          ServerClient.address(
              "--url",
              url != null ? url : (tlsCa == null ? "http" : "https") + "://127.0.0.1:8080",
              tlsCa != null),
          tlsCa == null ? null : FlagValues.readable("--tls-ca", tlsCa),
          tokenFile == null ? null : TokenFlag.first("--token-file", tokenFile),
          Duration.ofSeconds(timeoutSeconds),
          words);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    }
  }

  /** Returns the text for an answer other than the expected one. */
  public static String refusal(ServerClient client, int status, String body) {
    if (status == 401) {
      return client.hasToken()
          ? "the server does not accept this token (expected: --token-file with a token"
              + " from the server's own --token-file)"
          : "the server requires a token (expected: --token-file FILE)";
    }
    return "answered " + status + " " + body.strip();
  }
}
