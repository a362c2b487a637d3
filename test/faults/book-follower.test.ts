import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { openBreakableConnection } from '../harness/breakable-connection.ts';
import { answerTo, newBuyer } from '../harness/faults/buyer.ts';
import { eventually, openGround } from '../harness/faults/ground.ts';
import { ownPort } from '../harness/own-port.ts';
import { withParentDeathSignal } from '../harness/parent-death-signal.ts';
import { atEnd } from '../harness/release.ts';
import { ROOT } from '../harness/root.ts';
import { ownFolder } from '../harness/scratch.ts';

const PAGE = 'rest-compat/client/README.md';
const PACKAGE = 'spend-receipt-gateway/client/book-follower';
const FOLLOWER = pathToFileURL(join(ROOT, 'rest-compat/client/book-follower.ts')).href;
const SOCKET = pathToFileURL(join(ROOT, 'rest-compat/client/book-socket.ts')).href;

type Over = 'server-sent events' | 'graphql-ws';

/** The program with the changes that the page describes for sockets: one import and one member. */
function bySocket(program: string): string {
  const changed = program.replace('{ url, books, store,', '{ url, books, store, over: bookSocket,');
  expect(changed).not.toBe(program);
  return `import { bookSocket } from '${SOCKET}';\n${changed}`;
}

/** The program of the page, unchanged except that it imports the package from this checkout. */
async function programIn(folder: string, over: Over): Promise<string> {
  const page = await readFile(join(ROOT, PAGE), 'utf8');
  const program = [...page.matchAll(/```ts\n([\s\S]*?)```/g)]
    .map(([, text = '']) => text)
    .find(it => it.includes(PACKAGE));
  if (program === undefined) throw new Error(`${PAGE} has no program`);
  expect(program.match(/^.+$/gm)?.length).toBeLessThanOrEqual(27);
  const file = join(folder, 'follow.ts');
  const here = program.replace(PACKAGE, FOLLOWER);
  await writeFile(file, over === 'graphql-ws' ? bySocket(here) : here);
  return file;
}

/** The events in the SQLite file. */
function heldIn(file: string) {
  // The program creates the file when it runs.
  if (!existsSync(file)) return [];
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const events = database.prepare('select * from event order by agent_id, position').all();
    return events.map(({ body, ...event }) => ({ ...event, body: JSON.parse(String(body)) }));
  } catch {
    return [];
  } finally {
    database.close();
  }
}

it.each<Over>(['server-sent events', 'graphql-ws'])(
  'by %s the program on the page holds each event of two books once, over a cut line, a killed service and its own death',
  async over => {
    const ground = await openGround();
    const port = await ownPort();
    const folder = await ownFolder();
    const [program, file] = [await programIn(folder, over), join(folder, 'books.db')];
    let gateway = await ground.startDying({ port });
    const line = await openBreakableConnection(gateway.url);

    const buyers = [await newBuyer(ground), await newBuyer(ground)];
    const books: Record<string, string> = {};
    for (const buyer of buyers) {
      const { body } = await answerTo(gateway, await buyer.registration());
      books[String(body.agent_id)] = String(body.session);
    }
    let bought = 0;
    const buy = async () => {
      for (const buyer of buyers)
        expect((await answerTo(gateway, await buyer.chat(`call ${bought++}`))).status).toBe(200);
    };
    const follow = () => {
      const environment = { PATH: process.env.PATH, SERVICE: line.url, BOOKS: JSON.stringify(books), FILE: file };
      const child = spawn(...withParentDeathSignal(process.execPath, [program]), {
        env: environment,
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      atEnd(async () => void child.kill('SIGKILL'));
      return child;
    };
    const written = () =>
      ground.database.query({
        text: 'select agent_id, position, kind, body from book_event order by agent_id, position',
        values: [],
      });
    const caughtUp = async () => {
      const wanted = await written();
      await eventually('all of it in the file', () => heldIn(file).length >= wanted.length || null);
      expect(heldIn(file)).toEqual(wanted);
    };

    const first = follow();
    await buy();
    await caughtUp();
    await buy();
    line.cut();
    await buy();
    await caughtUp();

    await gateway.kill();
    gateway = await ground.startDying({ port });
    await buy();
    await caughtUp();

    first.kill('SIGKILL');
    await buy();
    follow();
    await buy();
    await caughtUp();
  },
);
