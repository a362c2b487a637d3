import { rm, writeFile } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { anybodyServes } from '../../subgraphs/receipt/claim/lease.ts';
import { verify } from '../../subgraphs/receipt/verify/module.ts';
import { documentFrom } from '../../subgraphs/receipt/verify/read-document.ts';
import { jwsOf, nameOf, newBuyer, type Order, send } from '../harness/faults/buyer.ts';
import { claimOf } from '../harness/faults/claims.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';
import { acceptLogBreak, publishedBreaks, refusalOf } from '../harness/faults/operator.ts';
import { alter, paths } from '../harness/receipt/issue.ts';

/*
 * Receipts and leaves are rewritten in the database where the proof of the head covers none of their nodes, and a saved head is lost. Each
 * test continues from the state that the previous one left.
 */

let ground: Ground;
let buyer: Awaited<ReturnType<typeof newBuyer>>;
const bought: Order[] = [];
let jws: string;

beforeAll(async () => {
  ground = await openGround();
  buyer = await newBuyer(ground);
  const gateway = await ground.start();
  for (let call = 0; call < 5; call++) {
    const order = await buyer.chat(`call ${call}`);
    bought.push(order);
    const answer = await send(gateway, order);
    expect(answer.status).toBe(200);
    jws = jwsOf(answer);
  }
  await gateway.stop();
});

const harm = (text: string) => ground.database.query({ text });
const newest = () => bought.at(-1) as Order;

it('a rewritten receipt: refused at start, until it is declared by its hashes, signed and for all to see', async () => {
  await harm(`update receipt set payload = replace(payload, '2000', '1000') where leaf_index = 1`);
  const refusal = await refusalOf(ground);
  expect(refusal).toContain('the log was rewritten at leaf 1: its receipt has the hash');
  expect(refusal).toMatch(/saved outside the database has size 5, root [0-9a-f]{64}/);
  expect(refusal).toMatch(/the database has size 5, root [0-9a-f]{64}/);
  expect(refusal).toContain('npm run accept-log-break -- ');

  expect(await acceptLogBreak(ground, 'a receipt was tampered with')).toContain('a receipt was tampered with');
  const gateway = await ground.start();
  const breaks = (await publishedBreaks(gateway)) as readonly JsonObject[];
  expect(breaks).toMatchObject([
    { reason: 'a receipt was tampered with', damage: [{ level: 0, index: 1 }], jws: expect.any(String) },
  ]);
  const keys = (await (await fetch(`${gateway.url}/.well-known/jwks.json`)).json()) as JsonObject;
  const [declared = {}] = breaks;
  expect(verify(declared, keys)).toMatchObject({ kind: 'log_break', valid: true });
  const listed = documentFrom(Buffer.from(JSON.stringify(breaks))) ?? {};
  expect(verify(listed, keys)).toMatchObject({ kind: 'log_breaks', valid: true, claims: { log_breaks: 1 } });
  for (const path of paths(declared))
    expect(verify(alter(declared, path, old => `${old}x`) as JsonObject, keys).valid, path.join('.')).toBe(false);
  expect(jwsOf(await send(gateway, newest()))).toBe(jws);
  expect((await send(gateway, await buyer.chat('and on it goes'))).status).toBe(200);
  await gateway.stop();
  // From now on only the declared damage is ignored.
  await harm(`update log_node set hash = sha256(hash) where level = 0 and index = 2`);
  expect(await refusalOf(ground)).toContain('the log was rewritten at leaf 2: its receipt has the hash');
});

it('a rewritten leaf among those that a start leaves out: found while the service runs, and the till is closed', async () => {
  // A start audits only the newest leaves of a long log. Here that is one leaf.
  const gateway = await ground.start({ options: { audit_leaves: 1 } });
  const health = async () =>
    (await (await fetch(`${gateway.url}/health`)).json()) as { status: string; away: string[] };
  await eventually('degraded', async () => (await health()).status === 'degraded' || null);
  expect((await health()).away).toEqual(['log']);
  const told = 'No more payments are accepted';
  const fatal = await eventually('told', () => gateway.logs.find(line => line.includes(told)) ?? null);
  expect(fatal).toContain('the log was rewritten at leaf 2');
  expect(fatal).toContain('npm run accept-log-break');

  const moved = (await ground.chain.transfers(ground.pay_to)).length;
  const order = await buyer.chat('while the till is closed');
  const refused = await send(gateway, order);
  expect(nameOf(refused)).toBe('503 unavailable');
  expect(refused.body.charged).toBe(false);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await claimOf(ground, order)).toBeNull();
  // A purchase from before is owed and still delivered.
  expect(jwsOf(await send(gateway, newest()))).toBe(jws);
  expect(await ground.chain.transfers(ground.pay_to)).toHaveLength(moved);
  await gateway.stop();

  await acceptLogBreak(ground, 'a leaf was tampered with');
  const goesOn = await ground.start();
  expect(await publishedBreaks(goesOn)).toHaveLength(2);
  expect((await send(goesOn, order)).status).toBe(200);
  await goesOn.stop();
});

it('a head outside the database that is damaged where it lies: refused', async () => {
  await writeFile(ground.saved_head, '{"log_id":1,"tree_si');
  const damaged = await refusalOf(ground);
  expect(damaged).toContain(`the saved log head ${ground.saved_head} cannot be read`);
  expect(damaged).toContain('npm run accept-log-break -- ');
});

it('a head outside the database that is lost: refused, until that is declared', async () => {
  await rm(ground.saved_head);
  // While another process serves, it would join that process. The lease of a process that was stopped under load lasts for some more
  // seconds.
  await eventually('nobody serves', async () => ((await anybodyServes(ground.database)) ? null : true));
  expect(await refusalOf(ground)).toContain(`the log has no saved head at ${ground.saved_head}`);

  await acceptLogBreak(ground, 'the disk with DATA_DIR was lost');
  const gateway = await ground.start();
  const [, , lost] = await publishedBreaks(gateway);
  expect(lost).toMatchObject({ reason: 'the disk with DATA_DIR was lost', found: { tree_size: 7 } });
  expect(lost).not.toHaveProperty('saved');
  expect((await send(gateway, await buyer.chat('once more'))).status).toBe(200);
  expect(await acceptLogBreak(ground, 'nothing at all')).toContain('The log is intact. Nothing was declared.');
  await gateway.stop();
});
