import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pagesAsDerived } from '../../gateway/commands/papers/pages.ts';
import { findRooms } from '../../gateway/commands/papers/rooms.ts';
import { variables } from '../../gateway/config/variables.ts';
import { ROOT } from '../harness/root.ts';

const foldersOf = (folder: string) =>
  readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(({ name }) => `${folder}/${name}`);
const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');

const inReceipt = ['claim', 'log', 'issuer', 'verify', 'inference'].map(name => `subgraphs/receipt/${name}`);
/** Folders that tell a newcomer what they promise, why, and what their files are. */
const roomsOfHouses = [
  ...['schema', 'subgraphs', ...foldersOf('subgraphs'), ...inReceipt],
  ...['gateway', ...foldersOf('gateway'), 'rest-compat', 'rest-compat/client'],
];
const rooms = await findRooms(ROOT);
const pages = [
  'README.md',
  ...rooms.map(({ folder }) => `${folder}/README.md`),
  ...['test/README.md', 'test/bench/README.md'],
  ...['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'].map(name => `.github/${name}`),
];

describe('papers', () => {
  it('each room has a page', () => {
    const known = new Set(rooms.map(({ folder }) => folder));
    expect(roomsOfHouses.filter(folder => !known.has(folder))).toEqual([]);
  });

  it('each page of a room begins with what the room is for, and has the list of its files', () => {
    const untold = rooms.flatMap(room =>
      room.rooms.filter(({ sentence }) => sentence === null).map(it => `${room.folder}/${it.path}`),
    );
    expect(untold).toEqual([]);
    const listless = rooms.filter(
      ({ folder }) => !/<!-- files -->\n[\s\S]*<!-- \/files -->/.test(read(`${folder}/README.md`)),
    );
    expect(listless.map(({ folder }) => folder)).toEqual([]);
  });

  it('each file says in a sentence what it is for', () => {
    const untold = rooms.flatMap(({ folder, files }) =>
      files.filter(({ sentence }) => sentence === null).map(({ path }) => `${folder}/${path}`),
    );
    expect(untold).toEqual([]);
  });

  it('what is derived on a page is what `npm run papers` writes', async () => {
    const stale = [...(await pagesAsDerived(ROOT))].filter(([page, text]) => read(page) !== text);
    expect(stale.map(([page]) => page)).toEqual([]);
  });

  it('the root page has at most 150 lines, each other at most 100 beside its table of variables or doors; a changelog grows', () => {
    const bounded = pages.filter(page => page !== '.github/CHANGELOG.md');
    const linesOf = (page: string) => lines(read(page).replace(/<!-- (variables|doors) -->[\s\S]*<!-- \/\1 -->/, ''));
    const long = bounded.filter(page => linesOf(page) > (page === 'README.md' ? 150 : 100));
    expect(long.map(page => `${page}: ${linesOf(page)}`)).toEqual([]);
  });

  it('no link, and no path of a file, points to nothing', () => {
    const dead = pages.flatMap(page => targetsOf(page).map(target => `${page} → ${target}`));
    expect(dead).toEqual([]);
  });

  it('each variable of the environment has a row, and no other', () => {
    const table = read('gateway/config/README.md').matchAll(/^\| `([A-Z_]+)` \|/gm);
    expect([...table].map(([, name]) => name)).toEqual(Object.keys(variables.shape));
  });

  it('each folder of tests is told of', () => {
    const told = read('test/README.md');
    expect(foldersOf('test').filter(folder => !told.includes(`\`${folder.slice('test/'.length)}/\``))).toEqual([]);
  });
});

const lines = (text: string) => text.trimEnd().split('\n').length;

/** Those that are not there: links from the page's folder, paths in backticks from there or from the root. */
function targetsOf(page: string): string[] {
  const text = read(page).replace(/^```[\s\S]*?^```/gm, '');
  const links = [...text.matchAll(/\]\((?![a-z]+:|#)([^)#]+)/g)].map(([, target = '']) => target);
  const paths = [...text.matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|md|sol|graphql))`/g)].map(([, path = '']) => path);
  const here = (target: string) => existsSync(join(ROOT, dirname(page), target));
  return [
    ...links.filter(target => !here(target)),
    ...paths.filter(path => !here(path) && !existsSync(join(ROOT, path))),
  ];
}
