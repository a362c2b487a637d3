import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../../schema/limits.ts';
import { openIssuer } from '../../../subgraphs/receipt/issuer/signing-keys.ts';
import { proveResult } from '../../../subgraphs/receipt/proof/prove.ts';
import { recordedTask } from '../../../subgraphs/receipt/receipt/task-status.ts';
import { type ReceiptDatabase, receiptDatabase } from '../../harness/receipt/database.ts';
import { paidCall, waivedCall } from '../../harness/vectors/receipt-facts.ts';

const base_url = 'http://127.0.0.1:4000';
const issuer = openIssuer(['22'.repeat(32)], { base_url, now_ms: () => 0 });
const gate = limits.settlement_proof_gate_atomic;

let database: ReceiptDatabase;
beforeAll(async () => {
  database = await receiptDatabase();
  const { payment } = paidCall;
  if (!payment) throw new Error('nothing was paid');
  const costing = (task_id: string, amount: bigint) => ({
    ...paidCall,
    task_id,
    payment: { ...payment, gross_amount: `${amount}`, settled_amount: `${amount}` },
  });
  await database.issueCalls(issuer, [
    costing('task_below', gate - 1n),
    costing('task_at', gate),
    { ...waivedCall, task_id: 'task_unpaid' },
  ]);
});
afterAll(() => database.close());

async function proven(task_id: string, requested: boolean) {
  const task = await recordedTask(database, base_url, task_id);
  if (!task) throw new Error(`${task_id} is recorded nowhere`);
  return proveResult(database, task, requested);
}

describe('the settlement of a task is shown', () => {
  it.each([
    ['task_below', false, null, null],
    ['task_below', true, 'requested', `${gate - 1n}`],
    ['task_at', false, 'above_cost_gate', `${gate}`],
    ['task_at', true, 'requested', `${gate}`],
    ['task_unpaid', true, null, null],
  ])('of %s, requested %s: %s', async (task_id, requested, shownFor, amount) => {
    const { settlement, ...proof } = await proven(task_id, requested);
    expect(proof).toMatchObject({ shownFor, inclusion: { payload: { task_id } } });
    expect(settlement?.amount.toString() ?? null).toBe(amount);
  });
});
