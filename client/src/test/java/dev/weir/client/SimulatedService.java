package dev.weir.client;

import dev.weir.FailureMode;
import dev.weir.MemoryStore;
import dev.weir.Reason;
import dev.weir.Sharing;
import dev.weir.Ticker;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.Loan;
import dev.weir.engine.LoanRequest;
import dev.weir.engine.Status;
import dev.weir.protocol.v1.WeirProto;
import dev.weir.protocol.v1.WeirProto.CheckResult;
import dev.weir.protocol.v1.WeirProto.Code;
import dev.weir.protocol.v1.WeirProto.DescriptorLease;
import dev.weir.protocol.v1.WeirProto.DescriptorStatus;
import dev.weir.protocol.v1.WeirProto.Grant;
import dev.weir.protocol.v1.WeirProto.LeaseRequest;
import dev.weir.protocol.v1.WeirProto.LeaseResponse;
import dev.weir.protocol.v1.WeirProto.OnFailure;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import dev.weir.rules.Rules;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The real engine with its leases, behind messages that are answered at the world's instants. */
public final class SimulatedService {
  /** The distance between the revisions of the service before a restart and after it. */
  static final long LIFE = 1_000_000;

  /**
   * The separator between a policy's name and the true time at which a lease ends: answers carry
   * both.
   */
  private static final char END = '@';

  private static final int MOST_LEASES = 10_000;

  private final Ticker ticker;
  private Engine engine;
  private String rules;
  private long life;

  SimulatedService(World world, String rules) {
    ticker = world::nanos;
    this.rules = rules;
    engine = begin();
  }

  private Engine begin() {
    Engine fresh =
        Engine.create(new MemoryStore(), ticker, EngineSettings.DEFAULTS.lending(MOST_LEASES));
    long unused = fresh.apply(Objects.requireNonNull(Rules.parse("rules.yaml", rules).ruleSet()));
    return fresh;
  }

  /** Loses all state, like a restarted server without a store. */
  void restart() {
    engine.close();
    engine = begin();
    life++;
  }

  void rules(String text) {
    rules = text;
    long unused = engine.apply(Objects.requireNonNull(Rules.parse("rules.yaml", text).ruleSet()));
  }

  void expire() {
    engine.expire();
  }

  LeaseResponse answer(LeaseRequest message) {
    message
        .getReturnsList()
        .forEach(each -> engine.leases().giveBack(each.getLease(), each.getPermits(), back -> {}));
    message.getRefundsList().forEach(each -> engine.leases().refund(each.getCharge(), back -> {}));
    LeaseResponse.Builder response = LeaseResponse.newBuilder();
    for (WeirProto.LeaseAsk ask : message.getAsksList()) {
      engine
          .leases()
          .decide(
              new LoanRequest(request(ask.getCheck()), ask.getAheadList(), ask.getRefundable()),
              grant -> response.addGrants(grant(ask.getId(), grant)));
    }
    return response.setRevision(life * LIFE + engine.revision()).build();
  }

  private static Request request(WeirProto.Check check) {
    List<Descriptor> descriptors = new ArrayList<>();
    for (WeirProto.Descriptor each : check.getDescriptorsList()) {
      List<Entry> entries = new ArrayList<>();
      each.getEntriesList()
          .forEach(entry -> entries.add(new Entry(entry.getKey(), entry.getValue())));
      descriptors.add(new Descriptor(entries, null, Integer.toUnsignedLong(each.getPermits())));
    }
    return new Request(check.getDomain(), descriptors, 1);
  }

  private Grant grant(long id, dev.weir.engine.Grant said) {
    Grant.Builder grant = Grant.newBuilder().setId(id).setCharge(said.charge());
    Answer answer = said.answer();
    CheckResult.Builder result = CheckResult.newBuilder().setAllowed(answer.allowed());
    for (int i = 0; i < answer.statuses().size(); i++) {
      Loan loan = i < said.loans().size() ? said.loans().get(i) : null;
      result.addStatuses(status(answer.statuses().get(i), loan));
    }
    for (Loan loan : said.loans()) {
      Sharing sharing = loan.sharing();
      grant.addLeases(
          DescriptorLease.newBuilder()
              .setLease(loan.lease())
              .setPermits(loan.permits())
              .setLifeUs(loan.lifeNanos() / 1_000)
              .setRefuseForMs(loan.refuseForNanos() / 1_000_000)
              .setRefusePermits(loan.refusePermits())
              .setOnFailure(sharing == null ? OnFailure.ON_FAILURE_UNSPECIFIED : mode(sharing))
              .setLocalShare(sharing == null ? 0 : sharing.localShare())
              .setLeased(loan.leased()));
    }
    return grant.setResult(result).build();
  }

  private static OnFailure mode(Sharing sharing) {
    return sharing.onFailure() == FailureMode.ALLOW
        ? OnFailure.ON_FAILURE_ALLOW
        : OnFailure.ON_FAILURE_DENY;
  }

  /**
   * Returns the instant until which an answer from a lease with this policy's name may be spent.
   */
  static long endNanos(String policy) {
    int at = policy.indexOf(END);
    return at < 0 ? Long.MAX_VALUE : Long.parseLong(policy.substring(at + 1));
  }

  private DescriptorStatus status(Status said, @Nullable Loan loan) {
    DescriptorStatus.Builder status =
        DescriptorStatus.newBuilder()
            .setCode(said.allowed() ? Code.CODE_OK : Code.CODE_OVER_LIMIT)
            .setReason(reason(said.reason()));
    CurrentLimit limit = said.currentLimit();
    if (limit == null || said.decision() == null) {
      return status.build();
    }
    return status
        .setPolicy(
            loan == null || loan.lease() == 0
                ? limit.policy().name()
                : limit.policy().name() + END + (ticker.nanos() + loan.lifeNanos()))
        .setRule(limit.policy().name())
        .setLimit(limit.requestsPerUnit())
        .setWindowMs(limit.policy().quota().windowNanos() / 1_000_000)
        .setAlgorithm(limit.policy().algorithm().text())
        .setRemaining(said.limitRemaining())
        .setRetryAfterMs(said.decision().retryAfterMillis())
        .setResetAfterMs(said.decision().resetAfterMillis())
        .build();
  }

  private static WeirProto.Reason reason(Reason reason) {
    return WeirProto.Reason.valueOf("REASON_" + reason.name());
  }
}
