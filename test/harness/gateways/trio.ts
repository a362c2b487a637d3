import { createClient } from 'graphql-ws';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { newBuyer, send } from '../faults/buyer.ts';
import type { Ground } from '../faults/ground.ts';
import { atEnd } from '../release.ts';
import type { RunningService } from '../worker-gateway.ts';

/**
 * Healthy gateways on one ground. If there are several, the last one is a separate process, so that it shares with the others only what
 * processes share and runs in parallel with them. They start one after the other, because on a small machine parallel starts delay each
 * other.
 */
export async function startGateways(ground: Ground, count: number): Promise<RunningService[]> {
  const gateways: RunningService[] = [];
  while (gateways.length < Math.max(count - 1, 1)) gateways.push(await ground.start());
  if (count > 1) gateways.push(await ground.startProcess());
  return gateways;
}

export type Agent = Awaited<ReturnType<typeof newAgent>>;

/** A wallet with a book that contains the stamp of its registration. By default the wallet is new. */
export async function newAgent(
  ground: Ground,
  at: Pick<RunningService, 'url'>,
  wallet?: Parameters<typeof newBuyer>[1],
) {
  const buyer = await newBuyer(ground, wallet);
  const registered = await send(at, await buyer.registration());
  expect(registered.status).toBe(200);
  return { ...buyer, ...(registered.body as unknown as { agent_id: number; session: string }) };
}

export interface SocketTranscript {
  readonly position: number;
  readonly kind: string;
  readonly hash: string;
  readonly row: { readonly seq: number; readonly taskId: string };
}

/** A subscription at one process that receives the agent's book from its beginning, in order. */
export function listenAt({ url }: RunningService, { agent_id, session }: Agent): readonly SocketTranscript[] {
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { session },
    retryAttempts: 0,
  });
  atEnd(() => client.dispose());
  const heard: SocketTranscript[] = [];
  const query = `subscription ($agent_id: Int!) {
    bookRows(agentId: $agent_id, after: 0) { position kind hash row { seq taskId } } }`;
  client.subscribe<{ bookRows: SocketTranscript }>(
    { query, variables: { agent_id } },
    { next: ({ data }) => void (data && heard.push(data.bookRows)), error: () => {}, complete: () => {} },
  );
  return heard;
}
