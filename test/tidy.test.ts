import { describe, expect, it } from 'vitest';
import {
  circles,
  dynamicImportsOf,
  exportsOf,
  files,
  importsOf,
  packagesOf,
  read,
  runtimeImportsOf,
  sources,
} from './harness/source-tree.ts';

const ours = sources.filter(file => !file.startsWith('test/'));

/** The houses, lowest first: a file may import from its own house and from those before it. */
const houses = ['schema', 'subgraphs', 'receipt', 'book', 'session', 'board', 'gateway'] as const;
type House = (typeof houses)[number] | 'rest-compat' | 'test';

function houseOf(file: string): House {
  const [top, second] = file.split('/');
  // How tests are run.
  if (top === 'vitest.config.ts') return 'test';
  if (top === 'subgraphs' && houses.includes(second as never)) return second as House;
  return top as House;
}

const DEVELOPMENT = 'gateway/development/';
/** What an operator starts where only the `dependencies` of package.json are installed. */
const productionPrograms = [
  'gateway/launch.ts',
  'gateway/main.ts',
  ...['accept-log-break', 'anchor', 'mcp', 'reconcile', 'subgraph', 'verify', 'witness'].map(
    name => `gateway/commands/${name}.ts`,
  ),
];

/** Each chain from what is imported to what imports it. */
const roomOrders = [
  ['config', 'x402', 'rails', 'log', 'record', 'charge', 'reconcile', 'http'],
  ['rates', 'graph', 'sockets', 'http'],
  ['operations', 'graph', 'sockets', 'http'],
  ['operations', 'jobs', 'reconcile', 'http'],
  ['rates', 'operations'],
];

const networkOf = (file: string) => file.match(/\/(base|solana|svm|chain)\//)?.[1] ?? 'none';

const withoutComments = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');

/** All that these files load, but for the stand-ins, which are loaded where nothing else is given. */
function loadedBy(programs: readonly string[]): ReadonlySet<string> {
  const loaded = new Set<string>();
  const queue = [...programs];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (loaded.has(file)) continue;
    loaded.add(file);
    queue.push(...runtimeImportsOf(file), ...dynamicImportsOf(file).filter(target => !target.startsWith(DEVELOPMENT)));
  }
  return loaded;
}

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

  it('the page of a receipt checks it by its own modules alone: it shares nothing with signer or verifier', () => {
    const modules = files.filter(file => file.startsWith('rest-compat/receipt/page/check/'));
    expect(modules.length).toBeGreaterThan(5);
    expect(modules.flatMap(importsOf).filter(target => !modules.includes(target))).toEqual([]);
    expect(modules.flatMap(packagesOf)).toEqual([]);
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

  it('no two statements have one name: the driver refuses the second on a connection that has prepared the first', () => {
    const named = ours.flatMap(file =>
      [...read(file).matchAll(/\bname: '([^']+)',\s*text\b/g)].map(([, name]) => ({ name, file })),
    );
    expect(named.length).toBeGreaterThan(50);
    const twice = [...Map.groupBy(named, ({ name }) => name).values()].filter(({ length }) => length > 1);
    expect(twice).toEqual([]);
  });

  it('no index re-exports', () => {
    const indexes = sources.filter(file => file.endsWith('/index.ts'));
    expect(indexes).toHaveLength(doorsOfSubgraphs.length);
    expect(indexes.filter(file => /^export .*\bfrom '/m.test(read(file)))).toEqual([]);
  });

  it('no file imports itself round about: in a bundle that is imported, each would wait for the other for ever', () => {
    expect(circles(ours, runtimeImportsOf)).toEqual([]);
  });

  it('nor for its types: whoever reads one of a circle has to read all of them', () => {
    expect(circles(ours, importsOf)).toEqual([]);
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

  it.each(roomOrders)('in the gateway imports point from the right to the left of %s', (...order) => {
    const roomOf = (file: string) => order.indexOf(file.match(/^gateway\/([^/]+)\//)?.[1] ?? '');
    const wrong = ours.flatMap(file =>
      importsOf(file)
        .filter(target => roomOf(file) >= 0 && roomOf(target) > roomOf(file))
        .map(target => `${file} → ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('a name that is exported has one meaning; two networks may say the same word of themselves', () => {
    const exporting = new Map<string, string[]>();
    for (const file of ours)
      for (const name of new Set(exportsOf(file))) exporting.set(name, [...(exporting.get(name) ?? []), file]);
    const ofNetworks = (where: readonly string[]) => new Set(where.map(networkOf)).size === where.length;
    const twice = [...exporting].filter(([, where]) => where.length > 1 && !ofNetworks(where));
    expect(twice.map(([name, where]) => `${name}: ${where.join(', ')}`)).toEqual([]);
  });

  it('the gateway holds no SQL: what a table says is told by the subgraph whose it is', () => {
    const sql = /\b(select\s[\s\S]{1,200}?\sfrom\s+[a-z_]+|insert\s+into\s|update\s+[a-z_]+\s+set\s|delete\s+from\s)/;
    const gateway = ours.filter(file => file.startsWith('gateway/') && !file.startsWith(DEVELOPMENT));
    expect(gateway.filter(file => sql.test(withoutComments(read(file))))).toEqual([]);
  });

  it('what is asked by the story of a call answers by what it found: the story alone refuses', () => {
    const low =
      /^(gateway\/(config|rails|log|record|reconcile|operations)|subgraphs\/receipt\/(issuer|log|verify|receipt))\//;
    const wrong = ours.filter(
      file => low.test(file) && !file.endsWith('.resolver.ts') && /new Refusal\(/.test(read(file)),
    );
    expect(wrong).toEqual([]);
  });

  it('tests are told by `it`, and what they share stands in the harness', () => {
    const tests = sources.filter(file => /^test\/(?!harness\/|bench\/)/.test(file));
    expect(tests.filter(file => !file.endsWith('.test.ts'))).toEqual([]);
    expect(sources.filter(file => file.startsWith('test/') && /^\s*test[.(]/m.test(read(file)))).toEqual([]);
  });

  it.each(banned)('there is no %s', (_name, pattern, allowed) => {
    expect(sources.filter(file => pattern.test(read(file)) && !allowed(file))).toEqual([]);
  });
});
