package dev.weir.cli.limits;

import dev.weir.cli.Main;
import dev.weir.cli.admin.AdminClient;
import dev.weir.cli.admin.AdminCommand;
import dev.weir.cli.command.CommandFailure;
import dev.weir.cli.rules.WriteFlags;
import dev.weir.config.Json;
import dev.weir.rules.ShownText;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
    name = "delete",
    mixinStandardHelpOptions = true,
    description = {
      "Deletes a customer's record: the rules' own numbers hold again.",
      "",
      "Exit status: 0, or 1 if there is no record.",
      ""
    })
final class LimitsDeleteCommand extends AdminCommand {
  @Mixin private final SubjectFlags subject = new SubjectFlags();
  @Mixin private final WriteFlags write = new WriteFlags();

  @Override
  public int run() throws InterruptedException {
    String reason = write.reason();
    AdminClient client = server().client();
    AdminClient.Answer read = client.get(subject.path());
    AdminClient.Answer answer =
        client.call(
            "DELETE",
            subject.path() + write.query(client, "reason", reason),
            Map.of("If-Match", read.etag()),
            "",
            Set.of(412));
    if (answer.status() == 412) {
      throw new CommandFailure(
          Main.FOUND,
          "conflict: somebody else changed "
              + ShownText.plain(subject.toString())
              + " meanwhile, and nothing was deleted (expected: 'weir limits get' to see what there"
              + " is now, and then the command again)");
    }
    if (json()) {
      out().println(Json.write(Map.of("deleted", true)));
    } else {
      out().println(ShownText.plain(subject + ", deleted"));
    }
    return write.applied(answer, err());
  }
}
