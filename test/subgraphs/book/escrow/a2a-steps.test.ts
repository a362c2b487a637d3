import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../../../subgraphs/database.ts';
import { bringTo, CLAIM, COMMITTED, type EscrowBooks, openEscrowBooks } from '../../../harness/escrow/books.ts';
import { collectAll, collection } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

let database: Database;
let books: EscrowBooks;
let call = 1;
beforeAll(async () => {
  database = await freshStore();
  books = await openEscrowBooks(database, 4, 100);
});

const rowsOf = async (escrow_id: string) => (await books.rows()).filter(({ facts }) => facts.escrow_id === escrow_id);
const phasesOn = async (escrow_id: string, agent: number) =>
  (await rowsOf(escrow_id)).filter(({ agent_id }) => agent_id === agent).map(({ facts }) => facts.phase);
const nextTask = () => books.taskOf(1, call++);
const to = (job_id: string, state: Parameters<typeof bringTo>[2]) => bringTo(books, job_id, state, call++);
const damage = (agent: number, what: string | null) =>
  database.query({ text: 'update book set damage = $2::jsonb where agent_id = $1', values: [agent, what] });
/** Makes all escrows so far old and ended, so that they count for no limit. */
const forgotten = () =>
  database.query({ text: `update a2a_escrow set opened_at = opened_at - interval '2 hours', state = 'released'` });

beforeEach(async () => {
  await forgotten();
});

describe('a step', () => {
  it('writes one row on the principal’s book; the counterparty’s own first brings all on its book, under one task, each after the last', async () => {
    const { escrowId } = await to('rows', 'challenged');
    const rows = await rowsOf(escrowId);
    expect(rows.map(({ agent_id, facts }) => [agent_id, facts.phase, facts.by])).toEqual([
      [1, 'open', 'principal'],
      [1, 'funded', 'principal'],
      [1, 'submitted', 'counterparty'],
      [1, 'challenged', 'principal'],
      [2, 'open', 'principal'],
      [2, 'funded', 'principal'],
      [2, 'submitted', 'counterparty'],
      [2, 'challenged', 'principal'],
    ]);
    const tasks = (agent: number) => rows.filter(({ agent_id }) => agent_id === agent).map(({ task_id }) => task_id);
    expect(tasks(2)).toEqual(tasks(1));
    const parents = (agent: number) =>
      rows.filter(({ agent_id }) => agent_id === agent).map(({ parent_ref }) => parent_ref);
    expect(parents(1)).toEqual([null, ...tasks(1).slice(0, -1)]);
    expect(parents(2)).toEqual([null, ...tasks(2).slice(0, -1)]);
    // Rows that are written in a later phase contain the time of their own phase.
    const { phases } = await books.read(2, { job_id: 'rows' });
    const times = phases.map(({ at }) => at.toISOString());
    expect(rows.map(({ facts }) => facts.phase_at)).toEqual([
      ...[undefined, undefined, undefined, undefined],
      ...[times[0], times[1], undefined, undefined],
    ]);
    expect(phases.map(({ seq }) => seq)).toEqual(expect.not.arrayContaining([null]));
  });

  it('of the principal alone writes nothing on the counterparty’s book, however the escrow ends', async () => {
    const head = async () =>
      (await database.query({ text: 'select seq, position, event_hash from book where agent_id = 2' }))[0];
    const before = await head();
    await to('clawed back', 'funded');
    await books.move(1, { job_id: 'clawed back' }, 'clawback', CLAIM);
    const { escrowId } = await to('unseen', 'funded');
    await books.pass('a2a_escrow', escrowId);
    await books.expire();
    expect((await books.read(2, { job_id: 'unseen' })).state).toBe('expired');
    await books.move(1, { job_id: 'unseen' }, 'clawback');
    expect(await head()).toEqual(before);
    const seen = await books.read(2, { job_id: 'clawed back' });
    expect(seen.phases.map(({ state, seq, taskId }) => [state, seq, taskId])).toEqual([
      ['open', null, null],
      ['funded', null, null],
      ['clawed_back', null, null],
    ]);
  });

  it('of the counterparty on an escrow that the version before has funded brings what its book has not', async () => {
    const { escrowId } = await to('before', 'funded');
    // Changes the escrow to the form in which that version left it, with a row of `fund` on the counterparty's book.
    await database.query({
      text: `update a2a_escrow set phases = jsonb_set(phases, '{1,counterparty_seq}', '7') where escrow_id = $1`,
      values: [escrowId],
    });
    await books.move(2, { job_id: 'before' }, 'clawback');
    expect(await phasesOn(escrowId, 2)).toEqual(['open', 'clawed_back']);
    const { phases } = await books.read(2, { job_id: 'before' });
    expect(phases.map(({ seq }) => seq)).toEqual([expect.any(Number), 7, expect.any(Number)]);
  });

  it('names the payment that backs it on the principal’s book alone', async () => {
    const { escrowId, taskId } = await to('private', 'funded');
    expect(taskId).toMatch(/^task_1_/);
    const rows = await rowsOf(escrowId);
    expect(rows.filter(({ facts }) => facts.task_id === taskId).map(({ agent_id }) => agent_id)).toEqual([1]);
    const other = await books.read(2, { job_id: 'private' });
    expect(JSON.stringify(other, (_, value) => (typeof value === 'bigint' ? String(value) : value))).not.toContain(
      taskId,
    );
  });

  it('again is answered as it was, also once the escrow has moved on, and writes nothing', async () => {
    const name = { job_id: 'again' };
    const said = { task_id: nextTask() };
    const opened = await books.open(1, 2, name);
    const funded = await books.move(1, name, 'fund', said);
    await books.move(2, name, 'submit', await books.delivery());
    const before = (await rowsOf(opened.escrowId)).length;
    expect(await books.open(1, 2, name)).toEqual(opened);
    expect(await books.move(1, name, 'fund', said)).toEqual(funded);
    expect((await rowsOf(opened.escrowId)).length).toBe(before);
    await expect(books.move(1, name, 'fund', { task_id: nextTask() })).rejects.toMatchObject({
      code: 'invalid_escrow_action',
    });
    await expect(books.open(1, 2, { ...name, amount: '1' })).rejects.toMatchObject({ code: 'escrow_exists' });
  });

  it('twelve times at once is one step, and all hear the same', async () => {
    const { escrowId } = await to('at once', 'submitted');
    const heard = await Promise.all(
      Array.from({ length: 12 }, () => books.move(1, { job_id: 'at once' }, 'challenge', CLAIM)),
    );
    for (const one of heard) expect(one).toEqual(heard[0]);
    expect(await phasesOn(escrowId, 2)).toEqual(['open', 'funded', 'submitted', 'challenged']);
  });

  it('of two at once one is taken, and the other hears what is legal now', async () => {
    for (let round = 0; round < 5; round++) {
      const name = { job_id: `race-${round}` };
      await to(name.job_id, 'submitted');
      const both = await Promise.allSettled([
        books.move(1, name, 'challenge', CLAIM),
        books.move(2, name, 'clawback'),
        books.move(1, name, 'release'),
      ]);
      const refused = both.flatMap(one => (one.status === 'rejected' ? [one.reason] : []));
      const { state } = await books.read(1, name);
      // If a challenge came first, the two other steps are still possible.
      expect(both.filter(({ status }) => status === 'fulfilled').length).toBe(refused.length === 2 ? 1 : 2);
      for (const reason of refused)
        expect(reason).toMatchObject({ code: 'invalid_escrow_action', extensions: { legal: expect.anything() } });
      expect(['clawed_back', 'released']).toContain(state);
    }
  });

  it('on two books that lock each other’s heads, while both are bought on, ends without a standstill', async () => {
    const [there, back] = [{ job_id: 'there' }, { job_id: 'back' }];
    await Promise.all([books.open(1, 2, there), books.open(2, 1, back)]);
    const bought = (agent: number) =>
      Array.from({ length: 8 }, (_, index) =>
        database.transaction(tx => collectAll(tx, [collection(agent, 900_000 + agent * 1_000 + index)])),
      );
    await Promise.all([
      ...bought(1),
      ...bought(2),
      books
        .move(1, there, 'fund', { task_id: nextTask() })
        .then(async () => books.move(2, there, 'submit', await books.delivery())),
      books
        .move(2, back, 'fund', { task_id: books.taskOf(2, 50) })
        .then(async () => books.move(1, back, 'submit', await books.delivery())),
    ]);
    await Promise.all([
      ...Array.from({ length: 6 }, () => books.move(1, there, 'release')),
      ...Array.from({ length: 6 }, () => books.move(2, back, 'release')),
    ]);
    expect((await books.read(2, there)).state).toBe('released');
    expect((await books.read(1, back)).state).toBe('released');
    await books.audit();
  });

  it('on a book that is closed is taken on neither', async () => {
    await to('closed', 'funded');
    const delivery = await books.delivery();
    const before = await books.rows();
    for (const closed of [2, 1]) {
      await damage(closed, '{"what":"row_missing","place":1}');
      await expect(books.move(2, { job_id: 'closed' }, 'submit', delivery)).rejects.toMatchObject({
        code: 'book_damaged',
      });
      await damage(closed, null);
    }
    expect(await books.rows()).toEqual(before);
    expect((await books.read(1, { job_id: 'closed' })).state).toBe('funded');
  });
});

describe('a payment', () => {
  it('backs one escrow, for ever: of two at once one, and none after that was clawed back', async () => {
    const task_id = nextTask();
    const names = ['backs-a', 'backs-b'].map(job_id => ({ job_id }));
    for (const name of names) await books.open(1, 2, name);
    const heard = await Promise.allSettled(names.map(name => books.move(1, name, 'fund', { task_id })));
    expect(heard.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const won = names[heard.findIndex(({ status }) => status === 'fulfilled')] ?? { job_id: '' };
    const lost = names[heard.findIndex(({ status }) => status === 'rejected')] ?? { job_id: '' };
    await books.move(2, won, 'clawback');
    await expect(books.move(1, lost, 'fund', { task_id })).rejects.toMatchObject({ code: 'escrow_backing_used' });
  });

  it('has to stand on the principal’s book, collected, and be no less than the escrow', async () => {
    await books.open(1, 2, { job_id: 'backing' });
    await books.open(1, 2, { job_id: 'dear', amount: '2001' });
    const fund = (job_id: string, task_id: string) => books.move(1, { job_id }, 'fund', { task_id });
    await expect(fund('backing', books.taskOf(2, 1))).rejects.toMatchObject({ code: 'not_found' });
    await expect(fund('dear', nextTask())).rejects.toMatchObject({ code: 'escrow_not_collected' });
    const [row] = await rowsOf((await books.read(1, { job_id: 'backing' })).escrowId);
    await expect(fund('backing', row?.task_id ?? '')).rejects.toMatchObject({ code: 'escrow_not_collected' });
  });
});

describe('a fulfilment receipt', () => {
  const states = async (...names: readonly { job_id: string }[]) =>
    Promise.all(names.map(async name => (await books.read(2, name)).state));

  it('fulfils one escrow over all books: of two principals at once one, and none after that was clawed back', async () => {
    for (let round = 0; round < 4; round++) {
      const names = [
        { job_id: `one-${round}`, parties: { principal_agent_id: 1 } },
        { job_id: `one-${round}`, parties: { principal_agent_id: 3 } },
      ];
      for (const { job_id, parties } of names) {
        await books.open(parties.principal_agent_id, 2, { job_id });
        const task_id = books.taskOf(parties.principal_agent_id, call++);
        await books.move(parties.principal_agent_id, { job_id }, 'fund', { task_id });
      }
      const delivered = await books.delivery();
      const heard = await Promise.allSettled(names.map(name => books.move(2, name, 'submit', delivered)));
      expect((await states(...names)).toSorted()).toEqual(['funded', 'submitted']);
      const lost = heard.findIndex(({ status }) => status === 'rejected');
      expect(heard[lost]).toMatchObject({ reason: { code: 'escrow_fulfillment_used' } });
      const [winner, loser] = [names[1 - lost] ?? { job_id: '' }, names[lost] ?? { job_id: '' }];
      await books.move(2, winner, 'clawback');
      await expect(books.move(2, loser, 'submit', delivered)).rejects.toMatchObject({
        code: 'escrow_fulfillment_used',
        extensions: { param: 'fulfillment_receipt_id' },
      });
      expect((await books.move(2, loser, 'submit', await books.delivery())).state).toBe('submitted');
    }
    await books.audit();
  });

  it('that was submitted for several before there was this rule is that of the first, and releases no other', async () => {
    const names = ['shared-a', 'shared-b', 'shared-c'].map(job_id => ({ job_id }));
    for (const { job_id } of names) await to(job_id, 'funded');
    const delivered = await books.delivery();
    for (const [index, name] of names.entries()) {
      await books.move(2, name, 'submit', index === 0 ? delivered : await books.delivery());
    }
    // Changes the escrows to the form in which a version without that rule left them: only the first has the receipt.
    await database.query({
      text: `update a2a_escrow set phases = jsonb_set(phases, '{2,said,fulfillment_receipt_id}', to_jsonb($1::text))
        where job_id like 'shared-_'`,
      values: [delivered.fulfillment_receipt_id],
    });
    await database.query({
      text: `delete from a2a_escrow_fulfillment where task_id <> $1
        and escrow_id in (select escrow_id from a2a_escrow where job_id like 'shared-_')`,
      values: [delivered.fulfillment_receipt_id],
    });
    for (const name of names.slice(1).toReversed()) {
      await expect(books.move(1, name, 'release')).rejects.toMatchObject({
        code: 'escrow_checks_failed',
        extensions: {
          checks: expect.arrayContaining([expect.objectContaining({ check: 'fulfillment_of', passed: false })]),
        },
      });
      expect((await books.move(2, name, 'clawback')).state).toBe('clawed_back');
    }
    expect((await books.move(1, names[0] ?? { job_id: '' }, 'release')).state).toBe('released');
  });

  it('of an escrow that the version before saw submitted is taken by its release', async () => {
    await to('after', 'funded');
    await to('rolling', 'submitted');
    await database.query({ text: 'delete from a2a_escrow_fulfillment' });
    expect((await books.move(1, { job_id: 'rolling' }, 'release')).state).toBe('released');
    const { fulfillmentReceiptId } = await books.read(1, { job_id: 'rolling' });
    await expect(
      books.move(2, { job_id: 'after' }, 'submit', {
        fulfillment_receipt_id: fulfillmentReceiptId,
        output_commitment: COMMITTED,
      }),
    ).rejects.toMatchObject({ code: 'escrow_fulfillment_used' });
  });
});

describe('a release', () => {
  it('is refused where the receipt commits to another hash, or to the same one by another kind, with every check', async () => {
    for (const other of [`keccak256:${'b'.repeat(64)}`, `sha256:${'c'.repeat(64)}`]) {
      const name = { job_id: `checks-${other.slice(0, 12).replace(':', '.')}` };
      await to(name.job_id, 'funded');
      await books.move(2, name, 'submit', await books.delivery(2, other));
      await expect(books.move(1, name, 'release')).rejects.toMatchObject({
        code: 'escrow_checks_failed',
        extensions: {
          checks: [
            { check: 'backing', passed: true },
            { check: 'fulfillment_receipt', passed: true },
            { check: 'fulfillment_of', passed: true },
            { check: 'output_commitment', passed: false, wanted: other, found: `sha256:${'b'.repeat(64)}` },
          ],
        },
      });
      expect((await books.read(1, name)).state).toBe('submitted');
    }
  });

  it('withdraws a challenge', async () => {
    await to('withdrawn', 'challenged');
    expect((await books.move(1, { job_id: 'withdrawn' }, 'release')).state).toBe('released');
  });
});

describe('time', () => {
  it('ends an escrow at once for whoever reads or steps, and the round writes it down, once', async () => {
    const { escrowId } = await to('over', 'funded');
    await books.pass('a2a_escrow', escrowId);
    expect(await books.read(2, { job_id: 'over' })).toMatchObject({ state: 'expired', legal: ['status'] });
    await expect(books.move(2, { job_id: 'over' }, 'submit', await books.delivery())).rejects.toMatchObject({
      code: 'invalid_escrow_action',
      extensions: { state: 'expired', legal: ['status'] },
    });
    const rounds = await Promise.all([books.expire(), books.expire(), books.expire()]);
    expect(rounds.reduce((sum, count) => sum + count)).toBe(1);
    expect(await phasesOn(escrowId, 1)).toEqual(['open', 'funded', 'expired']);
    expect(await phasesOn(escrowId, 2)).toEqual([]);
    expect(await books.expire()).toBe(0);
  });

  it('that is over lets a principal claw back for no reason, and the end is written before that', async () => {
    const { escrowId } = await to('late', 'funded');
    const claw = () => books.move(1, { job_id: 'late' }, 'clawback');
    await expect(claw()).rejects.toMatchObject({ code: 'escrow_claim_required' });
    await books.pass('a2a_escrow', escrowId);
    expect((await claw()).phases.map(({ state }) => state)).toEqual(['open', 'funded', 'expired', 'clawed_back']);
    expect(await phasesOn(escrowId, 1)).toEqual(['open', 'funded', 'expired', 'clawed_back']);
  });

  it('leaves alone what was delivered in it; of what was challenged the principal may claw back from then on', async () => {
    const [delivered, challenged] = [await to('delivered', 'submitted'), await to('contested', 'challenged')];
    const claw = () => books.move(1, { job_id: 'contested' }, 'clawback');
    await expect(claw()).rejects.toMatchObject({ code: 'invalid_escrow_action' });
    for (const { escrowId } of [delivered, challenged]) await books.pass('a2a_escrow', escrowId);
    await books.expire();
    expect((await books.read(1, { job_id: 'delivered' })).state).toBe('submitted');
    expect((await claw()).state).toBe('clawed_back');
  });

  it('of an escrow on a closed book waits, and holds up no other', async () => {
    const [first, second] = [await books.open(3, 4, { job_id: 'waits' }), await to('goes', 'open')];
    for (const { escrowId } of [first, second]) await books.pass('a2a_escrow', escrowId);
    await damage(3, '{"what":"row_missing","place":1}');
    expect(await books.expire()).toBe(1);
    await damage(3, null);
    expect(await books.expire()).toBe(1);
    expect(await phasesOn(first.escrowId, 3)).toEqual(['open', 'expired']);
  });
});
