package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Charges.Role;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The settling of charges into one outcome, beside an oracle, over all requests of up to 3 charges.
 */
class ChargesSettleTest {
  private record Rule(String name, Policy policy, Store store) implements Binding {}

  private record Part(Role role, Reason reason, FailureMode mode) {}

  private static final List<Reason> REASONS =
      List.of(
          Reason.WITHIN_LIMIT,
          Reason.OVER_LIMIT,
          Reason.UNCERTAIN,
          Reason.OVERLOADED,
          Reason.KEY_SPACE_FULL,
          Reason.INVALID);

  private static final Store STORE = new MemoryStore();

  private static List<Part> parts() {
    List<Part> parts = new ArrayList<>();
    for (Role role : Role.values()) {
      for (Reason reason : REASONS) {
        for (FailureMode mode : FailureMode.values()) {
          parts.add(new Part(role, reason, mode));
        }
      }
    }
    return parts;
  }

  private static boolean settled(List<Part> request) {
    Charges charges = new Charges();
    for (Part part : request) {
      Policy policy =
          Policy.builder(Quota.perSecond(1)).sharing(Sharing.STRICT.onFailure(part.mode())).build();
      charges.add(new Rule("rule", policy, STORE), 1, 1, part.role());
    }
    for (int i = 0; i < request.size(); i++) {
      charges.result(i, request.get(i).reason(), 0, 0, 0, 0);
    }
    boolean allowed = charges.settle();
    assertThat(charges.allowed()).isEqualTo(allowed);
    return allowed;
  }

  /** Checks the promises one after the other, and refuses at the first that is broken. */
  private static boolean oracle(List<Part> request) {
    List<Part> refusing = new ArrayList<>(request);
    refusing.removeIf(
        part ->
            switch (part.reason()) {
              case WITHIN_LIMIT -> true;
              case OVER_LIMIT, INVALID -> false;
              default -> part.mode() == FailureMode.ALLOW;
            });
    List<Role> needed = List.of(Role.REQUIRED, Role.REPORTED);
    if (refusing.stream().anyMatch(part -> needed.contains(part.role()))) {
      return false;
    }
    List<Role> shadows = List.of(Role.OPTIONAL, Role.REPORTED_SHADOW);
    if (refusing.stream()
        .anyMatch(part -> shadows.contains(part.role()) && part.reason() == Reason.INVALID)) {
      return false;
    }
    long any = request.stream().filter(part -> part.role() == Role.ANY).count();
    long anyRefusing = refusing.stream().filter(part -> part.role() == Role.ANY).count();
    return any == 0 || anyRefusing < any;
  }

  @Test
  void everyRequestOfUpToThreeCharges_isSettledAsTheOracleSays() {
    assertThat(settled(List.of())).as("no charges").isTrue();
    List<Part> parts = parts();
    int allowed = 0;
    int refused = 0;
    for (Part first : parts) {
      for (Part second : parts) {
        for (Part third : parts) {
          List<Part> request = List.of(first, second, third);
          boolean right = oracle(request);
          if (settled(request) != right) {
            assertThat(settled(request)).as("%s", request).isEqualTo(right);
          }
          allowed += right ? 1 : 0;
          refused += right ? 0 : 1;
        }
        List<Part> pair = List.of(first, second);
        assertThat(settled(pair)).as("%s", pair).isEqualTo(oracle(pair));
      }
      assertThat(settled(List.of(first))).as("%s", first).isEqualTo(oracle(List.of(first)));
    }
    assertThat(allowed + refused).isEqualTo(90 * 90 * 90);
    assertThat(allowed).isGreaterThan(10_000);
    assertThat(refused).isGreaterThan(10_000);
  }

  @Test
  void decisionOfAForgivenCharge_isAnAdmissionOnlyWhereTheRequestIsAllowed() {
    Policy allow =
        Policy.builder(Quota.perSecond(1))
            .sharing(Sharing.STRICT.onFailure(FailureMode.ALLOW))
            .build();
    Policy deny = Policy.of(Quota.perSecond(1));
    Charges charges =
        new Charges().add(new Rule("a", allow, STORE), 1, 1).add(new Rule("b", deny, STORE), 1, 1);
    charges.result(0, Reason.UNCERTAIN, 0, 7, 0, 0);
    charges.result(1, Reason.OVER_LIMIT, 0, 9, 0, 0);
    assertThat(charges.settle()).isFalse();
    assertThat(charges.decision(0).allowed()).isFalse();
    charges.role(1, Role.OPTIONAL);
    assertThat(charges.settle()).isTrue();
    assertThat(charges.decision(0).allowed()).isTrue();
    assertThat(charges.decision(1).allowed()).isFalse();
    assertThat(charges.packed(0)).isZero();
    assertThat(PackedDecision.retryAfterNanos(charges.packed(1))).isEqualTo(9);
  }
}
