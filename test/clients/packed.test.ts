import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { ask, CHAT, openService, type Service } from '../harness/doors/open-service.ts';
import { ROOT } from '../harness/root.ts';
import { ownFolder } from '../harness/scratch.ts';

const run = promisify(execFile);

let service: Service;
let folder: string;

/** A project of somebody else's, into which the package was installed as it is packed. */
beforeAll(async () => {
  [service, folder] = await Promise.all([openService(), ownFolder()]);
  const modules = join(folder, 'node_modules');
  const installed = join(modules, 'spend-receipt-gateway');
  await mkdir(installed, { recursive: true });
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT });
  const tarball = stdout.trim().split('\n').at(-1) ?? '';
  await run('tar', ['-xzf', join(folder, tarball), '-C', installed, '--strip-components=1']);
  for (const name of ['@x402', 'viem']) await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
});

const program = `import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { payingFetch } from 'spend-receipt-gateway/client';
import { privateKeyToAccount } from 'viem/accounts';

const [url = '', key = ''] = process.argv.slice(2);
const payer = privateKeyToAccount(key as \`0x\${string}\`);
const pay = payingFetch({ payments: new x402Client().register('eip155:*', new ExactEvmScheme(payer)) });
const answer = await pay(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: process.argv[4] });
console.log(answer.status);
`;

it('the client that is published pays in a project that installed it, by plain Node', async () => {
  const payer = await service.chain.newWallet();
  await writeFile(join(folder, 'pay.ts'), program);
  const { stdout } = await run(
    process.execPath,
    ['pay.ts', service.url + CHAT, payer.private_key, JSON.stringify(ask())],
    { cwd: folder },
  );
  expect(stdout).toBe('200\n');
  expect(await service.transfersFrom(payer)).toHaveLength(1);
});

it('and its types are found there', async () => {
  await writeFile(join(folder, 'pay.ts'), program);
  const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--skipLibCheck'];
  const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules', '@types')];
  await expect(run(tsc, [...options, ...types, 'pay.ts'], { cwd: folder })).resolves.toMatchObject({ stdout: '' });
});
