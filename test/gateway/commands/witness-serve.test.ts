import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { runChild } from '../../harness/development/child.ts';
import { cosignatureTime, encode, NoteKey, openNote } from '../../harness/log/note.ts';
import { TestLog } from '../../harness/log/test-log.ts';
import { lookOnce, type RunningWitness, startWitness } from '../../harness/log/witness.ts';
import { ownFolder } from '../../harness/scratch.ts';
import { untilHolds } from '../../harness/until-holds.ts';

const ORIGIN = 'log.example/one';
const HASH = createHash('sha256').update(ORIGIN).digest('hex');

const log = new TestLog(ORIGIN).grow(4);
let url: string;
let witness: RunningWitness;
beforeAll(async () => {
  url = await log.serve();
  witness = await startWitness(url, await ownFolder(), '--port', '0', '--every', '3600');
  await cosignedFirst(witness, 4);
  // From here on submissions are its only source.
  log.instead = path => (path === 'checkpoint' ? { status: 503 } : null);
});

async function cosignedFirst({ lines }: RunningWitness, size: number): Promise<void> {
  await untilHolds(() => expect(lines).toContain(`Cosigned: ${size} leaves.`));
}

interface WitnessAnswer {
  readonly status: number;
  readonly media: string | null;
  readonly text: string;
}

async function submit(body: string, to = witness.url): Promise<WitnessAnswer> {
  const answer = await fetch(`${to}/add-checkpoint`, { method: 'POST', body });
  return { status: answer.status, media: answer.headers.get('content-type'), text: await answer.text() };
}

const key = log.keys[0]?.verifier_key ?? '';
const zero = encode(Buffer.alloc(32));

describe('POST /add-checkpoint', () => {
  it('200: a checkpoint whose proof holds is cosigned, and shown to all', async () => {
    log.grow(3);
    const { status, text } = await submit(log.submission(4));
    expect(status).toBe(200);
    expect(cosignatureTime(log.checkpoint() + text, witness.verifier_key)).toBeGreaterThan(1_700_000_000);
    const shown = await fetch(`${witness.url}/${HASH}/checkpoint`);
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    const note = await shown.text();
    expect(openNote(note, key)).toBe(log.body());
    expect(note).toBe(log.checkpoint() + text);
  });

  it('200 for the same head again, cosigned again', async () => {
    expect(await submit(log.submission(7))).toMatchObject({ status: 200 });
  });

  it('400 for what is no submission, and for an old size beyond the new one', async () => {
    const good = log.submission(7);
    const bodies = [
      '',
      'old 7\n',
      good.replace('old 7', 'old 07'),
      good.replace('old 7', 'old -1'),
      good.replace('old 7\n', `old 7\n${`${zero}\n`.repeat(64)}`),
      good.replace('old 7\n', 'old 7\nQUJD\n'),
      good.slice(0, -1),
      `${good.split('\n\n')[0]}\n\nno note\n`,
      log.submission(7).replace('old 7', 'old 8'),
      `${good}${'x'.repeat(200_000)}`,
    ];
    for (const body of bodies)
      expect([body.slice(0, 40), (await submit(body)).status]).toEqual([body.slice(0, 40), 400]);
  });

  it('403 without a signature by a trusted key, and with one that such a key did not make', async () => {
    const stranger = new TestLog(ORIGIN, [new NoteKey(ORIGIN)]).grow(9);
    expect((await submit(stranger.submission(7))).status).toBe(403);
    const forged = log.submission(7).replace(/\u2014.*\n$/, log.keys[0]?.sign('another text\n') ?? '');
    expect((await submit(forged)).status).toBe(403);
    // Even beside a valid signature: such a note is malformed.
    expect((await submit(`${log.submission(7)}${log.keys[0]?.sign('another text\n')}`)).status).toBe(403);
  });

  it('404 for another log', async () => {
    expect((await submit(new TestLog('log.example/two').grow(1).submission(0))).status).toBe(404);
  });

  it('409 with the size that is cosigned, where the old size is another', async () => {
    for (const old_size of [0, 3])
      expect(await submit(log.submission(old_size))).toEqual({ status: 409, media: 'text/x.tlog.size', text: '7\n' });
  });

  it('422 for a proof that does not hold, one too many, and another root of the same size', async () => {
    log.grow(2);
    const proof = log.consistency(7);
    const bad = [
      log.submission(7, 9, [zero, ...proof.slice(1)]),
      log.submission(7, 9, [...proof, zero]),
      log.submission(7, 9, proof.slice(1)),
      log.submission(7, 7, [zero]),
      new TestLog(ORIGIN, log.keys).grow(7, 'other').submission(7),
    ];
    for (const body of bad) expect((await submit(body)).status).toBe(422);
    expect((await submit(log.submission(7))).status).toBe(200);
  });

  it('422 for a fork; what was cosigned stays as it was', async () => {
    const fork = log.fork().grow(3, 'fork');
    expect((await submit(log.grow(1).submission(9))).status).toBe(200);
    expect((await submit(fork.submission(10, 12, fork.consistency(9, 12)))).status).toBe(422);
    expect(await (await fetch(`${witness.url}/${HASH}/checkpoint`)).text()).toContain(log.body());
  });

  it('the race of the specification: of two from one head one is cosigned, and the other is told to begin anew', async () => {
    const size = log.leaves.length;
    log.grow(8);
    const answers = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(more => submit(log.submission(size, size + more))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409, 409, 409]);
    const won = size + 1 + answers.findIndex(({ status }) => status === 200);
    expect(new Set(answers.filter(({ status }) => status === 409).map(({ text }) => text))).toEqual(
      new Set([`${won}\n`]),
    );
    expect(await (await fetch(`${witness.url}/${HASH}/checkpoint`)).text()).toContain(log.body(won));
  });

  it('first of all a tree of no leaves, and then one without a proof', async () => {
    const young = new TestLog('log.example/young');
    const other = await startWitness(await young.serve(), await ownFolder(), '--port', '0', '--every', '3600');
    await cosignedFirst(other, 0);
    young.instead = () => ({ status: 503 });
    const empty = `${young.origin}\n0\n${zero}\n`;
    expect((await submit(`old 0\n\n${empty}\n${young.keys[0]?.sign(empty)}`, other.url)).status).toBe(422);
    expect((await submit(young.submission(0), other.url)).status).toBe(200);
    young.grow(3);
    expect((await submit(young.submission(0, 3, [zero]), other.url)).status).toBe(422);
    expect((await submit(young.submission(0), other.url)).status).toBe(200);
    await other.end('SIGTERM');
  });

  it.each([
    ['GET', '/add-checkpoint', 405],
    ['POST', `/${HASH}/checkpoint`, 405],
    ['GET', `/${HASH.toUpperCase()}/checkpoint`, 404],
    ['GET', `/${'0'.repeat(64)}/checkpoint`, 404],
    ['GET', '/', 404],
  ])('%s %s: %i', async (method, path, status) => {
    expect((await fetch(witness.url + path, { method })).status).toBe(status);
  });
});

describe('a witness that is killed', () => {
  it('after it has kept a head and before its cosignature leaves signs that head again, and no other', async () => {
    const grown = new TestLog(ORIGIN, log.keys).grow(3);
    const [state, at] = [await ownFolder(), await grown.serve()];
    await lookOnce(at, state);
    const fork = grown.fork().grow(2, 'fork');
    grown.grow(2);
    grown.instead = () => ({ status: 503 });
    const held = await halting('head_kept', at, state, '--port', '0', '--every', '3600');
    const submitted = submit(grown.submission(3), held.first_line.url ?? '').catch(() => null);
    await held.reached;
    await held.end('SIGKILL');
    expect(await submitted).toBeNull();
    const after = await startWitness(at, state, '--port', '0', '--every', '3600');
    expect(await submit(fork.submission(3), after.url)).toMatchObject({ status: 409, text: '5\n' });
    expect(await submit(fork.submission(5), after.url)).toMatchObject({ status: 422 });
    expect(await submit(grown.submission(5), after.url)).toMatchObject({ status: 200 });
    await after.end('SIGTERM');
  });

  it.each([
    ['leaves_kept', 'right'],
    ['head_written', 'right'],
    ['head_kept', 'left'],
  ])('at %s of the left fork cosigns the %s one alone when it runs again', async (step, cosigned) => {
    const left = new TestLog(ORIGIN, log.keys).grow(3);
    const state = await ownFolder();
    const right = left.fork().grow(2, 'right');
    const [at_left, at_right] = [await left.serve(), await right.serve()];
    await lookOnce(at_left, state);
    left.grow(2, 'left');
    const held = await runChild<{ reached: string }>(
      'test/harness/log/halting-witness.child.ts',
      step,
      at_left,
      '--state',
      state,
      '--once',
    );
    expect(held.first_line).toEqual({ reached: step });
    await held.end('SIGKILL');
    const codes = { right: [0, 1], left: [1, 0] }[cosigned];
    const looks = [await lookOnce(at_right, state), await lookOnce(at_left, state)];
    expect(looks.map(({ code }) => code)).toEqual(codes);
    expect(looks.find(({ code }) => code === 1)?.text).toContain('the first leaf that differs is 3');
  });
});

/** A witness that stops at a step; its first line says where it serves. */
async function halting(step: string, ...args: readonly string[]) {
  const child = await runChild<{ url?: string }>(
    'test/harness/log/halting-witness.child.ts',
    step,
    args[0] ?? '',
    '--state',
    ...args.slice(1),
  );
  const reached = new Promise<void>(resolve => child.process.stdout?.once('data', () => resolve()));
  return { ...child, reached };
}
