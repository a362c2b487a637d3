import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { anchorKey } from '../../gateway/log/anchor/open-anchors.ts';
import { nameOf, newBuyer, type Order, send } from '../harness/faults/buyer.ts';
import { copyOf } from '../harness/faults/database-copy.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';
import { acceptLogBreak, publishedBreaks, refusalOf, runOperatorCommand } from '../harness/faults/operator.ts';
import { startLyingChain } from '../harness/lying-chain.ts';
import { atEnd } from '../harness/release.ts';
import { ROOT } from '../harness/root.ts';
import { clearScratch, makeScratch } from '../harness/scratch.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

const run = promisify(execFile);

interface Health {
  readonly status: string;
  readonly away: readonly string[];
  readonly log: { readonly tree_size: number; readonly root_hash: string } | null;
  readonly last_anchored_root: string | null;
  readonly last_anchored_tx: string | null;
  readonly anchor: { readonly tree_size: number | null; readonly trouble: string | null } | null;
}

async function healthOf({ url }: RunningService): Promise<Health> {
  return (await fetch(`${url}/health`)).json() as Promise<Health>;
}

async function awayOf({ url }: RunningService): Promise<readonly string[]> {
  const { away = [] } = (await (await fetch(`${url}/readyz`)).json()) as { away?: string[] };
  return away;
}

async function freshFolder(): Promise<string> {
  const folder = await makeScratch();
  atEnd(() => clearScratch(folder));
  return folder;
}

/** Secrets that are stored outside of DATA_DIR and survive its loss, such as the anchor key. */
function outside() {
  const hex = () => randomBytes(32).toString('hex');
  return { ANCHOR_KEY: hex(), ISSUER_KEYS: hex(), SEAL_KEY: hex() };
}

async function fund(ground: Ground, seed: string): Promise<void> {
  await ground.chain.call('anvil_setBalance', anchorKey(seed).address, '0xde0b6b3a7640000');
}

/** Runs a script by npm, as an operator would. */
async function typed(ground: Ground, script: string, environment: Record<string, string>) {
  const env = { ...ground.environment(), ...environment };
  const { stdout } = await run('npm', ['run', '-s', script], { cwd: ROOT, env });
  return stdout;
}

it('an anchored log: found again on Base alone, and a database that went back before it is refused', async () => {
  const ground = await openGround();
  const secrets = outside();
  // Long enough that no further automatic anchor happens. Later ones are made on demand.
  const environment = { ...secrets, ANCHOR_SECONDS: '86400' };
  const gateway = await ground.start({ environment });
  const buyer = await newBuyer(ground);
  const buy = async (on: RunningService, prompt: string) => send(on, await buyer.chat(prompt));

  // The key has no gas, which only /health reports.
  expect(nameOf(await buy(gateway, 'one'))).toBe('200');
  await expect
    .poll(() => healthOf(gateway))
    .toMatchObject({ status: 'degraded', away: ['anchor'], anchor: { trouble: 'unfunded' } });
  expect(await awayOf(gateway)).toEqual([]);
  expect(nameOf(await buy(gateway, 'two'))).toBe('200');
  const older = await gateway.stop().then(() => copyOf(ground.database_url));

  await fund(ground, secrets.ANCHOR_KEY);
  const scheduled = await ground.start({ environment });
  await expect.poll(async () => (await healthOf(scheduled)).anchor?.tree_size).toBe(2);
  const first = await healthOf(scheduled);
  expect(first).toMatchObject({ status: 'ok', last_anchored_root: first.log?.root_hash });
  expect(nameOf(await buy(scheduled, 'three'))).toBe('200');

  const printed = JSON.parse(await typed(ground, 'anchor', environment)) as Health;
  expect(printed.anchor).toMatchObject({ tree_size: 3, trouble: null });
  await expect.poll(() => healthOf(scheduled)).toMatchObject({ last_anchored_tx: printed.last_anchored_tx });
  expect(JSON.parse(await runOperatorCommand(ground, 'anchor', [], { environment }))).toMatchObject({
    last_anchored_tx: printed.last_anchored_tx,
  });
  await scheduled.stop();

  // After the loss of DATA_DIR the heads that were signed since the newest anchor are unknown, so the start is refused even with a good
  // database.
  const lost = await freshFolder();
  const unsaved = await refusalOf(ground, { environment, data_dir: lost });
  expect(unsaved).toContain('the log has no saved head');
  expect(unsaved).toContain(`has size 3, root ${printed.last_anchored_root} (transaction ${printed.last_anchored_tx})`);

  // The database was also restored from before the anchor.
  const both = { environment: { ...environment, DATABASE_URL: older }, url: older, data_dir: lost };
  expect(await refusalOf(ground, both)).toContain(`has size 3, root ${printed.last_anchored_root}`);
  const blind = { ...environment, DATABASE_URL: older, DATA_DIR: lost, ANCHOR_KEY: outside().ANCHOR_KEY };
  expect(await acceptLogBreak(ground, 'without a look at Base', { environment: blind })).toContain(
    'without a look at Base',
  );
  const shrunken = await refusalOf(ground, both);
  expect(shrunken).toContain('the log is shrunken: the head anchored on Base');
  expect(shrunken).toContain(
    `has size 3, root ${printed.last_anchored_root} (transaction ${printed.last_anchored_tx})`,
  );
  expect(shrunken).toContain('the database has size 2, root ');
  expect(shrunken).toContain('npm run accept-log-break');

  // The operator continues by accepting the loss of what was signed.
  await acceptLogBreak(ground, 'an older dump', { environment: { ...blind, ...secrets } });
  const goesOn = await ground.start(both);
  const { last_anchored_root: root_hash, last_anchored_tx: tx_hash } = printed;
  expect(await publishedBreaks(goesOn)).toMatchObject([
    { reason: 'without a look at Base' },
    { reason: 'an older dump', found: { tree_size: 2 }, anchored: { tree_size: 3, root_hash, tx_hash } },
  ]);
  expect(nameOf(await buy(goesOn, 'four'))).toBe('200');
  await expect.poll(async () => (await healthOf(goesOn)).last_anchored_tx).not.toBeNull();
});

it('Base out of reach at start: free doors are served, paid ones open once the log is proven; or never', async () => {
  const ground = await openGround();
  const secrets = outside();
  await fund(ground, secrets.ANCHOR_KEY);
  const node = await startLyingChain(ground.chain.rpc_url);
  const environment = { ...secrets, ANCHOR_SECONDS: '1', BASE_RPC_URL: node.url };
  const gateway = await ground.start({ environment });
  const buyer = await newBuyer(ground);
  expect(nameOf(await send(gateway, await buyer.chat('one')))).toBe('200');
  const older = await gateway.stop().then(() => copyOf(ground.database_url));
  const grown = await ground.start({ environment });
  expect(nameOf(await send(grown, await buyer.chat('two')))).toBe('200');
  await expect.poll(async () => (await healthOf(grown)).anchor?.tree_size).toBe(2);
  await grown.stop();

  const order = await buyer.chat('three');
  node.behave({ kind: 'cut' });
  const waiting = await ground.start({ environment });
  await closedFor(waiting, order);
  // The chain answers, but not the request for anchors, so nothing is proven yet.
  node.behave({ kind: 'no_json', methods: ['eth_getLogs'] });
  await closedFor(waiting, order);
  expect(await awayOf(waiting)).toEqual(['base', 'log']);
  node.tellTruth();
  await expect.poll(() => awayOf(waiting)).toEqual([]);
  expect(nameOf(await send(waiting, order))).toBe('200');
  await waiting.stop();

  // A database from before the anchor, for a process whose DATA_DIR is new, so that it has no saved head to compare.
  node.behave({ kind: 'cut' });
  const data_dir = await freshFolder();
  await acceptLogBreak(ground, 'blind', { url: older, environment: { ...environment, DATA_DIR: data_dir } });
  const refused = await ground.start({ environment, url: older, data_dir });
  node.tellTruth();
  await eventually(
    'the contradiction is found',
    () => refused.logs.some(line => line.includes('the log is shrunken: the head anchored on Base')) || null,
  );
  await closedFor(refused, await buyer.chat('four'));
});

/** Expects that free endpoints answer, and that paid ones answer that nothing was charged, for each way to pay. */
async function closedFor(gateway: RunningService, order: Order): Promise<void> {
  const answer = await send(gateway, order);
  expect([nameOf(answer), answer.body.charged]).toEqual(['503 chain_unavailable', false]);
  const by_key = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'a-live-key' },
    body: JSON.stringify({ model: 'test/model', messages: [{ role: 'user', content: 'by key' }] }),
  });
  expect([by_key.status, await by_key.json()]).toEqual([
    503,
    expect.objectContaining({ code: 'unavailable', charged: false }),
  ]);
  expect((await fetch(`${gateway.url}/v1/models`)).status).toBe(200);
  expect(await healthOf(gateway)).toMatchObject({ status: 'degraded', away: expect.arrayContaining(['base', 'log']) });
  expect(await awayOf(gateway)).toEqual(expect.arrayContaining(['base', 'log']));
}
