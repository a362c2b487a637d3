/** Kinds of processes, by their arguments: the first row that matches applies. */
const kinds: readonly (readonly [kind: string, command: RegExp])[] = [
  ['measuring', /test\/cost\/main\.ts/],
  ['test workers', /vitest\/dist\/workers|vitest.*forks|tinypool/],
  ['Vitest itself', /vitest/],
  ['Postgres', /^postgres|\/(postgres|initdb|pg_ctl) |bin\/(postgres|initdb)$/],
  ['bundling', /esbuild/],
  ['Base chains', /anvil/],
  ['Solana chains', /svm/],
  ['keepers of stand-ins', /keeper\.ts/],
  ['subgraphs as processes', /commands\/subgraph\.ts/],
  ['commands', /gateway\/commands\//],
  ['services of a test', /launch\.js test\/harness/],
  ['services', /launch\.js gateway\/main\.ts/],
  ['bench', /test\/bench/],
  ['Chromium', /chrom(e|ium)/],
  ['npm', /\bnpm\b/],
  ['compilers of TypeScript', /\btsc\b/],
  ['outside programs', /nginx|hledger|promtool|valgrind|\bscript\b/],
  ['git', /\bgit\b/],
  ['other programs of Node', /\bnode\b/],
];

export function kindOf(command: string): string {
  return kinds.find(([, fits]) => fits.test(command))?.[0] ?? 'other programs';
}
