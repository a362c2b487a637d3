import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalHash, type JsonObject } from '../../../../schema/canonical-json.ts';
import { agentId, type TaskId } from '../../../../schema/ids.ts';
import { auditStart } from '../../../../subgraphs/book/audit/audit.ts';
import { auditStep } from '../../../../subgraphs/book/audit/audit-database.ts';
import { annul } from '../../../../subgraphs/book/ledger/annul.ts';
import { arrive } from '../../../../subgraphs/book/ledger/arrive.ts';
import { correct } from '../../../../subgraphs/book/ledger/correct.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { verifyDispute } from '../../../../subgraphs/receipt/verify/dispute.ts';
import { boundRequest, disputedCall, FIELD, filing, SALT } from '../../../harness/ledger/disputes.ts';
import { collectAll, collection, issuer, vouchedCollection, withBooks } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

/* Disputes of rows in the ledger, including rows that no current call can leave. */

let database: Database;
let file: ReturnType<typeof filing>;
let agent = 0;
beforeAll(async () => {
  database = await freshStore();
  file = filing(database);
});

async function bookWith(...items: Parameters<typeof collectAll>[1]): Promise<void> {
  await withBooks(database, agent);
  await database.transaction(tx => collectAll(tx, items));
}
const task = (number: number) => `task_${agent}_${number}`;
const uncommitted = (omission_rule: string) => ({
  fulfillment: { output_commitment: { status: 'UNVERIFIED', hash: null, kind: null, omission_rule } },
});
const events = () =>
  database.query({ text: `select position from book_event where agent_id = ${agent} and kind = 'dispute'` });
const audited = () => auditStep(database, agentId(agent), auditStart);

describe('a dispute of a row that may still change', () => {
  it('is open until the money has arrived; filed again it is decided, once, and both judgements are events', async () => {
    agent++;
    await bookWith(vouchedCollection(agent, 1));
    const claim = { task_id: task(1), claim_type: 'output_missing' } as const;
    const open = await file(agent, claim);
    expect(open).toMatchObject({ filed: true, dispute: { outcome: null, reason: 'arrival_pending' } });
    expect(open.verdict).not.toHaveProperty('outcome');
    expect(verifyDispute(open.verdict, issuer.jwks)).toMatchObject({ kind: 'valid' });
    expect(await file(agent, claim)).toEqual({ ...open, filed: false });
    expect(await events()).toHaveLength(1);

    const ingress_receipt = { ref: `base:0x${'cd'.repeat(32)}`, confirmed_at: '2026-03-01T10:30:00.000Z' };
    await database.transaction(tx =>
      arrive(tx, [{ task_id: task(1), to: 'collected', ingress_receipt, transfer_index: 7 }]),
    );
    const decided = await file(agent, claim);
    const { disputeId, filedAt } = open.dispute;
    expect(decided).toMatchObject({ filed: false, dispute: { disputeId, filedAt, outcome: 'stand' } });
    expect(decided.dispute.position).toBeGreaterThan(open.dispute.position);
    expect(decided.verdict).toMatchObject({ as_of: { position: decided.dispute.position - 1 } });
    expect(verifyDispute(decided.verdict, issuer.jwks)).toMatchObject({ kind: 'valid' });
    expect(await events()).toHaveLength(2);
    expect(await audited()).toMatchObject({ kind: 'sound', ended: true });
  });

  it('a refund stays as it was decided, whatever the row says later, and no other claim brings a second one', async () => {
    agent++;
    await bookWith(disputedCall(agent, 1, uncommitted('process_ended')));
    const claim = { task_id: task(1), claim_type: 'output_missing' } as const;
    const first = await file(agent, claim);
    expect(first.dispute).toMatchObject({ outcome: 'refund', reason: 'output_not_kept' });
    await database.transaction(tx => correct(tx, [{ task_id: task(1), body: { reason: 'answered_on_resend' } }]));
    expect(await file(agent, claim)).toEqual({ ...first, filed: false });
    const later = await file(agent, { ...claim, evidence: { note: 2 } });
    expect(later.dispute).toMatchObject({ outcome: 'stand', reason: 'already_refunded' });
    expect(later.verdict).toMatchObject({
      facts: expect.arrayContaining([
        { name: 'disputed.refunded_by', value: first.dispute.disputeId, from: 'dispute' },
      ]),
    });
    await database.transaction(tx => correct(tx, [{ task_id: task(1), body: { reason: 'settlement_vanished' } }]));
    const doubtful = await file(agent, { ...claim, evidence: { note: 3 } });
    expect(doubtful.dispute).toMatchObject({ outcome: null, reason: 'settlement_in_doubt' });
  });
});

describe('a verdict that the records decide otherwise by now', () => {
  it('is superseded by a signed one that names it, once, and the event of the row says so', async () => {
    agent++;
    await bookWith(disputedCall(agent, 1, uncommitted('hub_broke_off')));
    const claim = { task_id: task(1), claim_type: 'output_missing' } as const;
    const first = await file(agent, claim);
    expect(first.dispute).toMatchObject({ outcome: 'partial', revision: 1, supersedes: null });
    expect(first.verdict).toMatchObject({ revision: 1, final: false });
    expect(first.verdict).not.toHaveProperty('supersedes');
    const why = {
      correction_id: `task_gone_${agent}` as TaskId,
      omission_rule: 'settlement_vanished',
      reason: 'Gone.',
    };
    await database.transaction(tx => annul(tx, [{ task_id: task(1), ...why }]));

    const again = await file(agent, claim);
    const supersedes = canonicalHash(first.verdict);
    expect(again).toMatchObject({
      filed: false,
      dispute: {
        disputeId: first.dispute.disputeId,
        outcome: 'stand',
        reason: 'arrival_unverified',
        revision: 2,
        supersedes,
      },
      verdict: { revision: 2, supersedes, final: false },
    });
    for (const { verdict } of [first, again]) {
      const verified = verifyDispute(verdict, issuer.jwks);
      expect(verified, JSON.stringify(verified)).toMatchObject({ kind: 'valid' });
      if (verified.kind === 'valid')
        expect(verified.report.unchecked.join()).toContain('Whether a later verdict supersedes this one');
    }
    const [, told] = await database.query<{ body: JsonObject }>({
      text: `select body from book_event where agent_id = ${agent} and kind = 'dispute' order by position`,
    });
    expect(told?.body).toMatchObject({ revision: 2, supersedes, verdict_hash: canonicalHash(again.verdict) });
    expect(await file(agent, claim)).toEqual(again);
    expect(await audited()).toMatchObject({ kind: 'sound', ended: true });
  });

  it('by rules 1 and 2 is judged by the present rule when it is filed again; their refunds stay, and are the only ones', async () => {
    agent++;
    await bookWith(disputedCall(agent, 1, uncommitted('no_output')));
    const claim = { task_id: task(1), claim_type: 'output_missing' } as const;
    const { dispute } = await file(agent, claim);
    const alter = (change: string) =>
      database.query({ text: `update dispute set ${change} where dispute_id = '${dispute.disputeId}'` });
    // Changes the dispute to the form in which an earlier version left it.
    await alter(`refund_of = null`);
    expect(await file(agent, { ...claim, evidence: { note: 1 } })).toMatchObject({
      dispute: { outcome: 'stand', reason: 'already_refunded' },
    });
    await alter(`outcome = 'stand', reason = 'output_committed'`);
    expect(await file(agent, claim)).toMatchObject({ dispute: { outcome: 'refund', revision: 2 } });
  });
});

describe('what no call of today leaves behind', () => {
  it('refund: the receipt names another model than the request that it binds', async () => {
    agent++;
    const args = { model: 'large-1', messages: [] };
    await bookWith(disputedCall(agent, 1, { request_hash: boundRequest(args) }));
    const evidence = { request: { field: FIELD, args }, salt: SALT };
    const { dispute, verdict } = await file(agent, { task_id: task(1), claim_type: 'wrong_model', evidence });
    expect(dispute).toMatchObject({ outcome: 'refund', reason: 'another_model_answered' });
    expect(verifyDispute(verdict, issuer.jwks)).toMatchObject({ kind: 'valid' });
  });

  it.each([
    ['no_output', 'refund'],
    ['no_input', 'stand'],
    ['hub_broke_off', 'partial'],
    ['something_new', null],
  ])('a receipt that commits to nothing since %s: %s', async (omission, outcome) => {
    agent++;
    await bookWith(disputedCall(agent, 1, uncommitted(omission)));
    const { dispute, verdict } = await file(agent, { task_id: task(1), claim_type: 'output_missing' });
    expect(dispute.outcome).toBe(outcome);
    expect(verifyDispute(verdict, issuer.jwks)).toMatchObject({ kind: 'valid' });
  });
});

describe('many at once', () => {
  it('one dispute each of the same claim, in whatever order; their events are chained', async () => {
    agent++;
    await bookWith(collection(agent, 1), collection(agent, 2));
    const filed = await Promise.all(
      Array.from({ length: 24 }, (_, at) =>
        file(agent, { task_id: task(1 + (at % 2)), claim_type: 'wrong_model', evidence: { note: at % 4 } }),
      ),
    );
    expect(filed.filter(one => one.filed)).toHaveLength(4);
    expect(new Set(filed.map(({ dispute }) => dispute.disputeId)).size).toBe(4);
    expect(await events()).toHaveLength(4);
    expect(await audited()).toMatchObject({ kind: 'sound', ended: true });
  });
});

describe('one charge', () => {
  it('is refunded once, of however many claims that are filed at the same time', async () => {
    agent++;
    const args = { model: 'large-1', messages: [] };
    await bookWith(disputedCall(agent, 1, { request_hash: boundRequest(args), ...uncommitted('no_output') }));
    const evidence = { request: { field: FIELD, args }, salt: SALT };
    const filed = await Promise.all(
      Array.from({ length: 16 }, (_, note) =>
        note % 2 === 0
          ? file(agent, { task_id: task(1), claim_type: 'output_missing', evidence: { note } })
          : file(agent, { task_id: task(1), claim_type: 'wrong_model', evidence: { ...evidence, note } }),
      ),
    );
    const reasons = filed.map(({ dispute }) => dispute.reason).filter(reason => reason !== 'already_refunded');
    expect(reasons).toHaveLength(1);
    expect(filed.filter(({ dispute }) => dispute.outcome === 'refund')).toHaveLength(1);
    expect(await audited()).toMatchObject({ kind: 'sound', ended: true });
  });
});

describe('the audit of a book with disputes', () => {
  it.each([
    ['an outcome', 'dispute_altered', `update dispute set outcome = 'partial'`],
    ['a reason', 'dispute_altered', `update dispute set reason = 'no_output'`],
    ['a byte of a verdict', 'dispute_altered', `update dispute set verdict = replace(verdict, 'stand', 'refund')`],
    ['its row', 'dispute_altered', `update dispute set seq = seq + 1`],
    ['its number', 'dispute_altered', `update dispute set revision = 2`],
    ['what it supersedes', 'dispute_altered', `update dispute set supersedes = 'a'`],
    ['the charge that stands', 'dispute_altered', `update dispute set standing_task_id = 'a'`],
    ['the charge that is owed back', 'dispute_altered', `update dispute set refund_of = 'a' || agent_id`],
    ['a time', 'dispute_altered', `update dispute set decides_after = now()`],
    ['its claim', 'dispute_altered', `update dispute set claim_type = 'wrong_model'`],
    ['its place', 'dispute_altered', `update dispute set seq = 9, position = position + 1`],
    ['an older place', 'dispute_missing', `update dispute set position = position - 1`],
    ['all of it', 'dispute_missing', `delete from dispute`],
    ['its event', 'event_altered', `update book_event set body = '{}'`],
  ])('finds %s altered: %s', async (_, what, text) => {
    agent++;
    await bookWith(collection(agent, 1));
    await file(agent, { task_id: task(1), claim_type: 'output_missing' });
    expect(await audited()).toMatchObject({ kind: 'sound' });
    await database.query({
      text: `${text} where agent_id = ${agent}${what === 'event_altered' ? ` and kind = 'dispute'` : ''}`,
    });
    expect(await audited()).toMatchObject({ kind: 'closed', damage: { what } });
  });
});
