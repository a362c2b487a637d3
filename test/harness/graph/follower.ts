import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';

interface FollowOptions {
  readonly url: string;
  readonly session: string;
  /** A live field that takes `agentId` and `after` and numbers its events by `position`. */
  readonly field: string;
  /** Further fields to select in addition to the position. */
  readonly more?: string;
  readonly agentId: number;
  readonly after: number;
}

export interface Follower {
  readonly socket: WebSocket;
  /** Positions of the received events, in order of arrival. */
  readonly positions: number[];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

/** Opens one subscription on a socket that the test can leave unread or cut. */
export async function openFollower({
  url,
  session,
  field,
  more = '',
  agentId,
  after,
}: FollowOptions): Promise<Follower> {
  const socket = new WebSocket(url, 'graphql-transport-ws', { perMessageDeflate: false });
  socket.on('error', () => {});
  onTestFinished(() => socket.terminate());
  const positions: number[] = [];
  const closed = once(socket, 'close').then(([code, reason]) => ({ code, reason: String(reason) }));
  const refused = closed.then(({ code, reason }) => {
    throw new Error(`closed before it was acknowledged: ${code} ${reason}`);
  });
  refused.catch(() => {});
  await Promise.race([once(socket, 'open'), refused]);
  socket.send(JSON.stringify({ type: 'connection_init', payload: { session } }));
  await Promise.race([once(socket, 'message'), refused]);
  socket.on('message', data => {
    const { type, payload } = JSON.parse(String(data));
    if (type === 'next') positions.push(payload.data[field].position);
  });
  const query = `subscription ($after: Int) { ${field}(agentId: ${agentId}, after: $after) { position ${more} } }`;
  socket.send(JSON.stringify({ type: 'subscribe', id: crypto.randomUUID(), payload: { query, variables: { after } } }));
  return { socket, positions, closed };
}
