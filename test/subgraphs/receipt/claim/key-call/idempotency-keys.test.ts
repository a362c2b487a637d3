import { beforeAll, describe, expect, it } from 'vitest';
import { taskId } from '../../../../../schema/ids.ts';
import { limits } from '../../../../../schema/limits.ts';
import type { Database } from '../../../../../subgraphs/database.ts';
import { LostKeyCall } from '../../../../../subgraphs/receipt/claim/key-call/hold.ts';
import {
  dropNames,
  forgetNames,
  keepNamed,
  namedAnswerBox,
  nameStanding,
  takeNames,
} from '../../../../../subgraphs/receipt/claim/key-call/idempotency-names.ts';
import { renewLease } from '../../../../../subgraphs/receipt/claim/lease.ts';
import { OTHER, OWNER } from '../../../../harness/claim/fixture.ts';
import { freshStore } from '../../../../harness/store.ts';

/* Calls by API key under the names that callers give them, tested by the rules on Postgres only. */

let database: Database;
beforeAll(async () => {
  database = await freshStore();
  await database.transaction(tx => renewLease(tx, OWNER));
});

let number = 0;
function hold(mark: string, differently: { lease_owner?: string; request_hash?: string; api_key_hash?: string } = {}) {
  const task_id = taskId(1_760_000_000_000, Buffer.from(String(++number).padStart(10, '0')));
  return { mark, api_key_hash: 'a key', request_hash: 'the request', lease_owner: OWNER, task_id, ...differently };
}
type Hold = ReturnType<typeof hold>;

async function take(...holds: Hold[]) {
  const takings = await database.transaction(tx => takeNames(tx, holds));
  return holds.map(({ task_id }) => takings.get(task_id)?.kind);
}
const answer_box = Buffer.from('sealed');
const keep = (held: Hold, box: Buffer | null = answer_box) =>
  database.transaction(tx => keepNamed(tx, [{ ...held, answer_box: box }]));
const stands = async (mark: string, request_hash = 'the request') =>
  (await nameStanding(database, { mark, api_key_hash: 'a key', request_hash })).kind;
const change = (mark: string, set: string) =>
  database.query({ text: `update idempotent_call set ${set} where mark = $1`, values: [mark] });

describe('a name', () => {
  it('is taken once, is in flight, and then has its answer: for its request and no other', async () => {
    const first = hold('walk');
    expect(await stands('walk')).toBe('free');
    expect(await take(first)).toEqual(['taken']);
    expect(await take(hold('walk'), hold('walk', { request_hash: 'another' }))).toEqual(['in_flight', 'foreign']);
    expect([await stands('walk'), await stands('walk', 'another')]).toEqual(['in_flight', 'foreign']);
    await keep(first);
    expect(await take(hold('walk'), hold('walk', { request_hash: 'another' }))).toEqual(['recorded', 'foreign']);
    const { mark, task_id } = first;
    expect(await nameStanding(database, hold('walk'))).toEqual({ kind: 'recorded', mark, task_id });
    expect(await namedAnswerBox(database, first)).toEqual(answer_box);
  });

  it('is taken by the first of those that come in one batch, and by one of two that come at once', async () => {
    expect(await take(hold('batch'), hold('batch'), hold('batch', { request_hash: 'another' }))).toEqual([
      'taken',
      'in_flight',
      'foreign',
    ]);
    const marks = ['d', 'c', 'b', 'a'];
    const batches = [marks, [...marks].reverse(), marks].map(order => take(...order.map(mark => hold(mark))));
    const kinds = (await Promise.all(batches)).flat();
    expect(kinds.filter(kind => kind === 'taken')).toHaveLength(marks.length);
    expect(new Set(kinds)).toEqual(new Set(['taken', 'in_flight']));
  });

  it('is free again where its call came to nothing, or its answer was not kept', async () => {
    const failed = hold('failed');
    await take(failed);
    await database.transaction(async tx => dropNames(tx, [failed]));
    expect(await take(hold('failed'))).toEqual(['taken']);
    const cut = hold('cut off');
    await take(cut);
    await keep(cut, null);
    expect(await stands('cut off')).toBe('free');
  });

  it('is not let go of once it has its answer, nor by a call that has lost it', async () => {
    const first = hold('kept');
    await take(first);
    await keep(first);
    await database.transaction(async tx => dropNames(tx, [first]));
    expect(await stands('kept')).toBe('recorded');
  });

  it('of a process that is gone goes to the next, whatever it asks for; the first can record nothing any more', async () => {
    const dead = hold('orphaned', { lease_owner: OTHER });
    await take(dead);
    expect(await stands('orphaned', 'another')).toBe('free');
    const next = hold('orphaned', { request_hash: 'another' });
    expect(await take(next, hold('orphaned'))).toEqual(['taken', 'foreign']);
    await expect(keep(dead)).rejects.toBeInstanceOf(LostKeyCall);
    await keep(next);
    expect(await stands('orphaned', 'another')).toBe('recorded');
  });

  it('that a living process has lost sight of is free after a while', async () => {
    await take(hold('out of sight'));
    await change('out of sight', `begun_at = now() - interval '10 minutes'`);
    expect(await take(hold('out of sight'))).toEqual(['taken']);
  });

  it('is free once its answer has been kept for its time, and is forgotten then', async () => {
    for (const mark of ['old', 'forgotten', 'young']) {
      const held = hold(mark);
      await take(held);
      await keep(held);
    }
    const hours = limits.answer_kept_hours;
    await change('old', `recorded_at = now() - interval '${hours} hours 1 second'`);
    await change('forgotten', `recorded_at = now() - interval '${hours} hours 1 second'`);
    await change('young', `recorded_at = now() - interval '${hours - 1} hours'`);
    expect([await stands('old'), await stands('young')]).toEqual(['free', 'recorded']);
    const next = hold('old', { request_hash: 'another' });
    expect(await take(next)).toEqual(['taken']);
    expect(await namedAnswerBox(database, next)).toBeNull();
    await take(hold('died', { lease_owner: OTHER }));
    await forgetNames(database);
    const left = await database.query<{ mark: string }>({ text: 'select mark from idempotent_call' });
    const marks = left.map(({ mark }) => mark);
    expect(marks).toEqual(expect.arrayContaining(['old', 'young']));
    for (const mark of ['forgotten', 'died']) expect(marks).not.toContain(mark);
  });

  it('is met without its answer, which may be large and is read once nothing is locked', async () => {
    const held = hold('large');
    await take(held);
    await keep(held);
    const asked = hold('large');
    const takings = await database.transaction(tx => takeNames(tx, [asked]));
    expect(takings.get(asked.task_id)).toEqual({ kind: 'recorded', mark: 'large', task_id: held.task_id });
  });

  it('is refused to an API key that has as many as it may: what stands is answered, and no other key is held up', async () => {
    const held = hold('full: kept', { api_key_hash: 'full' });
    await take(held);
    await keep(held);
    for (const bounds of [
      { names_max: 1, answers_bytes_max: 1_000 },
      { names_max: 2, answers_bytes_max: answer_box.length },
    ]) {
      const other = hold(`other: ${bounds.names_max}`, { api_key_hash: 'other' });
      const asked = [hold('full: new', { api_key_hash: 'full' }), hold('full: kept'), other];
      const takings = await database.transaction(tx => takeNames(tx, asked, bounds));
      const kinds = asked.map(({ task_id }) => takings.get(task_id)?.kind);
      expect(kinds).toEqual(['full', 'recorded', 'taken']);
    }
  });
});
