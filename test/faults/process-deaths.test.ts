import { beforeAll, describe, expect, it } from 'vitest';
import type { FaultPoint } from '../../gateway/operations/faults.ts';
import { audit } from '../harness/faults/audit.ts';
import { type Answer, jwsOf, nameOf, newBuyer, type Order, send, trySend } from '../harness/faults/buyer.ts';
import { claimOf, deaths, untilClosed } from '../harness/faults/claims.ts';
import type { DyingService } from '../harness/faults/dying-service.ts';
import { type Ground, openGround, untilReached } from '../harness/faults/ground.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/*
 * Two services on one database and one chain. One of them ends while a chat and a registration are at the same point, before or after the
 * one from which its payments are recorded. It is either a service in this process, with a simulated death that leaves what kill -9 leaves
 * (dying-service.ts), or a process that gets SIGKILL. The other service has its own calls in progress until everything that the dead one
 * left is decided.
 */

let ground: Ground;
let healthy: RunningService;
let regular: Awaited<ReturnType<typeof newBuyer>>;

beforeAll(async () => {
  ground = await openGround();
  healthy = await ground.start();
  regular = await newBuyer(ground);
  expect((await send(healthy, await regular.registration())).status).toBe(200);
});

type Death = Pick<DyingService, 'url' | 'logs' | 'died' | 'endLease'>;

interface Way {
  readonly how: string;
  readonly at: typeof deaths;
  start(point: FaultPoint): Promise<Death>;
}

/** Points at which a process is killed here. world/faults/equal-deaths.test.ts kills one at every point. */
const killed: ReadonlySet<FaultPoint> = new Set(['after_work', 'after_broadcast']);

const ways: readonly Way[] = [
  { how: 'a process that is killed', at: deaths.filter(([point]) => killed.has(point)), start: startProcess },
  {
    how: 'a service that dies in this process',
    at: deaths,
    start: point => ground.startDying({ plan: { point, reached: 2 } }),
  },
];

/** Starts a process, whose lease expires after its death without the test ending it. */
async function startProcess(point: FaultPoint): Promise<Death> {
  const { url, logs, exited } = await ground.startFaulty({ point, reached: 2 });
  return { url, logs, died: exited.then(code => expect(code).toBeNull()), endLease: async () => {} };
}

describe.each(ways)('$how', ({ how, at, start }) => {
  it.each(at)(`%s leaves its payments %s, touches nobody else's, and each is charged once`, async (point, left) => {
    const newcomer = await newBuyer(ground);
    const chat = await regular.chat(`${point}, ${how}`);
    const registration = await newcomer.registration();
    const dying = await start(point);
    const live = await Promise.all([1, 2].map(() => regular.chat(`slow ${point}, ${how}`)));
    const living = live.map(order => send(healthy, order));

    const lost = [trySend(dying, chat)];
    await untilReached(dying, point, 1);
    lost.push(trySend(dying, registration));
    await dying.died;
    expect(await Promise.all(lost)).toEqual([null, null]);
    await dying.endLease();

    for (const order of [chat, registration]) {
      expect(await untilClosed(ground, order)).toMatchObject({ state: left });
    }
    ground.answerSlow();
    await expectUntouched(live, await Promise.all(living));
    await expectOneCharge(chat, left);
    await expectOneRegistration(newcomer.address, registration, left);
  });
});

describe('a payment that cannot be recorded', () => {
  it('keeps none of those open that were left with it', async () => {
    const newcomer = await newBuyer(ground);
    const chat = await regular.chat('spoilt');
    const registration = await newcomer.registration();
    const dying = await ground.startDying({ plan: { point: 'before_record', reached: 2 } });
    const lost = [trySend(dying, registration)];
    await untilReached(dying, 'before_record', 1);
    await spoil(registration);
    lost.push(trySend(dying, chat));
    await Promise.all(lost);
    await dying.endLease();

    expect(await untilClosed(ground, chat)).toMatchObject({ state: 'recorded' });
    expect(await claimOf(ground, registration)).toMatchObject({ state: 'settling' });
    expect(['409 payment_in_flight', '503 settlement_pending']).toContain(nameOf(await send(healthy, registration)));
    await spoil(registration);
    expect(await untilClosed(ground, registration)).toMatchObject({ state: 'recorded' });
    await expectOneCharge(chat, 'recorded');
    await expectOneRegistration(newcomer.address, registration, 'recorded');
  });
});

/** Reverses the stored request of a stamp, so that its seal is broken; a second call restores it. */
async function spoil({ claim_key }: Order): Promise<void> {
  const text = `update payment_claim set request_box =
    decode(reverse(encode(request_box, 'hex')), 'hex') where claim_key = $1`;
  await ground.database.query({ text, values: [claim_key] });
}

it('every payment of this file has moved once', async () => {
  // One registration. For each death two calls that were in progress at the other service, a chat and a registration. And the two calls
  // with a damaged request.
  expect(await audit(ground)).toBe(1 + 4 * ways.flatMap(({ at }) => at).length + 2);
});

async function expectUntouched(orders: readonly Order[], answers: readonly Answer[]): Promise<void> {
  expect(answers.map(answer => answer.status)).toEqual(orders.map(() => 200));
  for (const order of orders) {
    expect(await claimOf(ground, order)).toMatchObject({ state: 'recorded', lease_epoch: 0 });
  }
}

async function expectOneCharge(chat: Order, left: string): Promise<void> {
  const again = await send(healthy, chat);
  expect(again.status).toBe(200);
  const receipts = await ground.database.query<{ jws: string }>({
    text: `select jws from receipt where (payload::json -> 'payment' ->> 'payment_id') = $1`,
    values: [chat.authorization.nonce],
  });
  expect(receipts.map(({ jws }) => jws)).toEqual([jwsOf(again)]);
  expect(again.headers.get('x-svc-settlement-status')).toBe(left === 'recorded' ? 'idempotent_replay' : 'settled');
  expect(await replaysOf(chat)).toBe(left === 'recorded' ? 1 : 0);
}

async function replaysOf(order: Order): Promise<number | undefined> {
  const claim = await claimOf(ground, order);
  const text = 'select replay_count from book_row where task_id = $1';
  const rows = await ground.database.query<{ replay_count: number }>({ text, values: [claim?.task_id] });
  return rows[0]?.replay_count;
}

async function expectOneRegistration(wallet: string, registration: Order, left: string): Promise<void> {
  const again = await send(healthy, registration);
  expect(again).toMatchObject({ status: 200, body: { agentWallet: wallet, idempotent_replay: left === 'recorded' } });
  const { agent_id, session } = again.body;
  const counted = await ground.database.query({
    text: `select (select count(*)::int from agent where wallet = $1) as agents,
      (select count(*)::int from book where agent_id = $2) as books,
      (select count(*)::int from possession where agent_id = $2) as sessions`,
    values: [wallet, agent_id],
  });
  expect(counted).toEqual([{ agents: 1, books: 1, sessions: 1 }]);
  const book = await fetch(`${healthy.url}/v1/agents/${agent_id}/book`, {
    headers: { 'x-svc-session': String(session) },
  });
  expect(book.status).toBe(200);
  expect(await book.json()).toMatchObject({ agent_id, totals: { count: 1 } });
}
