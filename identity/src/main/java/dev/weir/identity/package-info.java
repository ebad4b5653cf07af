/**
 * The real client of an HTTP request, and descriptors made of a request.
 *
 * <ul>
 *   <li>{@link dev.weir.identity.RequestView}: a view of a request; each HTTP library has a small
 *       adapter to it.
 *   <li>{@link dev.weir.identity.ClientAddress}: finds the client's address behind trusted proxies.
 *   <li>{@link dev.weir.identity.DescriptorTemplate}: turns {@code path={path},user={login|ip}}
 *       into the entries of a descriptor.
 * </ul>
 *
 * <p>Nothing here resolves a name, opens a connection or depends on a library.
 *
 * <p>More than 20 types: each source of a value, and each form of an address, is a type.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.identity;
