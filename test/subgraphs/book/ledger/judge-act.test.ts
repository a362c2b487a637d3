import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { agentId } from '../../../../schema/ids.ts';
import { limits } from '../../../../schema/limits.ts';
import { parsePolicy } from '../../../../schema/requests/policy.ts';
import { type JudgedAct, judgeAct } from '../../../../subgraphs/book/ledger/judge-act.ts';
import { setPolicy } from '../../../../subgraphs/book/policy/set.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { auditBooks } from '../../../harness/faults/audit-books.ts';
import { refuser, withBooks } from '../../../harness/ledger/fixture.ts';
import { hex32 } from '../../../harness/session/delegate.ts';
import { freshStore } from '../../../harness/store.ts';

let database: Database;
/** Milliseconds by which the database's clock, which decides, is ahead of this machine's. */
let ahead_ms: number;
let books = 0;
beforeAll(async () => {
  database = await freshStore({ mid_hour: true });
  const [clock] = await database.query<{ now: Date }>({ text: 'select clock_timestamp() as now' });
  ahead_ms = Number(clock?.now) - Date.now();
});

const TTL_SECONDS = 60;

/** A book on which redeeming is an act of high risk. */
async function cautiousBook() {
  const id = agentId(++books);
  await withBooks(database, id);
  await setPolicy(database, id, parsePolicy('risk_tiers', { high: ['redeem'], low: ['handoff'] }));
  await setPolicy(database, id, parsePolicy('approval_ttl', TTL_SECONDS));
  return id;
}

const actOf = (agent_id: ReturnType<typeof agentId>, more: Partial<JudgedAct> = {}): JudgedAct => ({
  agent_id,
  delegation_hash: hex32(),
  nonce: hex32(),
  action: 'redeem',
  payer_wallet: '0x',
  issued_at_ms: null,
  ...more,
});
const judge = (act: JudgedAct) => database.transaction(tx => judgeAct(tx, refuser, act));
const rowsOf = (agent_id: number) =>
  database.query<{ seq: number; task_id: string; evidence: string; facts: JsonObject }>({
    text: 'select seq::int, task_id, evidence, facts from book_row where agent_id = $1 order by seq',
    values: [agent_id],
  });
const ago = (seconds: number) => Date.now() + ahead_ms - seconds * 1_000;

describe('a book with acts of high risk', () => {
  it('lets pass one whose nonce was issued here lately, and whatever is of no high risk', async () => {
    const id = await cautiousBook();
    for (const more of [
      { issued_at_ms: ago(0) },
      { issued_at_ms: ago(TTL_SECONDS / 2) },
      // Dated by a clock of this machine that is ahead of the database's.
      { issued_at_ms: ago(-5) },
      { action: 'handoff' },
      { action: 'read_private' },
    ] as const)
      expect(await judge(actOf(id, more))).toBeNull();
    expect(await rowsOf(id)).toEqual([]);
  });

  it('lets acts pass whatever else it says: no other policy is asked about what costs nothing', async () => {
    const id = await cautiousBook();
    for (const [kind, value] of [
      ['kill_switch', true],
      ['require_payment_ref', true],
      ['daily_cap', '0'],
      ['model_allowlist', ['none']],
    ] as const)
      await setPolicy(database, id, parsePolicy(kind, value));
    expect(await judge(actOf(id, { issued_at_ms: ago(0) }))).toBeNull();
  });

  it.each([
    ['of the signer’s own', () => null],
    ['that was issued too long ago', () => ago(TTL_SECONDS + 5)],
  ])(
    'refuses one with a nonce %s: by a row and a signed refusal, and with no request of an approval',
    async (_, issued) => {
      const id = await cautiousBook();
      const act = actOf(id, { issued_at_ms: issued() });
      const refused = await judge(act);
      expect(refused).toMatchObject({ kind: 'blocked' });
      const [row] = await rowsOf(id);
      const { refusal_id } = refused as { refusal_id: string };
      expect(row).toMatchObject({ evidence: 'policy_blocked', facts: { refusal_id } });
      expect(row?.facts).toMatchObject({ policy_code: 'high_risk_approval_missing', event: 'policy_blocked' });
      expect(row?.facts.reason).toContain('redeem is of high risk by risk_tiers');
      const [signed] = await database.query<{ payload: string; refusal_code: string }>({
        text: 'select payload, refusal_code from refusal where refusal_id = $1',
        values: [refusal_id],
      });
      expect(signed?.refusal_code).toBe('approval_ttl_expired');
      const payload = JSON.parse(signed?.payload ?? '{}');
      expect(payload).toMatchObject({
        agent_id: id,
        task_id: row?.task_id,
        policy_blocked_seq: row?.seq,
        charged: false,
      });
      expect(payload).not.toHaveProperty('requested_amount');
      const text = 'select 1 from approval_request where agent_id = $1';
      expect(await database.query({ text, values: [id] })).toEqual([]);
    },
  );

  it('refuses the same act by the same refusal, however often and at once it comes; another has its own', async () => {
    const id = await cautiousBook();
    const act = actOf(id);
    const racing = await Promise.all(Array.from({ length: 20 }, () => judge(act)));
    expect(new Set(racing.map(it => JSON.stringify(it))).size).toBe(1);
    expect(await judge({ ...act, nonce: hex32() })).not.toEqual(racing[0]);
    expect(await judge({ ...act, delegation_hash: hex32() })).not.toEqual(racing[0]);
    expect(await rowsOf(id)).toHaveLength(3);
    await auditBooks(database);
  });

  it('writes no row beyond so many in an hour, and says where the last one is', async () => {
    const id = await cautiousBook();
    for (let index = 0; index < limits.blocked_rows_per_hour_max; index++)
      expect(await judge(actOf(id))).toMatchObject({ kind: 'blocked' });
    const [last] = (await rowsOf(id)).slice(-1);
    expect(await judge(actOf(id))).toMatchObject({
      kind: 'blocked_too_often',
      seq: last?.seq,
      last_refusal_id: last?.facts.refusal_id,
    });
    expect(await rowsOf(id)).toHaveLength(limits.blocked_rows_per_hour_max);
    await auditBooks(database);
  });

  it('that its audit has closed judges nothing', async () => {
    const id = await cautiousBook();
    await database.query({ text: `update book set damage = '{}' where agent_id = $1`, values: [id] });
    await expect(judge(actOf(id, { issued_at_ms: ago(0) }))).rejects.toMatchObject({ code: 'book_damaged' });
  });
});
