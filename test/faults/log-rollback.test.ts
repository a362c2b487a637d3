import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { answerTo, jwsOf, nameOf, newBuyer, type Order, send, submitElsewhere } from '../harness/faults/buyer.ts';
import { claimOf } from '../harness/faults/claims.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';
import { haltOf, olderState } from '../harness/faults/log-halt.ts';
import { acceptLogBreak, publishedBreaks, refusalOf } from '../harness/faults/operator.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../harness/faults/wire.ts';
import { atEnd } from '../harness/release.ts';
import { clearScratch, makeScratch } from '../harness/scratch.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/*
 * The database goes back to an earlier state under a running process: its last leaves, heads and claims are gone, and all connections were
 * cut. Each test continues from the state that the previous one left.
 */

let ground: Ground;
let wire: DatabaseProxy;
let gateway: RunningService;
let buyer: Awaited<ReturnType<typeof newBuyer>>;
let older: Awaited<ReturnType<typeof olderState>>;
let lost: Order;
let kept: Order;
let kept_jws: string;
let by_key: () => Promise<Response>;
let on_its_way: Order;
let moved_elsewhere: Order;

beforeAll(async () => {
  ground = await openGround();
  wire = await startDatabaseProxy(ground.database_url);
  gateway = await ground.start({ url: wire.url });
  buyer = await newBuyer(ground);
  // The payer is registered, because a book records every repeated delivery.
  const registered = await answerTo(gateway, await buyer.registration());
  expect(registered.status).toBe(200);
  by_key = () => callByKey(gateway, String(registered.body.session));
  expect((await by_key()).status).toBe(200);
  kept = await buyer.chat('kept');
  kept_jws = jwsOf(await answerTo(gateway, kept));
  on_its_way = await buyer.chat('slow, and claimed when the dump was made');
  const answer = answerTo(gateway, on_its_way);
  await eventually('claimed', async () => (await claimOf(ground, on_its_way)) ?? null);
  older = await olderState(ground, [wire]);
  ground.answerSlow();
  expect((await answer).status).toBe(200);
  lost = await buyer.chat('lost');
  expect((await answerTo(gateway, lost)).status).toBe(200);
  moved_elsewhere = await buyer.chat('paid, and never asked for');
  await submitElsewhere(ground, moved_elsewhere);
});

/** A call by API key under an Idempotency-Key, on the buyer's book. */
async function callByKey({ url }: RunningService, session: string) {
  const own = { 'x-api-key': 'a-live-key', 'idempotency-key': 'once', 'x-svc-session': session };
  const body = JSON.stringify({ model: 'test/model', messages: [{ role: 'user', content: 'kept, by key' }] });
  const headers = { 'content-type': 'application/json', ...own };
  return fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
}

const transfers = async () => (await ground.chain.transfers(ground.pay_to)).length;
const head = async () => {
  const [newest] = (await older.signed()).slice(-1);
  return { tree_size: newest?.tree_size, root_hash: newest?.root_hash };
};
const stateThere = async ({ claim_key }: Order) =>
  (
    await older.database.query({ text: 'select state from payment_claim where claim_key = $1', values: [claim_key] })
  )[0];

it('halts: /readyz and /health turn and name both heads, and nothing is signed upon what is left', async () => {
  const before = await older.heads();
  older.turnBack();
  const halt = await eventually('halted', () => haltOf(gateway));
  expect(halt).toMatchObject({ known: await head(), found: { tree_size: 3 } });
  const fatal = gateway.logs.find(line => line.includes('does not extend what was signed')) ?? '';
  expect(fatal).toContain(`known is size 5, root ${(await head()).root_hash}`);
  expect(fatal).toContain('found is size 3, root ');
  expect(fatal).toContain('npm run accept-log-break');

  const moved = await transfers();
  const order = await buyer.chat('while the log is halted');
  const refused = await send(gateway, order);
  expect(nameOf(refused)).toBe('503 unavailable');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await transfers()).toBe(moved);
  expect(await stateThere(order)).toBeUndefined();
  expect(await older.heads()).toEqual(before);
});

it('delivers what this database still knows, and says of all other money that it may be on its way, never 402', async () => {
  const noted = async () => [
    await older.database.query({ text: 'select agent_id, position, kind from book_event order by 1, 2' }),
    await older.database.query({ text: 'select * from book_replay_hour' }),
  ];
  const before = await noted();
  expect(jwsOf(await send(gateway, kept))).toBe(kept_jws);
  // No key or session is accepted, because the database's record of their validity is old too.
  expect((await by_key()).status).toBe(503);
  expect(await noted()).toEqual(before);
  for (const order of [lost, moved_elsewhere]) {
    const answer = await send(gateway, order);
    expect(nameOf(answer)).toBe('503 settlement_pending');
    expect(answer.body).not.toHaveProperty('charged');
  }
  // The dump's record of the claim is old, so the claim is neither released nor recorded.
  expect(await stateThere(on_its_way)).toEqual({ state: 'claimed' });
});

it('a start is refused: by the saved head, or without one by the halt, each naming both heads', async () => {
  const { root_hash } = await head();
  await gateway.stop();
  const shrunken = await refusalOf(ground, { url: older.url });
  expect(shrunken).toContain('the log is shrunken');
  expect(shrunken).toMatch(/1 book does not continue from what was committed: book \d+ is known up to position \d+,/);
  const elsewhere = await makeScratch();
  atEnd(() => clearScratch(elsewhere));
  const halted = await refusalOf(ground, { url: older.url, data_dir: elsewhere });
  expect(halted).toContain('the log was halted at ');
  for (const refusal of [shrunken, halted]) {
    expect(refusal).toContain(`size 5, root ${root_hash}`);
    expect(refusal).toMatch(/size 3, root [0-9a-f]{64}/);
    expect(refusal).toContain('npm run accept-log-break');
  }
  const lines = (await readFile(join(ground.data_dir, 'log-heads.jsonl'), 'utf8')).trim().split('\n');
  expect(lines.map(line => JSON.parse(line))).toContainEqual(expect.objectContaining({ tree_size: 0 }));
});

it('an accepted break leads back to work, and all money that moved gets its answer, once', async () => {
  const { tree_size, root_hash } = await head();
  await acceptLogBreak(ground, 'an older replica was promoted', { url: older.url });
  expect(await older.database.query({ text: 'select halted from log_head' })).toEqual([{ halted: null }]);
  const moved = await transfers();
  const goesOn = await ground.start({ url: older.url });
  expect(await publishedBreaks(goesOn)).toMatchObject([{ saved: { tree_size, root_hash }, found: { tree_size: 3 } }]);
  expect(await eventually('ready', async () => ((await fetch(`${goesOn.url}/readyz`)).ok ? true : null))).toBe(true);
  for (const order of [lost, moved_elsewhere, on_its_way]) {
    expect((await answerTo(goesOn, order)).status).toBe(200);
    expect(await stateThere(order)).toEqual({ state: 'recorded' });
  }
  expect(await transfers()).toBe(moved);
  expect((await send(goesOn, await buyer.chat('and on it goes'))).status).toBe(200);
  expect((await older.heads()).at(-1)).toMatchObject({ tree_size: 7 });
  expect(await acceptLogBreak(ground, 'nothing at all', { url: older.url })).toContain('The log is intact');
  await goesOn.stop();
});
