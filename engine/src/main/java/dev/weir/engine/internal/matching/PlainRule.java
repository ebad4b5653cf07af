package dev.weir.engine.internal.matching;

import dev.weir.Policy;
import dev.weir.engine.CurrentLimit;
import dev.weir.rules.Rule;

/**
 * The parts of an answer that come from a rule whose charge alone decides a request of one
 * descriptor: in this process, by the rule's own number, with nothing that makes up for a refusal
 * and one label. It refers to no store, so an answer that is kept keeps no tables.
 *
 * @param limit the rule's own limit
 * @param counted the policy by which the store counts
 * @param revision the number of the rule set
 */
record PlainRule(Rule rule, CurrentLimit limit, Policy counted, long revision) {}
