import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { witnessOptions } from '../../../gateway/commands/witness/options.ts';
import { cosignatureTime, NoteKey } from '../../harness/log/note.ts';
import { TestLog } from '../../harness/log/test-log.ts';
import { lookFromHome, lookOnce } from '../../harness/log/witness.ts';
import { ROOT } from '../../harness/root.ts';
import { ownFolder } from '../../harness/scratch.ts';

const ORIGIN = 'log.example/one';

/** The newest cosigned checkpoint in the state folder. */
async function cosigned(state: string): Promise<string> {
  const names = (await readdir(join(state, 'checkpoints'))).sort();
  return readFile(join(state, 'checkpoints', names.at(-1) ?? ''), 'utf8');
}

/** The content of each file in a folder and the folders below it. */
async function contentOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = found.filter(it => it.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(
    await Promise.all(paths.map(async path => [path, await readFile(path, 'base64')] as const)),
  );
}

const keyIn = (text: string) => /^Witness: (.+)$/m.exec(text)?.[1] ?? '';

async function evidence(state: string) {
  const [name = '', ...more] = await readdir(join(state, 'evidence'));
  expect(more).toEqual([]);
  return JSON.parse(await readFile(join(state, 'evidence', name), 'utf8'));
}

describe('npm run witness -- URL --once', () => {
  it('0: a log is followed from the URL of its service, by keys that it names once, and cosigned', async () => {
    const [log, state] = [new TestLog(ORIGIN).grow(3), await ownFolder()];
    const { code, text } = await lookOnce(await log.serve(), state, '--name', 'witness.example/w1');
    expect([code, text.split('\n').at(-1)]).toEqual([0, 'Cosigned: 3 leaves.']);
    expect(text).toContain(`No --key was given. From now on these keys are trusted, which the log publishes itself`);
    const note = await cosigned(state);
    expect(note.startsWith(log.checkpoint())).toBe(true);
    expect(keyIn(text)).toMatch(/^witness\.example\/w1\+/);
    expect(cosignatureTime(note, keyIn(text))).toBeGreaterThan(1_700_000_000);
    expect((await stat(join(state, 'secrets', 'witness_key'))).mode & 0o777).toBe(0o600);
  });

  it('0, by the same key, of what has grown: new leaves alone are asked for, and tiles above them held to them', async () => {
    const [log, state] = [new TestLog(ORIGIN).grow(600), await ownFolder()];
    const url = `${await log.serve()}/log`;
    const key = ['--key', log.keys[0]?.verifier_key ?? ''];
    const first = await lookOnce(url, state, ...key);
    expect(first).toMatchObject({ code: 0, text: expect.stringContaining('Cosigned: 600 leaves.') });
    expect(log.requestedPaths).toContain('tile/1/000.p/2');
    log.requestedPaths.length = 0;
    expect(await lookOnce(url, state)).toMatchObject({ code: 0, text: expect.stringContaining('No change: 600') });
    expect(log.requestedPaths).toEqual(['checkpoint']);
    const second = await lookOnce(url, state);
    expect(keyIn(second.text)).toBe(keyIn(first.text));
    log.grow(200);
    log.requestedPaths.length = 0;
    expect(await lookOnce(url, state)).toMatchObject({ code: 0, text: expect.stringContaining('Cosigned: 800') });
    expect(log.requestedPaths).toEqual(['checkpoint', 'tile/0/002', 'tile/0/003.p/32', 'tile/1/000.p/3']);
  });

  it('keeps key and state below the home folder, one for each log, and nothing in the checkout', async () => {
    const home = await ownFolder();
    const [one, other] = [new TestLog(ORIGIN).grow(3), new TestLog('log.example/two').grow(2)];
    const looks = [await one.serve(), await other.serve()].map(url => lookFromHome(url, home));
    const [first, second] = await Promise.all(looks);
    expect([first?.code, second?.code]).toEqual([0, 0]);
    expect(keyIn(first?.text ?? '')).not.toBe(keyIn(second?.text ?? ''));
    const states = await readdir(join(home, '.local/state/spend-receipt-gateway/witness'));
    expect(states).toHaveLength(2);
    expect(await readdir(ROOT)).not.toContain('.witness');
    expect(await readFile(join(ROOT, '.gitignore'), 'utf8')).toContain('.witness/');
  });

  it('1 of another log in the folder of one, which is left as it was', async () => {
    const [log, other] = [new TestLog(ORIGIN).grow(3), new TestLog('log.example/two').grow(2)];
    const state = await ownFolder();
    expect(await lookOnce(await log.serve(), state)).toMatchObject({ code: 0 });
    const before = await contentOf(state);
    const { code, text } = await lookOnce(await other.serve(), state);
    expect([code, text]).toEqual([
      1,
      expect.stringMatching(/belongs to the log log\.example\/one .* use another --state/),
    ]);
    expect(await contentOf(state)).toEqual(before);
  });

  it('1 where no log answers yet, with the key by which the log is to know it', async () => {
    const told = await lookOnce('http://127.0.0.1:1', await ownFolder());
    expect(told).toMatchObject({ code: 1, text: expect.stringMatching(/^Witness: \S+\+[0-9a-f]{8}\+\S+$/m) });
  });

  it('1: two witnesses of two forks each cosign their own, refuse the other, and name the first leaf that differs', async () => {
    const left = new TestLog(ORIGIN).grow(300);
    const right = left.fork().grow(9, 'right');
    left.grow(4, 'left');
    const urls = await Promise.all([left.serve(), right.serve()]);
    const states = [await ownFolder(), await ownFolder()];
    for (const [at, state] of states.entries())
      expect(await lookOnce(urls[at] ?? '', state)).toMatchObject({ code: 0 });
    for (const [at, state] of states.entries()) {
      const before = await cosigned(state);
      const { code, text } = await lookOnce(urls[1 - at] ?? '', state);
      expect([code, /the first leaf that differs is (\d+)/.exec(text)?.[1]]).toEqual([1, '300']);
      expect(await cosigned(state)).toBe(before);
      const [own, other] = at === 0 ? [left, right] : [right, left];
      expect(await evidence(state)).toMatchObject({
        origin: ORIGIN,
        first_differing_leaf: {
          index: 300,
          kept: own.leaves[300]?.toString('hex'),
          found: other.leaves[300]?.toString('hex'),
        },
        cosigned: before,
        found: other.checkpoint(),
      });
    }
  });

  it('1 of another root of as many leaves, and of fewer leaves that are not the beginning', async () => {
    const log = new TestLog(ORIGIN).grow(5);
    const state = await ownFolder();
    expect(await lookOnce(await log.serve(), state)).toMatchObject({ code: 0 });
    for (const count of [5, 4]) {
      const other = new TestLog(ORIGIN, log.keys).grow(count, 'other');
      const { code, text } = await lookOnce(await other.serve(), state);
      expect([code, text.includes('the first leaf that differs is 0')]).toEqual([1, true]);
    }
  });

  it('0 of fewer leaves that are the beginning of what is cosigned: nothing is signed', async () => {
    const [log, state] = [new TestLog(ORIGIN).grow(5), await ownFolder()];
    const url = await log.serve();
    await lookOnce(url, state);
    const before = await cosigned(state);
    log.leaves.pop();
    expect(await lookOnce(url, state)).toMatchObject({ code: 0, text: expect.stringContaining('Nothing was signed') });
    expect(await cosigned(state)).toBe(before);
  });

  it('a log with a rotated key is followed while the older one signs beside it; then the new one has to be given', async () => {
    const old_key = new NoteKey(ORIGIN);
    const new_key = new NoteKey(ORIGIN);
    const [log, state] = [new TestLog(ORIGIN, [old_key]).grow(1), await ownFolder()];
    const url = await log.serve();
    await lookOnce(url, state);
    log.keys = [new_key, old_key];
    log.grow(1);
    expect(await lookOnce(url, state)).toMatchObject({ code: 0 });
    log.keys = [new_key];
    log.grow(1);
    expect(await lookOnce(url, state)).toMatchObject({
      code: 1,
      text: expect.stringContaining('if the log has a new key, give it with --key'),
    });
    expect(await lookOnce(url, state, '--key', new_key.verifier_key)).toMatchObject({ code: 0 });
    log.grow(1);
    expect(await lookOnce(url, state)).toMatchObject({ code: 0, text: expect.stringContaining('Cosigned: 4') });
  });

  it('leaf hashes that were damaged on disk are fetched anew, and accuse nobody', async () => {
    const [log, state] = [new TestLog(ORIGIN).grow(3), await ownFolder()];
    const url = await log.serve();
    await lookOnce(url, state);
    await writeFile(join(state, 'leaves'), Buffer.alloc(96, 1));
    log.grow(2);
    expect(await lookOnce(url, state)).toMatchObject({ code: 0, text: expect.stringContaining('Cosigned: 5') });
    expect(await readFile(join(state, 'leaves'))).toEqual(Buffer.concat(log.leaves));
  });

  const grown = () => new TestLog(ORIGIN).grow(300);
  it.each([
    [
      'a tile with another leaf',
      'tile/0/001.p/44',
      { status: 200, body: Buffer.alloc(44 * 32) },
      'do not match the root',
    ],
    [
      'a tile above with another hash',
      'tile/1/000.p/1',
      { status: 200, body: Buffer.alloc(32) },
      'a tile of a higher level',
    ],
    ['a tile that is too short', 'tile/0/000', { status: 200, body: Buffer.alloc(31) }, 'has 31 bytes'],
    ['a tile that is too long', 'tile/0/000', { status: 200, body: Buffer.alloc(8_193) }, 'more than 8192 bytes'],
    ['a missing tile', 'tile/0/000', { status: 404 }, 'has no bytes'],
    ['a redirect elsewhere', 'tile/0/000', { status: 302, location: 'http://127.0.0.1:9/' }, 'does not answer'],
    ['a fault', 'checkpoint', { status: 500 }, 'answered 500'],
    ['a checkpoint without end', 'checkpoint', { status: 200, body: 'x'.repeat(200_000) }, 'more than 131072 bytes'],
    ['no checkpoint', 'checkpoint', { status: 200, body: 'x' }, 'not show a valid checkpoint'],
  ])('1 of %s: nothing is cosigned', async (_what, path, answer, sentence) => {
    const [log, state] = [grown(), await ownFolder()];
    const url = `${await log.serve()}/log`;
    expect((await lookOnce(url, state)).code).toBe(0);
    for (const name of ['leaves', 'checkpoints']) await rm(join(state, name), { recursive: true });
    log.instead = asked => (asked === path ? answer : null);
    const { code, text } = await lookOnce(url, state);
    expect([code, text]).toEqual([1, expect.stringContaining(sentence)]);
    expect(await readdir(join(state, 'checkpoints'))).toEqual([]);
  });

  it('0 where a partial tile is gone and the whole one is there', async () => {
    const [log, state] = [grown(), await ownFolder()];
    const url = await log.serve();
    const shown = log.checkpoint();
    log.grow(300);
    log.instead = path => {
      if (path === 'checkpoint') return { status: 200, body: shown };
      return path === 'tile/0/001.p/44' ? { status: 404 } : null;
    };
    expect(await lookOnce(url, state)).toMatchObject({ code: 0, text: expect.stringContaining('Cosigned: 300') });
  });

  it('1 where the log has another origin than the folder is for, or signs one that is not its own', async () => {
    const [log, other, state] = [grown(), new TestLog('log.example/two').grow(1), await ownFolder()];
    const url = await log.serve();
    await lookOnce(url, state);
    expect(await lookOnce(await other.serve(), state)).toMatchObject({ code: 1 });
    const key = ['--key', other.keys[0]?.verifier_key ?? ''];
    expect(await lookOnce(url, state, ...key)).toMatchObject({
      code: 1,
      text: expect.stringContaining('is not a key of log.example/one'),
    });
    const body = other.body();
    log.instead = path => (path === 'checkpoint' ? { status: 200, body: `${body}\n${log.keys[0]?.sign(body)}` } : null);
    expect(await lookOnce(url, state)).toMatchObject({
      code: 1,
      text: expect.stringContaining('belongs to the log log.example/two, not to log.example/one'),
    });
  });

  it.each([
    [1, 'no log', ['http://127.0.0.1:9'], /^there is no log at /m],
    [2, 'what is no URL', ['ftp://x'], /is not an http\(s\) URL.*\nusage: /],
    [2, 'a port beyond all', ['http://127.0.0.1:9', '--port', '65536'], /--port must be a number from 0 to 65535/],
    [2, 'a name with a space', ['http://127.0.0.1:9', '--name', 'a b'], /--name must have 1 to 200 characters/],
  ])('%s for %s, with a sentence and no stack', async (expected, _what, [url = '', ...args], sentence) => {
    const { code, text } = await lookOnce(url, await ownFolder(), ...args);
    expect([code, text]).toEqual([expected, expect.stringMatching(sentence)]);
    expect(text).not.toContain('    at ');
  });
});

describe('npm run witness with options that would change nothing', () => {
  const URL_OF_LOG = 'https://log.example';
  it.each([
    [['--wallet', `0x${'1'.repeat(40)}`, '--rpc', 'https://rpc.example', '--port', '4100'], '--port'],
    [['--wallet', `0x${'1'.repeat(40)}`, '--rpc', 'https://rpc.example', '--every', '5'], '--every'],
    [['--host', '0.0.0.0'], '--host'],
  ])('%j: it names them, and does nothing', (args, named) => {
    expect(() => witnessOptions([URL_OF_LOG, ...args])).toThrow(named);
  });
});
