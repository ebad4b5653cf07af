package dev.weir.grpc;

import dev.weir.identity.ClientAddress;
import dev.weir.identity.DescriptorTemplate;
import dev.weir.identity.MissingValue;
import dev.weir.identity.RequestIdentity;
import dev.weir.identity.SecretHash;
import dev.weir.identity.Source;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The construction of a call's request: its domain, and the descriptors that templates make of it.
 */
final class CallDescriptors {
  /**
   * The result for one call.
   *
   * @param request without descriptors if every one was left out
   * @param missing the required value that the call lacks, for example {@code header:x-key}; else
   *     null
   */
  record Made(Request request, @Nullable String missing) {}

  private final String domain;
  private final List<DescriptorTemplate> templates;
  private final ClientAddress address;
  private final SecretHash secrets;
  private final MissingValue missing;

  private CallDescriptors(Settings settings) {
    domain = settings.domain;
    templates = List.copyOf(settings.templates);
    address = settings.address;
    secrets = settings.secrets;
    missing = settings.missing;
  }

  Made of(CallView call) {
    RequestIdentity identity = new RequestIdentity(call, address, secrets);
    List<Descriptor> descriptors = new ArrayList<>(templates.size());
    for (DescriptorTemplate template : templates) {
      String absent = missing == MissingValue.SHARED ? null : template.missing(identity);
      if (absent == null) {
        descriptors.add(new Descriptor(template.fill(identity, Entry::new), null, null));
      } else if (missing == MissingValue.REFUSE) {
        return new Made(new Request(domain, List.of(), 1), absent);
      }
    }
    return new Made(new Request(domain, descriptors, 1), null);
  }

  /** The settings that a builder collects. */
  static final class Settings {
    String domain = "";
    final List<DescriptorTemplate> templates = new ArrayList<>();
    ClientAddress address = ClientAddress.ofPeer();
    SecretHash secrets = SecretHash.plain();
    MissingValue missing = MissingValue.SHARED;

    /** Adds the problems of the settings if there is a decider. */
    void check(List<String> problems) {
      if (domain.isEmpty()) {
        problems.add("domain: not set (expected: the domain of the rules)");
      }
      if (templates.isEmpty()) {
        problems.add("descriptor: none (expected: at least one, for example \"method={method}\")");
      }
    }

    /** Adds a problem if a template needs a value that such a call never has. */
    void checkAbsent(Source source, String expected, List<String> problems) {
      for (DescriptorTemplate template : templates) {
        if (template.uses(source)) {
          problems.add("descriptor: \"" + template + "\" (expected: " + expected + ")");
        }
      }
    }

    CallDescriptors build() {
      return new CallDescriptors(this);
    }
  }
}
