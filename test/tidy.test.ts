import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './harness/root.ts';

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter(Boolean);
const sources = files.filter(file => file.endsWith('.ts'));
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

/** The houses, lowest first: a file may import from its own house and from those before it. */
const houses = ['schema', 'subgraphs', 'receipt', 'book', 'session', 'board', 'gateway'] as const;
type House = (typeof houses)[number] | 'rest-compat' | 'test';

function houseOf(file: string): House {
  const [top, second] = file.split('/');
  if (top === 'subgraphs' && houses.includes(second as never)) return second as House;
  return top as House;
}

function importsOf(file: string): string[] {
  const specifiers = [...read(file).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(match => match[1] ?? '');
  return specifiers.map(specifier => relative(ROOT, join(ROOT, dirname(file), specifier)));
}

/** Without those of types alone, which are gone when it runs. */
function runtimeImportsOf(file: string): string[] {
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

const DEVELOPMENT = 'gateway/development/';
/** What an operator starts where only the `dependencies` of package.json are installed. */
const productionPrograms = [
  'gateway/launch.ts',
  'gateway/main.ts',
  ...['accept-log-break', 'anchor', 'subgraph', 'verify'].map(name => `gateway/commands/${name}.ts`),
];

/** All that these files load, but for the stand-ins, which are loaded where nothing else is given. */
function loadedBy(programs: readonly string[]): ReadonlySet<string> {
  const loaded = new Set<string>();
  const queue = [...programs];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (loaded.has(file)) continue;
    loaded.add(file);
    const later = dynamicSpecifiersIn(file)
      .filter(specifier => specifier.startsWith('.'))
      .map(specifier => relative(ROOT, join(ROOT, dirname(file ?? ''), specifier)));
    queue.push(...runtimeImportsOf(file), ...later.filter(target => !target.startsWith(DEVELOPMENT)));
  }
  return loaded;
}

function packagesOf(file: string): string[] {
  const bare = [...specifiersIn(file), ...dynamicSpecifiersIn(file), ...sideEffectsOf(file)];
  const names = bare.filter(specifier => !/^(\.|node:)/.test(specifier));
  return names.map(name => name.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? name);
}

const sideEffectsOf = (file: string) =>
  [...read(file).matchAll(/^import '([^'.][^']*)'/gm)].map(([, name = '']) => name);

function mayImport(from: House, to: House): boolean {
  if (from === to || from === 'test' || to === 'schema') return true;
  if (from === 'rest-compat') return false;
  if (to === 'rest-compat') return from === 'gateway';
  return houses.indexOf(to as never) >= 0 && houses.indexOf(to as never) < houses.indexOf(from as never);
}

const doorsOfSubgraphs = ['receipt', 'book', 'session', 'board'];

/** Names that say nothing, and things of which there is one, elsewhere. */
const banned: [name: string, pattern: RegExp, allowed: (file: string) => boolean][] = [
  [
    'process.env outside gateway/config',
    /process\.env\b/,
    file => file.startsWith('gateway/config') || file.startsWith('test/'),
  ],
  ['Number() of an amount', /Number\([^)]*(amount|Atomic|_atomic)/, () => false],
  [
    'a second canonical serialiser',
    /from 'canonicalize'/,
    file => file === 'schema/canonical-json.ts' || file.startsWith('test/'),
  ],
  ['TODO', /\bTODO\b|\bFIXME\b|\bXXX\b/, file => file === 'test/tidy.test.ts'],
];

describe('tidy', () => {
  it('imports point one way', () => {
    const wrong = sources.flatMap(file =>
      importsOf(file)
        .filter(target => !mayImport(houseOf(file), houseOf(target)))
        .map(target => `${file} → ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('nobody imports a table, resolver, type, input or migration of another subgraph', () => {
    const inner = /(\.(entity|resolver|type|input|migration)|\/migration)\.ts$/;
    const wrong = sources.flatMap(file => {
      if (file.startsWith('test/')) return [];
      return runtimeImportsOf(file)
        .filter(target => doorsOfSubgraphs.includes(houseOf(target)) && houseOf(target) !== houseOf(file))
        .filter(target => inner.test(target))
        .map(target => `${file} → ${target}`);
    });
    expect(wrong).toEqual([]);
  });

  it('the verifier imports schema alone: whoever doubts this service reads no more than that', () => {
    const verifier = sources.filter(file => file.startsWith('subgraphs/receipt/verify/'));
    expect(verifier.length).toBeGreaterThan(5);
    const wrong = verifier.flatMap(file =>
      importsOf(file)
        .filter(target => houseOf(target) !== 'schema' && !target.startsWith('subgraphs/receipt/verify/'))
        .map(target => `${file} → ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('the ledger alone writes the tables of books', () => {
    const writes = /(insert\s+into|update|delete\s+from|insertRows\(\s*\w+,)\s+'?book(_\w+)?\b/;
    const wrong = sources.filter(
      file =>
        writes.test(read(file)) &&
        !/^(test|subgraphs\/book\/ledger)\//.test(file) &&
        !/(\.|\/)migration\.ts$/.test(file),
    );
    expect(wrong).toEqual([]);
    expect(
      sources.filter(file => writes.test(read(file)) && file.startsWith('subgraphs/book/ledger/')).length,
    ).toBeGreaterThan(3);
  });

  it('no index re-exports', () => {
    const indexes = sources.filter(file => file.endsWith('/index.ts'));
    expect(indexes).toHaveLength(doorsOfSubgraphs.length);
    expect(indexes.filter(file => /^export .*\bfrom '/m.test(read(file)))).toEqual([]);
  });

  it('no file imports itself round about: in a bundle that is imported, each would wait for the other for ever', () => {
    const reached = new Map<string, ReadonlySet<string>>();
    const round: string[] = [];
    const visit = (file: string, path: readonly string[]): ReadonlySet<string> => {
      const known = reached.get(file);
      if (known) return known;
      if (path.includes(file)) {
        round.push([...path.slice(path.indexOf(file)), file].join(' → '));
        return new Set();
      }
      const all = new Set(runtimeImportsOf(file).flatMap(target => [target, ...visit(target, [...path, file])]));
      reached.set(file, all);
      return all;
    };
    for (const file of sources.filter(it => !it.startsWith('test/'))) visit(file, []);
    expect(round).toEqual([]);
  });

  it('production imports no devDependency', () => {
    const { dependencies, devDependencies } = JSON.parse(read('package.json'));
    const wrong = [...loadedBy(productionPrograms)].flatMap(file =>
      packagesOf(file)
        .filter(name => name in devDependencies || !(name in dependencies))
        .map(name => `${file} → ${name}`),
    );
    expect(wrong).toEqual([]);
  });

  it('and every one of its dependencies is imported by production, or by the client that is published', () => {
    const { dependencies } = JSON.parse(read('package.json'));
    const loaded = loadedBy([...productionPrograms, 'rest-compat/client/paying-fetch.ts']);
    const imported = new Set([...loaded].flatMap(packagesOf));
    expect(Object.keys(dependencies).filter(name => !imported.has(name))).toEqual([]);
  });

  it('nothing outside of it loads the stand-ins, unless it finds that one is needed', () => {
    const wrong = sources
      .filter(file => !file.startsWith('test/') && !file.startsWith(DEVELOPMENT))
      .flatMap(file =>
        runtimeImportsOf(file)
          .filter(target => target.startsWith(DEVELOPMENT))
          .map(target => `${file} → ${target}`),
      );
    expect(wrong).toEqual([]);
  });

  it('no folder or file has a name that says nothing', () => {
    const wrong = files.filter(file =>
      /(^|\/)(utils?|helpers?|common|shared|lib|misc|types|services?|repositor(y|ies))(\/|\.ts$)/.test(file),
    );
    expect(wrong).toEqual([]);
  });

  it('the top level is the one that was agreed', () => {
    const folders = [...new Set(files.filter(file => file.includes('/')).map(file => file.split('/')[0] ?? ''))];
    const visible = folders.filter(folder => !folder.startsWith('.')).sort();
    expect(visible).toEqual(['gateway', 'rest-compat', 'schema', 'subgraphs', 'test']);
  });

  it.each([
    ['gateway/rates/', /^gateway\/(operations|graph|sockets|http)\//],
    ['gateway/operations/', /^gateway\/(graph|sockets|http)\//],
    ['gateway/graph/', /^gateway\/(sockets|http)\//],
    ['gateway/sockets/', /^gateway\/http\//],
  ])('%s imports from none of the rooms that stand on it', (room, above) => {
    const own = sources.filter(file => file.startsWith(room));
    const wrong = own.flatMap(file => importsOf(file).filter(target => above.test(target)));
    expect({ files: own.length > 0, wrong }).toEqual({ files: true, wrong: [] });
  });

  it('what serves the graph imports nothing round about, not even types', () => {
    const rooms = sources.filter(file => /^gateway\/(rates|graph|sockets|http)\//.test(file));
    const imports = new Map(rooms.map(file => [file, importsOf(file)]));
    const reached = (file: string, seen = new Set<string>()): ReadonlySet<string> => {
      for (const target of imports.get(file) ?? []) if (!seen.has(target)) reached(target, seen.add(target));
      return seen;
    };
    expect(rooms.filter(file => reached(file).has(file))).toEqual([]);
  });

  it.each(banned)('there is no %s', (_name, pattern, allowed) => {
    expect(sources.filter(file => pattern.test(read(file)) && !allowed(file))).toEqual([]);
  });
});
