import { beforeAll, describe, expect, it } from 'vitest';
import type { AgentId, TaskId } from '../../../schema/ids.ts';
import type { ReceiptPayment } from '../../../schema/receipt-shapes.ts';
import { auditStart } from '../../../subgraphs/book/audit/audit.ts';
import { auditStep } from '../../../subgraphs/book/audit/audit-database.ts';
import { closeOpenClaims } from '../../../subgraphs/receipt/claim/epoch.ts';
import { forgetClaims } from '../../../subgraphs/receipt/claim/forget.ts';
import { abandonClaim } from '../../../subgraphs/receipt/claim/transitions.ts';
import { openIssuer } from '../../../subgraphs/receipt/issuer/signing-keys.ts';
import { lockLogHead } from '../../../subgraphs/receipt/log/head.ts';
import { KnownLog } from '../../../subgraphs/receipt/log/known-log.ts';
import { issueReceipts, prepareReceipt } from '../../../subgraphs/receipt/receipt/issue.ts';
import type { ReceiptFacts } from '../../../subgraphs/receipt/receipt/receipt-facts.ts';
import { setUnsignedFacts, type UnsignedFacts } from '../../../subgraphs/receipt/receipt/unsigned-facts.ts';
import { walletSlot } from '../../../subgraphs/session/registration/open-agent.ts';
import { claim, claimRequest } from '../../harness/claim/fixture.ts';
import { type Account, NOW_MS, newTask, newWallet, openDesk, type SessionDesk } from '../../harness/session/desk.ts';
import { paidCall } from '../../harness/vectors/receipt-facts.ts';

const AT = NOW_MS / 1000;

const issuer = openIssuer(['33'.repeat(32)], { base_url: 'http://127.0.0.1', now_ms: () => 0 });

let desk: SessionDesk;
beforeAll(async () => {
  desk = await openDesk();
});

/** A receipt of a call without a book, as the recorder would have issued it. */
async function receiptOf(
  account: Account,
  { task_id = newTask(), ...facts }: Partial<Omit<ReceiptFacts, 'task_id'>> & { task_id?: TaskId } = {},
) {
  const caller_binding = { payer_wallet: account.address };
  const prepared = prepareReceipt(issuer, { ...paidCall, agent_id: null, caller_binding, ...facts, task_id });
  await desk.database.transaction(async tx => {
    const log = await lockLogHead(tx, new KnownLog());
    issueReceipts(tx, log, issuer, [{ prepared, book_seq: null }]);
    log.store(tx, issuer);
  });
  return task_id;
}

const rowsOf = (agent_id: number) =>
  desk.database.query({ text: 'select * from book_row where agent_id = $1 order by seq', values: [agent_id] });

/** The result of an audit of the whole book. */
async function soundness(agent_id: number) {
  const step = await auditStep(desk.database, agent_id as AgentId, auditStart);
  return step.kind === 'sound' ? { kind: step.kind, marked: step.marked } : step;
}

const count = async (text: string, ...values: unknown[]) =>
  (await desk.database.query<{ count: number }>({ text: `select count(*)::int as count from ${text}`, values }))[0]
    ?.count;
const agents = ({ address }: Account) => count('agent where wallet = $1', address);
const stampBy = ({ address }: Account) =>
  claimRequest(`eip155:8453/usdc/${address}/${newTask()}`, {
    field: 'Mutation.registerAgent',
    payer: address,
    slots: [walletSlot(address)],
  });

describe('registering by a collected receipt', () => {
  it('opens agent, book and session, for nothing', async () => {
    const account = newWallet();
    const task_id = await receiptOf(account);
    const registered = await desk.registerBy(account, task_id);
    expect(registered).toEqual({
      agentId: expect.any(Number),
      agentWallet: account.address,
      session: expect.stringMatching(/^svcs_/),
      taskId: task_id,
      validateScore: null,
      settlementStatus: 'settled',
      idempotentReplay: false,
      replayOf: null,
    });
    expect(await desk.opens(registered.session)).toBe(registered.agentId);
    expect(await count('book where agent_id = $1', registered.agentId)).toBe(1);
  });

  it('has that receipt as its first row, in totals, events and hashes, and no other of the wallet', async () => {
    const account = newWallet();
    await receiptOf(account);
    const task_id = await receiptOf(account, { intent_id: 'i1', attempt_index: 2 });
    const { agentId } = await desk.registerBy(account, task_id);
    const rows = await rowsOf(agentId);
    expect(rows).toEqual([
      expect.objectContaining({
        seq: 1,
        task_id,
        evidence: 'collected',
        collected: true,
        amount: 2000n,
        intent_id: 'i1',
      }),
    ]);
    expect(await soundness(agentId)).toEqual({ kind: 'sound', marked: false });
    expect(await count('book where agent_id = $1 and spent_atomic = 2000', agentId)).toBe(1);
    expect(await count('book_intent where agent_id = $1 and collected_count = 1', agentId)).toBe(1);
  });

  it('has it as collected also where it was vouched for when it was signed, and seen since', async () => {
    const account = newWallet();
    const task_id = await receiptOf(account, { settled_by: 'receipt' });
    const ingress_receipt = { ref: 'base:0x02', confirmed_at: '2026-01-02T03:04:10.000Z' };
    const lane = { proof_outcome: 'settled', settled_by: 'observed_transfer', ingress_receipt, omission_rule: null };
    await desk.database.transaction(async tx => setUnsignedFacts(tx, task_id, lane as UnsignedFacts));
    const { agentId } = await desk.registerBy(account, task_id);
    expect(await rowsOf(agentId)).toEqual([
      expect.objectContaining({ evidence: 'collected', collected: true, payment_ref: 'base:0x02', ingress_receipt }),
    ]);
    expect(await soundness(agentId)).toEqual({ kind: 'sound', marked: false });
  });

  it('is open to who paid for a call on the book of another', async () => {
    const account = newWallet();
    const registered = await desk.registerBy(account, await receiptOf(account, { agent_id: 7 }));
    expect(registered).toMatchObject({ settlementStatus: 'settled' });
    expect(registered.agentId).not.toBe(7);
    // The row is on book 7 and not on the new one.
    expect(await rowsOf(registered.agentId)).toEqual([]);
  });

  it('again is a replay: a new session, the old one ends, and the call keeps its stored answer', async () => {
    const account = newWallet();
    const order = claimRequest('chat of the payer', { payer: account.address });
    await claim(desk.database, order);
    await desk.database.query({
      text: `update payment_claim set state = 'recorded', answer_box = 'sealed' where claim_key = $1`,
      values: [order.claim_key],
    });
    const task_id = await receiptOf(account, { task_id: order.task_id });
    const first = await desk.registerBy(account, task_id);
    const again = await desk.registerBy(account, task_id);
    expect(again).toMatchObject({
      agentId: first.agentId,
      settlementStatus: 'idempotent_replay',
      idempotentReplay: true,
      replayOf: task_id,
    });
    expect(await desk.opens(first.session)).toBeNull();
    expect(await desk.opens(again.session)).toBe(first.agentId);
    expect(await count(`payment_claim where task_id = $1 and answer_box is not null`, task_id)).toBe(1);
  });

  it('ten at once: one book, one is told settled, and of the sessions the last one given lives', async () => {
    const account = newWallet();
    const task_id = await receiptOf(account);
    const heard = await Promise.all(Array.from({ length: 10 }, () => desk.registerBy(account, task_id)));
    expect(new Set(heard.map(({ agentId }) => agentId)).size).toBe(1);
    expect(heard.filter(({ settlementStatus }) => settlementStatus === 'settled')).toHaveLength(1);
    expect(await agents(account)).toBe(1);
    const live: (string | null)[] = [];
    for (const { session, settlementStatus } of heard) if (await desk.opens(session)) live.push(settlementStatus);
    expect(live).toEqual(['idempotent_replay']);
  });

  it('once by one signature: again it is 401 and opens nothing', async () => {
    const account = newWallet();
    const task_id = await receiptOf(account);
    const heard = await Promise.allSettled(Array.from({ length: 10 }, () => desk.registerBy(account, task_id, AT)));
    const opened = heard.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []));
    expect(opened).toHaveLength(1);
    for (const one of heard)
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'control_proof_invalid', status: 401 });
    expect(await desk.opens(opened[0]?.session ?? '')).toBe(opened[0]?.agentId);
  });

  it('by two receipts of one wallet at once: one opens the book, the other is 409', async () => {
    const account = newWallet();
    const tasks = [await receiptOf(account), await receiptOf(account)];
    const heard = await Promise.allSettled(tasks.map(task_id => desk.registerBy(account, task_id)));
    expect(heard.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(heard.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'wallet_registered' } });
    expect(await agents(account)).toBe(1);
  });
});

describe('a receipt that does not qualify', () => {
  const byKey = { settled_by: null, payment: null, caller_binding: { api_key_hash: 'e'.repeat(64) } };
  const refusals: [title: string, facts: Partial<Omit<ReceiptFacts, 'task_id'>>, columns: string | null][] = [
    ['of a call by key', { ...byKey, waived_by: 'live_key' }, null],
    ['of a call by demo key', { ...byKey, waived_by: 'demo_key' }, null],
    ['of a payment that was only vouched for', { settled_by: 'receipt' }, null],
    [
      'of a payment that never arrived',
      { settled_by: 'receipt' },
      `proof_outcome = 'unverified', omission_rule = 'none'`,
    ],
    ['of no amount', { payment: { ...(paidCall.payment as ReceiptPayment), gross_amount: '0' } }, null],
    ['without a payer', { caller_binding: {} }, null],
    ['of a development chain that is gone', {}, 'chain_ended = true'],
  ];
  it.each(refusals)('%s: 403, and nothing is opened', async (_, facts, columns) => {
    const account = newWallet();
    const task_id = await receiptOf(account, facts);
    if (columns)
      await desk.database.query({ text: `update receipt set ${columns} where task_id = $1`, values: [task_id] });
    await expect(desk.registerBy(account, task_id)).rejects.toMatchObject({
      code: 'receipt_not_qualifying',
      status: 403,
    });
    expect(await agents(account)).toBe(0);
    expect(await count('claim_slot where slot = $1', walletSlot(account.address))).toBe(0);
  });

  it('that was altered says nothing of anybody: 500', async () => {
    const account = newWallet();
    const task_id = await receiptOf(account, {
      payment: { ...(paidCall.payment as ReceiptPayment), gross_amount: '0' },
    });
    await desk.database.query({ text: 'update receipt set amount = 2000 where task_id = $1', values: [task_id] });
    await expect(desk.registerBy(account, task_id)).rejects.toMatchObject({ code: 'record_damaged', status: 500 });
    expect(await agents(account)).toBe(0);
  });

  it('qualifies once its payment was seen to arrive', async () => {
    const account = newWallet();
    const task_id = await receiptOf(account, { settled_by: 'receipt' });
    const text = `update receipt set settled_by = 'observed_transfer', proof_outcome = 'settled',
      ingress_receipt = '{"ref":"base:0x1","confirmed_at":"2026-03-01T10:30:00.000Z"}' where task_id = $1`;
    await desk.database.query({ text, values: [task_id] });
    expect(await desk.registerBy(account, task_id)).toMatchObject({ settlementStatus: 'settled' });
  });

  it('of another payer: 403', async () => {
    const task_id = await receiptOf(newWallet());
    await expect(desk.registerBy(newWallet(), task_id)).rejects.toMatchObject({ code: 'payer_mismatch', status: 403 });
  });

  it('of a call that is still open: 403', async () => {
    const account = newWallet();
    const order = claimRequest('still open', { payer: account.address });
    await claim(desk.database, order);
    await expect(desk.registerBy(account, order.task_id)).rejects.toMatchObject({ code: 'receipt_not_qualifying' });
  });
});

describe('a wallet that registers by receipt', () => {
  it('holds its slot for ever: whatever is swept, a stamp is refused before it is claimed', async () => {
    const account = newWallet();
    const task_id = await receiptOf(account);
    await desk.registerBy(account, task_id);
    await desk.database.transaction(tx => closeOpenClaims(tx, 'base'));
    await forgetClaims(desk.database, { answer_hours: 0, lapsed_seconds: 0, reverted_seconds: 0 });
    expect(
      await count('claim_slot where slot = $1 and claim_key = $2', walletSlot(account.address), `receipt:${task_id}`),
    ).toBe(1);
    const [outcome] = await claim(desk.database, stampBy(account));
    expect(outcome).toEqual({ kind: 'slot_taken', slot: walletSlot(account.address) });
  });

  it('is refused while a stamp of its own is in flight, and let in once that has come to nothing', async () => {
    const account = newWallet();
    const task_id = await receiptOf(account);
    const [stamp] = await claim(desk.database, stampBy(account));
    if (stamp?.kind !== 'claimed') throw new Error(`the stamp is ${stamp?.kind}`);
    await expect(desk.registerBy(account, task_id)).rejects.toMatchObject({ code: 'wallet_registered', status: 409 });
    expect(await agents(account)).toBe(0);
    await desk.database.transaction(tx => abandonClaim(tx, stamp.lease, 'hub_failed', true));
    expect(await desk.registerBy(account, task_id)).toMatchObject({ settlementStatus: 'settled' });
  });

  it('against stamps of its own at the same moment: one of them wins, and no other is charged', async () => {
    for (let round = 0; round < 20; round++) {
      const account = newWallet();
      const task_id = await receiptOf(account);
      const [byReceipt, ...stamps] = await Promise.all([
        desk.registerBy(account, task_id).catch((refusal: { code: string }) => refusal.code),
        ...[1, 2].map(async () => (await claim(desk.database, stampBy(account)))[0]?.kind),
      ]);
      const won = stamps.filter(kind => kind === 'claimed').length;
      if (byReceipt === 'wallet_registered') expect(won).toBe(1);
      else
        expect({ byReceipt, stamps }).toMatchObject({
          byReceipt: { taskId: task_id },
          stamps: ['slot_taken', 'slot_taken'],
        });
      expect(await agents(account)).toBe(byReceipt === 'wallet_registered' ? 0 : 1);
    }
  });
});
