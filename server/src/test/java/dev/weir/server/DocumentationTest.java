package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.internal.UncertainCause;
import dev.weir.server.internal.settings.Setting;
import dev.weir.server.internal.settings.Settings;
import dev.weir.shared.Failure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that the pages for users match the code. */
class DocumentationTest {
  private static String page(String name) throws Exception {
    return Files.readString(Path.of("..", "docs", name));
  }

  @Test
  void settingsPage_hasEverySetting() throws Exception {
    String page = page("server/settings.md");
    for (Setting<?> setting : Settings.all()) {
      String row = "| `" + setting.flag() + "` | `" + setting.variable() + "` | ";
      assertThat(page).contains(row + defaultCell(setting) + " |");
    }
  }

  private static String defaultCell(Setting<?> setting) {
    return setting.defaultText().isEmpty() ? "" : "`" + setting.defaultText() + "`";
  }

  @Test
  void pageOfCauses_hasEveryCause() throws Exception {
    String page = page("server/uncertain.md");
    for (Failure failure : Failure.values()) {
      assertThat(page).contains("\n| `" + failure.text() + "` | ");
    }
    for (String cause :
        List.of(
            UncertainCause.COUNTS,
            UncertainCause.NO_RULES,
            UncertainCause.SUBJECT,
            UncertainCause.UPSTREAM,
            UncertainCause.UNKNOWN_REASON)) {
      assertThat(page).contains("`" + cause + "`");
    }
  }

  @Test
  void compatibilityPage_mapsEveryVariableOfTheOriginal() throws Exception {
    String page = page("compatibility.md");
    for (Setting<?> setting : Settings.all()) {
      if (!setting.envoyVariable().isEmpty()) {
        assertThat(page)
            .contains("| `" + setting.envoyVariable() + "` | `" + setting.variable() + "`, ");
      }
    }
  }
}
