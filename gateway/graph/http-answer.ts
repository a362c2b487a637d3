import { type ApolloServerPlugin, type GraphQLRequestContext, HeaderMap } from '@apollo/server';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import type { Logger } from 'pino';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { isErrorCode, Refusal } from '../../schema/errors.ts';
import type { Context } from '../../subgraphs/context.ts';
import { refusalHeaders } from '../charge/refusal-headers.ts';
import { SERVER_TIMING } from '../operations/server-timing.ts';
import { publicError } from './public-error.ts';

/**
 * What of a GraphQL answer belongs into HTTP. Errors of fields leave the status at 200, as GraphQL over HTTP has it, but
 * one: a refused payment is 402 with its challenge in the headers, so that an x402 client can pay on /graphql too.
 */
export function httpAnswer(logger: Logger): ApolloServerPlugin<Context> {
  return {
    async requestDidStart() {
      return { willSendResponse };
    },
    // Apollo answers these with a sentence of its own and keeps the cause to itself.
    async unexpectedErrorProcessingRequest({ error }) {
      logger.error({ err: error }, 'a GraphQL request failed');
    },
  };
}

async function willSendResponse({ contextValue, response }: Answering): Promise<void> {
  const { headers } = response.http;
  for (const [name, value] of Object.entries(contextValue.response.headers)) headers.set(name.toLowerCase(), value);
  headers.set('cache-control', 'no-store');
  // It may be told how long it took, for which the server has the words.
  if (!headers.has(SERVER_TIMING)) headers.set(SERVER_TIMING, '');
  if (response.body.kind !== 'single' || !response.body.singleResult.errors) return;

  const { errors } = response.body.singleResult;
  if (errors.some(({ extensions }) => extensions?.status === 401 || extensions?.status === 403))
    headers.delete(SERVER_TIMING);
  if (errors.some(error => error.extensions?.status === 402)) response.http.status = 402;
  for (const { extensions } of errors) {
    const { code, answer_headers, ...facts } = (extensions ?? {}) as JsonObject;
    // A paid field is the only one of its operation: its error is the only one.
    const paid = isErrorCode(code) ? refusalHeaders(contextValue, { code, facts }) : {};
    for (const [name, value] of Object.entries({ ...paid, ...(answer_headers as Record<string, string>) }))
      headers.set(name.toLowerCase(), value);
  }
  response.body.singleResult.errors = errors.map(withoutHeaders);
}

type Answering = Pick<GraphQLRequestContext<Context>, 'contextValue' | 'response'> & {
  response: Required<GraphQLRequestContext<Context>['response']>;
};

function withoutHeaders(error: GraphQLFormattedError): GraphQLFormattedError {
  if (!error.extensions) return error;
  const { answer_headers: _, ...extensions } = error.extensions;
  return { ...error, extensions };
}

/** A context that cannot be made (a wrong session, a broken database) answers with the Refusal's own status. */
export function contextFault(error: unknown, logger: Logger): GraphQLError {
  const { message, extensions } = publicError(
    error instanceof GraphQLError ? error : new Refusal('internal', { cause: error }),
    logger,
  );
  const { answer_headers = {}, ...told } = extensions;
  const headers = new HeaderMap();
  for (const [name, value] of Object.entries(answer_headers as Record<string, string>))
    headers.set(name.toLowerCase(), value);
  return new GraphQLError(message, { extensions: { ...told, http: { status: extensions.status, headers } } });
}
