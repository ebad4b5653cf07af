package dev.weir.config;

import java.util.Optional;

/**
 * A page of the records of many keys.
 *
 * @param records in the order of their subjects
 * @param next the subject after which the next page begins; empty if there is none
 */
public record RecordPage(Records records, Optional<Subject> next) {}
