import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { type AtomicAmount, atomicAmount } from '../../../../schema/amount.ts';
import type { InitialFacts } from '../../../../schema/book-row.ts';
import { type AgentId, agentId } from '../../../../schema/ids.ts';
import { policyLimits } from '../../../../schema/limits.ts';
import { parseTried, type TriedTerms } from '../../../../schema/requests/simulation.ts';
import { appendRow, headOf, lockBooks, storeBooks, storeNewRows } from '../../../../subgraphs/book/ledger/append.ts';
import { cursorOf, spanOfCursor } from '../../../../subgraphs/book/policy/simulation/cursor.ts';
import type { SimulatedTime } from '../../../../subgraphs/book/policy/simulation/read.ts';
import { runSimulation, type SimulationPage } from '../../../../subgraphs/book/policy/simulation/run.ts';
import type { Database, Tx } from '../../../../subgraphs/database.ts';
import { openVault } from '../../../../subgraphs/vault.ts';
import { collectedFactsOf, withBooks } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

/* Compares the simulation, which uses the code that decides calls, with a computation that shares no code with it. */

let database: Database;
const vault = openVault('a secret of this test');
beforeAll(async () => {
  database = await freshStore();
});

interface Row {
  /** Null for a row without an amount. */
  readonly amount: number | null;
  readonly minutes: number;
  readonly model: string;
  readonly door: string;
  /** `key` is a call by API key. It has no amount, even if `amount` is given. Neither has a report or a hand-off. */
  readonly kind: keyof typeof births;
}

const unpaid = { evidence: 'UNVERIFIED', collected: false, amount: null, rail: null } as const;
const onBoard = { model: 'board', hub: 'svc' } as const;
/** Members in which a row of each kind differs from a collected one. */
const births = {
  collected: {},
  RECORDED_BY_SETTLE: { evidence: 'RECORDED_BY_SETTLE' },
  foreign_ingest: { evidence: 'foreign_ingest' },
  registration: { model: 'register', hub: 'svc' },
  board_stamp: onBoard,
  job_fee: onBoard,
  job_price: { ...onBoard, facts: { pay_to: '0xwinner' } },
  key: unpaid,
  report: { ...unpaid, hub: 'router', fulfillment: { job_kind: 'router_broadcast', resource: null } },
  hand_off: { ...unpaid, model: '', hub: '', fulfillment: { job_kind: 'other', resource: null } },
} as const satisfies Record<string, Partial<InitialFacts>>;
/** Kinds of rows on which no policy decides. */
const unjudged: readonly Row['kind'][] = ['report', 'hand_off'];

const BEGIN_MS = Date.parse('2026-03-01T22:10:00Z');
let books = 0;
let tasks = 0;

type CollectedRows = readonly (Row & { readonly seq: number; readonly at_ms: number })[];
/** Rows in one transaction. With more of them it would be idle for too long while they are hashed. */
const ROWS_TOGETHER = 500;

/** A book with these rows. Each is collected that many minutes after the previous one. */
async function bookOf(rows: readonly Row[]) {
  const agent_id = agentId(++books);
  await withBooks(database, agent_id);
  let at_ms = BEGIN_MS;
  const timed = rows.map((row, index) => {
    at_ms += row.minutes * 60_000;
    return { ...row, seq: index + 1, at_ms };
  });
  for (let begun = 0; begun < timed.length; begun += ROWS_TOGETHER)
    await database.transaction(tx => collectRows(tx, agent_id, timed.slice(begun, begun + ROWS_TOGETHER)));
  return { agent_id, rows: timed };
}

async function collectRows(tx: Tx, agent_id: AgentId, rows: CollectedRows): Promise<void> {
  let head = headOf(await lockBooks(tx, [agent_id]), agent_id);
  const births = rows.map(row => {
    const born = appendRow(head, birthOf(row), row.at_ms);
    head = born.head;
    return born;
  });
  storeNewRows(
    tx,
    births.map(({ row }) => row),
  );
  storeBooks(
    tx,
    new Map([[agent_id, head]]),
    births.map(({ event }) => event),
  );
}

function birthOf({ amount, model, door, kind }: Row): InitialFacts {
  return {
    ...collectedFactsOf(`task_${++tasks}`, tasks),
    ...(amount === null ? { amount: null, rail: null } : { amount: atomicAmount(BigInt(amount)) }),
    model,
    fulfillment: { resource: `http://svc.test${door}` },
    ...births[kind],
  };
}

/** All pages together. Each is requested with the cursor of the previous one. */
async function simulated(
  book: number,
  tried: TriedTerms,
  { time = { from: null, to: null }, limit = 3 }: { time?: SimulatedTime; limit?: number } = {},
) {
  const question = { agent_id: agentId(book), tried, time };
  const listed: (readonly [seq: number, code: string, spent: AtomicAmount])[] = [];
  let page: SimulationPage | null = null;
  while (page === null || !page.complete) {
    const cursor: string | null = page && cursorOf(vault, question, page.span);
    const span = cursor === null ? null : spanOfCursor(vault, question, cursor);
    page = await runSimulation(database, { ...question, limit, span });
    listed.push(
      ...page.blocks.map(({ row, blocked }) => [row.seq, blocked.policy_code, blocked.spent_atomic] as const),
    );
  }
  return { listed, ...page.span.state };
}

const HOUR_MS = 3_600_000;
const inSame = (ms: number, one: number, other: number) => Math.floor(one / ms) === Math.floor(other / ms);

/** The same simulation in the simplest way, with all sums computed again for each row. */
function naive(rows: CollectedRows, { policy, budget_atomic }: TriedTerms, from_ms: number, to_ms: number) {
  const passed: { readonly amount: bigint; readonly at_ms: number }[] = [];
  const listed: (readonly [number, string])[] = [];
  let considered = 0;
  for (const { amount, at_ms, seq, kind, model, door } of rows) {
    const byKey = kind === 'key';
    if ((amount === null && !byKey) || at_ms >= to_ms || unjudged.includes(kind)) continue;
    const row = { amount: byKey ? 0n : BigInt(amount ?? 0), at_ms };
    if (kind === 'foreign_ingest') continue;
    if (at_ms < from_ms || kind === 'registration') {
      passed.push(row);
      continue;
    }
    considered++;
    const sum = (those: typeof passed) => those.reduce((all, one) => all + one.amount, row.amount);
    const over = (cap: string | undefined, those: typeof passed) =>
      !byKey && cap !== undefined && sum(those) > BigInt(cap);
    const high = policy.risk_tiers?.high ?? [];
    const isStamp = kind === 'board_stamp';
    const risky = door === '/task-quote' && !isStamp ? high.includes('quote_task') : false;
    const code =
      (policy.kill_switch && 'kill_switch') ||
      (byKey && policy.require_payment_ref && 'require_payment_ref') ||
      (policy.model_allowlist && !isStamp && !policy.model_allowlist.includes(model) && 'model_not_allowed') ||
      (over(budget_atomic?.toString(), passed) && 'budget_exhausted') ||
      (over(
        policy.hourly_cap,
        passed.filter(it => inSame(HOUR_MS, it.at_ms, at_ms)),
      ) &&
        'hourly_cap_exceeded') ||
      (over(
        policy.daily_cap,
        passed.filter(it => inSame(24 * HOUR_MS, it.at_ms, at_ms)),
      ) &&
        'daily_cap_exceeded') ||
      (risky && 'high_risk_approval_missing') ||
      (!byKey &&
        policy.tier2_above !== undefined &&
        row.amount > BigInt(policy.tier2_above) &&
        'tier2_approval_missing');
    if (code) listed.push([seq, code]);
    else passed.push(row);
  }
  return { listed, considered };
}

const someRows = fc.array(
  fc.record<Row>({
    amount: fc.option(fc.integer({ min: 0, max: 9 }), { freq: 5 }),
    minutes: fc.nat(50),
    model: fc.constantFrom('small-1', 'big-1'),
    door: fc.constantFrom('/v1/chat/completions', '/task-quote', '/graphql'),
    kind: fc.constantFrom(
      ...(['collected', 'collected', 'RECORDED_BY_SETTLE', 'foreign_ingest', 'registration'] as const),
      ...(['board_stamp', 'key', 'report', 'hand_off'] as const),
    ),
  }),
  { minLength: 1, maxLength: 60 },
);
const cap = fc.option(fc.nat(40).map(String), { freq: 3 });
const someTried = fc.record({
  hourly_cap: cap,
  daily_cap: cap,
  budget: fc.option(fc.nat(150).map(String), { freq: 3 }),
  tier2_above: fc.option(fc.nat(9).map(String), { freq: 1 }),
  model_allowlist: fc.option(fc.constant(['big-1']), { freq: 1 }),
  risk_tiers: fc.option(fc.constant({ high: ['quote_task'], low: [] }), { freq: 1 }),
  kill_switch: fc.option(fc.boolean(), { freq: 1 }),
  require_payment_ref: fc.option(fc.boolean(), { freq: 1 }),
});
const someTime = fc.record({ from: fc.nat(1_500), to: fc.nat(1_500) });

describe('a simulation', () => {
  it('is what a naive computation says, over any ledger, policy and time, page by page as in sums', async () => {
    await fc.assert(
      fc.asyncProperty(
        someRows,
        someTried,
        someTime,
        fc.integer({ min: 1, max: 7 }),
        async (given, wanted, span, limit) => {
          if (Object.values(wanted).every(value => value === null)) return;
          const { agent_id, rows } = await bookOf(given);
          const tried = parseTried(wanted);
          const [from_ms, to_ms] = [BEGIN_MS + span.from * 60_000, BEGIN_MS + (span.from + span.to + 1) * 60_000];
          const time = { from: new Date(from_ms), to: new Date(to_ms) };
          const expected = naive(rows, tried, from_ms, to_ms);
          const found = await simulated(agent_id, tried, { time, limit });
          expect(found.listed.map(([seq, code]) => [seq, code])).toEqual(expected.listed);
          expect(found.considered.count).toBe(expected.considered);
          const counts = new Map<string, number>();
          for (const [, code] of expected.listed) counts.set(code, (counts.get(code) ?? 0) + 1);
          const summed = Object.entries(found.blocked).map(([code, { count }]) => [code, count] as const);
          expect(new Map(summed)).toEqual(counts);
          const sums = await simulated(agent_id, tried, { time, limit: 0 });
          expect(sums).toMatchObject({ listed: [], blocked: found.blocked, considered: found.considered });
        },
      ),
      { numRuns: 80 },
    );
  });

  it('of what was in force blocks none of the calls that it let pass', async () => {
    await fc.assert(
      fc.asyncProperty(someRows, someTried, async (given, wanted) => {
        if (Object.values(wanted).every(value => value === null)) return;
        const tried = parseTried(wanted);
        // Removes the refused rows, because a book that had this policy would not have collected them.
        const whole = await bookOf(given);
        const refused = new Set(
          naive(whole.rows, tried, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY).listed.map(([seq]) => seq),
        );
        const stood = whole.rows.map(row =>
          refused.has(row.seq) ? { ...row, kind: 'collected' as const, amount: null } : row,
        );
        const { agent_id } = await bookOf(stood);
        expect((await simulated(agent_id, tried)).listed).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  it('begins with what was really spent in the hour, the day and the book before it', async () => {
    const row = { model: 'small-1', door: '/v1/chat/completions', kind: 'collected' } as const;
    const { agent_id, rows } = await bookOf([
      { ...row, amount: 5, minutes: 0 },
      { ...row, amount: 7, minutes: 60 },
      { ...row, amount: 2, minutes: 10 },
      { ...row, amount: 1, minutes: 5 },
    ]);
    const from = new Date(rows[3]?.at_ms ?? 0);
    const spentUnder = async (tried: Parameters<typeof parseTried>[0]) =>
      (await simulated(agent_id, parseTried(tried), { time: { from, to: null } })).listed;
    expect(await spentUnder({ hourly_cap: '9' })).toEqual([[4, 'hourly_cap_exceeded', 9n]]);
    expect(await spentUnder({ hourly_cap: '10' })).toEqual([]);
    expect(await spentUnder({ daily_cap: '14' })).toEqual([[4, 'daily_cap_exceeded', 14n]]);
    expect(await spentUnder({ budget: '14' })).toEqual([[4, 'budget_exhausted', 14n]]);
  });

  it('judges the payment of a job once with its fee, as its first payment was; both are spent or neither', async () => {
    const row = { minutes: 0, model: 'small-1', door: '/v1/chat/completions' };
    const { agent_id } = await bookOf([
      { ...row, amount: 1_000, kind: 'collected' },
      { ...row, amount: 2_001, kind: 'job_fee' },
      { ...row, amount: 100, kind: 'job_price' },
      { ...row, amount: 500, kind: 'collected' },
    ]);
    const under = async (tried: Parameters<typeof parseTried>[0], limit: number) => {
      const { listed, considered, unknown_operation_count } = await simulated(agent_id, parseTried(tried), { limit });
      return { listed, considered, unknown_operation_count };
    };
    const considered = { count: 3, atomic: 3_601n };
    for (const limit of [1, 3]) {
      expect(await under({ budget: '3601' }, limit)).toEqual({ listed: [], considered, unknown_operation_count: 0 });
      const last = { listed: [[4, 'budget_exhausted', 3_101n]], considered, unknown_operation_count: 0 };
      expect(await under({ budget: '3600' }, limit)).toEqual(last);
      // Without the amount of the job there would be room for the last call.
      for (const name of ['budget', 'hourly_cap', 'daily_cap']) {
        const code = name === 'budget' ? 'budget_exhausted' : `${name}_exceeded`;
        expect((await under({ [name]: '3100' }, limit)).listed).toEqual([[3, code, 1_000n]]);
      }
      expect((await under({ tier2_above: '2100' }, limit)).listed).toEqual([[3, 'tier2_approval_missing', 1_000n]]);
    }
  });

  it('that begins between a fee and the payment of its job judges that with its fee, and takes no sum below zero', async () => {
    const row = { model: 'small-1', door: '/v1/chat/completions' };
    const { agent_id, rows } = await bookOf([
      { ...row, amount: 1_000, minutes: 0, kind: 'collected' },
      { ...row, amount: 2_001, minutes: 0, kind: 'job_fee' },
      { ...row, amount: 100, minutes: 24 * 60, kind: 'job_price' },
      { ...row, amount: 500, minutes: 0, kind: 'collected' },
    ]);
    const time = { from: new Date(rows[2]?.at_ms ?? 0), to: null };
    const under = async (tried: Parameters<typeof parseTried>[0]) =>
      (await simulated(agent_id, parseTried(tried), { time })).listed;
    for (const name of ['hourly_cap', 'daily_cap']) {
      expect(await under({ [name]: '2101' })).toEqual([]);
      expect(await under({ [name]: '2100' })).toEqual([[3, `${name}_exceeded`, 0n]]);
    }
  });

  it('looks at so many rows and no more, and goes on behind them; rows that land meanwhile are not of it', async () => {
    const many = policyLimits.simulated_rows_max + 700;
    const row = { amount: 1, minutes: 0, model: 'small-1', door: '/graphql', kind: 'collected' } as const;
    const { agent_id } = await bookOf(Array.from({ length: many }, () => row));
    const question = { agent_id, tried: parseTried({ kill_switch: true }), time: { from: null, to: null } };
    const first = await runSimulation(database, { ...question, limit: 0, span: null });
    expect(first).toMatchObject({
      complete: false,
      span: { state: { seq: policyLimits.simulated_rows_max }, last_seq: many },
    });
    expect(first.span.state).toMatchObject({
      considered: { count: policyLimits.simulated_rows_max },
      unknown_operation_count: policyLimits.simulated_rows_max,
    });
    const span = spanOfCursor(vault, question, cursorOf(vault, question, first.span));
    expect(span).toEqual(first.span);
    const second = await runSimulation(database, { ...question, limit: 0, span });
    expect(second).toMatchObject({ complete: true, span: { state: { seq: many, considered: { count: many } } } });
  });

  it('has cursors that are good for itself alone', async () => {
    const { agent_id } = await bookOf([]);
    const question = { agent_id, tried: parseTried({ hourly_cap: '1' }), time: { from: null, to: null } };
    const { span } = await runSimulation(database, { ...question, limit: 1, span: null });
    const cursor = cursorOf(vault, question, span);
    const refused = { code: 'invalid_request', extensions: { param: 'cursor' } };
    const using = (other: Partial<typeof question>, text = cursor) => {
      try {
        return spanOfCursor(vault, { ...question, ...other }, text);
      } catch (refusal) {
        return refusal;
      }
    };
    expect(using({})).toEqual(span);
    expect(using({ tried: parseTried({ hourly_cap: '2' }) })).toMatchObject(refused);
    expect(using({ agent_id: agentId(agent_id + 1) })).toMatchObject(refused);
    expect(using({}, `${cursor.slice(0, -2)}AA`)).toMatchObject(refused);
    expect(using({}, '')).toMatchObject(refused);
  });
});
