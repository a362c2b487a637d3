import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { type AtomicAmount, atomicAmount } from '../../../../schema/amount.ts';
import type { Json } from '../../../../schema/canonical-json.ts';
import { windowAt } from '../../../../schema/clock-window.ts';
import { agentId } from '../../../../schema/ids.ts';
import type { PolicyMode } from '../../../../schema/policy-kinds.ts';
import { parsePolicy } from '../../../../schema/requests/policy.ts';
import { headOf, readBooks } from '../../../../subgraphs/book/ledger/append.ts';
import { type AdmittedCall, reserve, voidReservations } from '../../../../subgraphs/book/ledger/reserve.ts';
import { setBudget, setPolicy } from '../../../../subgraphs/book/policy/set.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { auditBooks } from '../../../harness/faults/audit-books.ts';
import { collectAll, collection, refuser, reservationFor, withBooks } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

let database: Database;
beforeAll(async () => {
  database = await freshStore();
});

const caps = [
  'hourly_cap',
  'daily_cap',
  'budget',
  'tier2_above',
  'kill_switch',
  'model_allowlist',
  'risk_tiers',
] as const;

interface Change {
  readonly kind: 'change';
  readonly name: (typeof caps)[number];
  readonly mode: PolicyMode;
  /** The limit as a number of calls. Null clears it. */
  readonly calls: number | null;
}
interface Move {
  readonly kind: 'reserve' | 'owed' | 'collect' | 'void';
  readonly pick: number;
}
type Step = Change | Move;

const changed = fc.record<Change>({
  kind: fc.constant('change'),
  name: fc.constantFrom(...caps),
  mode: fc.constantFrom<PolicyMode>('enforce', 'enforce', 'shadow'),
  calls: fc.option(fc.nat(9)),
});
const moved = fc.record<Move>({
  kind: fc.constantFrom<Move['kind']>('reserve', 'reserve', 'reserve', 'owed', 'collect', 'void'),
  pick: fc.nat(20),
});

/** A value of that policy, or null to clear it. */
function settingOf(name: Exclude<(typeof caps)[number], 'budget'>, calls: number | null): Json {
  if (calls === null) return null;
  const values = {
    kill_switch: calls % 3 === 0,
    model_allowlist: calls % 2 === 0 ? ['small-1'] : ['big-1'],
    risk_tiers: { high: calls % 2 === 0 ? ['quote_task'] : ['chat_completions'], low: [] },
  };
  return name in values ? values[name as keyof typeof values] : String(calls * 2000);
}

let books = 0;
let tasks = 0;

/** Opens a book. Returns the steps that may happen on it. */
async function opened() {
  const agent = ++books;
  const agent_id = agentId(agent);
  await withBooks(database, agent);
  const held: (readonly [number: number, let_pass: AdmittedCall])[] = [];
  let told = 0;

  async function change({ name, mode, calls }: Change): Promise<void> {
    if (name === 'budget')
      return setBudget(database, agent_id, calls === null ? null : atomicAmount(BigInt(calls * 2000)));
    await setPolicy(database, agent_id, { ...parsePolicy(name, settingOf(name, calls)), mode });
  }

  async function ask(owed: boolean): Promise<void> {
    const number = ++tasks;
    const outcome = await database.transaction(async tx => {
      const [reserved] = await reserve(tx, refuser, [reservationFor(agent, number, { owed })]);
      // Checked at the time of the admission, while the lock of the head is held.
      if (reserved?.kind === 'reserved' && !owed) requireWithin(headOf(await readBooks(tx, [agent_id]), agent_id));
      return reserved;
    });
    if (outcome?.kind === 'reserved') held.push([number, outcome]);
    else expect(owed).toBe(false);
  }

  async function end(kind: 'collect' | 'void', pick: number): Promise<void> {
    const [given] = held.splice(pick % Math.max(held.length, 1), 1);
    if (given === undefined) return;
    const [number, { would_block }] = given;
    if (kind === 'void') return database.transaction(tx => voidReservations(tx, [reservationFor(agent, number)]));
    const item = collection(agent, number);
    const landing = item.landing && { ...item.landing, reserved: atomicAmount(2000n), would_block };
    await database.transaction(tx => collectAll(tx, [{ ...item, landing }]));
    told += would_block.length;
  }

  return {
    agent_id,
    run: async (step: Step): Promise<void> => {
      if (step.kind === 'change') return change(step);
      if (step.kind === 'reserve' || step.kind === 'owed') return ask(step.kind === 'owed');
      await end(step.kind, step.pick);
    },
    /** Releases everything, and returns how many would_block events are expected. */
    async close(): Promise<number> {
      while (held.length > 0) await end('void', 0);
      return told;
    },
  };
}

function requireWithin(head: ReturnType<typeof headOf>): void {
  const { policy, budget_atomic, spent_atomic, reserved_atomic, now_ms } = head;
  const within = (spent: AtomicAmount, cap: string | bigint | null | undefined) =>
    cap === null || cap === undefined || spent + reserved_atomic <= BigInt(cap);
  expect(policy.kill_switch ?? false).toBe(false);
  expect(policy.model_allowlist ?? ['small-1']).toContain('small-1');
  expect(policy.risk_tiers?.high ?? []).not.toContain('chat_completions');
  expect(BigInt(policy.tier2_above ?? 2000n) >= 2000n).toBe(true);
  expect([
    within(spent_atomic, budget_atomic),
    within(windowAt(head.hour, 'hour', now_ms).atomic, policy.hourly_cap),
    within(windowAt(head.day, 'day', now_ms).atomic, policy.daily_cap),
  ]).toEqual([true, true, true]);
}

it('any interleaving of reserve, collect, void and changes of policy admits nothing beyond what is set at that moment', async () => {
  const steps = fc.array(fc.oneof({ weight: 3, arbitrary: moved }, { weight: 1, arbitrary: changed }), {
    minLength: 10,
    maxLength: 60,
  });
  await fc.assert(
    fc.asyncProperty(steps, async taken => {
      const { agent_id, run, close } = await opened();
      // Steps of different kinds run at the same time, as calls and their owners do.
      for (let at = 0; at < taken.length; at += 4) await Promise.all(taken.slice(at, at + 4).map(run));
      const told = await close();
      const text = `select count(*)::int as told from book_event where agent_id = $1 and kind = 'would_block'`;
      expect(await database.query({ text, values: [agent_id] })).toEqual([{ told }]);
      const [head] = await database.query({
        text: 'select reserved_atomic from book where agent_id = $1',
        values: [agent_id],
      });
      expect(head).toEqual({ reserved_atomic: 0n });
    }),
    { numRuns: 25 },
  );
  await auditBooks(database);
});
