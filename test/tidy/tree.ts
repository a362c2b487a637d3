import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { isSource } from '../../gateway/commands/papers/folders.ts';
import { ROOT } from '../harness/root.ts';

/* The checkout as text: its files, with the imports and exports of each. Each file is read and parsed once. */

/** One import of a file. A re-export counts as an import. */
export interface Import {
  readonly kind: 'file' | 'package' | 'module of Node';
  /** Path of the file from the root, or name of the package or module. */
  readonly target: string;
  /** When Node loads it: with the file, later when the code reaches it, or never because it is only a type. */
  readonly loaded: 'at once' | 'late' | 'never';
  readonly reexported: boolean;
}

/** An import of one file by another. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly loaded: Import['loaded'];
}

/** Matches each import and export. Biome's format puts them at the start of a line, with single quotes. */
const STATEMENT =
  /^(import|export) (type )?(?:(\*(?: as \w+)?|(?:\w+, )?\{[^}]*\}|\w+(?:, \* as \w+)?) from )?'([^']+)'/gm;
const LATE = /\bimport\(\s*'([^']+)'/g;
const EXPORTED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum|namespace) (\w+)/gm;

/** Files by their paths from the root, with slashes. */
export class Tree {
  readonly files: readonly string[];
  /** TypeScript files, and the launcher's files, which are JavaScript. */
  readonly sources: readonly string[];
  /** Source files outside of test/. */
  readonly ours: readonly string[];
  readonly #read: (file: string) => string;
  readonly #texts = new Map<string, string>();
  readonly #imports = new Map<string, readonly Import[]>();
  readonly #paths: ReadonlySet<string>;
  #edges: readonly Edge[] | undefined;

  /** @param read must throw for a file that does not exist. */
  constructor(files: readonly string[], read: (file: string) => string) {
    this.files = files;
    this.sources = files.filter(isSource);
    this.ours = this.sources.filter(file => !file.startsWith('test/'));
    this.#paths = new Set(files.flatMap(file => [file, ...foldersOf(file)]));
    this.#read = read;
  }

  /** Whether a file or a folder exists. */
  has(path: string): boolean {
    return this.#paths.has(path);
  }

  /** The folders directly in this one, by their paths from the root. */
  foldersIn(folder: string): readonly string[] {
    const inner = this.files.flatMap(foldersOf).filter(path => dirname(path) === folder);
    return [...new Set(inner)];
  }

  text(file: string): string {
    const text = this.#texts.get(file) ?? this.#read(file);
    this.#texts.set(file, text);
    return text;
  }

  imports(file: string): readonly Import[] {
    const imports = this.#imports.get(file) ?? importsIn(file, this.text(file));
    this.#imports.set(file, imports);
    return imports;
  }

  /** The files that a file imports. */
  targets(file: string): readonly string[] {
    return this.imports(file).flatMap(({ kind, target }) => (kind === 'file' ? [target] : []));
  }

  /** The packages that a file loads. */
  packages(file: string): readonly string[] {
    return this.imports(file).flatMap(({ kind, target, loaded }) =>
      kind === 'package' && loaded !== 'never' ? [target] : [],
    );
  }

  /** The names that a file declares and exports. */
  exports(file: string): readonly string[] {
    return [...this.text(file).matchAll(EXPORTED)].map(([, name = '']) => name);
  }

  /** All imports of files by files outside of test/. Imports by tests are left out, because a test may import anything. */
  get edges(): readonly Edge[] {
    this.#edges ??= this.ours.flatMap(from =>
      this.imports(from).flatMap(({ kind, target, loaded }) => (kind === 'file' ? [{ from, to: target, loaded }] : [])),
    );
    return this.#edges;
  }
}

/** Every file of the checkout, including new ones. */
export function checkout(): Tree {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  // Git lists a deleted file until its deletion is committed.
  const files = listed.split('\n').filter(file => file !== '' && existsSync(join(ROOT, file)));
  return new Tree(files, file => readFileSync(join(ROOT, file), 'utf8'));
}

function foldersOf(file: string): string[] {
  const folder = dirname(file);
  return folder === '.' ? [] : [folder, ...foldersOf(folder)];
}

function importsIn(file: string, text: string): Import[] {
  const statements = [...text.matchAll(STATEMENT)].map(([, word, type, names, specifier = '']) => ({
    ...targetOf(file, specifier),
    loaded: type || onlyTypes(names) ? ('never' as const) : ('at once' as const),
    reexported: word === 'export',
  }));
  const late = [...text.matchAll(LATE)].map(([, specifier = '']) => ({
    ...targetOf(file, specifier),
    loaded: 'late' as const,
    reexported: false,
  }));
  return [...statements, ...late];
}

/** Whether all names of an import list such as `{ type One, type Other }` are types. */
function onlyTypes(names = ''): boolean {
  const listed = names.match(/^\{([^}]*)\}$/)?.[1]?.split(',') ?? [];
  const given = listed.map(name => name.trim()).filter(Boolean);
  return given.length > 0 && given.every(name => name.startsWith('type '));
}

function targetOf(file: string, specifier: string): Pick<Import, 'kind' | 'target'> {
  if (specifier.startsWith('.')) return { kind: 'file', target: join(dirname(file), specifier) };
  if (specifier.startsWith('node:')) return { kind: 'module of Node', target: specifier };
  return { kind: 'package', target: specifier.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? specifier };
}
