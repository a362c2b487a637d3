import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { escrowLimits } from '../../../../schema/limits.ts';
import { bringTo, type EscrowBooks, openEscrowBooks, SPEC_HASH } from '../../../harness/escrow/books.ts';
import { programOf } from '../../../harness/gateway.ts';
import { freshStore } from '../../../harness/store.ts';

let database: Awaited<ReturnType<typeof freshStore>>;
let books: EscrowBooks;
let call = 1;
beforeAll(async () => {
  database = await freshStore();
  books = await openEscrowBooks(database, 4, 40);
});

const to = (job_id: string, state: Parameters<typeof bringTo>[2]) => bringTo(books, job_id, state, call++);
/** Makes all escrows so far old and ended, so that they count for no limit. */
const forgotten = () =>
  database.query({ text: `update a2a_escrow set opened_at = opened_at - interval '2 hours', state = 'released'` });

beforeEach(async () => {
  await forgotten();
});

describe('a job id', () => {
  it('is its principal’s own: the same of two principals is two escrows, and each party reaches its own', async () => {
    const name = { job_id: 'shared' };
    const mine = await books.open(1, 2, name);
    const theirs = await books.open(3, 2, name);
    const back = await books.open(2, 3, name);
    expect(new Set([mine, theirs, back].map(({ escrowId }) => escrowId)).size).toBe(3);
    expect((await books.read(2, name)).escrowId).toBe(back.escrowId);
    expect((await books.read(1, name)).escrowId).toBe(mine.escrowId);
    const named = { ...name, parties: { principal_agent_id: 1 } };
    expect((await books.read(2, named)).escrowId).toBe(mine.escrowId);
    await expect(books.read(4, name)).rejects.toMatchObject({ code: 'escrow_not_found' });
    await expect(books.read(4, named)).rejects.toMatchObject({ code: 'escrow_not_found' });
  });

  it('that a stranger opens too leaves what is funded to be found, and what is not to be named', async () => {
    await to('squatted', 'funded');
    const name = { job_id: 'squatted' };
    for (const squatter of [3, 4]) await books.open(squatter, 2, name);
    // An expired escrow does not count as funded.
    await books.pass('a2a_escrow', (await books.read(3, name)).escrowId);
    await books.expire();
    expect((await books.read(2, name)).parties.principalAgentId).toBe(1);
    await books.open(3, 4, { job_id: 'alike' });
    await books.open(1, 4, { job_id: 'alike' });
    await expect(books.read(4, { job_id: 'alike' })).rejects.toMatchObject({
      code: 'invalid_request',
      extensions: { param: 'parties' },
    });
  });
});

describe('opening', () => {
  const { live_per_pair_max, opens_per_pair_hour_max, live_per_book_max, opens_per_book_hour_max } = escrowLimits;

  it('is bounded from one book to one other, live and by the hour; another pair goes on', async () => {
    const opened = await Promise.allSettled(Array.from({ length: live_per_pair_max + 3 }, () => books.open(1, 2)));
    expect(opened.filter(({ status }) => status === 'rejected').map(one => 'reason' in one && one.reason.code)).toEqual(
      Array.from({ length: 3 }, () => 'escrows_full'),
    );
    await database.query({ text: `update a2a_escrow set state = 'released'` });
    for (let more = live_per_pair_max; more < opens_per_pair_hour_max; more++) await books.open(1, 2);
    await database.query({ text: `update a2a_escrow set state = 'released'` });
    await expect(books.open(1, 2)).rejects.toMatchObject({
      code: 'rate_limited',
      extensions: { retry_after_seconds: expect.any(Number) },
    });
    expect((await books.open(1, 3)).state).toBe('open');
  });

  it('is bounded of one book, whomever it opens with', async () => {
    const copies = (count: number, state: string, age: string) =>
      database.query({
        text: `insert into a2a_escrow select 'escrow_' || $2 || n, 1, 100 + n, 'copy-' || $2 || n, $4, 1, $2, '[]',
            clock_timestamp() - $3::interval, clock_timestamp() + interval '1 day' from generate_series(1, $1::int) n`,
        values: [count, state, age, SPEC_HASH],
      });
    await copies(opens_per_book_hour_max, 'released', '1 minute');
    await expect(books.open(1, 4)).rejects.toMatchObject({ code: 'rate_limited' });
    await database.query({ text: `delete from a2a_escrow where job_id like 'copy-%'` });
    await copies(live_per_book_max, 'submitted', '2 hours');
    await expect(books.open(1, 4)).rejects.toMatchObject({ code: 'escrows_full' });
    await database.query({ text: `delete from a2a_escrow where job_id like 'copy-%'` });
    expect((await books.open(1, 4)).state).toBe('open');
  });

  it('wants another agent, one that there is, and an end within bounds', async () => {
    const days = (count: number) => new Date(Date.now() + count * 86_400_000).toISOString();
    for (const [counterparty, terms, code] of [
      [1, {}, 'invalid_request'],
      [99, {}, 'not_found'],
      [2, { expires_at: days(-1) }, 'invalid_request'],
      [2, { expires_at: days(91) }, 'invalid_request'],
      [2, { parties: { principal_agent_id: 2, counterparty_agent_id: 1 } }, 'invalid_escrow_action'],
    ] as const)
      await expect(books.open(1, counterparty, terms)).rejects.toMatchObject({ code });
  });
});

describe('a process that is killed in the midst of a step', () => {
  it('leaves the escrow, both books and the payment as they were, and the same step is taken by another', async () => {
    const name = { job_id: 'killed' };
    const { escrowId } = await books.open(1, 2, name);
    const before = await books.rows();
    const task_id = books.taskOf(1, call++);
    const program = [...programOf('test/harness/escrow/fund-and-die.child.ts'), database.url];
    const dying = spawn(process.execPath, [...program, name.job_id, task_id], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [, signal] = await once(dying, 'exit');
    expect(signal).toBe('SIGKILL');
    expect(await books.rows()).toEqual(before);
    expect((await books.read(1, name)).state).toBe('open');
    expect((await books.move(1, name, 'fund', { task_id })).state).toBe('funded');
    const rows = (await books.rows()).filter(({ facts }) => facts.escrow_id === escrowId);
    expect(rows.map(({ agent_id, facts }) => [agent_id, facts.phase])).toEqual([
      [1, 'open'],
      [1, 'funded'],
    ]);
    await books.audit();
  });
});
