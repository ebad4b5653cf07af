package dev.weir.server.settings;

import java.util.Locale;

/**
 * One setting of the server: its name, the values it accepts, its default, and its sources. {@link
 * Settings} lists all of them. Immutable.
 *
 * @param <T> the type of its value
 */
public final class Setting<T> {
  /** The variable of a setting that envoyproxy/ratelimit does not have. */
  static final String NO_SUCH_VARIABLE = "";

  private final String name;
  private final SettingKind<T> kind;
  private final String defaultText;
  private final String description;
  private final String envoyVariable;

  Setting(
      String name,
      SettingKind<T> kind,
      String defaultText,
      String description,
      String envoyVariable) {
    this.name = name;
    this.kind = kind;
    this.defaultText = defaultText;
    this.description = description;
    this.envoyVariable = envoyVariable;
  }

  /** Returns the name, as in a settings file: {@code grpc-port}. */
  public String name() {
    return name;
  }

  /** Returns the flag on the command line: {@code --grpc-port}. */
  public String flag() {
    return "--" + name;
  }

  /** Returns the environment variable: {@code WEIR_GRPC_PORT}. */
  public String variable() {
    return "WEIR_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
  }

  /**
   * Returns the variable of envoyproxy/ratelimit that is read if {@link #variable} is not set, or
   * an empty text.
   */
  public String envoyVariable() {
    return envoyVariable;
  }

  /** Returns the placeholder of the value in a help text: {@code N}; empty for a switch. */
  public String placeholder() {
    return kind.placeholder();
  }

  /** Returns whether the flag may stand alone, which means true. */
  public boolean isSwitch() {
    return kind.placeholder().isEmpty();
  }

  /** Returns a description of the accepted values for help texts and errors. */
  public String expected() {
    return kind.expected();
  }

  /** Returns the default in the form in which a user would write it; empty if there is none. */
  public String defaultText() {
    return defaultText;
  }

  public String description() {
    return description;
  }

  SettingKind<T> kind() {
    return kind;
  }

  @Override
  public String toString() {
    return name;
  }
}
