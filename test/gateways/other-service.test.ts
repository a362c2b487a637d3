import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { filesInZip } from '../../schema/audit/zip.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { SCITT_STATEMENT } from '../../schema/cose.ts';
import { sha256Hex } from '../../schema/digest.ts';
import { verifyReceiptAudit } from '../../subgraphs/receipt/verify/audit.ts';
import { verifyBundle } from '../../subgraphs/receipt/verify/bundle.ts';
import { verifyStatement } from '../../subgraphs/receipt/verify/statement.ts';
import { freshChain } from '../harness/chain.ts';
import { freshDatabase } from '../harness/database.ts';
import { dumpOf } from '../harness/dump.ts';
import { answerTo, newBuyer, send } from '../harness/faults/buyer.ts';
import { type Ground, openGround } from '../harness/faults/ground.ts';
import { refusalOf, runOperatorCommand, runOperatorProcess } from '../harness/faults/operator.ts';
import { productionEnvironment } from '../harness/operations/production-environment.ts';
import { ownFolder } from '../harness/scratch.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/*
 * A second gateway, or the next start of the first one, has the settings of another service than the one that has used the database so far.
 */

const hex = () => randomBytes(32).toString('hex');
const { ISSUER_KEYS, SEAL_KEY, ...production } = productionEnvironment();

const textAt = async ({ url }: RunningService, path: string) => (await fetch(url + path)).text();
const jsonAt = async (at: RunningService, path: string) => JSON.parse(await textAt(at, path)) as JsonObject;
const bytesAt = async ({ url }: RunningService, path: string, headers: Record<string, string>) =>
  new Uint8Array(await (await fetch(url + path, { headers })).arrayBuffer());
const originAt = async (at: RunningService) => (await textAt(at, '/log/checkpoint')).split('\n')[0];
const warned = ({ logs }: RunningService) => logs.filter(line => line.includes('BASE_URL: '));

async function bought(ground: Ground, at: RunningService): Promise<string> {
  const { status, body } = await send(at, await (await newBuyer(ground)).chat('which service is this?'));
  expect(status).toBe(200);
  return String((body.svc as JsonObject).task_id);
}

/** Tables that a start writes, or that it could alter. */
const tables = [
  'service_mark',
  'mikro_orm_migrations',
  'issuer_snapshot',
  'receipt_policy',
  'log_head',
  'tree_head',
  'receipt',
];
const standing = async ({ database }: Ground) =>
  Promise.all(tables.map(table => database.query({ text: `select t::text as row from ${table} t order by 1` })));

describe('a second gateway on the database of one that serves', () => {
  let ground: Ground;
  let first: RunningService;
  beforeAll(async () => {
    ground = await openGround({ environment: { ISSUER_KEYS, SEAL_KEY } });
    first = await ground.start();
  });

  it.each([
    ['SEAL_KEY', { SEAL_KEY: hex() }, /^SEAL_KEY: this database was served with another SEAL_KEY/],
    [
      'ISSUER_KEYS',
      { ISSUER_KEYS: hex() },
      /^ISSUER_KEYS: the key that signs for this database, [\w-]{43}, is not among ISSUER_KEYS/,
    ],
    [
      'both',
      { SEAL_KEY: hex(), ISSUER_KEYS: hex() },
      /^SEAL_KEY: .*-- SEAL_KEY ISSUER_KEYS\nISSUER_KEYS: .*-- SEAL_KEY ISSUER_KEYS$/,
    ],
  ])(
    'with another %s is refused before it has changed anything, by the command that accepts it',
    async (_, other, said) => {
      const buyer = await newBuyer(ground);
      const order = await buyer.chat('once and for all');
      const answered = await send(first, order);
      const before = await standing(ground);
      const refusal = await refusalOf(ground, { environment: other, data_dir: await ownFolder() });
      expect(refusal).toMatch(said);
      expect(refusal).toContain(`Nothing was changed. If the change is intended, stop every process of this database`);
      expect(refusal).toContain(`npm run accept-changed -- ${Object.keys(other).join(' ')}`);
      expect(await standing(ground)).toEqual(before);
      expect(await jsonAt(first, '/.well-known/issuer-history.json')).toMatchObject({ version: 1 });
      const again = await answerTo(first, order);
      expect([again.status, again.body.id]).toEqual([200, answered.body.id]);
      expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    },
  );

  it('and the first one starts again', async () => {
    await first.stop();
    first = await ground.start();
    await bought(ground, first);
  });

  it('before another chain is refused in development too, while the first one serves', async () => {
    const chain = await freshChain();
    const refusal = await refusalOf(ground, { environment: { BASE_RPC_URL: chain.rpc_url } });
    expect(refusal).toMatch(
      /^the payments in this database are on another chain, .*, and other processes still serve this database on the former chain\./,
    );
    await bought(ground, first);
  });

  it('cannot accept a change while the first one serves', async () => {
    const environment = { SEAL_KEY: hex() };
    await expect(runOperatorCommand(ground, 'accept-changed', ['SEAL_KEY'], { environment })).rejects.toThrow(
      /A process still uses this database\. Stop all of its processes first/,
    );
  });

  it('with a new seed before the one that signs takes its place', async () => {
    const next = hex();
    const second = await ground.start({ environment: { ISSUER_KEYS: `${next},${ISSUER_KEYS}` } });
    expect(await jsonAt(second, '/.well-known/issuer-history.json')).toMatchObject({ version: 2 });
    await second.stop();
    const alone = await ground.start({ environment: { ISSUER_KEYS: next } });
    await bought(ground, alone);
  });

  it('finds marks that show no secret, nor a hash of one', async () => {
    const dump = await dumpOf(ground.database_url);
    for (const secret of [ISSUER_KEYS, SEAL_KEY]) {
      const bytes = Buffer.from(secret, 'hex');
      for (const needle of [secret, sha256Hex(secret), sha256Hex(bytes), Buffer.from(secret).toString('base64')])
        expect(dump).not.toContain(needle);
    }
  });
});

describe('of two first starts at once with other secrets', () => {
  it('one makes the database its own, and the other is refused', async () => {
    const ground = await openGround();
    const starts = await Promise.allSettled([
      ground.start({ data_dir: await ownFolder(), environment: { SEAL_KEY: hex() } }),
      ground.start({ data_dir: await ownFolder(), environment: { SEAL_KEY: hex() } }),
    ]);
    expect(starts.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

describe('a service at another BASE_URL', () => {
  it('in development is warned once, and its log keeps its origin; its receipts verify', async () => {
    const ground = await openGround();
    const before = await ground.start();
    const earlier = await bought(ground, before);
    const { body: owner } = await send(before, await (await newBuyer(ground)).registration());
    expect([await originAt(before), warned(before)]).toEqual(['svc.test/log', []]);
    await before.stop();
    const after = await ground.start({ environment: { BASE_URL: 'http://moved.test' } });
    const task_id = await bought(ground, after);
    expect(await originAt(after)).toBe('svc.test/log');
    expect(warned(after)).toHaveLength(1);
    expect(warned(after)[0]).toMatch(/served as http:\/\/svc\.test before and is served as http:\/\/moved\.test now/);
    const jwks = await jsonAt(after, '/.well-known/jwks.json');
    for (const id of [task_id, earlier]) {
      const audit = await jsonAt(after, `/receipt/${id}?format=auditor`);
      expect(verifyReceiptAudit(audit, jwks)).toMatchObject({ kind: 'valid' });
      const statement = await bytesAt(after, `/receipt/${id}`, { accept: SCITT_STATEMENT });
      expect(verifyStatement(statement, jwks)).toMatchObject({ kind: 'valid' });
    }
    const session = String(owner.session);
    const bundle = await bytesAt(after, `/v1/agents/${owner.agent_id}/book/export?format=bundle`, {
      'X-SVC-Session': session,
    });
    expect(verifyBundle(bundle, jwks)).toMatchObject({ kind: 'valid', claims: { receipts: 1 } });
    const keys = Buffer.from(filesInZip(bundle)?.get('log/verifier-keys') ?? '').toString();
    expect(keys).toMatch(/^svc\.test\/log\+/);
  });

  it('in production is refused, and goes on once its operator has accepted it', async () => {
    const ground = await openGround({ environment: production });
    const before = await ground.start();
    const first = await originAt(before);
    await before.stop();
    const environment = { BASE_URL: 'https://moved.test' };
    expect(await refusalOf(ground, { environment })).toMatch(
      /^BASE_URL: this database was served as https:\/\/svc\.test, but BASE_URL is https:\/\/moved\.test\. Nothing was changed\. .* run npm run accept-changed -- BASE_URL$/,
    );
    expect(await runOperatorProcess(ground, 'accept-changed', ['BASE_URL'], { environment })).toBe(
      'BASE_URL: accepted.\n',
    );
    const after = await ground.start({ environment });
    expect([await originAt(after), warned(after)]).toEqual([first, []]);
    await after.stop();
    expect(await refusalOf(ground)).toContain('was served as https://moved.test');
  });
});

describe('npm run accept-changed', () => {
  it('takes a seed that comes without the one before it, and what is not named stays refused', async () => {
    const ground = await openGround();
    await (await ground.start()).stop();
    const environment = { ISSUER_KEYS: hex(), SEAL_KEY: hex() };
    await expect(runOperatorCommand(ground, 'accept-changed', ['ISSUER_KEYS'], { environment })).rejects.toThrow(
      /SEAL_KEY: this database was served with another/,
    );
    const words = ['ISSUER_KEYS', 'SEAL_KEY'];
    expect(await runOperatorCommand(ground, 'accept-changed', words, { environment })).toBe(
      'ISSUER_KEYS: accepted.\nSEAL_KEY: accepted.\n',
    );
    const after = await ground.start({ environment });
    expect(await jsonAt(after, '/.well-known/issuer-history.json')).toMatchObject({ version: 2 });
    expect(await runOperatorCommand(ground, 'accept-changed', ['BASE_URL']).catch(() => 'refused')).toBe('refused');
  });

  it('takes another chain in production', async () => {
    const ground = await openGround({ environment: production });
    const before = await ground.start();
    await expect.poll(async () => (await fetch(`${before.url}/readyz`)).status).toBe(200);
    await before.stop();
    const environment = { BASE_RPC_URL: (await freshChain()).rpc_url };
    expect(await refusalOf(ground, { environment })).toContain('npm run accept-changed -- BASE_RPC_URL');
    expect(await runOperatorCommand(ground, 'accept-changed', ['BASE_RPC_URL'], { environment })).toContain(
      '(epoch 1)',
    );
    await (await ground.start({ environment })).stop();
  });
});

describe('a database whose marks are gone', () => {
  it('is known by what its service has signed', async () => {
    const { url } = await freshDatabase();
    const ground = await openGround({ database_url: url });
    const before = await ground.start();
    await bought(ground, before);
    await before.stop();
    await ground.database.query({ text: 'delete from service_mark' });
    expect(await refusalOf(ground, { environment: { ISSUER_KEYS: hex() } })).toMatch(/^ISSUER_KEYS: /);
    const after = await ground.start({ environment: { BASE_URL: 'http://moved.test' } });
    expect([await originAt(after), warned(after).length]).toEqual(['svc.test/log', 1]);
  });
});
