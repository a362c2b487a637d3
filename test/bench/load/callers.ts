import { type Child, measured } from '../child/child.ts';
import type { Measured } from '../contest.ts';
import { type Answer, Connection } from './connection.ts';

export interface Load {
  readonly url: string;
  readonly servers: readonly Child[];
  /** Returns the next request, for any caller that is free. Undefined if there are no more. */
  request(): Buffer | undefined;
  readonly seconds: number;
  readonly callers: number;
  readonly status: number;
  /** Returns the address of a caller by its number. Default: one address for all. */
  addressOf?(caller: number): string;
}

/** Runs callers that each send the next request after the answer to the last. @throws on any other status */
export async function drive(load: Load): Promise<Measured> {
  const { url, servers, request, seconds, callers, status, addressOf } = load;
  const opening = Array.from({ length: callers }, (_, caller) => Connection.open(url, addressOf?.(caller)));
  const connections = await Promise.all(opening);
  const call = async (connection: Connection, until_ms: number) => {
    let answered = 0;
    for (; performance.now() < until_ms; answered++) {
      const next = request();
      if (!next) break;
      const answer = await connection.exchange(next);
      if (answer.status !== status) throw new Error(`answered ${answer.status}: ${answer.body}`);
    }
    return answered;
  };
  try {
    return await measured(servers, async () => {
      const until_ms = performance.now() + seconds * 1000;
      const answered = await Promise.all(connections.map(connection => call(connection, until_ms)));
      return answered.reduce((sum, count) => sum + count, 0);
    });
  } finally {
    for (const connection of connections) connection.close();
  }
}

export async function once(url: string, request: Buffer): Promise<Answer> {
  const connection = await Connection.open(url);
  try {
    return await connection.exchange(request);
  } finally {
    connection.close();
  }
}
