import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refusalId } from '../../../schema/ids.ts';
import { systemRandom } from '../../../subgraphs/clock.ts';
import { type DamagedRecord, onDamagedRecord } from '../../../subgraphs/receipt/damaged-record.ts';
import { openIssuer } from '../../../subgraphs/receipt/issuer/signing-keys.ts';
import { readReceipts, receiptsByTask } from '../../../subgraphs/receipt/receipt/find.ts';
import { recordedTask } from '../../../subgraphs/receipt/receipt/task-status.ts';
import { setUnsignedFacts } from '../../../subgraphs/receipt/receipt/unsigned-facts.ts';
import { refusalById } from '../../../subgraphs/receipt/refusal/find.ts';
import { issueRefusals } from '../../../subgraphs/receipt/refusal/sign-refusal.ts';
import { type ReceiptDatabase, receiptDatabase } from '../../harness/receipt/database.ts';
import { foreignPayment, paidCall } from '../../harness/vectors/receipt-facts.ts';

/* A stored record is shown only if it is still as it was signed. */

const issuer = openIssuer(['22'.repeat(32)], { base_url: 'http://127.0.0.1:4000', now_ms: () => 0 });
const damaged = { code: 'record_damaged', status: 500 };

let database: ReceiptDatabase;
let heard: DamagedRecord[] = [];
let number = 0;
beforeAll(async () => {
  database = await receiptDatabase();
  onDamagedRecord(database, record => heard.push(record));
});
beforeEach(() => {
  heard = [];
});
afterAll(() => database.close());

const alter = (text: string, ...values: unknown[]) => database.query({ text, values });

async function issued(differently: Partial<typeof paidCall> = {}): Promise<string> {
  const task_id = `task_${++number}`;
  await database.issueCalls(issuer, [{ ...paidCall, ...differently, task_id }]);
  return task_id;
}

const lanes = {
  pending: ['pending', 'receipt', null, null],
  arrived: ['settled', 'observed_transfer', { ref: 'base:0x1', confirmed_at: '2026-03-01T10:30:00.000Z' }, null],
  omitted: ['unverified', 'receipt', null, 'no_ingress_receipt_at_cutoff'],
} as const;

async function laneOf(task_id: string, [proof_outcome, settled_by, ingress_receipt, omission_rule]: LaneColumns) {
  const lane = { proof_outcome, settled_by, ingress_receipt, omission_rule };
  await database.transaction(async tx => setUnsignedFacts(tx, task_id, lane));
}
type LaneColumns = (typeof lanes)[keyof typeof lanes];

describe('a stored receipt', () => {
  it.each([
    ['payload', `payload = replace(payload, '2000', '1000')`],
    ['payload_hash', `payload_hash = repeat('0', 64)`],
    ['payload_version', 'payload_version = 8'],
    ['jws', `jws = replace(jws, '.', '')`],
    ['kid', `kid = 'another'`],
    ['task_id', `task_id = task_id || '_other'`],
    ['amount', 'amount = 1000'],
    ['amount gone', 'amount = null'],
    ['payment_ref', `payment_ref = 'base:0xff'`],
    ['payment_ref gone', 'payment_ref = null'],
    ['agent_id', 'agent_id = 99'],
    ['book_seq', 'book_seq = 99'],
    ['payer_wallet', `payer_wallet = '0x0000000000000000000000000000000000000001'`],
    ['hub', `hub = 'south'`],
    ['model', `model = 'large-1'`],
    ['leaf_index', 'leaf_index = 1000000'],
    ['tree_size', 'tree_size = tree_size + 1'],
    ['root_hash', `root_hash = repeat('0', 64)`],
    ['tree_head_hash', `tree_head_hash = repeat('0', 64)`],
    ['issued_at', `issued_at = issued_at + interval '1 second'`],
    ['collected_at', `collected_at = collected_at + interval '1 millisecond'`],
    ['settled_by', `settled_by = 'receipt'`],
    ['proof_outcome', `proof_outcome = 'pending'`],
    ['ingress_receipt', `ingress_receipt = '{"ref":"base:0x1"}'`],
    ['omission_rule', `omission_rule = 'no_ingress_receipt_at_cutoff'`],
  ])('whose %s was altered is not shown, and its operator hears of it', async (name, change) => {
    const task_id = await issued();
    await alter(`update receipt set ${change} where task_id = $1`, task_id);
    const id = name === 'task_id' ? `${task_id}_other` : task_id;
    await expect(receiptsByTask(database, [id])).rejects.toMatchObject(damaged);
    expect(heard).toMatchObject([{ record: 'receipt', id }]);
  });

  it('fails alone: those that are read with it are shown', async () => {
    const [sound, altered] = [await issued(), await issued()];
    await alter('update receipt set amount = 1 where task_id = $1', altered);
    const read = await readReceipts(database, [sound, altered, 'task_of_nobody']);
    expect(read).toMatchObject([{ taskId: sound }, damaged, null]);
  });

  it('says nothing of its task either', async () => {
    const task_id = await issued();
    await alter(`update receipt set payment_ref = 'base:0xff' where task_id = $1`, task_id);
    await expect(recordedTask(database, 'http://127.0.0.1:4000', task_id)).rejects.toMatchObject(damaged);
  });

  it.each(Object.entries(lanes))('on a facilitator’s word: %s is a lane that it may come to', async (_, lane) => {
    const task_id = await issued({ settled_by: 'receipt' });
    await laneOf(task_id, lane);
    expect(await receiptsByTask(database, [task_id])).toMatchObject([{ taskId: task_id, proofOutcome: lane[0] }]);
  });

  it('on a facilitator’s word is not taken for settled where nobody has seen its money', async () => {
    const task_id = await issued({ settled_by: 'receipt' });
    await alter(`update receipt set proof_outcome = 'settled' where task_id = $1`, task_id);
    await expect(receiptsByTask(database, [task_id])).rejects.toMatchObject(damaged);
  });

  it('by key is shown, and becomes no payment', async () => {
    const task_id = await issued({ payment: null, settled_by: null, waived_by: 'live_key' } as never);
    expect(await receiptsByTask(database, [task_id])).toMatchObject([{ taskId: task_id, proofOutcome: 'none' }]);
    await alter(
      `update receipt set proof_outcome = 'settled', settled_by = 'observed_transfer' where task_id = $1`,
      task_id,
    );
    await expect(receiptsByTask(database, [task_id])).rejects.toMatchObject(damaged);
  });
});

describe('a stored refusal', () => {
  async function refused(): Promise<string> {
    const refusal_id = refusalId(Date.UTC(2026, 2, 1), systemRandom.bytes(10));
    const anchor = () => ({ status: 'UNAVAILABLE' }) as const;
    const call = { refusal_id, task_id: `task_${++number}`, agent_id: 7, book_seq: number } as const;
    const why = { refusal_code: 'policy_blocked', policy_code: 'daily_cap_exceeded', requested_atomic: 2000n } as const;
    const refuser = { issuer, random: systemRandom, profile: 'production', anchor } as const;
    await database.transaction(async tx =>
      issueRefusals(tx, refuser, [{ ...call, ...why, at_ms: Date.UTC(2026, 2, 1) }]),
    );
    return refusal_id;
  }

  it('is shown as it was signed', async () => {
    const id = await refused();
    expect(await refusalById(database, id)).toMatchObject({ refusalId: id });
    expect(heard).toEqual([]);
  });

  it.each([
    ['payload', `payload = replace(payload, 'daily', 'hourly')`],
    ['jws', `jws = replace(jws, '.', '')`],
    ['kid', `kid = 'another'`],
    ['agent_id', 'agent_id = 8'],
    ['book_seq', 'book_seq = 1000000'],
    ['task_id', `task_id = task_id || '_other'`],
    ['refusal_code', `refusal_code = 'budget_exhausted'`],
    ['policy_code', `policy_code = 'kill_switch'`],
    ['issued_at', `issued_at = issued_at + interval '1 second'`],
  ])('whose %s was altered is not shown, and its operator hears of it', async (_, change) => {
    const id = await refused();
    await alter(`update refusal set ${change} where refusal_id = $1`, id);
    await expect(refusalById(database, id)).rejects.toMatchObject(damaged);
    expect(heard).toMatchObject([{ record: 'refusal', id }]);
  });
});

describe('a stored receipt of a book chain', () => {
  const chained = { payment: null, chained: foreignPayment };
  const { transaction, amount } = foreignPayment.observed_transfer;

  it('is found as it was signed: its payment by the reference that was signed beside the book', async () => {
    const [receipt] = await receiptsByTask(database, [await issued(chained)]);
    const signed = { payloadVersion: 4, paymentRef: `base:${transaction}`, agentId: 7, amount: BigInt(amount) };
    expect(receipt).toMatchObject(signed);
    expect(heard).toEqual([]);
  });

  it.each(['payment_ref', 'agent_id', 'amount'])('is not shown with another %s', async column => {
    const task_id = await issued(chained);
    await alter(`update receipt set ${column} = '9' where task_id = $1`, task_id);
    await expect(receiptsByTask(database, [task_id])).rejects.toMatchObject({ code: 'record_damaged' });
    expect(heard).toHaveLength(1);
  });
});
