package dev.weir.cli.admin;

import dev.weir.cli.command.JsonObject;
import dev.weir.config.Json;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;

@Command(
    name = "dashboard",
    mixinStandardHelpOptions = true,
    description = {
      "Makes a link that opens the server's dashboard in a browser, with the role of your token.",
      "",
      "The link is good for one login within 60 s. What makes it good stands behind the #, which a"
          + " browser sends to nobody; your token is not in it.",
      ""
    })
public final class DashboardCommand extends AdminCommand {
  @Override
  public int run() throws InterruptedException {
    AdminClient client = server().client();
    JsonObject made = client.call("POST", "/session/links", Map.of(), "", Set.of()).json();
    URI link = client.page("/dashboard/", "code=" + made.text("code"));
    if (json()) {
      Map<String, Object> result = new LinkedHashMap<>();
      result.put("url", link.toString());
      result.put("expires_in_seconds", made.number("expires_in_seconds"));
      out().println(Json.writeAsIs(result));
    } else {
      out().println(link);
      err().println("weir: good for one login within " + made.number("expires_in_seconds") + " s");
    }
    return 0;
  }
}
