package dev.weir.server.internal.deciding;

import com.google.protobuf.ListValue;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import com.google.protobuf.util.Values;
import dev.weir.engine.Answer;
import dev.weir.engine.Status;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.LimitOverride;
import dev.weir.rules.Request;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The dynamic metadata of an answer: the request, and the {@code metadata} of the rules that it
 * passed. The names are those of envoyproxy/ratelimit.
 */
final class DynamicMetadata {
  private DynamicMetadata() {}

  static Struct of(Request request, Answer answer) {
    Struct.Builder metadata = Struct.newBuilder().putFields("domain", Values.of(request.domain()));
    ListValue.Builder descriptors = ListValue.newBuilder();
    for (Descriptor descriptor : request.descriptors()) {
      descriptors.addValues(Values.of(of(descriptor)));
    }
    metadata.putFields("descriptors", Values.of(descriptors.build()));
    if (request.permits() != 0) {
      metadata.putFields("hitsAddend", Values.of((double) request.permits()));
    }
    Map<String, Object> ofRules = ofRules(answer);
    if (!ofRules.isEmpty()) {
      metadata.putFields("metadata", value(ofRules));
    }
    return metadata.build();
  }

  private static Struct of(Descriptor descriptor) {
    ListValue.Builder entries = ListValue.newBuilder();
    for (Entry entry : descriptor.entries()) {
      entries.addValues(Values.of(entry.key() + "=" + entry.value()));
    }
    Struct.Builder fields = Struct.newBuilder().putFields("entries", Values.of(entries.build()));
    LimitOverride limit = descriptor.limitOverride();
    if (limit != null) {
      String units =
          limit.unitMultiplier() == 1 ? "" : " unit_multiplier:" + limit.unitMultiplier();
      fields.putFields(
          "limit",
          Values.of(
              "requests_per_unit:" + limit.requestsPerUnit() + " unit:" + limit.unit() + units));
    }
    Long permits = descriptor.permits();
    long hits = descriptor.refund() > 0 ? descriptor.refund() : permits == null ? 0 : permits;
    return fields.putFields("hitsAddend", Values.of((double) hits)).build();
  }

  /** Returns the metadata of all rules that the request passed, shadowed ones included. */
  private static Map<String, Object> ofRules(Answer answer) {
    Map<String, Object> merged = new LinkedHashMap<>();
    for (Status status : answer.statuses()) {
      if (status.allowed() && status.rule() != null) {
        merge(status.rule().metadata(), merged);
      }
    }
    return merged;
  }

  /** Adds what is not there yet; maps are merged by key. A rule's own map is never changed. */
  private static void merge(Map<?, ?> from, Map<String, Object> to) {
    from.forEach(
        (key, value) -> {
          String name = String.valueOf(key);
          Object before = to.get(name);
          if (value instanceof Map<?, ?> inner
              && (before instanceof Map || !to.containsKey(name))) {
            Map<String, Object> both = new LinkedHashMap<>();
            if (before instanceof Map<?, ?> first) {
              merge(first, both);
            }
            merge(inner, both);
            to.put(name, both);
          } else if (!to.containsKey(name)) {
            to.put(name, value);
          }
        });
  }

  private static Value value(@Nullable Object value) {
    if (value == null) {
      return Values.ofNull();
    }
    if (value instanceof Map<?, ?> map) {
      Struct.Builder fields = Struct.newBuilder();
      map.forEach((key, inner) -> fields.putFields(String.valueOf(key), value(inner)));
      return Values.of(fields.build());
    }
    if (value instanceof List<?> list) {
      ListValue.Builder values = ListValue.newBuilder();
      list.forEach(inner -> values.addValues(value(inner)));
      return Values.of(values.build());
    }
    if (value instanceof Boolean flag) {
      return Values.of(flag);
    }
    if (value instanceof Number number && Double.isFinite(number.doubleValue())) {
      return Values.of(number.doubleValue());
    }
    return Values.of(String.valueOf(value)); // JSON has no infinite numbers.
  }
}
