import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { payingFetch, registrationOf } from '../harness/buyer.ts';
import { bearerOf } from '../harness/doors/assignments.ts';
import { answerTo, nameOf, newBuyer, send } from '../harness/faults/buyer.ts';
import { copyOf } from '../harness/faults/database-copy.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';
import { haltOf, olderState } from '../harness/faults/log-halt.ts';
import { acceptLogBreak, publishedBreaks, refusalOf } from '../harness/faults/operator.ts';
import { startDatabaseProxy } from '../harness/faults/wire.ts';
import { atEnd } from '../harness/release.ts';
import { clearScratch, makeScratch } from '../harness/scratch.ts';
import { delegate } from '../harness/session/delegate.ts';

/*
 * The database is restored to a state without an event that has no leaf in the log: its owner set a budget. The log still continues as it
 * was signed, but the books do not.
 */

type At = { readonly url: string };
interface Owner {
  readonly account: Awaited<ReturnType<Ground['chain']['newWallet']>>;
  readonly agent_id: number;
  readonly session: string;
  readonly task_id: string;
}

async function post(
  { url }: At,
  path: string,
  body: object,
  by: typeof fetch | ReturnType<typeof payingFetch> = fetch,
  headers = {},
) {
  const sent = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
  const answer = await by(url + path, sent);
  const text = await answer.text();
  return { status: answer.status, body: (text ? JSON.parse(text) : {}) as JsonObject };
}

async function newOwner(ground: Ground, at: At): Promise<Owner> {
  const account = await ground.chain.newWallet();
  const { status, body } = await post(at, '/v1/agents/register', await registrationOf(account), payingFetch(account));
  expect(status).toBe(200);
  return {
    account,
    agent_id: Number(body.agent_id),
    session: String(body.session),
    task_id: String(body.task_id),
  };
}

/** Sets a budget, which adds an event to the book and no leaf to the log. */
const setBudget = (at: At, { agent_id, session }: Omit<Owner, 'account' | 'task_id'>, budget: string) =>
  post(at, `/v1/agents/${agent_id}/book`, { session, budget });

const positionIn = async (database: Ground['database'], { agent_id }: Pick<Owner, 'agent_id'>) => {
  const text = 'select position from book where agent_id = $1';
  return (await database.query<{ position: number }>({ text, values: [agent_id] }))[0]?.position ?? 0;
};

const headsFile = ({ data_dir }: Ground) => join(data_dir, 'book-heads.jsonl');
async function savedOf(ground: Ground, { agent_id }: Pick<Owner, 'agent_id'>): Promise<number> {
  const lines = (await readFile(headsFile(ground), 'utf8')).split('\n').filter(line => line !== '');
  const heads = lines.map(line => JSON.parse(line) as { agent_id: number; position: number });
  return Math.max(0, ...heads.filter(head => head.agent_id === agent_id).map(({ position }) => position));
}

describe('a database that went back by free events alone', () => {
  it('while the service was down: a start names the book and is refused, and an accepted break ends all credentials', async () => {
    const ground = await openGround();
    const first = await ground.start();
    const owner = await newOwner(ground, first);
    const grant = await delegate(owner.account, owner.account, privateKeyToAccount(generatePrivateKey()));
    const unseen = await delegate(owner.account, owner.account, privateKeyToAccount(generatePrivateKey()));
    const chat = { model: 'test/model', messages: [{ role: 'user', content: 'under a session' }] };
    const paid = payingFetch(owner.account);
    expect((await post(first, '/v1/chat/completions', chat, paid, grant.headers)).status).toBe(200);
    const assigned = await post(first, `/v1/agents/${owner.agent_id}/book/assign`, { session: owner.session });
    const slice_token = String(assigned.body.token);
    const reads = (at: At) =>
      fetch(`${at.url}/v1/book/slice`, { headers: bearerOf(slice_token) }).then(({ status }) => status);
    expect(await reads(first)).toBe(200);
    const exported = await post(first, `/v1/agents/${owner.agent_id}/book/export/publish`, { session: owner.session });
    const pull = (at: At) => fetch(`${at.url}/public/export/${exported.body.slug}`).then(({ status }) => status);
    expect(await pull(first)).toBe(200);
    expect((await setBudget(first, owner, '1000000')).status).toBe(200);
    await first.stop();
    const older = await copyOf(ground.database_url);
    const second = await ground.start();
    expect((await setBudget(second, owner, '2000000')).status).toBe(200);
    await second.stop();
    const elsewhere = await makeScratch();
    atEnd(() => clearScratch(elsewhere));
    await writeFile(join(elsewhere, 'log-head.json'), await readFile(ground.saved_head));
    await writeFile(join(elsewhere, 'book-heads.jsonl'), await readFile(headsFile(ground)));
    const position = await positionIn(ground.database, owner);

    const refusal = await refusalOf(ground, { url: older });
    expect(refusal).toContain(
      `1 book does not continue from what was committed: book ${owner.agent_id} is known up to position ${position},`,
    );
    expect(refusal).toContain(`ends at position ${position - 1},`);
    expect(refusal).toContain('npm run accept-log-break');

    const declared = await acceptLogBreak(ground, 'an older dump was restored', { url: older });
    expect(declared).toContain('an older dump was restored');
    const goesOn = await ground.start({ url: older });
    const [published] = await publishedBreaks(goesOn);
    expect(published).toMatchObject({ books: { count: 1, agent_ids: [owner.agent_id] }, credentials_ended: true });

    expect((await setBudget(goesOn, owner, '3')).status).toBe(403);
    expect(await reads(goesOn)).toBe(403);
    expect(await pull(goesOn)).toBe(404);
    const shown = (await (await fetch(`${goesOn.url}/v1/sessions/${grant.delegation_hash}`)).json()) as JsonObject;
    expect(shown).toMatchObject({ status: 'revoked', ended_by: { payer: owner.account.address, signature: null } });
    const { sessions } = (await (await fetch(`${goesOn.url}/.well-known/revocations`)).json()) as JsonObject;
    expect(sessions).toMatchObject([{ seq: 1, delegation_hash: grant.delegation_hash, signature: null }]);
    for (const { headers } of [grant, unseen])
      expect(await post(goesOn, '/v1/chat/completions', chat, paid, headers)).toMatchObject({
        status: 403,
        body: { code: 'session_not_active', session_status: 'revoked', charged: false },
      });

    const recovery = await registrationOf(owner.account, { task_id: owner.task_id });
    const recovered = await post(goesOn, '/v1/agents/register', recovery);
    expect(recovered).toMatchObject({ status: 200, body: { agent_id: owner.agent_id } });
    const renewed = { ...owner, session: String(recovered.body.session) };
    expect(await setBudget(goesOn, renewed, '4')).toMatchObject({ status: 200, body: { cap: '4' } });
    await goesOn.stop();

    // A second DATA_DIR that saved these events finds the same loss. A session that its owner has recovered since stays valid.
    expect(await refusalOf(ground, { url: older, data_dir: elsewhere })).toContain('1 book does not continue');
    const environment = { DATA_DIR: elsewhere };
    await acceptLogBreak(ground, 'the same dump, for the second folder', { url: older, environment });
    const again = await ground.start({ url: older, data_dir: elsewhere });
    const breaks = await publishedBreaks(again);
    expect(breaks).toMatchObject([{ credentials_ended: true }, { books: { count: 1, agent_ids: [owner.agent_id] } }]);
    expect(breaks[1]).not.toHaveProperty('credentials_ended');
    expect((await setBudget(again, renewed, '5')).status).toBe(200);
    await again.stop();
  });

  it('while the service runs: the next append to that book halts, is 503, and writes nothing; /health names the book', async () => {
    const ground = await openGround();
    const wire = await startDatabaseProxy(ground.database_url);
    // The service also checks every two seconds. In either case nothing is written.
    const gateway = await ground.start({ url: wire.url });
    const owner = await newOwner(ground, gateway);
    const older = await olderState(ground, [wire]);
    expect((await setBudget(gateway, owner, '1000000')).status).toBe(200);
    const before = await positionIn(older.database, owner);
    older.turnBack();
    const answer = await eventually('the older database', async () => {
      const answered = await setBudget(gateway, owner, '2000000');
      return answered.status === 200 ? Promise.reject(new Error('written on the older state')) : answered;
    });
    expect(answer.status).toBe(503);
    const halt = await eventually('halted', () => haltOf(gateway));
    expect(halt).toMatchObject({ books: { count: 1, agent_ids: [owner.agent_id] } });
    expect((await setBudget(gateway, owner, '2000000')).status).toBe(503);
    expect(await positionIn(older.database, owner)).toBe(before);
    const fatal = gateway.logs.find(line => line.includes('not continue from what was committed')) ?? '';
    expect(fatal).toContain(`book ${owner.agent_id} is known up to position ${before + 1},`);
    await eventually('all are told', async () => {
      const [row] = await older.database.query<{ halted: object | null }>({ text: 'select halted from log_head' });
      return row?.halted ?? null;
    });
    await gateway.stop();

    const elsewhere = await makeScratch();
    atEnd(() => clearScratch(elsewhere));
    await writeFile(join(elsewhere, 'log-head.json'), await readFile(ground.saved_head));
    const halted = await refusalOf(ground, { url: older.url, data_dir: elsewhere });
    expect(halted).toContain('the log was halted at ');
    expect(halted).toContain(`book ${owner.agent_id} is known up to position ${before + 1},`);
  });
});

describe('a database that went back by a rotation alone', () => {
  it('halts the log, and the session that was ended opens nothing; a start is refused', async () => {
    const ground = await openGround();
    const wire = await startDatabaseProxy(ground.database_url);
    const gateway = await ground.start({ url: wire.url });
    const owner = await newOwner(ground, gateway);
    const older = await olderState(ground, [wire]);
    const rotated = await post(gateway, `/v1/agents/${owner.agent_id}/book/rotate`, { session: owner.session });
    expect(rotated.status).toBe(200);
    older.turnBack();
    const halt = await eventually('halted', () => haltOf(gateway));
    expect(halt).toMatchObject({ books: { count: 0, agent_ids: [], credentials: 1 } });
    expect((await setBudget(gateway, owner, '1')).status).toBe(503);
    await gateway.stop();
    await older.database.query({ text: 'update log_head set halted = null' });
    expect(await refusalOf(ground, { url: older.url })).toContain(
      '1 of the newest committed sessions and revocations are missing',
    );
  });
});

describe('a book that others have gone on with', () => {
  it('halts nobody, neither a process that is behind nor its next start', async () => {
    const ground = await openGround();
    const data_dir = await makeScratch();
    atEnd(() => clearScratch(data_dir));
    const one = await ground.start();
    const owner = await newOwner(ground, one);
    const other = await ground.start({ data_dir });
    let budget = 0;
    for (const at of [one, other, other, one, other, one])
      expect((await setBudget(at, owner, String(++budget))).status).toBe(200);
    expect(await haltOf(one)).toBeNull();
    await one.stop();
    expect((await setBudget(other, owner, String(++budget))).status).toBe(200);
    const again = await ground.start();
    expect((await setBudget(again, owner, String(++budget))).status).toBe(200);
    await Promise.all([again.stop(), other.stop()]);
  });
});

describe('a DATA_DIR that cannot be written', () => {
  it.each(['book-heads.jsonl.lock', 'log-head'])(
    'for %s is in the way: what money has bought is delivered on a resend, nothing new is taken, and all of it ends by itself',
    async file => {
      const ground = await openGround();
      const gateway = await ground.start();
      const buyer = await newBuyer(ground);
      const registered = await answerTo(gateway, await buyer.registration());
      const owner = { agent_id: Number(registered.body.agent_id), session: String(registered.body.session) };
      const [kept, paid, late] = [await buyer.chat('kept'), await buyer.chat('paid'), await buyer.chat('late')];
      expect((await answerTo(gateway, kept)).status).toBe(200);
      const transfers = async () => (await ground.chain.transfers(ground.pay_to)).length;
      const before = await transfers();
      // The lock that a writer must take is a folder, and the folder of the saved heads is a file.
      const path = join(ground.data_dir, file);
      await rm(path, { recursive: true, force: true });
      await (file === 'log-head' ? writeFile(path, '') : mkdir(path));
      const heard = await send(gateway, paid);
      expect(nameOf(heard)).toBe('503 settlement_pending');
      expect(heard.body).not.toHaveProperty('charged');
      expect((await send(gateway, paid)).status).toBe(200);
      expect((await send(gateway, kept)).status).toBe(200);
      const health = (await (await fetch(`${gateway.url}/health`)).json()) as JsonObject;
      expect(health).toMatchObject({ status: 'degraded', away: ['log'] });
      expect((await fetch(`${gateway.url}/readyz`)).status).toBe(503);
      expect(await send(gateway, late)).toMatchObject({ status: 503, body: { charged: false } });
      expect(await transfers()).toBe(before + 1);
      if (file === 'book-heads.jsonl.lock') {
        const position = await positionIn(ground.database, owner);
        expect((await setBudget(gateway, owner, '1')).status).toBe(503);
        expect(await positionIn(ground.database, owner)).toBe(position);
        const rotation = await post(gateway, `/v1/agents/${owner.agent_id}/book/rotate`, { session: owner.session });
        expect(rotation.status).toBe(503);
      }
      await rm(path, { recursive: true });
      await eventually('ready', async () => ((await fetch(`${gateway.url}/readyz`)).ok ? true : null));
      expect((await send(gateway, late)).status).toBe(200);
      // The old session is still valid, because no new one was given out.
      expect((await setBudget(gateway, owner, '1000000000')).status).toBe(200);
      expect(await savedOf(ground, owner)).toBe(await positionIn(ground.database, owner));
      await gateway.stop();
    },
  );
});

describe('DATA_DIR/book-heads.jsonl', () => {
  it('has a line for each book before the answer; a torn one is cut off, a missing file begins anew, a damaged one is refused', async () => {
    const ground = await openGround();
    const first = await ground.start();
    const owner = await newOwner(ground, first);
    expect((await setBudget(first, owner, '1')).status).toBe(200);
    expect(await savedOf(ground, owner)).toBe(await positionIn(ground.database, owner));
    await first.stop();

    await appendFile(headsFile(ground), `{"agent_id":${owner.agent_id},"position":99,"ha`);
    const second = await ground.start();
    expect((await setBudget(second, owner, '2')).status).toBe(200);
    expect(await savedOf(ground, owner)).toBe(await positionIn(ground.database, owner));
    await second.stop();

    await rm(headsFile(ground));
    const third = await ground.start();
    expect(await savedOf(ground, owner)).toBe(await positionIn(ground.database, owner));
    expect(third.logs.join('\n')).toContain('the file was written from the current state of 1 books');
    await third.stop();

    await writeFile(headsFile(ground), 'not a head\n');
    expect(await refusalOf(ground)).toContain(`the saved book heads ${headsFile(ground)} cannot be read`);
  });

  it('loses nothing but its line where the process is killed between a commit and that line', async () => {
    const ground = await openGround();
    const first = await ground.start();
    const owner = await newOwner(ground, first);
    await first.stop();
    const saved = await savedOf(ground, owner);
    const dying = await ground.startDying({ plan: { point: 'before_book_heads' } });
    const lost = setBudget(dying, owner, '1').catch(() => null);
    await dying.died;
    expect(await lost).toBeNull();
    expect(await positionIn(ground.database, owner)).toBe(saved + 1);
    expect(await savedOf(ground, owner)).toBe(saved);
    await dying.endLease();

    const goesOn = await ground.start();
    await eventually('what stands is saved', async () => (await savedOf(ground, owner)) === saved + 1 || null);
    expect(await setBudget(goesOn, owner, '2')).toMatchObject({ status: 200, body: { cap: '2' } });
    expect(await positionIn(ground.database, owner)).toBe(saved + 2);
    await goesOn.stop();
  });
});
