import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { type ErrorCode, errors, Refusal } from '../../schema/errors.ts';
import { limits } from '../../schema/limits.ts';

/**
 * What a caller may see of an error, on every road out of the graph:
 * - a Refusal keeps code, status, param and facts, however often the gateway wrapped it;
 * - what GraphQL itself found wrong with a request becomes `invalid_request`;
 * - anything else becomes `internal` with a plain sentence, and its cause goes to the log.
 */
export function publicError(error: unknown, logger: Logger): GraphQLError {
  const chain = causes(error);
  const cause = chain.at(-1);
  const path = error instanceof GraphQLError ? error.path : undefined;
  // GraphQL's own findings end in a GraphQLError; a resolver that threw ends in what it threw.
  if (!(cause instanceof GraphQLError)) logger.error({ err: cause, path }, 'a part of the graph failed');

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

/** Apollo's executor adds the subgraph's name, which is nobody's business outside; `http` is for the answer's head. */
function publicExtensions({
  serviceName: _,
  http: _http,
  ...extensions
}: Record<string, unknown>): Record<string, unknown> {
  return extensions;
}

/**
 * Without GraphQL's guesses at names that exist ("Did you mean"): they would spell the schema out where introspection is
 * off, and where it is on nobody needs them. Our own rules make none; this is for whatever else ever speaks.
 */
function requestFault({ message, nodes, source, positions, path }: GraphQLError): GraphQLError {
  const { extensions } = new Refusal('invalid_request');
  const said = message.slice(0, limits.graphql_fault_chars_max).replace(/ ?Did you mean .*$/s, '');
  return new GraphQLError(said, { nodes, source, positions, path, extensions });
}
