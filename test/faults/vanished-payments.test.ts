import { beforeAll, describe, expect, it } from 'vitest';
import { agentId } from '../../schema/ids.ts';
import { auditStart } from '../../subgraphs/book/audit/audit.ts';
import { auditStep } from '../../subgraphs/book/audit/audit-database.ts';
import { auditBooks } from '../harness/faults/audit-books.ts';
import { newBuyer, type Order, send, submitElsewhere } from '../harness/faults/buyer.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';
import { shortChainWait } from '../harness/faults/short-chain-wait.ts';
import { hurryTasks } from '../harness/jobs.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

let ground: Ground;
let gateways: readonly RunningService[];
let book: number;
let buyer: Awaited<ReturnType<typeof newBuyer>>;
beforeAll(async () => {
  ground = await openGround();
  gateways = await Promise.all([ground.start({ options: shortChainWait }), ground.start({ options: shortChainWait })]);
  buyer = await newBuyer(ground);
  const { status, body } = await send(gateways[0] as RunningService, await buyer.registration());
  if (status !== 200) throw new Error(`registering answered ${status}`);
  book = Number(body.agent_id);
});

interface CorrectionRow {
  readonly corrects: string;
  readonly reason: string;
  readonly evidence: string;
  readonly amount: bigint | null;
}

const corrections = () =>
  ground.database.query<CorrectionRow & Record<string, unknown>>({
    text: `select facts->>'corrects' as corrects, facts->>'reason' as reason, evidence, amount from book_row
      where agent_id = $1 and facts ? 'corrects' order by seq`,
    values: [book],
  });
const rowOf = async ({ claim_key }: Order) => {
  const text = `select r.* from book_row r join payment_claim c using (task_id) where c.claim_key = $1`;
  const [row] = await ground.database.query<{ task_id: string; evidence: string; amount: bigint | null }>({
    text,
    values: [claim_key],
  });
  if (!row) throw new Error('the order has no row');
  return row;
};
const head = async () => {
  const text = 'select spent_atomic, by_rail from book where agent_id = $1';
  const [found] = await ground.database.query<{ spent_atomic: bigint; by_rail: object }>({ text, values: [book] });
  return found;
};

/** A call that was paid for and answered. */
async function answered(content: string): Promise<Order> {
  const order = await buyer.chat(content);
  expect((await send(gateways[0] as RunningService, order)).status).toBe(200);
  return order;
}

describe('payments that a reorganisation took out of their blocks', () => {
  it('are corrected where they can move no more, once by two gateways; one that moved after all stands', async () => {
    await answered('kept');
    const before = await head();
    const { chain, database } = ground;
    const snapshot = await chain.call<string>('evm_snapshot');
    const lost = await answered('lost');
    const moved = await answered('moved by somebody else');
    expect(await head()).toMatchObject({ spent_atomic: (before?.spent_atomic ?? 0n) + 4000n });

    await chain.call('evm_revert', snapshot);
    await submitElsewhere(ground, moved);
    await chain.passTime(400);
    await chain.mine(8);
    const hurry = () =>
      hurryTasks((text, values) => database.query({ text, values }), 'finality', 'doubted', 'arrivals');
    await eventually('the correction', async () => {
      await hurry();
      return (await corrections()).length > 0 ? true : null;
    });
    await eventually('no doubt left', async () => {
      await hurry();
      const left = await database.query({ text: 'select 1 from doubted_payment' });
      return left.length === 0 || null;
    });

    const { task_id } = await rowOf(lost);
    const reason =
      'The final chain does not have this payment: its block was replaced, and it ran out before another took it.';
    expect(await corrections()).toEqual([{ corrects: task_id, reason, evidence: 'UNVERIFIED', amount: null }]);
    expect(await rowOf(lost)).toMatchObject({
      evidence: 'collected',
      amount: null,
      collected: false,
      omission_rule: 'settlement_vanished',
    });
    expect(await rowOf(moved)).toMatchObject({ evidence: 'collected', amount: 2000n, collected: true });
    const spent = (before?.spent_atomic ?? 0n) + 2000n;
    expect(await head()).toMatchObject({ spent_atomic: spent, by_rail: { usdc: { amount: spent.toString() } } });
    await auditBooks(database);
    expect(await auditStep(database, agentId(book), auditStart)).toMatchObject({ kind: 'sound', ended: true });
  });
});
