/**
 * A store that is a cluster of Weir's own servers: what it admits is committed by a majority of
 * them before it is answered.
 */
package dev.weir.cluster;
