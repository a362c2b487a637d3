import { createClient, type FormattedExecutionResult } from 'graphql-ws';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { Service } from './open-service.ts';

type Result = FormattedExecutionResult<Record<string, unknown>, unknown>;

/** A graphql-ws client of one test, with what it shows at connection_init; not lazy, it keeps the socket that it opened. */
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
  // What is not given is not sent: by a plain proof the same mutation with `variables: {}` is another one.
  const results = (query: string, variables?: Record<string, unknown>) =>
    client.iterate({ query, ...(variables && { variables }) });
  return {
    /** What comes, one after the other. */
    each: results,
    /** All that comes, to the end. Throws what the operation was refused with. */
    async all(query: string, variables?: Record<string, unknown>): Promise<Result[]> {
      const heard: Result[] = [];
      for await (const result of results(query, variables)) heard.push(result);
      return heard;
    },
    /** What comes first; an error of a field is thrown like a refusal. */
    async first(query: string): Promise<Result> {
      for await (const result of results(query)) {
        if (result.errors) throw result.errors;
        return result;
      }
      throw new Error('nothing came');
    },
  };
}
