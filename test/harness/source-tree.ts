import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { ROOT } from './root.ts';

/* The checkout as text: which files there are, what each imports and exports. */

/** Every file of the checkout, new ones too. */
export const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter(Boolean);
/** Those in TypeScript. */
export const sources = files.filter(file => file.endsWith('.ts'));
export const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

export function importsOf(file: string): string[] {
  const specifiers = [...read(file).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(match => match[1] ?? '');
  return specifiers.map(specifier => relative(ROOT, join(ROOT, dirname(file), specifier)));
}

/** Without those of types alone, which are gone when it runs. */
export function runtimeImportsOf(file: string): string[] {
  return specifiersIn(file)
    .filter(specifier => specifier.startsWith('.'))
    .map(specifier => relative(ROOT, join(ROOT, dirname(file), specifier)));
}

function specifiersIn(file: string): string[] {
  const statements = [...read(file).matchAll(/^(?:import|export) (?!type )([^;]*?) from '([^']+)'/gms)];
  const named = statements.filter(([, names = '']) => {
    const inner = names
      .match(/^\{([^}]*)\}$/s)?.[1]
      ?.split(',')
      .map(name => name.trim());
    return !inner?.filter(Boolean).every(name => name.startsWith('type '));
  });
  return named.map(([, , target = '']) => target);
}

/** Those that it loads when it comes to them. */
function dynamicSpecifiersIn(file: string): string[] {
  return [...read(file).matchAll(/\bimport\('([^']+)'\)/g)].map(([, specifier = '']) => specifier);
}

/** The files among them. */
export function dynamicImportsOf(file: string): string[] {
  return dynamicSpecifiersIn(file)
    .filter(specifier => specifier.startsWith('.'))
    .map(specifier => relative(ROOT, join(ROOT, dirname(file), specifier)));
}

export function packagesOf(file: string): string[] {
  const bare = [...specifiersIn(file), ...dynamicSpecifiersIn(file), ...sideEffectsOf(file)];
  const names = bare.filter(specifier => !/^(\.|node:)/.test(specifier));
  return names.map(name => name.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? name);
}

const sideEffectsOf = (file: string) =>
  [...read(file).matchAll(/^import '([^'.][^']*)'/gm)].map(([, name = '']) => name);

/** The names that a file exports. */
export function exportsOf(file: string): string[] {
  const parsed = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest);
  return parsed.statements.flatMap(statement => {
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
    if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => name.getText(parsed));
    const { name } = statement as ts.DeclarationStatement;
    return name ? [name.getText(parsed)] : [];
  });
}

/** Circles among these files by these imports, each named by the way round. */
export function circles(among: readonly string[], importsOfFile: (file: string) => readonly string[]): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) {
      found.push([...path.slice(path.indexOf(file)), file].join(' → '));
      return;
    }
    if (done.has(file)) return;
    for (const target of importsOfFile(file)) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of among) visit(file, []);
  return found;
}
