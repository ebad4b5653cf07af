package dev.weir.replay;

import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.LongConsumer;

/** Takes records from a reader to a run, straight away or sorted by time. */
final class RecordLoop {
  /** Progress is reported once in so many records, a power of two. */
  private static final int REPORT_EVERY = 4096;

  /** About what a record takes that waits to be sorted, and each of its entries beside the text. */
  private static final int HELD_BYTES = 200;

  private static final int ENTRY_BYTES = 100;

  private record Held(long timeNanos, long line, Request request) {}

  private final RecordReader reader;
  private final RequestTemplate template;
  private final TimeReader time;
  private final Tally tally;
  private final Fields fields;
  private final long maxHeldBytes;

  RecordLoop(RecordReader reader, RequestTemplate template, TimeReader.Unit unit, Tally tally) {
    this(reader, template, unit, tally, Runtime.getRuntime().maxMemory() / 2);
  }

  RecordLoop(
      RecordReader reader,
      RequestTemplate template,
      TimeReader.Unit unit,
      Tally tally,
      long maxHeldBytes) {
    this.reader = reader;
    this.template = template;
    this.time = new TimeReader(unit);
    this.tally = tally;
    this.fields = new Fields(template.columns().size() + 1);
    this.maxHeldBytes = maxHeldBytes;
  }

  private interface Taker {
    void take(long line, long timeNanos, Request request) throws IOException, ReplayException;
  }

  /** Reads all records and has them decided. Reports how many it has read, now and then. */
  void run(Run run, boolean sort, LongConsumer report) throws IOException, ReplayException {
    if (!sort) {
      each(run::take, report);
      run.decide();
      return;
    }
    List<Held> held = new ArrayList<>();
    long[] bytes = {0};
    each(
        (line, timeNanos, request) -> {
          held.add(new Held(timeNanos, line, request));
          bytes[0] += size(request);
          if (bytes[0] > maxHeldBytes) {
            throw new ReplayException(
                "sort: more than "
                    + held.size()
                    + " records (expected: as many as half of the heap of "
                    + (maxHeldBytes >> 19)
                    + " MiB holds; give it more with -Xmx, or sort the file beforehand)");
          }
        },
        report);
    held.sort(Comparator.comparingLong(Held::timeNanos)); // Stable: equals stay in their order.
    for (Held each : held) {
      run.take(each.line, each.timeNanos, each.request);
    }
    run.decide();
  }

  private static long size(Request request) {
    long bytes = HELD_BYTES;
    for (Descriptor descriptor : request.descriptors()) {
      for (Entry entry : descriptor.entries()) {
        bytes += ENTRY_BYTES + 2L * entry.value().length();
      }
    }
    return bytes;
  }

  private void each(Taker taker, LongConsumer report) throws IOException, ReplayException {
    long records = 0;
    boolean more = true;
    while (more) {
      try {
        more = reader.next(fields);
        if (more) {
          long timeNanos = time.nanos(fields.data(0), fields.from(0), fields.to(0));
          taker.take(reader.line(), timeNanos, template.request(fields));
        }
      } catch (Unreadable e) {
        tally.unreadable(reader.line(), e.reason());
      }
      if ((++records & (REPORT_EVERY - 1)) == 0) {
        report.accept(records);
      }
    }
  }
}
