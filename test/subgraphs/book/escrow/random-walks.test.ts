import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { Refusal } from '../../../../schema/errors.ts';
import { a2aEscrowMachine } from '../../../../subgraphs/book/escrow/a2a-escrow.machine.ts';
import { legalFor } from '../../../../subgraphs/book/escrow/machine.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { CLAIM, COMMITTED, type EscrowBooks, openEscrowBooks } from '../../../harness/escrow/books.ts';
import { freshStore } from '../../../harness/store.ts';

/* Random walks of escrows between three agents. The rows must describe exactly the escrows, whichever agent took a step. */

const CALLS = 100;
let database: Database;
let books: EscrowBooks;
let used = 1;
let walk = 0;
beforeAll(async () => {
  database = await freshStore();
  books = await openEscrowBooks(database, 3, CALLS);
});

const agents = fc.integer({ min: 1, max: 3 });
const steps = fc.array(
  fc.record({
    agent: agents,
    job: fc.integer({ min: 0, max: 1 }),
    action: fc.constantFrom('fund', 'submit', 'release', 'clawback', 'challenge', 'expire', 'round'),
    claimed: fc.boolean(),
    wrong: fc.boolean(),
    /** Half of the steps are allowed ones, because otherwise few walks would get far. */
    legal: fc.option(fc.nat({ max: 9 }), { nil: null }),
  }),
  { minLength: 8, maxLength: 24 },
);

/** The outcome of a step: the state, or the code of the refusal. */
async function resultOf(step: () => Promise<{ readonly state: string }>): Promise<string> {
  try {
    return (await step()).state;
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

/** The phases of an escrow according to its rows on one book. */
async function projected(escrow_id: string, agent_id: number): Promise<readonly string[]> {
  const rows = await books.rows();
  return rows
    .filter(row => row.agent_id === agent_id && row.facts.escrow_id === escrow_id)
    .map(({ facts }) => String(facts.phase));
}

/** Steps that each of these agents may take now. */
async function movesNow(name: { readonly job_id: string }, agents_of: readonly number[]) {
  const views = await Promise.all(agents_of.map(async agent => ({ agent, ...(await books.read(agent, name)) })));
  return views.flatMap(({ agent, legal }) =>
    legal.flatMap(action => (action === 'open' || action === 'status' ? [] : [{ agent, action }])),
  );
}

it('state follows the rows: on both books, and nothing on anybody else’s', async () => {
  const property = fc.asyncProperty(steps, agents, async (walked, other) => {
    await database.query({
      text: `update a2a_escrow set opened_at = opened_at - interval '2 hours', state = 'released'`,
    });
    const principal = 1;
    const counterparty = other === 1 ? 2 : other;
    const jobs = [`walk-${++walk}-a`, `walk-${walk}-b`];
    const opened = await Promise.all(jobs.map(job_id => books.open(principal, counterparty, { job_id })));
    for (const { legal, ...drawn } of walked) {
      const { job, claimed, wrong } = drawn;
      const [name, escrow_id] = [{ job_id: jobs[job] ?? '' }, opened[job]?.escrowId ?? ''];
      const moves = legal === null ? [] : await movesNow(name, [principal, counterparty]);
      const { agent, action } = moves.length === 0 ? drawn : (moves[(legal ?? 0) % moves.length] ?? drawn);
      if (action === 'expire') await books.pass('a2a_escrow', escrow_id);
      if (action === 'round') await books.expire();
      if (action === 'expire' || action === 'round') continue;
      const party = agent === principal ? 'principal' : agent === counterparty ? 'counterparty' : null;
      const before = await books.read(principal, name);
      const overdue = before.expiresAt.getTime() <= Date.now();
      const wanted = wrong ? `keccak256:${'b'.repeat(64)}` : COMMITTED;
      const said = {
        fund: { task_id: books.taskOf(1, wrong ? 0 : used) },
        submit: action === 'submit' ? await books.delivery(counterparty, wanted) : {},
        release: {},
        clawback: claimed ? CLAIM : {},
        challenge: CLAIM,
      }[action];
      const outcome = await resultOf(() => books.move(agent, name, action, said));
      if (action === 'fund' && outcome === 'funded') used++;
      if (party === null) expect(outcome).toBe('escrow_not_found');
      else if (!legalFor(a2aEscrowMachine, { state: before.state, overdue }, party).includes(action)) {
        const again = before.phases.some(phase => phase.action === action && phase.by === party);
        expect(again ? [outcome, 'invalid_escrow_action'] : ['invalid_escrow_action']).toContain(outcome);
      }
    }
    for (const { escrowId: escrow_id, jobId: job_id } of opened) {
      await books.expire();
      const own = await projected(escrow_id, principal);
      const theirs = await projected(escrow_id, counterparty);
      for (const [agent, rows] of [
        [principal, own],
        [counterparty, theirs],
      ] as const) {
        const { state, phases } = await books.read(agent, { job_id });
        expect(phases.flatMap(phase => (phase.seq === null ? [] : [phase.state]))).toEqual(rows);
        expect(phases.map(phase => phase.state)).toEqual(own);
        expect(state).toBe(own.at(-1));
      }
      // The counterparty's book has no row before the counterparty's first step, and rows of all phases from then on.
      const { phases } = await books.read(principal, { job_id });
      expect(theirs).toEqual(phases.some(({ by }) => by === 'counterparty') ? own : []);
      for (const stranger of [1, 2, 3].filter(agent => agent !== principal && agent !== counterparty))
        expect(await projected(escrow_id, stranger)).toEqual([]);
    }
  });
  await fc.assert(property, { numRuns: 25 });
  await books.audit();
  const rows = await books.rows();
  expect(new Set(rows.map(({ facts }) => facts.phase)).size).toBeGreaterThan(4);
  expect(rows.every(({ amount }) => amount === null)).toBe(true);
  const [spent] = await database.query<{ spent_atomic: bigint }>({
    text: 'select spent_atomic from book where agent_id = 1',
  });
  expect(spent?.spent_atomic).toBe(2000n * BigInt(CALLS));
});
