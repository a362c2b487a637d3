import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as esbuild from 'esbuild';
import ts from 'typescript';
import { ROOT } from '../built.js';
import { browserBuild } from './verifier-program.ts';

/*
 * The modules that callers' programs import: the client as JavaScript with its types, and the verifier as one file for Node and one
 * for browsers. Each file is compiled separately, so its exports must state their types (`isolatedDeclarations`). `npm run check`
 * checks the types; a whole type-check here would take ten times as long.
 */

const CLIENT = ['paying-fetch', 'pay-legs', 'register-agent', 'book-follower', 'book-socket'].map(
  name => `rest-compat/client/${name}.ts`,
);
const VERIFY = 'subgraphs/receipt/verify';
const VERIFIER = `${VERIFY}/module.ts`;
const RELATIVE_IMPORT = /(?<=\bfrom ['"])(\.[^'"]+)\.ts(?=['"])/g;

/** Writes `client/` and `verify/` into a folder. `exports` of package.json names those in `dist/`. */
export async function writeClientModules(folder: string): Promise<void> {
  writeReached(CLIENT, join(folder, 'client'), '.js', moduleOf);
  writeReached(CLIENT, join(folder, 'client'), '.d.ts', typesOf);
  writeReached([VERIFIER], join(folder, 'verify/types'), '.d.ts', typesOf);
  await Promise.all([
    esbuild.build({
      bundle: true,
      format: 'esm',
      target: 'es2022',
      tsconfig: join(ROOT, 'tsconfig.json'),
      entryPoints: [join(ROOT, VERIFIER)],
      outfile: join(folder, 'verify/node.js'),
      platform: 'node',
      // Native code and the package's dependencies are found where the package is installed.
      packages: 'external',
    }),
    esbuild.build({
      ...browserBuild,
      minifySyntax: true,
      minifyWhitespace: true,
      entryPoints: [join(ROOT, VERIFY, 'browser/module.ts')],
      outfile: join(folder, 'verify/browser.js'),
    }),
  ]);
}

/**
 * Compiles the files that the entries reach by relative imports. An import that contains only types is none in the JavaScript, so
 * its file is compiled only for the types.
 */
function writeReached(
  entries: readonly string[],
  folder: string,
  ending: '.js' | '.d.ts',
  compiled: (file: string) => string,
): void {
  const reached = new Set(entries);
  for (const file of reached) {
    const text = compiled(file);
    for (const [, path = ''] of text.matchAll(RELATIVE_IMPORT)) reached.add(join(dirname(file), `${path}.ts`));
    const target = join(folder, file.replace(/\.ts$/, ending));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text.replaceAll(RELATIVE_IMPORT, '$1.js'));
  }
}

const compilerOptions: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  allowImportingTsExtensions: true,
  strict: true,
  verbatimModuleSyntax: true,
  useDefineForClassFields: false,
};

function moduleOf(file: string): string {
  return textOf(file, ts.transpileModule, compilerOptions);
}

function typesOf(file: string): string {
  return textOf(file, ts.transpileDeclaration, { ...compilerOptions, declaration: true, isolatedDeclarations: true });
}

/** Compiles one file. @throws if an export does not state its type, or the file is not TypeScript */
function textOf(file: string, transpile: typeof ts.transpileModule, options: ts.CompilerOptions): string {
  const source = readFileSync(join(ROOT, file), 'utf8');
  const asked = { fileName: file, compilerOptions: options, reportDiagnostics: true };
  const { outputText, diagnostics = [] } = transpile(source, asked);
  const [first] = diagnostics;
  if (first === undefined) return outputText;
  const line = source.slice(0, first.start).split('\n').length;
  throw new Error(`${file}:${line}: ${ts.flattenDiagnosticMessageText(first.messageText, ' ')}`);
}
