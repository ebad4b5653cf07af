package dev.weir.replay.internal.pages;

import dev.weir.replay.internal.judge.Timeline;
import java.util.Collection;
import java.util.List;
import java.util.function.IntToDoubleFunction;
import java.util.function.IntToLongFunction;
import java.util.stream.Collectors;

/**
 * A chart as SVG. Shapes stretch with the page; texts are HTML beside them and keep their size, so
 * that a phone shows the same chart as a wide screen.
 */
public final class PageChart {
  /*
   * Why is a chart drawn by hand, and not by a library? The page has neither script nor network, so
   * a library for browsers is out; the usual ones for the server need AWT and write absolute sizes,
   * with texts that shrink on a phone. There are only three shapes to draw: steps, a line and a
   * small outline.
   */
  private static final long SECOND = 1_000_000_000L;

  /** The place on the axis from which on a mark has no room beside that of the end on a phone. */
  private static final double CLOSE = 0.8;

  /** The length beyond which texts have room on a phone only if just every fourth is shown. */
  private static final int LONG_TEXT = 6;

  private PageChart() {}

  static String number(double value) {
    long hundredths = Math.round(value * 100); // Pages have thousands: no formatter.
    long part = Math.abs(hundredths % 100);
    String whole = (hundredths < 0 ? "-" : "") + Math.abs(hundredths / 100);
    if (part == 0) {
      return whole.equals("-0") ? "0" : whole;
    }
    return whole + (part < 10 ? ".0" : ".") + (part % 10 == 0 ? part / 10 : part);
  }

  /** The unit of time on a chart's axis of rates. */
  private record Rate(double perNano, String unit) {
    /** Chooses the unit such that numbers are not below 1, if possible. */
    static Rate of(Timeline timeline, String what) {
      double mostPerNano = timeline.mostOffered() / (double) timeline.widthNanos();
      if (mostPerNano * SECOND >= 1) {
        return new Rate(SECOND, what + " per second");
      }
      boolean minute = mostPerNano * 60 * SECOND >= 1;
      return minute
          ? new Rate(60.0 * SECOND, what + " per minute")
          : new Rate(3_600.0 * SECOND, what + " per hour");
    }
  }

  /**
   * Draws the admitted permits, the tolerated and the refused ones on top of them, and a strip of
   * marks where any were refused.
   *
   * @param what the name of what is counted
   */
  public static String time(Timeline timeline, String what, String label, String kind) {
    Rate rate = Rate.of(timeline, what);
    double scale = rate.perNano / timeline.widthNanos();
    double end = Axis.end(timeline.mostOffered() * scale);
    long from = timeline.startNanos(0);
    long to = timeline.startNanos(timeline.size());
    Html html = new Html();
    html.raw("<figure class=\"chart " + kind + "\">");
    html.raw("<figcaption><span>").text(rate.unit).raw("</span>");
    html.raw("<span class=\"keys\"><i class=\"admitted\"></i>admitted ");
    if (timeline.anyTolerated()) {
      html.raw("<i class=\"tolerated\"></i>tolerated ");
    }
    html.raw("<i class=\"refused\"></i>refused</span></figcaption>");
    begin(html, Axis.linear(end), Axis.time(from, to));
    open(html, label);
    steps(html, "refused", timeline, scale / end, timeline::offered);
    if (timeline.anyTolerated()) {
      steps(html, "tolerated", timeline, scale / end, timeline::admitted);
    }
    steps(
        html, "admitted", timeline, scale / end, i -> timeline.admitted(i) - timeline.tolerated(i));
    hits(html, timeline, what);
    html.raw("</svg></div>");
    html.raw("<svg class=\"rug\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\"");
    html.raw(" aria-hidden=\"true\"><path d=\"" + rug(timeline) + "\"/></svg>");
    return end(html).raw("</figure>\n").toString();
  }

  /** Draws a timeline at the size of a word. */
  static String spark(Timeline timeline, long fromNanos, long toNanos) {
    double span = Math.max(1, toNanos - fromNanos);
    double most = Math.max(1, timeline.mostOffered());
    StringBuilder admitted = new StringBuilder();
    StringBuilder refused = new StringBuilder();
    for (int i = 0; i < timeline.size(); i++) {
      if (timeline.offered(i) > 0) {
        double x = 1000 * (timeline.startNanos(i) - fromNanos) / span;
        double wide = Math.max(4, 1000 * timeline.widthNanos() / span);
        double all = 100 * timeline.offered(i) / most;
        double denied = 100 * timeline.refused(i) / most;
        bar(admitted, x, wide, 100 - all + denied, 100);
        bar(refused, x, wide, 100 - all, 100 - all + denied);
      }
    }
    return "<svg class=\"spark\" viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" role=\"img\""
        + " aria-label=\"over time\"><path class=\"admitted\" d=\""
        + admitted
        + "\"/><path class=\"refused\" d=\""
        + refused
        + "\"/></svg>";
  }

  private static void bar(StringBuilder path, double x, double wide, double top, double bottom) {
    if (bottom - top > 0.005) {
      path.append('M').append(number(x)).append(' ').append(number(bottom));
      path.append('V').append(number(top)).append('h').append(number(wide));
      path.append('V').append(number(bottom)).append('z');
    }
  }

  /** A point of a falling or rising line: x unscaled, and the share from 0 to 1. */
  public record Point(double x, double share) {}

  /**
   * Draws shares against limits, both on scales of powers of ten.
   *
   * @param points the points by rising x, at least one; each share holds from there to the next
   * @param limit the place of a vertical line, 0 for none
   * @param bound the place of another vertical line, if it is beyond the limit
   * @param target the height of a horizontal line, 0 for none
   * @param what the title above the curve
   * @param along the name of the limits, below their axis
   */
  public static String curve(
      List<Point> points, double limit, double bound, double target, String what, String along) {
    double most = Math.max(limit, bound);
    double least = target > 0 ? target : 1;
    for (Point point : points) {
      most = Math.max(most, point.x);
      least = point.share > 0 ? Math.min(least, point.share) : least;
    }
    double right = Math.pow(10, Math.max(1, Math.ceil(Math.log10(Math.max(2, most * 1.0001)))));
    double floor = Math.pow(10, Math.min(-1, Math.floor(Math.log10(least) - 0.3)));
    Html html = new Html();
    html.raw("<figure class=\"chart curve\"><figcaption><span>").text(what);
    html.raw("</span></figcaption>");
    begin(html, Axis.powers(floor, 1, true), Axis.powers(1, right, false));
    open(html, what);
    double span = Math.log10(right);
    double depth = -Math.log10(floor);
    StringBuilder line = new StringBuilder();
    double x = 0;
    double y = 0;
    for (Point point : points) {
      x = 1000 * Math.log10(Math.max(1, point.x)) / span;
      line.append(line.length() == 0 ? 'M' : 'H').append(number(x));
      y = point.share <= floor ? 100 : -100 * Math.log10(point.share) / depth;
      line.append(line.indexOf("H") < 0 && line.indexOf("V") < 0 ? " " : "V").append(number(y));
    }
    line.append("H1000");
    double at = limit > 0 ? 1000 * Math.log10(Math.max(1, limit)) / span : 1000;
    html.raw("<path class=\"under\" d=\"" + line + "V100H0z\"/>");
    if (limit > 0) {
      html.raw("<path class=\"limit\" d=\"M" + number(at) + " 0V100\"/>");
    }
    if (bound > limit) {
      double beyond = 1000 * Math.log10(bound) / span;
      html.raw("<path class=\"target\" d=\"M" + number(beyond) + " 0V100\"/>");
    }
    if (target > 0) {
      html.raw("<path class=\"target\" d=\"M0 " + number(-100 * Math.log10(target) / depth));
      html.raw("H1000\"/>");
    }
    html.raw("<path class=\"line\" d=\"" + line + "\"/></svg>");
    if (limit > 0) {
      html.raw("<span class=\"flag" + (at > 600 ? " left" : "") + "\" style=\"left:");
      html.raw(number(at / 10) + "%\">limit " + Figures.number((long) limit));
      html.raw(bound > limit ? " + " + Figures.number((long) (bound - limit)) : "");
      html.raw("</span>");
    }
    html.raw("</div>").element("div class=\"title\" aria-hidden=\"true\"", along);
    return end(html).raw("</figure>\n").toString();
  }

  /** Opens the frame with its axes, up to where the shapes are. */
  private static void begin(Html html, List<Axis.Mark> up, List<Axis.Mark> along) {
    html.raw("<div class=\"frame\"><div class=\"up\" aria-hidden=\"true\">");
    for (Axis.Mark mark : up) {
      html.raw("<span style=\"bottom:" + number(100 * mark.at()) + "%\">").text(mark.text());
      html.raw("</span>");
    }
    html.raw("</div><div class=\"along\" aria-hidden=\"true\">");
    for (int i = 0; i < along.size(); i++) {
      boolean last = i == along.size() - 1;
      boolean close = i == along.size() - 2 && along.get(i).at() > CLOSE;
      int every = along.get(i).text().length() > LONG_TEXT ? 4 : 2;
      html.raw(
          "<span"
              + ((i % every != 0 && !last) || close ? " class=\"odd\"" : "")
              + " style=\"left:");
      html.raw(number(100 * along.get(i).at()) + "%\">").text(along.get(i).text()).raw("</span>");
    }
    html.raw("</div><div class=\"plot\">");
    for (Axis.Mark mark : up) {
      html.raw("<hr style=\"bottom:" + number(100 * mark.at()) + "%\">");
    }
  }

  private static void open(Html html, String label) {
    html.raw("<svg class=\"shapes\" viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\"");
    html.raw(" role=\"img\" aria-label=\"").text(label).raw("\">");
  }

  private static Html end(Html html) {
    return html.raw("</div>");
  }

  /** Draws the outline of a timeline's values. */
  private static void steps(
      Html html, String kind, Timeline timeline, double scale, IntToLongFunction value) {
    double wide = 1000.0 / timeline.size();
    StringBuilder path = new StringBuilder("M0 100");
    for (int i = 0; i < timeline.size(); i++) {
      path.append('V').append(number(100 - 100 * value.applyAsLong(i) * scale));
      path.append('H').append(number((i + 1) * wide));
    }
    html.raw("<path class=\"" + kind + "\" d=\"" + path + "V100z\"/>");
  }

  /**
   * Draws a load over the time of a timeline, and the thresholds from which elastic rules are
   * enforced.
   *
   * @param load the load by interval, 1 is full
   * @param thresholds the thresholds, each once
   */
  static String load(
      Timeline timeline, IntToDoubleFunction load, Collection<Double> thresholds, String label) {
    double most = 1;
    for (int i = 0; i < timeline.size(); i++) {
      most = Math.max(most, load.applyAsDouble(i));
    }
    double end = 100 * most > 500 ? Axis.end(100 * most) : 100 * Math.ceil(most);
    Html html = new Html();
    html.raw("<figure class=\"chart small\"><figcaption><span>load in %</span>");
    html.raw("<span class=\"keys\"><i class=\"load\"></i>load ");
    String from =
        thresholds.stream()
            .sorted()
            .map(each -> Axis.value(100 * each) + " %")
            .collect(Collectors.joining(", "));
    html.raw("<i class=\"threshold\"></i>elastic rules enforced from ").text(from);
    html.raw("</span></figcaption>");
    begin(
        html,
        Axis.percent(end),
        Axis.time(timeline.startNanos(0), timeline.startNanos(timeline.size())));
    open(html, label);
    double wide = 1000.0 / timeline.size();
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < timeline.size(); i++) {
      line.append(i == 0 ? "M0 " : "V");
      line.append(number(100 - 10_000 * load.applyAsDouble(i) / end));
      line.append('H').append(number((i + 1) * wide));
    }
    html.raw("<path class=\"line\" d=\"" + line + "\"/>");
    for (double threshold : thresholds) {
      html.raw("<path class=\"target\" d=\"M0 " + number(100 - 10_000 * threshold / end));
      html.raw("H1000\"/>");
    }
    return end(html.raw("</svg></div>")).raw("</figure>\n").toString();
  }

  private static String rug(Timeline timeline) {
    double wide = 1000.0 / timeline.size();
    StringBuilder path = new StringBuilder();
    for (int i = 0; i < timeline.size(); i++) {
      if (timeline.refused(i) > 0) {
        bar(path, i * wide, Math.max(wide, 2.5), 0, 10);
      }
    }
    return path.toString();
  }

  private static void hits(Html html, Timeline timeline, String what) {
    double wide = 1000.0 / timeline.size();
    String pattern = timeline.widthNanos() < SECOND ? "d MMM HH:mm:ss.SSS" : "d MMM HH:mm:ss";
    for (int i = 0; i < timeline.size(); i++) {
      if (timeline.offered(i) > 0) {
        html.raw("<rect class=\"hit\" x=\"" + number(i * wide) + "\" y=\"0\" width=\"");
        html.raw(number(wide) + "\" height=\"100\"><title>");
        html.text(Axis.text(pattern, timeline.startNanos(i)));
        html.text(", for " + Figures.window(timeline.widthNanos()) + ": ");
        html.text(Figures.number(timeline.offered(i)) + " " + what + ", refused ");
        html.text(Figures.number(timeline.refused(i)));
        if (timeline.tolerated(i) > 0) {
          html.text(", tolerated " + Figures.number(timeline.tolerated(i)));
        }
        html.raw("</title></rect>");
      }
    }
  }
}
