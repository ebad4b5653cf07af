package dev.weir.spring;

import static org.assertj.core.api.Assertions.assertThat;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Applications for tests with only the starter. */
final class Contexts {
  private Contexts() {}

  static ApplicationContextRunner weir() {
    return new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(WeirAutoConfiguration.class));
  }

  /** Returns the lines of the message with which an application of these properties fails. */
  static String problems(String... properties) {
    String[] message = new String[1];
    weir()
        .withPropertyValues(properties)
        .run(
            context -> {
              Throwable cause = context.getStartupFailure();
              assertThat(cause).as("startup failure").isNotNull();
              while (cause != null && !(cause instanceof WeirPropertiesException)) {
                cause = cause.getCause();
              }
              assertThat(cause)
                  .as("of Weir's properties, in " + context.getStartupFailure())
                  .isNotNull();
              message[0] = String.valueOf(cause == null ? "" : cause.getMessage());
            });
    return String.valueOf(message[0]);
  }
}
