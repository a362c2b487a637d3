import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import type * as Verifier from '../../subgraphs/receipt/verify/module.ts';
import { ask, CHAT, type Service, sharedService } from '../harness/doors/open-service.ts';
import { copySources } from '../harness/installation.ts';
import { audited } from '../harness/receipt/audited.ts';
import { altered, issue, issuer, paths } from '../harness/receipt/issued.ts';
import { ROOT } from '../harness/root.ts';
import { ownFolder } from '../harness/scratch.ts';
import { unpack } from '../harness/unpack.ts';
import { paidCall, waivedCall } from '../harness/vectors/receipt-facts.ts';

const run = promisify(execFile);

let service: Service;
let folder: string;

/** What the verifier and the follower of books use, all of them `dependencies` of the package. */
const used = ['canonicalize', 'hash-wasm', 'secp256k1', 'zod', 'eventsource-parser', 'graphql-ws'];

/** A project of somebody else's, into which the package was installed as it is packed, from a checkout that nobody else builds in. */
beforeAll(async () => {
  [service, folder] = await Promise.all([sharedService(), ownFolder()]);
  const modules = join(folder, 'node_modules');
  const installed = join(modules, 'spend-receipt-gateway');
  await mkdir(installed, { recursive: true });
  const sources = join(folder, 'sources');
  await copySources(sources);
  await symlink(join(ROOT, 'node_modules'), join(sources, 'node_modules'));
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: sources });
  const tarball = stdout.trim().split('\n').at(-1) ?? '';
  await unpack(join(folder, tarball), installed);
  for (const name of ['@x402', 'viem', ...used]) await symlink(join(ROOT, 'node_modules', name), join(modules, name));
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

it('the follower of books loads there by plain Node; the program on its page, and the one that pays, find the types that they need', async () => {
  const name = 'spend-receipt-gateway/client/book-follower';
  const socket = 'spend-receipt-gateway/client/book-socket';
  const page = await readFile(join(ROOT, 'rest-compat/client/README.md'), 'utf8');
  const on_page = [...page.matchAll(/```ts\n([\s\S]*?)```/g)]
    .map(([, text = '']) => text)
    .find(it => it.includes(name));
  const by_socket = `import { bookSocket } from '${socket}';\n${on_page?.replace('books, store,', 'books, store, over: bookSocket,')}`;
  await writeFile(join(folder, 'follow.ts'), by_socket);
  const load = `const { createBookFollower } = await import('${name}'); const { bookSocket } = await import('${socket}');
    console.log(typeof createBookFollower, typeof bookSocket);`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', load], { cwd: folder });
  expect(stdout).toBe('function function\n');
  const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--skipLibCheck'];
  const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules', '@types')];
  await writeFile(join(folder, 'pay.ts'), program);
  const programs = ['pay.ts', 'follow.ts'];
  await expect(run(tsc, [...options, ...types, ...programs], { cwd: folder })).resolves.toMatchObject({ stdout: '' });
});

const checker = `import { readFileSync } from 'node:fs';
import { keysNamed, type VerifiedDocument, verify, verifyPlace } from 'spend-receipt-gateway/verify';

const [receipt, keys, proof, key = ''] = process.argv.slice(2).map(path => readFileSync(path, 'utf8'));
const document = JSON.parse(receipt ?? '');
const said: VerifiedDocument = verify(document, JSON.parse(keys ?? ''));
const place = verifyPlace(document, proof ?? '', { log_keys: key.split('\\n').filter(Boolean) });
console.log(JSON.stringify([said.valid, said.claims?.jti, said.report?.unsigned.unknown, keysNamed(document), place.leaf_index]));
`;

it('the verifier that is published verifies a receipt and its place in the log there, and its types need nothing of Node', async () => {
  const agent = await service.newAgent();
  const { svc } = (await service.buy(agent.account, ask(), { 'X-SVC-Session': agent.session })).body;
  const places = ['/.well-known/jwks.json', `/log/proof/${svc.task_id}`, '/log/verifier-keys'];
  const texts = await Promise.all(places.map(path => fetch(service.url + path).then(answer => answer.text())));
  const files = [JSON.stringify(svc), ...texts].map((text, at) => ({ path: join(folder, `${at}.txt`), text }));
  for (const { path, text } of files) await writeFile(path, text);
  await writeFile(join(folder, 'check.ts'), checker);
  const { stdout } = await run(process.execPath, ['check.ts', ...files.map(({ path }) => path)], { cwd: folder });
  const at = (svc as JsonObject).leaf_index;
  expect(JSON.parse(stdout)).toEqual([true, svc.task_id, [], `${service.url}/.well-known/jwks.json`, at]);
  const types = `import { type VerifiedDocument, verify } from 'spend-receipt-gateway/verify';
export const said: VerifiedDocument = verify({}, { keys: [] });`;
  await writeFile(join(folder, 'types.ts'), types);
  const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
  const compilerOptions = { noEmit: true, strict: true, module: 'nodenext', target: 'es2022', types: [] };
  await writeFile(join(folder, 'types.json'), JSON.stringify({ compilerOptions, files: ['types.ts'] }));
  await expect(run(tsc, ['-p', 'types.json'], { cwd: folder })).resolves.toMatchObject({ stdout: '' });
});

it('and what browsers load of it comes to the same, with no module of Node’s', async () => {
  const source = await readFile(join(folder, 'node_modules/spend-receipt-gateway/dist/verify/browser.js'), 'utf8');
  expect(source).not.toMatch(/(from|import|require\()\s*['"]/);
  const receipt = await issue(paidCall);
  const load = (name: string): Promise<typeof Verifier> =>
    import(pathToFileURL(join(folder, 'node_modules/spend-receipt-gateway/dist/verify', name)).href);
  const [browser, node] = await Promise.all([load('browser.js'), load('node.js')]);
  const documents = [receipt, await audited(paidCall), await issue(waivedCall, null), {}].flatMap(document => [
    document,
    ...paths(document).map(path => altered(document, path, old => (typeof old === 'string' ? `${old}A` : null))),
  ]) as JsonObject[];
  expect(documents.length).toBeGreaterThan(200);
  for (const document of documents)
    expect(browser.verify(document, issuer.jwks as JsonObject)).toEqual(
      node.verify(document, issuer.jwks as JsonObject),
    );
});
