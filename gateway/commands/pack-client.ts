import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { ROOT } from '../built.js';

/*
 * `npm run pack-client`: writes client and verifier as a separate package into dist/package, from which `npm pack` makes a tarball.
 * The package of the checkout is the server's and would install all dependencies of a server. Node runs this file directly from its
 * source.
 */

/** The output folder, `dist/package` by default. */
const [, , PACKAGE = join(ROOT, 'dist/package')] = process.argv;
const README = 'rest-compat/client/README.md';
const PACKAGE_NAME = /^(@[^/]+\/)?[^./][^/]*/;
/** The project that installs the package also has these, and two copies of x402's core would have incompatible types. */
const PEERS = ['@x402/core'];
/** The first example of the README signs with these. Another wallet needs neither. */
const OPTIONAL_PEERS = ['@x402/evm', 'viem'];

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly exports: unknown;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const { default: ts } = await import('typescript');
const { writeClientModules } = await import('../development/client-modules.ts');

rmSync(PACKAGE, { recursive: true, force: true });
mkdirSync(PACKAGE, { recursive: true });
await writeClientModules(join(PACKAGE, 'dist'));
writeFileSync(join(PACKAGE, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
for (const [file, name] of [
  [README, 'README.md'],
  ['LICENSE', 'LICENSE'],
] as const)
  copyFileSync(join(ROOT, file), join(PACKAGE, name));

/** The manifest of the checkout, reduced to the dependencies that the modules import. */
function manifest() {
  const { name, version, license, engines, exports, ...own }: Manifest = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  );
  const versions = { ...own.devDependencies, ...own.dependencies };
  const named = (names: readonly string[], range = '') =>
    Object.fromEntries(names.map(it => [it, range + versionOf(it, versions)]));
  return {
    name,
    version,
    description:
      'Client of the spend receipt gateway: a fetch that pays each request once by x402, a follower of books, and an offline verifier of receipts.',
    license,
    type: 'module',
    sideEffects: false,
    engines,
    files: ['dist'],
    exports,
    dependencies: named(importedPackages().filter(it => !PEERS.includes(it))),
    peerDependencies: named([...PEERS, ...OPTIONAL_PEERS], '^'),
    peerDependenciesMeta: Object.fromEntries(OPTIONAL_PEERS.map(it => [it, { optional: true }])),
  };
}

/**
 * Version of a dependency. @throws if the checkout's manifest does not name the package, because its version would then be
 * arbitrary
 */
function versionOf(name: string, versions: Readonly<Record<string, string>>): string {
  const version = versions[name];
  if (version === undefined) throw new Error(`the client imports ${name}, which package.json does not name`);
  return version;
}

/** Packages that the modules or their types import. */
function importedPackages(): string[] {
  const files = readdirSync(PACKAGE, { recursive: true, encoding: 'utf8' }).filter(path => /\.(js|d\.ts)$/.test(path));
  const texts = files.map(path => readFileSync(join(PACKAGE, path), 'utf8'));
  const names = texts.flatMap(text => ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName));
  const packages = names.filter(name => !isBuiltin(name)).flatMap(name => PACKAGE_NAME.exec(name)?.[0] ?? []);
  return [...new Set(packages)].sort();
}
