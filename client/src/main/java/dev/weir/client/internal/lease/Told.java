package dev.weir.client.internal.lease;

import dev.weir.Binding;
import dev.weir.FailureMode;
import dev.weir.engine.CurrentLimit;
import org.jspecify.annotations.Nullable;

/**
 * What the service last said of the rule behind a key.
 *
 * @param limit null where nothing limits the key
 * @param onFailure what to answer while the service cannot be asked
 * @param local counts the key in this process, null unless {@code onFailure} is {@code LOCAL}
 * @param leased whether it lends permits
 */
record Told(
    @Nullable CurrentLimit limit, FailureMode onFailure, @Nullable Binding local, boolean leased) {}
