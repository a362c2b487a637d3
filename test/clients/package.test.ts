import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import ts from 'typescript';
import { beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import type * as Verifier from '../../subgraphs/receipt/verify/module.ts';
import { ask, type Service, sharedService } from '../harness/doors/open-service.ts';
import { makeAuditDocument } from '../harness/receipt/audit-document.ts';
import { alter, issue, issuer, paths } from '../harness/receipt/issue.ts';
import { ROOT } from '../harness/root.ts';
import { ownFolder } from '../harness/scratch.ts';
import { unpack } from '../harness/unpack.ts';
import { paidCall, waivedCall } from '../harness/vectors/receipt-facts.ts';

/* The client, packed and installed as its page describes, in a folder that contains nothing else. */

const run = promisify(execFile);
const NAME = 'spend-receipt-gateway';
const page = await readFile(join(ROOT, 'rest-compat/client/README.md'), 'utf8');
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text = '']) => text.trim());
const [pack = '', install = ''] = blocks('sh');

interface Manifest {
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

let service: Service;
let folder: string;
let installed: string;
let tarball: string;
let manifest: Manifest;

const readJson = async (path: string) => JSON.parse(await readFile(path, 'utf8'));

beforeAll(async () => {
  [service, folder] = await Promise.all([sharedService(), ownFolder()]);
  installed = join(folder, 'node_modules', NAME);
  await mkdir(installed, { recursive: true });
  const [program = '', ...words] = pack.replace(/^npm install && /, '').split(' ');
  const { stdout } = await run(program, words, { cwd: ROOT });
  tarball = join(ROOT, 'dist', stdout.trim());
  await unpack(tarball, installed);
  manifest = await readJson(join(installed, 'package.json'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  // The packages that npm would fetch from a registry are linked from this checkout. Nothing else can be resolved from that folder.
  const [path = '', ...beside] = install.replace('npm install ', '').split(' ');
  expect(basename(path)).toBe(basename(tarball));
  for (const name of [...Object.keys(manifest.dependencies), ...beside]) await linkPackage(name);
});

async function linkPackage(name: string): Promise<void> {
  const link = join(folder, 'node_modules', name);
  await mkdir(dirname(link), { recursive: true });
  await symlink(join(ROOT, 'node_modules', name), link);
}

it('the package is below 1 MB unpacked and names what its modules import, nothing of the server and x402 and viem as peers', async () => {
  const files = (await readdir(installed, { recursive: true, withFileTypes: true })).filter(file => file.isFile());
  const sizes = await Promise.all(files.map(async file => (await stat(join(file.parentPath, file.name))).size));
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(800_000);
  expect((await stat(tarball)).size).toBeLessThan(250_000);
  expect(await readdir(installed)).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'dist', 'package.json']));
  const { exports } = await readJson(join(ROOT, 'package.json'));
  expect(manifest.exports).toEqual(exports);
  expect(Object.keys(manifest.dependencies)).toEqual([
    'canonicalize',
    'eventsource-parser',
    'graphql-ws',
    'hash-wasm',
    'secp256k1',
    'zod',
  ]);
  expect(Object.keys(manifest.peerDependencies)).toEqual(['@x402/core', '@x402/evm', 'viem']);
});

it('npm pack of the checkout, which is the server, is refused and names the command that packs the client', async () => {
  await expect(run('npm', ['pack', '--pack-destination', folder], { cwd: ROOT })).rejects.toThrow(
    'npm run -s pack-client packs the client',
  );
});

const consumer = `import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { payingFetch } from '${NAME}/client';
import { keysNamed, verify, verifyPlace } from '${NAME}/verify';
import { privateKeyToAccount } from 'viem/accounts';

const [url = '', key = '', body = ''] = process.argv.slice(2);
const wallet = new ExactEvmScheme(privateKeyToAccount(key as \`0x\${string}\`));
const pay = payingFetch({ payments: new x402Client().register('eip155:*', wallet) });
const headers = { 'content-type': 'application/json' };
const answer = await pay(\`\${url}/v1/chat/completions\`, { method: 'POST', headers, body });
const { svc } = (await answer.json()) as { svc: { task_id: string; leaf_index: number } };
const text = async (path: string): Promise<string> => (await fetch(url + path)).text();
const said = verify(svc, JSON.parse(await text('/.well-known/jwks.json')));
const log_keys = (await text('/log/verifier-keys')).split('\\n').filter(Boolean);
const place = verifyPlace(svc, await text(\`/log/proof/\${svc.task_id}\`), { log_keys });
console.log(JSON.stringify([answer.status, said.valid, said.claims?.jti === svc.task_id, keysNamed(svc), place.leaf_index === svc.leaf_index]));
`;

it('by plain Node it pays for a chat there, verifies the receipt and its place in the log, and loads each other module', async () => {
  const payer = await service.chain.newWallet();
  await writeFile(join(folder, 'consumer.ts'), consumer);
  const words = [service.url, payer.private_key, JSON.stringify(ask())];
  const others = ['pay-legs', 'register-agent', 'book-follower', 'book-socket'].map(
    name => `import '${NAME}/client/${name}';`,
  );
  await writeFile(join(folder, 'main.ts'), `${others.join('\n')}\nawait import('./consumer.ts');\n`);
  const { stdout } = await run(process.execPath, ['main.ts', ...words], { cwd: folder });
  expect(JSON.parse(stdout)).toEqual([200, true, true, `${service.url}/.well-known/jwks.json`, true]);
  expect(await service.transfersFrom(payer)).toHaveLength(1);
});

const LIBRARY = /\/typescript\/lib\/lib\.[\w.]+\.d\.ts$/;
/** The compiler's own declaration files are the same for each program, so they are parsed once. */
const libraries = new Map<string, ts.SourceFile>();

/** Errors of the compiler for programs in that folder. */
function faultsOf(files: readonly string[], options: ts.CompilerOptions): string[] {
  const compilerOptions: ts.CompilerOptions = {
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    typeRoots: [join(ROOT, 'node_modules/@types')],
    ...options,
  };
  const host = ts.createCompilerHost(compilerOptions);
  const parsed = host.getSourceFile;
  host.getSourceFile = (name, ...how) => {
    const file = libraries.get(name) ?? parsed(name, ...how);
    if (file && LIBRARY.test(name)) libraries.set(name, file);
    return file;
  };
  const rootNames = files.map(file => join(folder, file));
  const program = ts.createProgram({ rootNames, options: compilerOptions, host });
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

const resolutions = [
  ['nodenext', { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext }],
  ['bundler', { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }],
] as const;

it.each(resolutions)('under %s its programs, and the follower on its page, find their types', async (_, options) => {
  const follower = blocks('ts').find(text => text.includes(`${NAME}/client/book-follower`)) ?? '';
  const by_socket = `import { bookSocket } from '${NAME}/client/book-socket';\n${follower.replace('books, store,', 'books, store, over: bookSocket,')}`;
  await writeFile(join(folder, 'consumer.ts'), consumer);
  await writeFile(join(folder, 'follower.ts'), by_socket);
  const legs = `import { payLegs } from '${NAME}/client/pay-legs';\nexport const wanted: bigint = await payLegs('no buyer', 'http://here');\n`;
  await writeFile(join(folder, 'legs.ts'), legs);
  const agent = `import { registerAgent } from '${NAME}/client/register-agent';
import { privateKeyToAccount } from 'viem/accounts';
const registered = await registerAgent({ pay: fetch, url: 'http://here', wallet: privateKeyToAccount('0x01') });
export const wanted: string = registered.agent_id;\n`;
  await writeFile(join(folder, 'agent.ts'), agent);
  expect(faultsOf(['consumer.ts', 'follower.ts', 'agent.ts', 'legs.ts'], { types: ['node'], ...options })).toEqual([
    expect.stringMatching(/^Type 'number' is not assignable to type 'string'/),
    expect.stringMatching(/^Type 'Response' is not assignable to type 'bigint'/),
    expect.stringMatching(/^Argument of type 'string' is not assignable to parameter of type 'LegsBuyer'/),
  ]);
});

it('the types of its verifier need nothing of Node', async () => {
  const types = `import { type VerifiedDocument, verify } from '${NAME}/verify';
export const said: VerifiedDocument = verify({}, { keys: [] });`;
  await writeFile(join(folder, 'types.ts'), types);
  expect(
    faultsOf(['types.ts'], { types: [], skipLibCheck: false, skipDefaultLibCheck: true, ...resolutions[0][1] }),
  ).toEqual([]);
});

it('what browsers load of it comes to the same as what Node loads, with no module of Node’s', async () => {
  const file = (name: string) => join(installed, 'dist/verify', name);
  const { importedFiles } = ts.preProcessFile(await readFile(file('browser.js'), 'utf8'), true, true);
  expect(importedFiles).toEqual([]);
  const receipt = await issue(paidCall);
  const load = (name: string): Promise<typeof Verifier> => import(pathToFileURL(file(name)).href);
  const [browser, node] = await Promise.all([load('browser.js'), load('node.js')]);
  const documents = [receipt, await makeAuditDocument(paidCall), await issue(waivedCall, null), {}].flatMap(
    document => [
      document,
      ...paths(document).map(path => alter(document, path, old => (typeof old === 'string' ? `${old}A` : null))),
    ],
  ) as JsonObject[];
  expect(documents.length).toBeGreaterThan(200);
  for (const document of documents)
    expect(browser.verify(document, issuer.jwks as JsonObject)).toEqual(
      node.verify(document, issuer.jwks as JsonObject),
    );
});
