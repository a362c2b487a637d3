import { once } from 'node:events';
import { connect } from 'node:net';
import type { Order } from '../faults/buyer.ts';
import { eventually, type Ground } from '../faults/ground.ts';
import type { RunningService } from '../worker-gateway.ts';

/** Whether the service accepts a new connection. */
export async function acceptsConnections({ url }: RunningService): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const taken = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return taken;
}

/** Delays the hub's answers until the returned function is called. */
export function holdHub({ hub }: Ground): () => void {
  const released = Promise.withResolvers<void>();
  hub.behave({ kind: 'answer', until: released.promise });
  return () => {
    released.resolve();
    hub.behave({ kind: 'answer' });
  };
}

/** Sends a call. Resolves once the hub has received it, before there is an answer. */
export async function startCall(ground: Ground, gateway: RunningService, { path, body, payment }: Order) {
  const before = ground.hub.requests.length;
  const headers = { 'content-type': 'application/json', 'x-payment': payment };
  const answer = fetch(gateway.url + path, { method: 'POST', headers, body }).then(
    async heard => ({ status: heard.status, text: await heard.text() }),
    () => null,
  );
  await eventually('the hub at work', () => ground.hub.requests.length > before || null);
  return { answer };
}

/** The calls that a stopping process logged as unfinished. */
export function callsLeftBy({ logs }: RunningService): unknown[] {
  return logs
    .filter(line => line.includes('the process stopped during paid calls'))
    .flatMap(line => JSON.parse(line).left);
}
