import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fileName, locateBuild } from '../../gateway/built.js';
import { bundledWithMaps } from '../../gateway/development/build.ts';
import { ROOT } from '../harness/root.ts';
import { lineOffsets, type Segment, segmentsOf } from './source-map.ts';

/** The report of a Node process in NODE_V8_COVERAGE (Node.js manual, "Command-line API"; Chrome DevTools Protocol, Profiler). */
interface Report {
  readonly result: readonly Script[];
  readonly 'source-map-cache'?: Readonly<Record<string, CachedMap>>;
}

interface Script {
  readonly url: string;
  /** Outer functions come before those inside of them. */
  readonly functions: readonly { readonly ranges: readonly Range[] }[];
}

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

interface CachedMap {
  /** Length of each line of the generated text, without line ends. */
  readonly lineLengths: readonly number[];
  readonly data: { readonly mappings: string; readonly sources: readonly string[] } | null;
}

/** Maps each part of the text that Node runs to a line of our sources. */
interface Place {
  readonly segments: readonly Segment[];
  /** Path of each source from the root of the checkout; a segment's `source` is the index. */
  readonly sources: readonly string[];
}

/** Lines that any process has run, by file. */
export class Covered {
  readonly lines = new Map<string, Set<number>>();
  /** Our files whose executed text differs from the source and comes without a map. */
  readonly unmapped = new Set<string>();
  readonly #bundles = new Map<string, Place | null>();

  /** @throws SyntaxError if the report is still being written */
  async add(path: string): Promise<void> {
    const report = JSON.parse(readFileSync(path, 'utf8')) as Report;
    for (const script of report.result) {
      if (!script.url.startsWith('file:')) continue;
      const file = relative(ROOT, fileURLToPath(script.url));
      const place = await this.#placeOf(file, script, report['source-map-cache']?.[script.url]);
      if (place !== null) this.#note(place, script);
    }
  }

  async #placeOf(file: string, script: Script, map: CachedMap | undefined): Promise<Place | null> {
    if (isBundle(file)) return this.#bundleAt(file);
    if (!isOurs(file)) return null;
    if (map?.data) return placeByCache(file, map);
    const text = readFileSync(join(ROOT, file), 'utf8');
    const added = (script.functions[0]?.ranges[0]?.endOffset ?? 0) - text.length;
    // Node replaces types by blanks and may append the URL of the source, so the executed text has the same positions as the source.
    const named = [script.url, fileURLToPath(script.url)].map(name => `\n\n//# sourceURL=${name}`.length);
    if ([0, ...named].includes(added)) return { sources: [file], segments: eachLine(text) };
    this.unmapped.add(file);
    return null;
  }

  async #bundleAt(file: string): Promise<Place | null> {
    const known = this.#bundles.get(file);
    if (known !== undefined) return known;
    for (const [path, place] of await placesIn(dirname(file))) this.#bundles.set(path, place);
    if (!this.#bundles.has(file)) {
      this.unmapped.add(file);
      this.#bundles.set(file, null);
    }
    return this.#bundles.get(file) ?? null;
  }

  #note({ segments, sources }: Place, { functions }: Script): void {
    const ran = new Uint8Array(functions[0]?.ranges[0]?.endOffset ?? 0);
    for (const { ranges } of functions)
      for (const { startOffset, endOffset, count } of ranges) ran.fill(count > 0 ? 1 : 0, startOffset, endOffset);
    for (const { offset, source, line } of segments) {
      const file = sources[source];
      if (ran[offset] !== 1 || file === undefined) continue;
      const lines = this.lines.get(file) ?? new Set();
      this.lines.set(file, lines.add(line));
    }
  }
}

/** Folders whose lines are counted. */
export const COVERED_FOLDERS = ['gateway', 'rest-compat', 'schema', 'subgraphs'];
const isOurs = (file: string) => COVERED_FOLDERS.includes(file.split('/')[0] ?? '') && /\.[jt]s$/.test(file);
const isBundle = (file: string) => file.endsWith('.mjs') && /(^|\/)[\w-]+-[0-9a-f]{16}\//.test(file);

/** Each code point of a line, since any of them may have run. */
function eachLine(text: string): Segment[] {
  const offsets = [...lineOffsets(text), text.length];
  return offsets.slice(0, -1).flatMap((from, line) => {
    const own = text.slice(from, offsets[line + 1]);
    return [...own.matchAll(/\S+/g)].map(({ index }) => ({ offset: from + index, source: 0, line }));
  });
}

function placeByCache(file: string, { lineLengths, data }: CachedMap): Place {
  const offsets = [0];
  for (const length of lineLengths) offsets.push((offsets.at(-1) ?? 0) + length + 1);
  return { sources: [file], segments: segmentsOf(data?.mappings ?? '', offsets) };
}

/** The files of a program with the maps of the same build, as the built files that run carry none. */
async function placesIn(folder: string): Promise<ReadonlyMap<string, Place>> {
  const program = programOf(folder);
  if (program === undefined) return new Map();
  const built = locateBuild(program);
  if (relative(ROOT, built.folder) !== folder) return new Map();
  const files = await bundledWithMaps(built);
  const maps = new Map(files.filter(({ path }) => path.endsWith('.map')).map(({ path, text }) => [path, text]));
  const places = new Map<string, Place>();
  for (const { path, text } of files) {
    const map = maps.get(`${path}.map`);
    if (map === undefined) continue;
    const { mappings, sources } = JSON.parse(map) as { mappings: string; sources: readonly string[] };
    const own = sources.map(source => relative(ROOT, resolve(dirname(path), source)));
    const segments = segmentsOf(mappings, lineOffsets(text)).filter(({ source }) => isOurs(own[source] ?? ''));
    places.set(unnamed(text), { segments, sources: own });
  }
  const found = readdirSync(join(ROOT, folder)).filter(name => name.endsWith('.mjs'));
  return new Map(
    found.flatMap((name): [string, Place][] => {
      const place = places.get(unnamed(readFileSync(join(ROOT, folder, name), 'utf8')));
      return place ? [[`${folder}/${name}`, place]] : [];
    }),
  );
}

/**
 * Our programs are built together into a folder of dist/. A program of a test is built alone, into a folder named by its
 * path and a digest.
 */
function programOf(folder: string): string | undefined {
  if (folder.startsWith('dist/')) return 'gateway/main.ts';
  const name = basename(folder).replace(/-[0-9a-f]{16}$/, '');
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' }).map(file => `test/${file}`);
  return files.find(file => file.endsWith('.ts') && fileName(file) === name);
}

/** esbuild names shared files by a hash of their content, maps included. */
const unnamed = (text: string) => text.replaceAll(/-[A-Z0-9]{8}(?=\.mjs)/g, '-________');
