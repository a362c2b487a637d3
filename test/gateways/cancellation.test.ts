import type { PrivateKeyAccount } from 'viem';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { A2A, payerHeader } from '../harness/a2a/agent.ts';
import { audit } from '../harness/faults/audit.ts';
import { answerTo, nameOf, type Order, send } from '../harness/faults/buyer.ts';
import { claimOf } from '../harness/faults/claims.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../harness/faults/wire.ts';
import { newAgent } from '../harness/gateways/trio.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/* One process works on a task, and its buyer cancels it at another process. */

/** Number of uncharged tasks that a payer may cancel. */
const CANCELS = 2;

let ground: Ground;
let wire: DatabaseProxy;
let working: RunningService;
let other: RunningService;
beforeAll(async () => {
  ground = await openGround({ environment: { RATE_UNCHARGED: `${CANCELS}/600` } });
  wire = await startDatabaseProxy(ground.database_url);
  working = await ground.startProcess({ url: wire.url });
  other = await ground.start();
});
/** The hub never answers, so a call ends only if the gateway closes the connection. */
beforeEach(() => ground.hub.behave({ kind: 'hang' }));

async function newPayer() {
  const account = await ground.chain.newWallet();
  const agent = await newAgent(ground, other, account);
  return { ...agent, account };
}

/** Sends a call. Resolves when the hub is called; `answer` resolves with what the caller receives in the end. */
async function begun(order: Order) {
  const asked = ground.hub.requests.length;
  const answer = send(working, order);
  await eventually('the hub to be asked', () => ground.hub.requests.length > asked || null);
  return { answer, task_id: (await claimOf(ground, order))?.task_id ?? '' };
}

async function cancelAt({ url }: RunningService, account: PrivateKeyAccount, id: string) {
  const heard = await fetch(url + A2A, {
    method: 'POST',
    headers: {
      ...(await payerHeader({ url: 'http://svc.test' }, account)),
      'content-type': 'application/json',
      'A2A-Version': '1.0',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'CancelTask', params: { id } }),
  });
  return ((await heard.json()) as { result: JsonObject }).result;
}

const chat = (content: string) => ({ model: 'test/model', messages: [{ role: 'user', content }] });
const CANCELED = { status: { state: 'TASK_STATE_CANCELED' } };
const hungUp = (times: number) => eventually('the hub hung up on', () => ground.hub.deserted() === times || null);

async function reservedOn(agent_id: number) {
  const text = 'select reserved_atomic from book where agent_id = $1';
  return (await ground.database.query<{ reserved_atomic: bigint }>({ text, values: [agent_id] }))[0]?.reserved_atomic;
}

async function failuresOf({ claim_key }: Order) {
  const text = 'select failures from payment_claim where claim_key = $1';
  return (await ground.database.query<{ failures: number }>({ text, values: [claim_key] }))[0]?.failures;
}

/** A new payer's call that the hub is working on, with the numbers of transfers and closed connections before it. */
async function ordered(content: string) {
  const payer = await newPayer();
  const [before, deserted] = [await audit(ground), ground.hub.deserted()];
  const order = await payer.pay(A2A, chat(content));
  return { payer, before, deserted, order, ...(await begun(order)) };
}

describe('CancelTask at another process than that which works for it', () => {
  it('has that one hang up on its hub; nothing is charged or held, and the same payment buys later, once', async () => {
    const { payer, before, deserted, order, answer, task_id } = await ordered('never mind');
    expect(await reservedOn(payer.agent_id)).toBeGreaterThan(0n);
    expect(await cancelAt(other, payer.account, task_id)).toMatchObject({ id: task_id, ...CANCELED });
    await hungUp(deserted + 1);
    expect(nameOf(await answer)).toBe('409 call_canceled');
    expect(await claimOf(ground, order)).toMatchObject({ state: 'released', reason: 'canceled' });
    expect(await reservedOn(payer.agent_id)).toBe(0n);
    expect(await ground.chain.transfers(ground.pay_to)).toHaveLength(before);

    ground.hub.behave({ kind: 'answer' });
    expect((await answerTo(other, order)).status).toBe(200);
    expect((await answerTo(working, order)).headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    expect(await audit(ground)).toBe(before + 1);
  });

  it('is counted once, by its payment and by each process, however often it is asked for', async () => {
    const payer = await newPayer();
    const order = await payer.pay(A2A, chat('again and again'));
    for (let time = 1; time <= CANCELS; time++) {
      const { answer, task_id } = await begun(order);
      expect(await cancelAt(other, payer.account, task_id)).toMatchObject(CANCELED);
      expect(await cancelAt(working, payer.account, task_id)).toMatchObject(CANCELED);
      expect(nameOf(await answer)).toBe('409 call_canceled');
      expect(await failuresOf(order)).toBe(time);
    }
    for (const gateway of [working, other]) expect(nameOf(await send(gateway, order))).toBe('429 rate_limited');
  });

  it('that was not heard, for the connection was cut, is found as it listens again: it hangs up then', async () => {
    const { payer, before, deserted, order, answer, task_id } = await ordered('nobody hears');
    wire.down();
    expect(await cancelAt(other, payer.account, task_id)).toMatchObject(CANCELED);
    wire.up();
    await hungUp(deserted + 1);
    expect(nameOf(await answer)).toBe('409 call_canceled');
    expect(await claimOf(ground, order)).toMatchObject({ state: 'released', reason: 'canceled' });
    expect(await audit(ground)).toBe(before);
  });
});
