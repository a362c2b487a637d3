import { print } from 'graphql';
import type { Child } from '../child/child.ts';
import type { Arena, Side } from '../contest.ts';
import { drive, once } from '../load/callers.ts';
import { bytesOf } from '../load/connection.ts';
import { documentRunBy } from './document-run-by.ts';

const CALLERS = 32;
const LIMIT = 50;

export interface PageServer {
  readonly url: string;
  readonly servers: readonly Child[];
  /** Headers in addition to those of the request itself. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Posts the REST endpoint's document to /graphql. */
export function graphqlPage({ url, servers, headers = {} }: PageServer, agentId: number, arena: Arena): Promise<Side> {
  const body = JSON.stringify({
    query: print(documentRunBy('get_agent_book')),
    variables: { agentId, limit: LIMIT },
  });
  const request = bytesOf({ method: 'POST', url: `${url}/graphql`, headers, body });
  return asking({ url, servers, request }, arena);
}

export function restPage({ url, servers, headers = {} }: PageServer, agentId: number, arena: Arena): Promise<Side> {
  const request = bytesOf({ method: 'GET', url: `${url}/v1/agents/${agentId}/book?limit=${LIMIT}`, headers });
  return asking({ url, servers, request }, arena);
}

async function asking(
  { url, servers, request }: Pick<PageServer, 'url' | 'servers'> & { readonly request: Buffer },
  { seconds }: Arena,
): Promise<Side> {
  const { body } = await once(url, request);
  if (body.match(/"task_id":/g)?.length !== LIMIT) throw new Error(`not a page of ${LIMIT} rows: ${body}`);
  return { round: () => drive({ url, servers, request: () => request, seconds, callers: CALLERS, status: 200 }) };
}
