package dev.weir.client.internal.lease;

import dev.weir.Binding;
import dev.weir.FailureMode;
import dev.weir.engine.CurrentLimit;
import org.jspecify.annotations.Nullable;

/**
 * The service's last answer about the rule of a key.
 *
 * @param limit null if nothing limits the key
 * @param onFailure the answer while the service cannot be reached
 * @param local the binding that counts the key in this process, null unless {@code onFailure} is
 *     {@code LOCAL}
 * @param leased true if the rule lends permits
 */
record LastAnswer(
    @Nullable CurrentLimit limit, FailureMode onFailure, @Nullable Binding local, boolean leased) {}
