package dev.weir.siege.soak;

import dev.weir.siege.Target;
import dev.weir.siege.guests.HttpGuest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** The files of a soak's servers, which change while they run. */
public final class SoakFiles {
  /** The token of the ordinary clients, which does not change. */
  public static final String TOKEN = "token-of-ordinary-clients";

  private final Path folder;
  private final Path rules;
  private final Path tokens;
  private int changes;

  SoakFiles(Path folder) throws IOException {
    this.folder = folder;
    rules = folder.resolve("rules.yaml");
    tokens = folder.resolve("tokens");
    writeRules(true);
    replaceToken();
  }

  Path rules() {
    return rules;
  }

  Path tokens() {
    return tokens;
  }

  /** Writes the rules, with the flapping limit whole or half. */
  void writeRules(boolean whole) throws IOException {
    replace(rules, SoakRules.file(whole));
  }

  /** Returns the token that is replaced next. */
  String token() {
    return "token-number-" + changes + "-of-many";
  }

  /** Replaces a token; every other time the file keeps its old time. */
  void replaceToken() throws IOException {
    changes++;
    var time = Files.exists(tokens) ? Files.getLastModifiedTime(tokens) : null;
    Path next = Files.writeString(folder.resolve("next"), TOKEN + "\n" + token() + "\n");
    if (time != null && changes % 2 == 0) {
      Files.setLastModifiedTime(next, time);
    }
    move(next, tokens);
  }

  /** Returns whether a server accepts a token. */
  boolean accepted(Target target, String token) throws IOException {
    Target mine = target.withToken(token);
    try (HttpGuest guest = new HttpGuest(mine)) {
      guest.get("/metrics");
      return true;
    } catch (IOException e) {
      if (String.valueOf(e.getMessage()).contains("status 401")) {
        return false;
      }
      throw e;
    }
  }

  private void replace(Path file, String text) throws IOException {
    move(Files.writeString(folder.resolve("next-rules"), text), file);
  }

  private static void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
