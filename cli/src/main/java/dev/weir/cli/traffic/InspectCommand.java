package dev.weir.cli.traffic;

import dev.weir.traffic.Inspection;
import dev.weir.traffic.Inspector;
import dev.weir.traffic.TrafficException;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "inspect",
    mixinStandardHelpOptions = true,
    description = {
      "Shows how recorded traffic is read: its format, columns, times and order, which columns can"
          + " be keys, and the flags to replay it with.",
      "",
      "For example:",
      "",
      "  weir inspect access.log",
      ""
    })
public final class InspectCommand extends TrafficCommand {
  @Parameters(
      arity = "0..*",
      paramLabel = "FILE",
      description = "The traffic, plain or compressed; - reads standard input.")
  private List<String> files = List.of();

  @Option(names = "--json", description = "Show the result as one JSON object.")
  private boolean json;

  @Override
  List<String> run() throws IOException, TrafficException {
    flags().add(files);
    Inspection inspection;
    try (ReplayBar bar = new ReplayBar("inspect")) {
      inspection = Inspector.inspect(flags().traffic(), bar);
    }
    show(json ? inspection.json() : inspection.text());
    if (inspection.records() == 0) {
      throw nothingRead(inspection.warnings());
    }
    return inspection.warnings();
  }
}
