import { createClient, type FormattedExecutionResult } from 'graphql-ws';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { Service } from './open-service.ts';

type Result = FormattedExecutionResult<Record<string, unknown>, unknown>;

/**
 * A graphql-ws client of one test that sends these parameters at connection_init. If it is not lazy, it connects at once and keeps that
 * socket.
 */
export function openSocket(
  { url }: Pick<Service, 'url'>,
  connectionParams: Record<string, unknown> = {},
  { lazy = true }: { readonly lazy?: boolean } = {},
) {
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams,
    retryAttempts: 0,
    lazy,
    onNonLazyError: () => {},
  });
  onTestFinished(async () => client.dispose());
  // Variables that are not given are not sent, because a plain proof of a mutation is not valid for the same mutation with `variables: {}`.
  const results = (query: string, variables?: Record<string, unknown>) =>
    client.iterate({ query, ...(variables && { variables }) });
  return {
    /** The results one by one. */
    each: results,
    /** All results up to the end. @throws the errors with which the operation was refused */
    async all(query: string, variables?: Record<string, unknown>): Promise<Result[]> {
      const heard: Result[] = [];
      for await (const result of results(query, variables)) heard.push(result);
      return heard;
    },
    /** The first result. @throws the errors of a refusal, or of a field */
    async first(query: string): Promise<Result> {
      for await (const result of results(query)) {
        if (result.errors) throw result.errors;
        return result;
      }
      throw new Error('nothing came');
    },
  };
}
