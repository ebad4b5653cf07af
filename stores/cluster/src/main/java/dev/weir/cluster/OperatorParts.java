package dev.weir.cluster;

import dev.weir.cluster.internal.forming.Admissions;
import dev.weir.cluster.internal.operating.Backups;
import dev.weir.cluster.internal.operating.ClusterHealth;
import dev.weir.cluster.internal.operating.ClusterOperations;

/**
 * The parts of a member for its operators.
 *
 * @param admissions the members that enter and leave
 * @param backups the snapshots for backups
 * @param health the status of the members
 * @param operations the changes that an operator makes
 */
record OperatorParts(
    Admissions admissions, Backups backups, ClusterHealth health, ClusterOperations operations) {}
