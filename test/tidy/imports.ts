import { featureNeeds } from '../../gateway/features/feature.ts';
import { type Rule, rule } from './rule.ts';
import type { Edge, Tree } from './tree.ts';

/* Rules for imports between files. */

/** Layers from the lowest to the highest. A file may import from its own layer and from lower ones. */
const layers = ['schema', 'subgraphs', 'receipt', 'book', 'session', 'board', 'gateway'] as const;
type Layer = (typeof layers)[number] | 'rest-compat' | 'test';

function layerOf(file: string): Layer {
  const [top, second] = file.split('/');
  // Configuration files of the test runner count as tests.
  if (/^vitest\..*config\.ts$/.test(top ?? '')) return 'test';
  if (top === 'subgraphs' && layers.includes(second as never)) return second as Layer;
  return top as Layer;
}

function mayImport(from: Layer, to: Layer): boolean {
  if (from === to || from === 'test' || to === 'schema') return true;
  if (from === 'rest-compat') return false;
  if (to === 'rest-compat') return from === 'gateway';
  return layers.indexOf(to as never) >= 0 && layers.indexOf(to as never) < layers.indexOf(from as never);
}

const subgraphs: readonly Layer[] = ['receipt', 'book', 'session', 'board'];
const INNER_PART = /(\.(entity|resolver|type|input|migration)|\/migration)\.ts$/;

const VERIFIER = 'subgraphs/receipt/verify/';
const SECOND_VERIFIER = 'test/harness/second-verifier/';
const DEVELOPMENT = 'gateway/development/';

/** Programs that an operator starts with only the `dependencies` of package.json installed. */
export const productionPrograms = [
  'gateway/launch.js',
  'gateway/main.ts',
  'gateway/commands/accept-log-break.ts',
  'gateway/commands/anchor.ts',
  'gateway/commands/mcp.ts',
  'gateway/commands/reconcile.ts',
  'gateway/commands/subgraph.ts',
  'gateway/commands/verify.ts',
  'gateway/commands/witness.ts',
];
/** The client that is published for programs of callers. */
const CLIENT = 'rest-compat/client/paying-fetch.ts';

/** Chains of the gateway's folders. A folder may be imported by those to the right of it. */
const roomOrders = [
  ['config', 'x402', 'rails', 'log', 'call', 'reconcile', 'http'],
  ['rates', 'graph', 'sockets', 'http'],
  ['operations', 'graph', 'sockets', 'http'],
  ['operations', 'jobs', 'features', 'reconcile', 'http'],
  ['rates', 'operations'],
];

interface FeatureFiles {
  readonly files: RegExp;
  /** Features whose files this one imports, and without which it is not available. */
  readonly needs?: readonly string[];
}

/** Features beyond the specification: rows of `gateway/features/every-feature.ts`, and programs of a script in package.json. */
export const featureFiles: Readonly<Record<string, FeatureFiles>> = {
  envelopes: {
    files:
      /^(subgraphs\/receipt\/envelope\/|rest-compat\/receipt\/envelope-|schema\/(cose|credential)\.ts$|gateway\/features\/envelopes\.ts$)/,
    needs: featureNeeds.envelopes,
  },
  totals: {
    files: /^(subgraphs\/receipt\/totals\/|rest-compat\/log\/totals-|gateway\/features\/totals\.ts$)/,
    needs: featureNeeds.totals,
  },
  reconciliation: {
    files:
      /^(subgraphs\/book\/reconciliation\/|rest-compat\/book\/reconciliation-|gateway\/features\/reconciliation\.ts$)/,
    needs: featureNeeds.reconciliation,
  },
  score: {
    files: /^(subgraphs\/board\/score\/|rest-compat\/board\/score-|gateway\/features\/score\.ts$)/,
    needs: featureNeeds.score,
  },
  'npm run witness': { files: /^gateway\/commands\/witness(\.ts$|\/)/ },
  'npm run reconcile': { files: /^gateway\/commands\/reconcile(\.ts$|\/)/, needs: ['npm run witness'] },
};

/** Files that list features and belong to none. */
const featureLists = ['gateway/features/every-feature.ts', 'rest-compat/feature-doors.ts'];

const featureOf = (file: string) => Object.keys(featureFiles).find(name => featureFiles[name]?.files.test(file));

/** Whether the imported file belongs to a feature that the importing one may not use. */
function crossesFeatures({ from, to }: Edge): boolean {
  const [importing, imported] = [featureOf(from), featureOf(to)];
  if (imported === undefined || importing === imported) return false;
  return importing === undefined || !featureFiles[importing]?.needs?.includes(imported);
}

const roomOf = (file: string) => file.match(/^gateway\/([^/]+)\//)?.[1] ?? '';
const shown = ({ from, to }: Edge) => `${from} imports ${to}`;
const shownIf = (wrong: boolean, edge: Edge) => (wrong ? [shown(edge)] : []);

/** Imports of a file, except those of these files and packages. */
function strangersIn(file: string, tree: Tree, allowed: { file(path: string): boolean; packages: readonly string[] }) {
  const targets = tree.targets(file).filter(target => !allowed.file(target));
  const packages = tree.packages(file).filter(name => !allowed.packages.includes(name));
  return [...targets, ...packages].map(target => `${file} imports ${target}`);
}

/** All files that can be reached from `starts` through these imports, including `starts`. */
function reached(tree: Tree, starts: readonly string[], follows: (edge: Edge) => boolean): readonly string[] {
  const found = new Set<string>();
  const queue = [...starts];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    for (const { kind, target, loaded } of tree.imports(file))
      if (kind === 'file' && follows({ from: file, to: target, loaded })) queue.push(target);
  }
  return [...found];
}

/** All files that these programs load, except the development stand-ins, which are loaded only if nothing else is configured. */
function loadedBy(tree: Tree, programs: readonly string[]): readonly string[] {
  return reached(tree, programs, ({ to, loaded }) =>
    loaded === 'late' ? !to.startsWith(DEVELOPMENT) : loaded === 'at once',
  );
}

function manifest(tree: Tree): Readonly<Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>> {
  return { dependencies: {}, devDependencies: {}, ...JSON.parse(tree.text('package.json')) };
}

/** Import cycles among these files, each with its path. */
function circlesAmong(tree: Tree, files: readonly string[]): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) {
      found.push([...path.slice(path.indexOf(file)), file].join(' → '));
      return;
    }
    if (done.has(file) || !tree.has(file)) return;
    for (const target of tree.targets(file)) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  return found;
}

export const importRules: readonly Rule[] = [
  rule({
    name: 'imports point one way',
    remedy:
      'move what is needed to a layer before it, or hand it in: schema ← subgraphs ← receipt ← book ← session ← board ← gateway, and schema ← rest-compat ← gateway.',
    least: 1_000,
    subjects: tree => tree.edges,
    offences: edge => shownIf(!mayImport(layerOf(edge.from), layerOf(edge.to)), edge),
  }),
  ...roomOrders.map(order =>
    rule({
      name: `in the gateway imports point from the right to the left of ${order.join(', ')}`,
      remedy: 'move what is needed to the room on the left, or hand it in.',
      subjects: tree => tree.edges.filter(({ from, to }) => order.includes(roomOf(from)) && order.includes(roomOf(to))),
      offences: edge => shownIf(order.indexOf(roomOf(edge.to)) > order.indexOf(roomOf(edge.from)), edge),
    }),
  ),
  rule({
    name: 'nobody imports a table, resolver, type, input or migration of another subgraph',
    remedy: 'ask the other subgraph by a function that it offers.',
    subjects: tree =>
      tree.edges.filter(
        ({ from, to, loaded }) =>
          loaded === 'at once' && subgraphs.includes(layerOf(to)) && layerOf(to) !== layerOf(from),
      ),
    offences: edge => shownIf(INNER_PART.test(edge.to), edge),
  }),
  rule({
    name: 'nothing imports what the specification does not ask for, but the lists of features and what rests on it',
    remedy: `hand it in by a member of Feature (gateway/features/feature.ts), or name it in ${featureLists.join(' and ')} alone.`,
    least: 1_000,
    // Features may be switched off, but what the service has signed must stay verifiable.
    subjects: tree => tree.edges.filter(({ from }) => !featureLists.includes(from) && !from.startsWith(VERIFIER)),
    offences: edge => shownIf(crossesFeatures(edge), edge),
  }),
  rule({
    name: 'the verifier imports schema alone: whoever doubts this service reads no more than that',
    remedy: 'move what the verifier needs to schema/, or into its own folder.',
    least: 6,
    subjects: tree => tree.sources.filter(file => file.startsWith(VERIFIER)),
    offences: (file, tree) =>
      tree
        .targets(file)
        .filter(target => layerOf(target) !== 'schema' && !target.startsWith(VERIFIER))
        .map(target => `${file} imports ${target}`),
  }),
  rule({
    name: 'the second verifier of the tests shares no code with the service or its verifier: @noble alone',
    remedy: `write what it needs in ${SECOND_VERIFIER}: the two agree by what is specified, not by what they share.`,
    least: 6,
    subjects: tree => tree.files.filter(file => file.startsWith(SECOND_VERIFIER)),
    offences: (file, tree) =>
      strangersIn(file, tree, {
        file: path => path.startsWith(SECOND_VERIFIER),
        packages: ['@noble/curves', '@noble/hashes'],
      }),
  }),
  rule({
    name: 'no file imports itself round about: in a bundle each would wait for the other for ever, and of types one has to read all',
    remedy: 'move what both need to a file of its own.',
    subjects: tree => [tree.ours].filter(files => files.length > 0),
    offences: (files, tree) => circlesAmong(tree, files),
  }),
  rule({
    name: 'production imports no devDependency',
    remedy: 'move the package to dependencies of package.json, or load it in gateway/development/ alone.',
    least: 100,
    subjects(tree) {
      const { dependencies, devDependencies } = manifest(tree);
      const may = (name: string) => name in dependencies && !(name in devDependencies);
      return loadedBy(tree, productionPrograms).flatMap(file =>
        tree.packages(file).map(name => ({ file, name, is_allowed: may(name) })),
      );
    },
    offences: ({ file, name, is_allowed }) => (is_allowed ? [] : [`${file} imports ${name}`]),
  }),
  rule({
    name: 'production, or the client that is published, imports each of the dependencies',
    remedy: 'move the package to devDependencies of package.json, or take it out.',
    subjects(tree) {
      const imported = new Set(loadedBy(tree, [...productionPrograms, CLIENT]).flatMap(file => tree.packages(file)));
      return Object.keys(manifest(tree).dependencies).map(name => ({ name, is_imported: imported.has(name) }));
    },
    offences: ({ name, is_imported }) => (is_imported ? [] : [`package.json: ${name}`]),
  }),
  rule({
    name: 'nothing outside of it loads the stand-ins, unless it finds that one is needed',
    remedy: `load it by import() where it is needed: an installation for production has no packages for ${DEVELOPMENT}.`,
    subjects: tree => tree.edges.filter(({ from, loaded }) => loaded === 'at once' && !from.startsWith(DEVELOPMENT)),
    offences: edge => shownIf(edge.to.startsWith(DEVELOPMENT), edge),
  }),
  rule({
    name: 'nothing that a call of a door goes through knows of HTTP servers or sockets',
    remedy:
      'take what is needed from the request as rest-compat/door-request.ts describes it: doors are called by other transports too.',
    least: 40,
    subjects: tree => reached(tree, ['rest-compat/call.ts'], () => true),
    offences: (file, tree) =>
      tree
        .imports(file)
        .filter(({ target }) => ['fastify', 'node:http', 'node:net'].includes(target))
        .map(({ target }) => `${file} imports ${target}`),
  }),
  rule({
    name: 'each subgraph has one index, which re-exports nothing',
    remedy: 'import from the file that has it.',
    least: subgraphs.length,
    subjects: tree => tree.sources.filter(file => file.endsWith('/index.ts')),
    offences: (file, tree) => [
      ...(subgraphs.some(name => file === `subgraphs/${name}/index.ts`) ? [] : [`${file} is an index of no subgraph`]),
      ...(tree.imports(file).some(({ reexported }) => reexported) ? [`${file} re-exports`] : []),
    ],
  }),
];
