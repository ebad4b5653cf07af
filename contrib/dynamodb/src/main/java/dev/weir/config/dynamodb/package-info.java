/** The configuration store in DynamoDB. */
@org.jspecify.annotations.NullMarked
package dev.weir.config.dynamodb;
