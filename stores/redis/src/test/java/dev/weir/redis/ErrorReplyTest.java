package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.shared.Failure;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ErrorReplyTest {
  /**
   * The messages of Redis 7, and those of 6.2, which wraps the error of a command within the
   * script.
   */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "READONLY | READONLY You can't write against a read only replica.",
        "READONLY | ERR Error running script (call to f_1): @user_script:9: @user_script: 9:"
            + " -READONLY You can't write against a read only replica.",
        "NOREPLICAS | NOREPLICAS Not enough good replicas to write.",
        "MISCONF | MISCONF Redis is configured to save RDB snapshots",
        "MISCONF | ERR Error running script (call to f_1): @user_script:9: @user_script: 9:"
            + " -MISCONF Errors writing to the AOF file: No space left on device",
        "NOREPLICAS | ERR Error running script (call to f_1): @user_script:9: @user_script: 9:"
            + " -NOREPLICAS Not enough good replicas to write.",
        "LOADING | LOADING Redis is loading the dataset in memory",
        "LOADING | MASTERDOWN Link with MASTER is down",
        "BUSY | BUSY Redis is busy running a script.",
        "MOVED | MOVED 3999 127.0.0.1:6381",
        "MOVED | CLUSTERDOWN The cluster is down",
        "MOVED | CROSSSLOT Keys in request don't hash to the same slot",
        "OOM | OOM command not allowed when used memory > 'maxmemory'.",
        "OOM | ERR Error running script (call to f_1): @user_script:9: @user_script: 9:"
            + " -OOM command not allowed when used memory > 'maxmemory'.",
        "OTHER | ERR something else",
        "NOPERM | NOAUTH Authentication required.",
        "NOPERM | WRONGPASS invalid username-password pair or user is disabled.",
        "NOPERM | NOPERM this user has no permissions to run the 'evalsha' command",
        "NOPERM | ERR The user executing the script can't run this command or subcommand script:"
            + " weir_1, on @user_function:9.",
        "NOPERM | ERR Error running script (call to f_1): @user_script:9: @user_script: 9: The user"
            + " executing the script can't run this command or subcommand",
        "OTHER | ERR"
      })
  void errors_areKnownByTheirCodes(Failure expected, String message) {
    assertThat(ErrorReply.failure(message)).isEqualTo(expected);
  }
}
