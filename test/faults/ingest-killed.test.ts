import { randomBytes } from 'node:crypto';
import { getAddress } from 'viem';
import { beforeAll, expect, it } from 'vitest';
import type { FaultPoint } from '../../gateway/operations/faults.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { sendUsdc } from '../harness/doors/reconciliations.ts';
import { auditBooks } from '../harness/faults/audit-books.ts';
import { auditLog } from '../harness/faults/audit-log.ts';
import { nameOf, newBuyer, type Sendable, send, trySend } from '../harness/faults/buyer.ts';
import { untilClosed } from '../harness/faults/claims.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/* Each transfer has one stamp and one row, regardless of which process dies and how many processes receive it. */

let ground: Ground;
let first: RunningService;
let second: Pick<RunningService, 'url'>;
beforeAll(async () => {
  ground = await openGround();
  [first, second] = await Promise.all([ground.start(), ground.startProcess()]);
});

/** An agent that has paid another service, with orders that record this payment. Each order pays another stamp. */
async function newIngester() {
  const account = await ground.chain.newWallet();
  const buyer = await newBuyer(ground, account);
  const { agent_id, session } = (await send(first, await buyer.registration())).body as Record<string, string>;
  const payee = getAddress(`0x${randomBytes(20).toString('hex')}`);
  const paid = await sendUsdc(ground.chain, account.address, payee, 2_500_000n);
  const invoice = { payer: account.address, payTo: payee, amount: '2500000' };
  const path = `/v1/agents/${agent_id}/book/ingest`;
  const count = async (text: string, value: string) => (await ground.database.query({ text, values: [value] })).length;
  return {
    paid,
    invoice,
    ingest: async (body: JsonObject = { foreign_invoice: { ...invoice, tx: paid.tx_hash } }): Promise<Sendable> => ({
      ...(await buyer.pay(path, body)),
      session: String(session),
    }),
    /** Number of its stamps, except for that of its registration. */
    async stamps(): Promise<number> {
      const paid_here = await ground.chain.transfers(ground.pay_to);
      return paid_here.filter(({ from }) => from === account.address.toLowerCase()).length - 1;
    },
    rows: () => count('select 1 from book_row where payment_ref = $1', `base:${paid.tx_hash}`),
    /** The slots that reserve the transfer. */
    slots: () => count('select 1 from claim_slot where slot like $1', `%${paid.tx_hash}%`),
  };
}

const MANY = 1_000;

it('of a thousand payments that race for one transfer over two processes, each way it is spelt, one is charged', async () => {
  const { paid, invoice, ingest, stamps, rows, slots } = await newIngester();
  const { tx_hash: tx, log_index: transfer_index } = paid;
  const { amount, payTo, payer } = invoice;
  const upper = `0x${tx.slice(2).toUpperCase()}`;
  const spellings: readonly JsonObject[] = [
    { foreign_invoice: { ...invoice, tx } },
    { fulfillment_invoice: { ...invoice, tx: upper, network: 'eip155:8453' } },
    { foreign_invoice: { ...invoice, payment_ref: `eip155:8453:${tx}` }, transfer_index },
    { foreign_invoice: { ...invoice, payer: payer.toLowerCase(), tx }, transfer_index },
    {
      payment_required: { resource: 'https://shop.example/x', amount, payTo: payTo.toLowerCase() },
      payment_response: { transaction: upper, payer, success: true },
    },
  ];
  const orders = await Promise.all(Array.from({ length: MANY }, (_, at) => ingest(spellings[at % spellings.length])));
  const answers = await Promise.all(orders.map((order, at) => send(at % 2 ? second : first, order)));
  const names = answers.map(({ status, body }) => `${status} ${body.code ?? ''}`);
  expect(names.filter(name => name === '201 ')).toHaveLength(1);
  expect(names.filter(name => name === '409 duplicate_ref')).toHaveLength(MANY - 1);
  expect([await stamps(), await rows(), await slots()]).toEqual([1, 1, 1]);
  // A refused payment can buy something else.
  const lost = orders[answers.findIndex(({ status }) => status === 409)];
  const body = JSON.stringify({ model: 'test/model', messages: [{ role: 'user', content: 'then this' }] });
  expect((await send(second, { ...(lost as Sendable), path: '/v1/chat/completions', body })).status).toBe(200);
});

it('killed as the stamp is sent, or between stamp and row: the same payment has one row, another one none', async () => {
  const points = ['in_settling', 'before_record'] as const satisfies FaultPoint[];
  const killed = async (point: FaultPoint) => {
    const { ingest, stamps, rows, slots } = await newIngester();
    const order = await ingest();
    const dying = await ground.startDying({ plan: { point } });
    expect(await trySend(dying, order)).toBeNull();
    await dying.died;
    expect(nameOf(await send(first, await ingest()))).toBe('409 duplicate_ref');
    await dying.endLease();
    expect(await untilClosed(ground, order)).toMatchObject({
      state: point === 'in_settling' ? 'released' : 'recorded',
    });
    const mine = await eventually('its answer', async () => {
      const answer = await send(first, order);
      return answer.status === 201 ? answer : null;
    });
    expect(mine.body.payment).toMatchObject({ collected: true });
    expect([await stamps(), await rows(), await slots()]).toEqual([1, 1, 1]);
  };
  for (const point of points) await killed(point);
  await auditBooks(ground.database);
  await auditLog(ground.database, ground.saved_head);
});
