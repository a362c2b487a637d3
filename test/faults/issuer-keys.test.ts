import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { expect, it } from 'vitest';
import { newBuyer, send } from '../harness/faults/buyer.ts';
import { type Ground, openGround } from '../harness/faults/ground.ts';
import { acceptLogBreak, refusalOf } from '../harness/faults/operator.ts';
import { ROOT } from '../harness/root.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

const run = promisify(execFile);

interface Svc {
  readonly task_id: string;
  readonly issuer_signature: { readonly jws: string };
  readonly payload: { readonly issuer_history: { readonly version: number; readonly hash: string } };
}

async function receiptOf(ground: Ground, gateway: RunningService): Promise<Svc> {
  const heard = await send(gateway, await (await newBuyer(ground)).chat('which key is this?'));
  expect(heard.status).toBe(200);
  return (heard.body as unknown as { svc: Svc }).svc;
}

const read = async ({ url }: RunningService, path: string) =>
  (await fetch(`${url}/.well-known/${path}`)).json() as Promise<Record<string, unknown>>;

it('a seed that is gone from ISSUER_KEYS is missed by nobody who holds an old receipt, and signs no more', async () => {
  const ground = await openGround();
  const [retired, current] = [randomBytes(32), randomBytes(32)].map(bytes => ({ ISSUER_KEYS: bytes.toString('hex') }));
  const before = await ground.start({ environment: retired ?? {} });
  const old = await receiptOf(ground, before);
  const published = await read(before, 'issuer-history.json');
  await before.stop();

  const both = { ISSUER_KEYS: [current, retired].map(one => one?.ISSUER_KEYS).join(',') };
  await (await ground.start({ environment: both })).stop();
  const after = await ground.start({ environment: current ?? {} });
  const { snapshot, hash } = await read(after, 'issuer-history.json?version=1');
  expect({ snapshot, hash }).toEqual({ snapshot: published.snapshot, hash: old.payload.issuer_history.hash });
  expect(await read(after, `issuer-history.json?hash=${hash}`)).toMatchObject({ version: 1 });
  await expect(
    jwtVerify(old.issuer_signature.jws, createRemoteJWKSet(new URL(`${after.url}/.well-known/jwks.json`))),
  ).resolves.toMatchObject({ payload: { jti: old.task_id } });
  const receipt = `${after.url}/receipt/${old.task_id}`;
  const options = { cwd: ROOT };
  const jwks = `${after.url}/.well-known/jwks.json`;
  const { stdout } = await run('npm', ['run', '-s', 'verify', '--', receipt, '--jwks', jwks], options);
  expect(stdout).toContain(`Valid: task ${old.task_id}`);
  expect((await receiptOf(ground, after)).payload.issuer_history).toMatchObject({ version: 2 });
  await after.stop();

  expect(await refusalOf(ground, { environment: retired ?? {} })).toContain('a retired key signs no more');

  await ground.database.transaction(async tx => {
    await tx.query('alter table issuer_snapshot disable trigger user; delete from issuer_snapshot where version = 2');
    await tx.query('alter table issuer_snapshot enable trigger user');
  });
  expect(await refusalOf(ground, { environment: current ?? {} })).toContain(
    'the issuer history is shorter than its copy',
  );
  expect(await acceptLogBreak(ground, 'a row was lost', { environment: current ?? {} })).toContain(
    '1 versions of the issuer history',
  );
  const restored = await ground.start({ environment: current ?? {} });
  expect(await read(restored, 'issuer-history.json')).toMatchObject({ version: 2 });
  await restored.stop();
});
