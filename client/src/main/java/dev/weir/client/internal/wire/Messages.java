package dev.weir.client.internal.wire;

import dev.weir.client.internal.lease.Flight;
import dev.weir.protocol.v1.WeirProto.Check;
import dev.weir.protocol.v1.WeirProto.Limit;
import dev.weir.protocol.v1.WeirProto.Unit;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.LimitOverride;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Request;
import org.jspecify.annotations.Nullable;

/** A writer of requests as messages. */
public final class Messages {
  private Messages() {}

  /** Returns the permits of a request's descriptor; 0 peeks without charging. */
  public static long permits(Request request, Descriptor descriptor) {
    Long own = descriptor.permits();
    return own != null ? own : request.permits() == 0 ? 1 : request.permits();
  }

  /** Returns the problem with a request that no message can carry, or null. */
  public static @Nullable String problem(Request request) {
    for (int i = 0; i < request.descriptors().size(); i++) {
      long permits = permits(request, request.descriptors().get(i));
      if (permits < 0 || permits > Flight.MOST_PERMITS) {
        return "descriptors[" + i + "].permits: " + permits + " (expected: 0..4294967295)";
      }
    }
    return null;
  }

  public static Check check(Request request) {
    Check.Builder check =
        Check.newBuilder().setDomain(request.domain()).setCharge(request.charge());
    for (Descriptor descriptor : request.descriptors()) {
      check.addDescriptors(descriptor(descriptor, permits(request, descriptor)));
    }
    return check.build();
  }

  /** Returns the check of a request with one descriptor, with another number of permits. */
  public static Check check(Request request, long permits) {
    return Check.newBuilder()
        .setDomain(request.domain())
        .addDescriptors(descriptor(request.descriptors().get(0), permits))
        .build();
  }

  /** Returns a check that charges nothing. */
  public static Check peek(Request request) {
    Check.Builder check = Check.newBuilder().setDomain(request.domain());
    request.descriptors().forEach(each -> check.addDescriptors(descriptor(each, 0)));
    return check.build();
  }

  private static dev.weir.protocol.v1.WeirProto.Descriptor.Builder descriptor(
      Descriptor descriptor, long permits) {
    dev.weir.protocol.v1.WeirProto.Descriptor.Builder message =
        dev.weir.protocol.v1.WeirProto.Descriptor.newBuilder().setPermits((int) permits);
    for (Entry entry : descriptor.entries()) {
      message.addEntries(
          dev.weir.protocol.v1.WeirProto.Entry.newBuilder()
              .setKey(entry.key())
              .setValue(entry.value()));
    }
    LimitOverride limit = descriptor.limitOverride();
    if (limit != null) {
      Limit.Builder of =
          Limit.newBuilder()
              .setRequestsPerUnit((int) limit.requestsPerUnit())
              .setUnit(unit(limit.unit()));
      if (limit.unitMultiplier() != 1) {
        of.setUnitMultiplier((int) limit.unitMultiplier());
      }
      message.setLimit(of);
    }
    return message;
  }

  private static Unit unit(RateLimitUnit unit) {
    return switch (unit) {
      case SECOND -> Unit.UNIT_SECOND;
      case MINUTE -> Unit.UNIT_MINUTE;
      case HOUR -> Unit.UNIT_HOUR;
      case DAY -> Unit.UNIT_DAY;
      case WEEK -> Unit.UNIT_WEEK;
      case MONTH -> Unit.UNIT_MONTH;
      case YEAR -> Unit.UNIT_YEAR;
    };
  }
}
