import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { type ErrorCode, errors, Refusal } from '../../schema/errors.ts';
import { limits } from '../../schema/limits.ts';

/**
 * The public form of an error, for every result of the graph. A Refusal keeps code, status, param and facts, however often the gateway
 * wrapped it. GraphQL's own errors become `invalid_request`. Any other error becomes `internal` with a fixed sentence, and its cause goes
 * to the log.
 */
export function publicError(error: unknown, logger: Logger): GraphQLError {
  const chain = causes(error);
  const cause = chain.at(-1);
  const path = error instanceof GraphQLError ? error.path : undefined;
  // The innermost cause of GraphQL's own errors is a GraphQLError. That of a resolver's error is what the resolver threw.
  if (!(cause instanceof GraphQLError))
    logger.error({ err: cause, path }, 'a GraphQL field failed with an unexpected error, shown in err');

  const refused = chain.find(isRefused);
  if (refused) return new GraphQLError(refused.message, { path, extensions: publicExtensions(refused.extensions) });
  if (error instanceof GraphQLError && cause instanceof GraphQLError) return requestFault(error);
  return new GraphQLError(errors.internal[1], { path, extensions: new Refusal('internal').extensions });
}

type Refused = GraphQLError & { readonly extensions: { readonly code: ErrorCode } };

function causes(error: unknown): unknown[] {
  const chain = [error];
  while (error instanceof GraphQLError && error.originalError) {
    error = error.originalError;
    chain.push(error);
  }
  return chain;
}

function isRefused(error: unknown): error is Refused {
  return (
    error instanceof GraphQLError &&
    typeof error.extensions.code === 'string' &&
    Object.hasOwn(errors, error.extensions.code)
  );
}

/**
 * Removes two extensions: the name of the subgraph, which Apollo's executor adds and which is internal, and `http`, which is for the
 * response headers.
 */
function publicExtensions({
  serviceName: _,
  http: _http,
  ...extensions
}: Record<string, unknown>): Record<string, unknown> {
  return extensions;
}

/**
 * An error of the request, without GraphQL's suggestions of existing names ("Did you mean"). They would disclose the schema if
 * introspection is off. Rules of this project make no suggestions; this removes those of all others.
 */
function requestFault({ message, nodes, source, positions, path }: GraphQLError): GraphQLError {
  const { extensions } = new Refusal('invalid_request');
  const shortened = message.slice(0, limits.graphql_fault_chars_max).replace(/ ?Did you mean .*$/s, '');
  return new GraphQLError(shortened, { nodes, source, positions, path, extensions });
}
