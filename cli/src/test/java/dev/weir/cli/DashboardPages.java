package dev.weir.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The checks for every page of the dashboard, at each width and in both colours. */
final class DashboardPages {
  private static final List<String> PAGES =
      List.of(
          "",
          "?span=30d",
          "rules",
          "rule?rule=shop.user",
          "edit?file=shop.yaml",
          "customers?domain=shop&key=user",
          "customers?domain=shop&key=user&value=alice",
          "why",
          "why?domain=shop&text=user%3Dalice",
          "changes",
          "changes?number=3",
          "nodes",
          "access",
          "nowhere");

  private static final int[] WIDTHS = {360, 768, 1280};

  private static final String VIOLATIONS =
      "axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations.map((v) =>"
          + " v.id + ': ' + v.nodes.map((n) => n.html.slice(0, 200)).join(' | ')).join('\\n'))";

  private final BrowserPage page;
  private final String root;
  private final String axe;

  DashboardPages(BrowserPage page, String root, Path axe) throws IOException {
    this.page = page;
    this.root = root;
    this.axe = Files.readString(axe, UTF_8);
  }

  void check() {
    for (String each : PAGES) {
      page.go(root + each);
      page.until("document.querySelector('main h1') && !document.querySelector('main[aria-busy]')");
      page.until("[...document.querySelectorAll('details')].every((e) => (e.open = true))");
      require(page.console().isEmpty(), each, "an empty console");
      keyboard(each);
      page.load(axe);
      for (int width : WIDTHS) {
        for (boolean dark : new boolean[] {false, true}) {
          page.check(width, dark);
          String at = each + " at " + width + (dark ? ", dark" : ", light");
          Object wide = page.value("document.documentElement.scrollWidth - innerWidth");
          require(wide instanceof Number more && more.longValue() <= 0, at, "no sideways scroll");
          String found = String.valueOf(page.value(VIOLATIONS));
          require(found.isEmpty(), at, "no violation, but: " + found);
        }
      }
      List<String> ofAxe = page.console(); // It draws on canvases, so the console has messages.
      require(ofAxe.stream().allMatch(text -> text.contains("Canvas2D")), each, "" + ofAxe);
    }
    page.check(1280, false);
    page.run("document.body.append(new Image())");
    require(
        String.valueOf(page.value(VIOLATIONS)).contains("image-alt"),
        "",
        "that violations are seen");
    System.out.println(
        "smoke: " + PAGES.size() + " pages at 3 widths in 2 colours have no violation of axe-core");
  }

  /**
   * Checks that the first key leads to the content, and that the keyboard reaches everything that
   * can be pressed.
   */
  private void keyboard(String at) {
    page.run("document.activeElement.blur(), window.scrollTo(0, 0)");
    Object reached =
        page.value(
            "[...document.querySelectorAll('main :is(a[href], button, input, select, textarea,"
                + " summary)')].every((e) => e.tabIndex >= 0)");
    require(Boolean.TRUE.equals(reached), at, "all that can be pressed in reach of the keyboard");
  }

  private static void require(boolean truth, String page, String expected) {
    if (!truth) {
      throw new AssertionError("page \"" + page + "\": expected " + expected);
    }
  }
}
