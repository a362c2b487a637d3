import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { escrowLimits } from '../../../../schema/limits.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { CLAIM, COMMITTED, type EscrowBooks, openEscrowBooks } from '../../../harness/escrow/books.ts';
import { freshStore } from '../../../harness/store.ts';

let database: Database;
let books: EscrowBooks;
let call = 0;
beforeAll(async () => {
  database = await freshStore();
  books = await openEscrowBooks(database, 2, 60);
});

const nextTask = () => books.taskOf(1, call++);
const escrowEvents = async (task_id: string) =>
  database.query<{ position: number; seq: number; body: JsonObject } & Record<string, unknown>>({
    text: `select position, seq, body from book_event where kind = 'escrow' and task_id = $1 order by position`,
    values: [task_id],
  });

const states = async (table: 'ledger_escrow' | 'a2a_escrow', escrow_id: string) =>
  (await database.query({ text: `select state from ${table} where escrow_id = $1`, values: [escrow_id] })).map(
    ({ state }) => state,
  );

describe('a ledger escrow', () => {
  it('is an event of its row for each phase: a position, no seq and no row', async () => {
    const task_id = nextTask();
    const { seq, position } = await heads();
    const required = { output_hash: COMMITTED, proof_tier: 'inference' } as const;
    const opened = await books.openLedger(1, { task_id, amount: '2000', required });
    const released = await books.moveLedger(1, opened.escrowId, 'release');
    expect(released).toMatchObject({ state: 'released', legal: ['status'] });
    expect(released.phases[1]?.checks?.map(({ check, passed }) => [check, passed])).toEqual([
      ['collected', true],
      ['output_hash', true],
      ['proof_tier', true],
    ]);
    const events = await escrowEvents(task_id);
    expect(events.map(({ body }) => body.phase)).toEqual(['open', 'released']);
    expect(events.map(event => event.position)).toEqual(released.phases.map(phase => phase.position));
    expect(events[0]?.body).toMatchObject({ escrow_id: opened.escrowId, amount: '2000', required });
    expect(await heads()).toEqual({ seq, position: position + 2 });
    await books.audit();
  });

  it('is one of a task while it is open: the same again is that one, another is refused; afterwards there may be another', async () => {
    const task_id = nextTask();
    const opened = await books.openLedger(1, { task_id });
    const at_once = await Promise.allSettled([
      ...Array.from({ length: 4 }, () => books.openLedger(1, { task_id })),
      ...Array.from({ length: 4 }, () => books.openLedger(1, { task_id, amount: '2000' })),
    ]);
    expect(at_once.map(one => (one.status === 'fulfilled' ? one.value : one.reason.code))).toEqual([
      ...Array.from({ length: 4 }, () => opened),
      ...Array.from({ length: 4 }, () => 'escrow_exists'),
    ]);
    await books.moveLedger(1, opened.escrowId, 'clawback', CLAIM);
    expect((await books.openLedger(1, { task_id, amount: '2000' })).escrowId).not.toBe(opened.escrowId);
    expect((await escrowEvents(task_id)).map(({ body }) => body.phase)).toEqual(['open', 'clawed_back', 'open']);
  });

  it('of a task that nobody holds is opened once, by whichever of eight comes first', async () => {
    const task_id = nextTask();
    const heard = await Promise.all(Array.from({ length: 8 }, () => books.openLedger(1, { task_id })));
    for (const one of heard) expect(one).toEqual(heard[0]);
    expect(await escrowEvents(task_id)).toHaveLength(1);
  });

  it('is clawed back for a reason before its time is over, and for none afterwards, which is written first', async () => {
    const task_id = nextTask();
    const { escrowId } = await books.openLedger(1, { task_id });
    await expect(books.moveLedger(1, escrowId, 'clawback')).rejects.toMatchObject({ code: 'escrow_claim_required' });
    await books.pass('ledger_escrow', escrowId);
    expect(await books.readLedger(1, escrowId)).toMatchObject({ state: 'expired', legal: ['clawback', 'status'] });
    await expect(books.moveLedger(1, escrowId, 'release')).rejects.toMatchObject({
      code: 'invalid_escrow_action',
      extensions: { state: 'expired', party: 'owner', legal: ['clawback', 'status'] },
    });
    expect((await books.moveLedger(1, escrowId, 'clawback')).phases.map(({ state }) => state)).toEqual([
      'open',
      'expired',
      'clawed_back',
    ]);
  });

  it('that is over gives way to the next of its task, and to the round, which writes it once', async () => {
    const [task_id, other] = [nextTask(), nextTask()];
    const first = await books.openLedger(1, { task_id });
    const second = await books.openLedger(1, { task_id: other });
    for (const { escrowId } of [first, second]) await books.pass('ledger_escrow', escrowId);
    expect((await books.openLedger(1, { task_id })).state).toBe('open');
    expect((await escrowEvents(task_id)).map(({ body }) => body.phase)).toEqual(['open', 'expired', 'open']);
    const rounds = await Promise.all([books.expire(), books.expire(), books.expire()]);
    expect(rounds.reduce((sum, count) => sum + count)).toBe(1);
    expect((await escrowEvents(other)).map(({ body }) => body.phase)).toEqual(['open', 'expired']);
    await books.audit();
  });

  it('is refused over what is not on the book, was not collected, or came to another amount', async () => {
    const task_id = nextTask();
    await expect(books.openLedger(2, { task_id })).rejects.toMatchObject({ code: 'not_found' });
    await expect(books.openLedger(1, { task_id, amount: '1999' })).rejects.toMatchObject({
      code: 'escrow_amount_mismatch',
    });
    const { phases } = await books.open(1, 2, { job_id: 'no payment' });
    await expect(books.openLedger(1, { task_id: phases[0]?.taskId ?? '' })).rejects.toMatchObject({
      code: 'escrow_not_collected',
    });
    expect(await escrowEvents(task_id)).toEqual([]);
  });

  it('is not released where a check fails: by the kind of its hash alone, too', async () => {
    const { escrowId } = await books.openLedger(1, {
      task_id: nextTask(),
      required: { output_hash: `keccak256:${'b'.repeat(64)}`, proof_tier: 'settlement' },
    });
    await expect(books.moveLedger(1, escrowId, 'release')).rejects.toMatchObject({
      code: 'escrow_checks_failed',
      extensions: {
        checks: [
          { check: 'collected', passed: true },
          { check: 'output_hash', passed: false, found: COMMITTED },
          { check: 'proof_tier', passed: true, wanted: 'settlement', found: 'inference' },
        ],
      },
    });
    expect((await books.readLedger(1, escrowId)).state).toBe('open');
  });

  it('is nobody else’s', async () => {
    const { escrowId } = await books.openLedger(1, { task_id: nextTask() });
    await expect(books.readLedger(2, escrowId)).rejects.toMatchObject({ code: 'escrow_not_found' });
    await expect(books.moveLedger(2, escrowId, 'release')).rejects.toMatchObject({ code: 'escrow_not_found' });
  });

  it('is refused on a book that is closed, and its end waits', async () => {
    const { escrowId } = await books.openLedger(1, { task_id: nextTask() });
    await books.pass('ledger_escrow', escrowId);
    const damage = (what: string | null) =>
      database.query({ text: 'update book set damage = $1::jsonb where agent_id = 1', values: [what] });
    await damage('{"what":"row_missing","place":1}');
    await expect(books.openLedger(1, { task_id: nextTask() })).rejects.toMatchObject({ code: 'book_damaged' });
    await expect(books.moveLedger(1, escrowId, 'clawback')).rejects.toMatchObject({ code: 'book_damaged' });
    expect(await books.expire()).toBe(0);
    await damage(null);
    expect(await books.expire()).toBe(1);
  });

  it('whose end cannot be written holds up no other’s', async () => {
    const [spoilt, sound] = [
      await books.openLedger(1, { task_id: nextTask() }),
      await books.openLedger(1, { task_id: nextTask() }),
    ];
    const job = await books.open(1, 2, { job_id: 'sound' });
    for (const { escrowId } of [spoilt, sound]) await books.pass('ledger_escrow', escrowId);
    await books.pass('a2a_escrow', job.escrowId);
    const phases = (sql: string) =>
      database.query({
        text: `update ledger_escrow set phases = ${sql} where escrow_id = $1`,
        values: [spoilt.escrowId],
      });
    await phases(`jsonb_build_object('was', phases)`);
    await expect(books.expire()).rejects.toThrow('1 escrows could not be ended');
    expect(await states('ledger_escrow', spoilt.escrowId)).toEqual(['open']);
    expect(await states('ledger_escrow', sound.escrowId)).toEqual(['expired']);
    expect(await states('a2a_escrow', job.escrowId)).toEqual(['expired']);
    await phases(`phases->'was'`);
    expect(await books.expire()).toBe(1);
  });

  it('is bounded: so many live, and so many opened within an hour', async () => {
    const { live_per_book_max, opens_per_book_hour_max } = escrowLimits;
    const copies = (count: number, state: string, age: string) =>
      database.query({
        text: `insert into ledger_escrow select 'copy' || n, 1, 'copied' || n, 1, 1, '{}', $2, '[]',
            clock_timestamp() - $3::interval, clock_timestamp() + interval '1 day' from generate_series(1, $1::int) n`,
        values: [count, state, age],
      });
    const gone = () => database.query({ text: `delete from ledger_escrow where escrow_id like 'copy%'` });
    await copies(opens_per_book_hour_max, 'released', '1 minute');
    await expect(books.openLedger(1, { task_id: nextTask() })).rejects.toMatchObject({ code: 'rate_limited' });
    await gone();
    await copies(live_per_book_max, 'open', '2 hours');
    await expect(books.openLedger(1, { task_id: nextTask() })).rejects.toMatchObject({ code: 'escrows_full' });
    await gone();
    expect((await books.openLedger(1, { task_id: nextTask() })).state).toBe('open');
  });
});

async function heads() {
  const [head] = await database.query<{ seq: number; position: number }>({
    text: 'select seq, position from book where agent_id = 1',
  });
  return head ?? { seq: 0, position: 0 };
}
