import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { firstSentence } from './first-sentence.ts';

/** The folders of the service, each with all that it holds; tests have no list of their files. */
const houses = ['schema', 'subgraphs', 'gateway', 'rest-compat'] as const;
const README = 'README.md';

/** A folder with a page of its own: its files, and those of folders below it that have no page. */
export interface RoomPage {
  /** From the root, without a slash at its end. */
  readonly folder: string;
  /** Source files by their path from `folder`, each with what it is for; null where nothing in it says so. */
  readonly files: readonly { readonly path: string; readonly sentence: string | null }[];
  /** Pages of rooms in this one, by their path from `folder`. */
  readonly rooms: readonly { readonly path: string; readonly sentence: string | null }[];
}

/** Every folder under `root` with a README.md, in alphabetical order. */
export async function findRooms(root: string): Promise<readonly RoomPage[]> {
  const paths = (await Promise.all(houses.map(house => filesOf(root, house)))).flat().sort();
  const folders = paths.filter(path => path.endsWith(`/${README}`)).map(path => path.slice(0, -README.length - 1));
  const roomOf = (path: string): string | undefined =>
    folders.filter(folder => path.startsWith(`${folder}/`)).sort((one, other) => other.length - one.length)[0];
  return Promise.all(
    folders.map(async folder => {
      const sources = paths.filter(path => path.endsWith('.ts') && roomOf(path) === folder);
      const inner = folders.filter(other => roomOf(other) === folder).map(other => `${other}/${README}`);
      const told = (list: readonly string[], tell: typeof firstSentence) =>
        Promise.all(
          list.map(async path => ({
            path: path.slice(folder.length + 1),
            sentence: tell(path, await readFile(join(root, path), 'utf8')),
          })),
        );
      return { folder, files: await told(sources, firstSentence), rooms: await told(inner, firstOfPage) };
    }),
  );
}

async function filesOf(root: string, house: string): Promise<readonly string[]> {
  const entries = await readdir(join(root, house), { recursive: true });
  return entries.map(entry => `${house}/${entry}`);
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
