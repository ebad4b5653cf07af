package dev.weir.cli.command;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** The version, as recorded by the build. */
public final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    return new String[] {
      "weir " + number(), "Java " + Runtime.version() + ", " + System.getProperty("java.vm.name")
    };
  }

  /** Returns only the number. */
  public static String number() {
    Properties properties = new Properties();
    try (InputStream in = Version.class.getResourceAsStream("/dev/weir/cli/version.properties")) {
      properties.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return properties.getProperty("version", "unknown");
  }
}
