import { dirname } from 'node:path/posix';
import { firstSentence } from './first-sentence.ts';

/** The folders of the service, each with all that it holds; tests have no list of their files. */
export const serviceFolders = ['schema', 'subgraphs', 'gateway', 'rest-compat'] as const;
const README = 'README.md';

/** Files as text, by their paths from the root, with slashes. */
export interface Checkout {
  readonly files: readonly string[];
  text(file: string): string;
}

/** A folder with a page of its own: its files, and those of folders below it that have no page. */
export interface RoomPage {
  /** From the root, without a slash at its end. */
  readonly folder: string;
  /** Source files by their path from `folder`, each with what it is for; null where nothing in it says so. */
  readonly files: readonly { readonly path: string; readonly sentence: string | null }[];
  /** Pages of rooms in this one, by their path from `folder`. */
  readonly rooms: readonly { readonly path: string; readonly sentence: string | null }[];
}

/** TypeScript, and what starts programs before there is anything to strip types. */
export const isSource = (path: string) => path.endsWith('.ts') || /^gateway\/[^/]+\.js$/.test(path);

/** Every folder of these with a README.md, in alphabetical order. */
export function findRooms(checkout: Checkout): readonly RoomPage[] {
  const paths = checkout.files.filter(path => serviceFolders.some(top => path.startsWith(`${top}/`))).sort();
  const folders = paths.filter(path => path.endsWith(`/${README}`)).map(dirname);
  const known = new Set(folders);
  const sources = Map.groupBy(paths.filter(isSource), path => roomOf(path, known));
  const inner = Map.groupBy(folders, folder => roomOf(folder, known));
  return folders.map(folder => {
    const told = (list: readonly string[], tell: typeof firstSentence) =>
      list.map(path => ({ path: path.slice(folder.length + 1), sentence: tell(path, checkout.text(path)) }));
    const pages = (inner.get(folder) ?? []).map(other => `${other}/${README}`);
    return { folder, files: told(sources.get(folder) ?? [], firstSentence), rooms: told(pages, firstOfPage) };
  });
}

/** The nearest folder above that is a room. */
function roomOf(path: string, rooms: ReadonlySet<string>): string | null {
  const folder = dirname(path);
  if (folder === '.') return null;
  return rooms.has(folder) ? folder : roomOf(folder, rooms);
}

/** The first sentence below the title. */
function firstOfPage(_: string, page: string): string | null {
  const [, text = ''] = page.match(/^# .*\n+([^#<|\n][\s\S]*?)(?:\n\n|$)/) ?? [];
  return text.replace(/\s+/g, ' ').match(/^.*?[.!?](?=\s|$)/)?.[0] ?? null;
}

/** The list between a page's marks: rooms first, then files. */
export function fileList({ rooms, files }: RoomPage): string {
  const inner = rooms.map(({ path, sentence }) => `- [${path.slice(0, -README.length)}](${path}): ${sentence ?? '?'}`);
  const own = files.map(({ path, sentence }) => `- [${path}](${path}): ${sentence ?? '?'}`);
  return [...inner, ...own].join('\n');
}
