package dev.weir.cli;

import dev.weir.server.ServerOptions;
import dev.weir.server.WeirServer;
import dev.weir.server.settings.ServerOption;
import dev.weir.server.settings.SettingsException;
import dev.weir.server.settings.StartException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Spec;

@Command(
    name = "serve",
    mixinStandardHelpOptions = true,
    description = {
      "Runs the rate limit service: gRPC for Envoy, HTTP, and the Redis protocol.",
      "",
      "The value of a setting comes from its flag; without one from the environment, then"
          + " from the file named by --config, then from its default.",
      ""
    })
final class ServeCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  /** Adds a flag for every setting of the server. */
  static void addSettings(CommandLine serve) {
    for (ServerOption setting : ServerOptions.all()) {
      OptionSpec.Builder option =
          OptionSpec.builder(setting.flag())
              .type(String.class)
              .description(description(setting))
              .arity(setting.isSwitch() ? "0..1" : "1");
      if (setting.isSwitch()) {
        option.paramLabel("true|false").fallbackValue("true");
      } else {
        option.paramLabel(setting.placeholder());
      }
      serve.getCommandSpec().addOption(option.build());
    }
  }

  private static String[] description(ServerOption setting) {
    List<String> lines = new ArrayList<>();
    lines.add(setting.description().replace("%", "%%"));
    String variables =
        setting.envoyVariable().isEmpty()
            ? setting.variable()
            : setting.variable() + " (or " + setting.envoyVariable() + ")";
    String otherwise = setting.defaultText().isEmpty() ? "" : ". Default: " + setting.defaultText();
    lines.add("Environment: " + variables + otherwise.replace("%", "%%"));
    return lines.toArray(new String[0]);
  }

  @Override
  public Integer call() throws InterruptedException {
    PrintWriter err = spec.commandLine().getErr();
    Supervisor supervisor = new Supervisor(System.getenv());
    StopHook stop = StopHook.install();
    WeirServer server;
    boolean started = false;
    Thread.setDefaultUncaughtExceptionHandler(WeirServer.uncaught());
    try {
      ServerOptions options = ServerOptions.of(flags(), System.getenv());
      Providers.forServer(options);
      server = WeirServer.start(options, begun -> stop.setWork(begun, supervisor));
      started = true;
    } catch (SettingsException e) {
      e.problems().forEach(problem -> err.println("weir: " + problem));
      err.println("'weir help serve' shows every setting.");
      return Main.USAGE;
    } catch (StartException e) {
      e.problems().forEach(problem -> err.println("weir: " + problem));
      return Main.FAILED;
    } finally {
      if (!started) {
        stop.uninstall();
      }
    }
    supervisor.ready();
    server.awaitStopped();
    return 0;
  }

  private Map<String, String> flags() {
    Map<String, String> flags = new HashMap<>();
    for (ServerOption setting : ServerOptions.all()) {
      if (spec.commandLine().getParseResult().hasMatchedOption(setting.flag())) {
        flags.put(setting.name(), spec.findOption(setting.flag()).getValue());
      }
    }
    return flags;
  }
}
