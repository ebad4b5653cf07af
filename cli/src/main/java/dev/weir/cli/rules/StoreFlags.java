package dev.weir.cli.rules;

import dev.weir.cli.Main;
import dev.weir.cli.Providers;
import dev.weir.cli.admin.AdminFlags;
import dev.weir.cli.command.CommandFailure;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.rules.ValueErrors;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The flags for a configuration store that a command opens itself, without a server. */
public final class StoreFlags {
  private static final int MAX_PASSWORD_BYTES = 4_096;

  @Option(
      names = "--data-dir",
      paramLabel = "DIR",
      description = "Without a server: use the embedded store in this folder.")
  private @Nullable Path dataDir;

  @Option(
      names = "--config-store",
      paramLabel = "URI",
      description = "Without a server: use this store, for example postgresql://host/database.")
  private @Nullable String uri;

  @Option(
      names = "--config-store-password-file",
      paramLabel = "FILE",
      description = "The password for --config-store: the first line of this file.")
  private @Nullable Path passwordFile;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /**
   * Returns whether a store is named, instead of a server.
   *
   * @throws ParameterException if both are named
   */
  public boolean given(AdminFlags server) {
    if (dataDir == null && uri == null) {
      if (passwordFile != null) {
        throw wrong("--config-store-password-file", "given alone", "with --config-store URI");
      }
      return false;
    }
    String flag = dataDir == null ? "--config-store" : "--data-dir";
    if (server.given()) {
      throw wrong(flag, "given with flags for a server", "a store, or a server");
    }
    if (dataDir != null && uri != null) {
      throw wrong("--data-dir", "given with --config-store", "one of the two");
    }
    return true;
  }

  /** Opens the store; the caller closes it. */
  public ConfigStore open() {
    return opened(address(), password(), dataDir == null ? "--config-store" : "--data-dir");
  }

  /** Opens the store; an embedded store that does not exist yet is made. The caller closes it. */
  public ConfigStore openOrMake() {
    if (dataDir == null || Files.exists(dataDir)) {
      return open();
    }
    ConfigStore store = opened("rocksdb:" + dataDir, "", "--data-dir");
    command.commandLine().getErr().println("weir: --data-dir: " + dataDir + " was not there, made");
    return store;
  }

  /**
   * Opens a store.
   *
   * @param flag the flag that names it, for errors
   */
  static ConfigStore opened(String address, String password, String flag) {
    Providers.forStore(address);
    try {
      return ConfigStores.open(address, password);
    } catch (ConfigException e) {
      throw new CommandFailure(flag + ": " + failure(e).getMessage(), e);
    } catch (IllegalArgumentException e) {
      throw new CommandFailure(Main.USAGE, String.valueOf(e.getMessage()));
    }
  }

  /** Returns a failure with the store's message and the remedy. */
  public static CommandFailure failure(ConfigException e) {
    if (e.kind() == Kind.IN_USE) {
      return new CommandFailure(
          e.getMessage() + "; if a running server has it open, use --server URL instead", e);
    }
    if (e.kind() == Kind.DAMAGED && String.valueOf(e.getMessage()).contains("?recover=true")) {
      return new CommandFailure(
          e.getMessage() + "; 'weir config repair --data-dir DIR' does that", e);
    }
    if (e.kind() == Kind.CONFLICT) {
      return new CommandFailure(Main.FOUND, String.valueOf(e.getMessage()));
    }
    return new CommandFailure(String.valueOf(e.getMessage()), e);
  }

  /** Returns the address of the embedded store in a folder. */
  static String embedded(Path folder, String options) {
    if (!Files.isDirectory(folder)) {
      throw new CommandFailure(
          "--data-dir: "
              + folder
              + " is no folder (expected: the folder that a server has as --data-dir)");
    }
    return "rocksdb:" + folder + options;
  }

  private String address() {
    if (dataDir != null) {
      return embedded(dataDir, "");
    }
    String address = String.valueOf(uri);
    if (address.toLowerCase(Locale.ROOT).startsWith("memory:")) {
      throw wrong("--config-store", address, "a store that does not end with this command");
    }
    return address;
  }

  private String password() {
    if (passwordFile == null) {
      return "";
    }
    try {
      if (Files.size(passwordFile) <= MAX_PASSWORD_BYTES) {
        String text = Files.readString(passwordFile, StandardCharsets.UTF_8);
        String password = text.lines().findFirst().orElse("");
        if (!password.isEmpty()) {
          return password;
        }
      }
    } catch (IOException e) {
      // It is as unusable as an empty file.
    }
    throw wrong(
        "--config-store-password-file",
        passwordFile + " cannot be used",
        "a file whose first line is the password, at most " + MAX_PASSWORD_BYTES + " bytes");
  }

  private ParameterException wrong(String flag, Object value, String expected) {
    return new ParameterException(command.commandLine(), ValueErrors.line(flag, value, expected));
  }
}
