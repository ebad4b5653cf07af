package dev.weir.server.internal.deciding;

import com.google.protobuf.Duration;
import com.google.protobuf.UInt32Value;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import dev.weir.protocol.envoy.HeaderValue;
import dev.weir.protocol.envoy.RateLimitDescriptor;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.envoy.RateLimitResponse;
import dev.weir.protocol.envoy.RateLimitResponse.DescriptorStatus;
import dev.weir.protocol.envoy.RateLimitResponse.RateLimit;
import dev.weir.protocol.http.BadRequest;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.LimitOverride;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Request;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Setting;
import dev.weir.server.internal.settings.Settings;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The translation of the rate limit service's messages; it decides nothing. Safe for use by many
 * threads.
 */
public final class RlsMessages {
  private final ServerSettings settings;
  private final boolean headers;
  private final boolean metadata;

  public RlsMessages(ServerSettings settings) {
    this.settings = settings;
    this.headers = settings.value(Settings.RESPONSE_HEADERS);
    this.metadata = settings.value(Settings.DYNAMIC_METADATA);
  }

  /** Returns whether answers may have more than an overall code and statuses. */
  public static boolean haveMore(ServerSettings settings) {
    return settings.value(Settings.RESPONSE_HEADERS) || settings.value(Settings.DYNAMIC_METADATA);
  }

  /** Returns whether answers have {@link DynamicMetadata}. */
  public boolean haveMetadata() {
    return metadata;
  }

  public Request request(RateLimitRequest message) throws BadRequest {
    List<Descriptor> descriptors = new ArrayList<>(message.getDescriptorsCount());
    for (int i = 0; i < message.getDescriptorsCount(); i++) {
      descriptors.add(descriptor(message.getDescriptors(i), i, message.getHitsAddend()));
    }
    return new Request(
        message.getDomain(), descriptors, Integer.toUnsignedLong(message.getHitsAddend()));
  }

  private static Descriptor descriptor(RateLimitDescriptor message, int index, int hitsOfRequest)
      throws BadRequest {
    List<Entry> entries = new ArrayList<>(message.getEntriesCount());
    for (RateLimitDescriptor.Entry entry : message.getEntriesList()) {
      entries.add(new Entry(entry.getKey(), entry.getValue()));
    }
    Long permits = null;
    if (message.hasHitsAddend()) {
      long hits = message.getHitsAddend().getValue();
      permits = hits < 0 ? Long.MAX_VALUE : hits; // The number is unsigned on the wire.
    }
    LimitOverride limit = message.hasLimit() ? limit(message.getLimit(), index) : null;
    if (message.getIsNegativeHits()) {
      // The number is the request's if the descriptor has none, as for hits that are taken.
      long refund = permits == null ? Math.max(1, Integer.toUnsignedLong(hitsOfRequest)) : permits;
      return Descriptor.refunding(entries, limit, refund);
    }
    return new Descriptor(entries, limit, permits);
  }

  private static LimitOverride limit(RateLimitDescriptor.RateLimitOverride message, int index)
      throws BadRequest {
    RateLimitUnit unit = unit(message, index);
    long units =
        message.hasUnitMultiplier()
            ? Integer.toUnsignedLong(message.getUnitMultiplier().getValue())
            : 1;
    String problem = LimitOverride.problem(unit, units);
    if (problem != null) {
      throw new BadRequest("descriptors[" + index + "].limit.unit_multiplier: " + problem);
    }
    return new LimitOverride(Integer.toUnsignedLong(message.getRequestsPerUnit()), unit, units);
  }

  private static RateLimitUnit unit(RateLimitDescriptor.RateLimitOverride limit, int index)
      throws BadRequest {
    return switch (limit.getUnit()) {
      case SECOND -> RateLimitUnit.SECOND;
      case MINUTE -> RateLimitUnit.MINUTE;
      case HOUR -> RateLimitUnit.HOUR;
      case DAY -> RateLimitUnit.DAY;
      case MONTH -> RateLimitUnit.MONTH;
      case YEAR -> RateLimitUnit.YEAR;
      case UNKNOWN, UNRECOGNIZED ->
          throw new BadRequest(
              "descriptors["
                  + index
                  + "].limit.unit: "
                  + limit.getUnitValue()
                  + " (expected: 1..6, SECOND to YEAR)");
    };
  }

  /** Returns the answer to a request. */
  public RateLimitResponse response(Request request, Answer answer) {
    RateLimitResponse plain = response(answer);
    return metadata
        ? plain.toBuilder().setDynamicMetadata(DynamicMetadata.of(request, answer)).build()
        : plain;
  }

  /** Returns an answer without {@link DynamicMetadata}. */
  public RateLimitResponse response(Answer answer) {
    RateLimitResponse.Builder response =
        RateLimitResponse.newBuilder().setOverallCode(code(answer.allowed()));
    for (Status status : answer.statuses()) {
      response.addStatuses(status(status));
    }
    return response.addAllResponseHeadersToAdd(headers(answer)).build();
  }

  private static RateLimitResponse.Code code(boolean allowed) {
    return allowed ? RateLimitResponse.Code.OK : RateLimitResponse.Code.OVER_LIMIT;
  }

  private static DescriptorStatus status(Status status) {
    DescriptorStatus.Builder message =
        DescriptorStatus.newBuilder().setCode(code(status.allowed()));
    CurrentLimit limit = status.currentLimit();
    if (limit != null) {
      message
          .setCurrentLimit(limit(limit))
          .setDurationUntilReset(
              Duration.newBuilder().setSeconds(status.durationUntilResetSeconds()));
    }
    return message.setLimitRemaining((int) status.limitRemaining()).build();
  }

  /** Returns the part of answers that describes a limit. */
  public static RateLimit limit(CurrentLimit limit) {
    WindowUnits window = WindowUnits.of(limit.policy().quota().windowNanos());
    RateLimit.Builder message =
        RateLimit.newBuilder()
            .setName(limit.name())
            .setRequestsPerUnit((int) limit.requestsPerUnit())
            .setUnit(unit(window.unit()));
    if (window.count() > 1) {
      message.setUnitMultiplier(UInt32Value.of((int) window.count()));
    }
    return message.build();
  }

  private static RateLimit.Unit unit(RateLimitUnit unit) {
    return switch (unit) {
      case SECOND -> RateLimit.Unit.SECOND;
      case MINUTE -> RateLimit.Unit.MINUTE;
      case HOUR -> RateLimit.Unit.HOUR;
      case DAY -> RateLimit.Unit.DAY;
      case WEEK -> RateLimit.Unit.WEEK;
      case MONTH -> RateLimit.Unit.MONTH;
      case YEAR -> RateLimit.Unit.YEAR;
    };
  }

  /**
   * Returns the header fields for Envoy to add, none unless the settings require them: those of the
   * last descriptor over its limit, or else of the one with the least remaining.
   */
  public List<HeaderValue> headers(Answer answer) {
    Status tight = headers ? tightest(answer.statuses()) : null;
    if (tight == null || tight.currentLimit() == null) {
      return List.of();
    }
    return List.of(
        header(Settings.LIMIT_HEADER, tight.currentLimit().requestsPerUnit()),
        header(Settings.REMAINING_HEADER, tight.limitRemaining()),
        header(Settings.RESET_HEADER, tight.durationUntilResetSeconds()));
  }

  private static @Nullable Status tightest(List<Status> statuses) {
    Status best = null;
    for (Status status : statuses) {
      if (status.currentLimit() == null) {
        continue;
      }
      boolean tighter =
          best == null
              || !status.allowed()
              || (best.allowed() && status.limitRemaining() < best.limitRemaining());
      best = tighter ? status : best;
    }
    return best;
  }

  private HeaderValue header(Setting<String> name, long value) {
    return HeaderValue.newBuilder()
        .setKey(settings.value(name))
        .setValue(Long.toString(value))
        .build();
  }
}
