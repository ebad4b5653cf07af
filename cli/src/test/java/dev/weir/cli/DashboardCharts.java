package dev.weir.cli;

import java.util.List;

/** The checks for every chart: ticks on any span, and marks that stand out in both colours. */
final class DashboardCharts {
  private static final String MODULE =
      "import(new URL('chart.js', document.querySelector('script[type=module]').src))";

  /**
   * A script that checks spans of 2 s to 30 days that begin anywhere, on charts of a phone and of a
   * wide screen.
   */
  private static final String TICKS =
      MODULE
          + ".then(({timeTicks}) => { const bad = []; for (const width of [180, 600, 1000]) for (let"
          + " span = 2000; span <= 2592000000; span = Math.ceil(span * 1.37)) for (let from ="
          + " 1.7e12; from < 1.7e12 + 9e7; from += 7654321) { const ticks = timeTicks(from, from +"
          + " span, width); if (ticks.length < 2 || ticks.length * 40 > width || ticks.some((t) =>"
          + " t.at < from || t.at > from + span)) bad.push([width, span, from, ticks.length].join());"
          + " } return bad.slice(0, 5).join(' '); })";

  private static final String ROOFS =
      MODULE
          + ".then(({roof}) => { const bad = []; for (let value = 0.001; value < 1e9; value *= 1.07)"
          + " { const [most] = roof(value); if (most < value * 0.9999 || most > value * 2.5)"
          + " bad.push(value); } return bad.join(' '); })";

  /**
   * A script that checks a contrast of 3 to 1 between marks and their background: WCAG 2.2, 1.4.11.
   */
  private static final String CONTRASTS =
      "(() => { const light = (text) => { const parts = text.match(/[\\d.]+/g).slice(0, 3).map((c)"
          + " => { c = c / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });"
          + " return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]; };"
          + " const card = light(getComputedStyle(document.querySelector('section')).backgroundColor);"
          + " const bad = []; for (const each of document.querySelectorAll("
          + "'.plot path.area, .plot path.line, .plot path.tick, .plot path.mark')) {"
          + " const style = getComputedStyle(each);"
          + " const own = light(style.fill === 'none' ? style.stroke : each.matches('.tick') ?"
          + " style.stroke : style.fill); const ratio = (Math.max(own, card) + 0.05) /"
          + " (Math.min(own, card) + 0.05); if (ratio < 3) bad.push(each.getAttribute('class') + ' '"
          + " + ratio.toFixed(2)); } return [...new Set(bad)].join(', '); })()";

  private final BrowserPage page;
  private final String root;

  DashboardCharts(BrowserPage page, String root) {
    this.page = page;
    this.root = root;
  }

  void check() {
    page.check(1280, false);
    page.go(root);
    page.until("document.querySelectorAll('.plot path.area').length === 2");
    requireNone(TICKS, "two ticks on any span");
    requireNone(ROOFS, "axes that end a little above the highest value");
    for (boolean dark : new boolean[] {false, true}) {
      for (String each : List.of("", "rule?rule=shop.user")) {
        page.check(1280, dark);
        page.go(root + each);
        page.until("document.querySelector('.plot path.area')");
        requireNone(CONTRASTS, "a contrast of 3 to 1" + (dark ? " on dark" : " on light"));
      }
    }
    page.go(root);
    page.until("document.querySelectorAll('.plot path.area').length === 2");
    requireNone(
        "[...new Set([...document.querySelectorAll('.plot svg')].map((e) =>"
            + " e.querySelector('.grid').getAttribute('d').replace(/ .*H/, ' ')))].slice(1).join()",
        "charts that begin and end under each other");
    page.run("document.querySelector('.plot').focus()");
    page.until(
        "document.querySelector('.plot').dispatchEvent(new KeyboardEvent('keydown', {key:"
            + " 'ArrowLeft'})) !== null && [...document.querySelectorAll('.plot')].every((e) =>"
            + " e.querySelector('.cross').getAttribute('d'))");
    System.out.println("smoke: charts have their ticks, contrasts and margins, and one crosshair");
  }

  private void requireNone(String expression, String expected) {
    String found = String.valueOf(page.value(expression));
    if (!found.isEmpty()) {
      throw new AssertionError("charts: expected " + expected + ", but: " + found);
    }
  }
}
