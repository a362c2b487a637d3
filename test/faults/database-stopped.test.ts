import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { audit } from '../harness/faults/audit.ts';
import { type Answer, nameOf, newBuyer, type Order, send } from '../harness/faults/buyer.ts';
import { claimOf, untilAllClosed } from '../harness/faults/claims.ts';
import { startCluster } from '../harness/faults/cluster.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';
import type { RunningGateway } from '../harness/gateway.ts';
import { atEnd } from '../harness/release.ts';

/** Answers that are allowed from the time when the database stops until it is back. 402 and other errors are not. */
const harmless = new Set(['200', '503 unavailable', '503 settlement_pending', '409 payment_in_flight']);
const CALLERS = 24;
/** Milliseconds between two attempts with the same payment. */
const RETRY_MS = 400;
/** Promised time from the moment when the database accepts connections until a paid call is served again. */
const RECOVERY_MS = 5_000;

let cluster: Awaited<ReturnType<typeof startCluster>>;
let ground: Ground;
let gateways: readonly [RunningGateway, RunningGateway];
let buyer: Awaited<ReturnType<typeof newBuyer>>;
let session: string;
let agent_id: number;

beforeAll(async () => {
  cluster = await startCluster();
  ground = await openGround({ database_url: cluster.url });
  gateways = await Promise.all([ground.startProcess(), ground.startProcess()]);
  buyer = await newBuyer(ground);
  const registered = await send(gateways[0], await buyer.registration());
  expect(registered.status).toBe(200);
  ({ session, agent_id } = registered.body as unknown as { session: string; agent_id: number });
});

const moved = async () => (await ground.chain.transfers(ground.pay_to)).length;
const away = async () =>
  (await (await fetch(`${gateways[0].url}/health`)).json()) as { status: string; away: string[] };

interface Sent {
  readonly order: Order;
  readonly answer: Answer;
}

/** Callers that pay for one call after the other until they are stopped, half of them at each process. */
function underLoad() {
  let stopped = false;
  const callers = Array.from({ length: CALLERS }, async (_, caller) => {
    const sent: Sent[] = [];
    for (let call = 0; !stopped; call++) {
      const order = await buyer.chat(`caller ${caller}, call ${call}`);
      const answer = await send(gateways[caller % 2 === 0 ? 0 : 1], order);
      sent.push({ order, answer });
      if (answer.status !== 200) await sleep(RETRY_MS);
    }
    return sent;
  });
  return async () => {
    stopped = true;
    return (await Promise.all(callers)).flat();
  };
}

/** Follows the rows of the book on a socket, like a dashboard. */
function follow(): { readonly positions: number[] } {
  const url = `${gateways[0].url.replace('http', 'ws')}/graphql`;
  const client = createClient({ url, webSocketImpl: WebSocket, connectionParams: { session }, retryAttempts: 0 });
  atEnd(() => client.dispose());
  const positions: number[] = [];
  const query = `subscription { bookRows(agentId: ${agent_id}, after: 0) { position } }`;
  const events = client.iterate<{ bookRows: { position: number } }>({ query });
  void (async () => {
    for await (const { data } of events) if (data) positions.push(data.bookRows.position);
  })().catch(() => {});
  return { positions };
}

describe('a database that is stopped at once under load, and started again', () => {
  it('costs nobody a call: 503 meanwhile, nothing settles, and all is as if nothing had been', async () => {
    const live = follow();
    const stop = underLoad();
    await eventually('calls land', async () => (await moved()) > 40 || null);
    await cluster.stopAtOnce();
    // Payments that were committed as settling before are in progress on the chain. Afterwards no money moves.
    await eventually(
      '503 to all',
      async () => (await send(gateways[0], await buyer.chat('is it away?'))).status === 503 || null,
    );
    const during = await quiet();

    const refused = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const order = await buyer.chat(`while it is away ${index}`);
        return { order, answer: await send(gateways[index % 2 === 0 ? 0 : 1], order) };
      }),
    );
    for (const { answer } of refused) {
      expect(nameOf(answer)).toBe('503 unavailable');
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(answer.body).not.toHaveProperty('charged', true);
    }
    for (const door of [`/v1/agents/${agent_id}/book`, '/receipt/task_nowhere', '/task-status?task_id=task_nowhere']) {
      const read = await fetch(gateways[1].url + door, { headers: { 'x-svc-session': session } });
      expect([door, read.status, Number(read.headers.get('retry-after')) > 0]).toEqual([door, 503, true]);
    }
    const asked = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const board = await fetch(`${gateways[0].url}/graphql`, {
      ...asked,
      body: '{"query":"{ boardPosts { postId } }"}',
    });
    expect(await board.json()).toMatchObject({ errors: [{ extensions: { code: 'unavailable', status: 503 } }] });
    expect(await away()).toMatchObject({ status: 'degraded', away: ['database'] });
    expect(await moved()).toBe(during);

    await cluster.start();
    const back_ms = Date.now();
    await eventually(
      '200 again',
      async () => (await send(gateways[0], await buyer.chat('is it back?'))).status === 200 || null,
    );
    expect(Date.now() - back_ms).toBeLessThan(RECOVERY_MS);
    await eventually('health again', async () => (await away()).status === 'ok' || null);
    const sent = [...(await stop()), ...refused];
    expect([...new Set(sent.map(({ answer }) => nameOf(answer)))].filter(name => !harmless.has(name))).toEqual([]);

    // Every payment that was refused or left open is still valid and pays for its own request once.
    await untilAllClosed(ground);
    for (const { order } of refused) expect((await claimOf(ground, order))?.state ?? 'released').toBe('released');
    const open = sent.filter(({ answer }) => answer.status !== 200);
    for (const { order } of open)
      await eventually('paid', async () => (await send(gateways[1], order)).status === 200 || null);
    for (const gateway of gateways) expect(gateway.process.exitCode).toBeNull();

    const transfers = await audit(ground);
    const [book] = await ground.database.query<{ position: number }>({
      text: 'select position from book where agent_id = $1',
      values: [agent_id],
    });
    await eventually('live rows flow', () => live.positions.at(-1) === book?.position || null);
    expect(live.positions).toEqual(Array.from({ length: book?.position ?? 0 }, (_, index) => index + 1));
    expect(transfers).toBeGreaterThanOrEqual(1 + sent.length);
  });
});

/** The number of transfers, once it no longer changes. */
async function quiet(): Promise<number> {
  for (let before = await moved(); ; ) {
    await sleep(1_000);
    const now = await moved();
    if (now === before) return now;
    before = now;
  }
}
