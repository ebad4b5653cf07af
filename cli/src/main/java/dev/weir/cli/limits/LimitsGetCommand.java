package dev.weir.cli.limits;

import dev.weir.cli.admin.AdminClient;
import dev.weir.cli.admin.AdminCommand;
import dev.weir.cli.command.JsonObject;
import dev.weir.rules.ShownText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
    name = "get",
    mixinStandardHelpOptions = true,
    description = {
      "Shows what a customer has.",
      "",
      "Exit status: 0, or 1 if there is no record.",
      ""
    })
final class LimitsGetCommand extends AdminCommand {
  @Mixin private final SubjectFlags subject = new SubjectFlags();

  @Override
  public int run() throws InterruptedException {
    AdminClient.Answer answer = server().client().get(subject.path());
    if (json()) {
      out().println(answer.body().strip());
      return 0;
    }
    JsonObject record = answer.json();
    out().println(ShownText.plain(subject + ", version " + record.text("version")));
    RecordText.lines(record).forEach(line -> out().println("  " + line));
    RecordText.warn(record, err());
    return 0;
  }
}
