package dev.weir.replay.internal.pages;

import dev.weir.replay.DryRunResult;
import dev.weir.replay.DryRunResult.Counts;
import dev.weir.replay.DryRunResult.KeyChange;
import dev.weir.replay.DryRunResult.RuleChange;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The sections of a dry run's report beyond those of a replay: both sides beside each other. */
public final class DryRunPage {
  private final Html html;
  private final DryRunResult result;

  private DryRunPage(Html html, DryRunResult result) {
    this.html = html;
    this.result = result;
  }

  /** Appends the sections. */
  public static void append(Html html, DryRunResult result) {
    DryRunPage page = new DryRunPage(html, result);
    page.totals();
    page.rules();
    page.keys("Refused more often", result.refusedMore());
    page.keys("Refused less often", result.refusedLess());
  }

  private void totals() {
    html.raw("<section>").element("h2", "Before and after").raw("<div class=\"tiles\">");
    html.tile("refused before", number(result.before().refused()), "rules in force", false);
    long more = result.after().refused() - result.before().refused();
    html.tile(
        "refused after",
        number(result.after().refused()),
        more == 0 ? "as many" : number(Math.abs(more)) + (more > 0 ? " more" : " fewer"),
        more > 0);
    html.tile(
        "replayed",
        number(result.replayed()),
        Figures.percent(result.replayed(), result.came()) + " of what came",
        result.replayed() < result.came());
    html.raw("</div>");
    for (String warning : result.warnings()) {
      html.element("p class=\"note\"", warning);
    }
    html.element(
        "p class=\"note\"",
        "Recorded by this server. Both sides begin with nothing used, so the first window of each"
            + " rule refuses fewer than it did. Values are masked; the same value looks the same.");
    html.raw("</section>\n");
  }

  private void rules() {
    html.raw("<section>").element("h2", "Rules before and after");
    html.table(
        "rule",
        "path",
        "#asked",
        "#refused before",
        "#refused after",
        "#shadow before",
        "#shadow after");
    for (RuleChange each : result.rules()) {
      Counts any = each.after() == null ? each.before() : each.after();
      html.row().words(each.rule(), each.whole() ? "" : "keys in part");
      html.keyCell(each.path()).number(any == null ? 0 : any.asked());
      html.number(refused(each.before(), "new")).number(refused(each.after(), "gone"));
      html.number(shadow(each.before())).number(shadow(each.after())).endRow();
    }
    html.endTable().raw("</section>\n");
  }

  private static String refused(@Nullable Counts counts, String none) {
    return counts == null ? none : number(counts.refused());
  }

  private static String shadow(@Nullable Counts counts) {
    return counts == null ? "" : number(counts.shadow());
  }

  private void keys(String title, List<KeyChange> keys) {
    if (keys.isEmpty()) {
      return;
    }
    html.raw("<section>").element("h2", title);
    html.table("key", "rule", "#refused before", "#refused after", "#difference");
    for (KeyChange each : keys) {
      html.row().keyCell(each.key()).word(each.rule());
      html.number(each.before()).number(each.after());
      long difference = each.after() - each.before();
      html.number((difference > 0 ? "+" : "") + number(difference)).endRow();
    }
    html.endTable();
    if (!result.keysExact()) {
      html.element("p class=\"note\"", "Too many keys for exact counts: these are lower bounds.");
    }
    html.raw("</section>\n");
  }

  private static String number(long value) {
    return Figures.number(value);
  }
}
