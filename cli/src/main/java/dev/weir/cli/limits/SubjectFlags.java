package dev.weir.cli.limits;

import dev.weir.cli.command.UrlText;
import dev.weir.rules.ShownText;
import picocli.CommandLine.Parameters;

/** The flags that name a customer. */
final class SubjectFlags {
  @Parameters(index = "0", paramLabel = "DOMAIN", description = "The domain of the rules.")
  private String domain = "";

  @Parameters(
      index = "1",
      paramLabel = "KEY",
      description = "The key of a descriptor's entry, for example user.")
  private String key = "";

  @Parameters(index = "2", paramLabel = "VALUE", description = "Its value, for example alice.")
  private String value = "";

  /** Returns the path of the customer's record. */
  String path() {
    return "/limits/"
        + UrlText.encoded(domain)
        + "/"
        + UrlText.encoded(key)
        + "/"
        + UrlText.encoded(value);
  }

  /** Returns the customer as text. */
  @Override
  public String toString() {
    return domain + " " + key + " " + ShownText.quoted(value);
  }
}
