package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.server.internal.settings.Setting;
import dev.weir.server.internal.settings.Settings;
import java.nio.file.Files;
import java.nio.file.Path;
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
