package dev.weir.replay;

import dev.weir.replay.LimitSuggestions.RefusalCount;
import dev.weir.replay.internal.pages.Html;
import dev.weir.replay.internal.pages.PageChart;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/** The two curves of a suggestion: the refused requests and keys by the limit. */
final class RefusalCurves {
  private RefusalCurves() {}

  /**
   * Appends the curves beside each other.
   *
   * @param curve the refusals by each limit
   * @param limit the suggested limit
   * @param along the words below the axis of limits
   */
  static void append(
      Html html, Suggestion suggestion, List<RefusalCount> curve, long limit, String along) {
    html.raw("<div class=\"beside even\">");
    String requests = "share of requests refused";
    double share = suggestion.options().refuseAtMost();
    List<PageChart.Point> points = points(curve, RefusalCount::requests, suggestion.requests());
    html.raw(PageChart.curve(points, (double) limit, 0, share, requests, along));
    String keys = "share of keys with any request refused";
    points = points(curve, RefusalCount::keys, suggestion.keys());
    html.raw(PageChart.curve(points, (double) limit, 0, share, keys, along));
    html.raw("</div>");
  }

  private static List<PageChart.Point> points(
      List<RefusalCount> curve, ToLongFunction<RefusalCount> part, long whole) {
    List<PageChart.Point> points = new ArrayList<>();
    for (RefusalCount each : curve) {
      points.add(
          new PageChart.Point((double) each.limit(), part.applyAsLong(each) / (double) whole));
    }
    return points;
  }
}
