import { spawn } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { runCommand } from '../../harness/commands/run.ts';
import { alter, issue, issuer } from '../../harness/receipt/issue.ts';
import { atEnd } from '../../harness/release.ts';
import { ROOT } from '../../harness/root.ts';
import { ownFolder } from '../../harness/scratch.ts';
import { paidCall, waivedCall } from '../../harness/vectors/receipt-facts.ts';

let folder: string;
let receipt: JsonObject;
let forged: JsonObject;
let origin: string;

const DOCUMENTS = 150;
const many = () => join(folder, 'many');

beforeAll(async () => {
  [folder, receipt, origin] = await Promise.all([ownFolder(), issue(paidCall), serve()]);
  forged = alter(receipt, ['amount'], () => '1') as JsonObject;
  await mkdir(join(many(), 'below'), { recursive: true });
  const write = (name: string, text: string) => writeFile(join(folder, name), text);
  await write('jwks.json', JSON.stringify(issuer.jwks));
  await write('receipt.json', JSON.stringify(receipt));
  await write('forged.json', JSON.stringify(forged));
  await write('evil.json', JSON.stringify({ ...receipt, 'a\u001b[2Jb\nFAIL': 1 }));
  for (let at = 0; at < DOCUMENTS; at++)
    await write(
      `many/${String(at).padStart(4, '0')}.json`,
      JSON.stringify(await issue(at % 2 ? waivedCall : paidCall)),
    );
  await write('many/below/last.json', JSON.stringify(receipt));
  await symlink(join(folder, 'forged.json'), join(many(), 'link.json'));
});

/** Serves the receipt, what never ends, and what never begins. */
async function serve(): Promise<string> {
  const server: Server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://none');
    if (pathname === '/receipt.json') return response.end(JSON.stringify(receipt));
    if (pathname === '/missing') return response.writeHead(404).end();
    if (pathname === '/endless') {
      const more = () => {
        while (response.write(Buffer.alloc(64 * 1024, 0x20)));
      };
      response.on('drain', more);
      return more();
    }
    return undefined;
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => server.closeAllConnections());
  atEnd(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface CommandResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const verify = (args: readonly string[]) => runCommand('gateway/commands/verify.ts', args);

/** The same as a process, which reads what it is sent. */
async function verifyInput(args: readonly string[], input: string): Promise<CommandResult> {
  const child = spawn(process.execPath, ['gateway/launch.js', 'gateway/commands/verify.ts', ...args], { cwd: ROOT });
  let [out, err] = ['', ''];
  child.stdout.on('data', chunk => {
    out += chunk;
  });
  child.stderr.on('data', chunk => {
    err += chunk;
  });
  // It may end before it has read all of it.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const code = await new Promise<number | null>(resolve => child.on('close', resolve));
  return { code, out, err };
}

const at = (name: string) => join(folder, name);
const keys = () => ['--jwks', at('jwks.json')];
const objectsIn = (out: string) =>
  out
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Record<string, never>);

describe('npm run verify -- -', () => {
  it('0: reads standard input', async () => {
    const said = await verifyInput(['-', ...keys()], JSON.stringify(receipt));
    expect(said).toMatchObject({ code: 0, out: expect.stringContaining('Valid: task ') });
  });

  it('3 where more comes than is read, or no document', async () => {
    const long = await verifyInput(['-', ...keys()], ' '.repeat(9 * 1024 * 1024));
    expect(long).toMatchObject({ code: 3, err: expect.stringContaining('is larger than') });
    expect(await verifyInput(['-', ...keys()], '[]')).toMatchObject({
      code: 3,
      err: expect.stringContaining('not a JSON object'),
    });
  });
});

describe('npm run verify -- URL', () => {
  it('0: reads it there', async () => {
    expect(await verify([`${origin}/receipt.json`, ...keys()])).toMatchObject({ code: 0 });
  });

  it.each([
    ['/endless', 'is larger than'],
    ['/missing', 'answered with status 404'],
    ['/silent', 'does not answer (TimeoutError)'],
  ])('3 for %s, within its bounds, and no failure passes for a verdict', async (path, sentence) => {
    const said = await verify([origin + path, ...keys()]);
    expect(said).toMatchObject({ code: 3, out: '', err: expect.stringContaining(sentence) });
  });
});

describe('npm run verify -- FILE', () => {
  it('one line for each check, and none that a document could write itself', async () => {
    const { code, out } = await verify([at('evil.json'), ...keys()]);
    expect(code).toBe(0);
    expect(out.split('\n').filter(line => line.startsWith('  ok ')).length).toBeGreaterThanOrEqual(12);
    expect(out).not.toContain('\u001b');
    expect(out).toContain('WARN  Not signed, and not part of such a document: a\u{fffd}[2Jb\u{fffd}FAIL');
  });

  it('3 where it names a member twice: one reader takes the first of them, and another the last', async () => {
    await writeFile(at('twice.json'), `{"amount":"1",${JSON.stringify(receipt).slice(1)}`);
    const said = await verify([at('twice.json'), ...keys()]);
    expect(said).toMatchObject({ code: 3, out: '', err: expect.stringContaining('has a duplicate member') });
  });

  it('3 where there is no such file', async () => {
    const said = await verify([at('nowhere.json'), ...keys()]);
    expect(said).toMatchObject({ code: 3, out: '', err: expect.stringContaining('there is no such file') });
  });

  it('2 for an option that it does not have, or that needs a URL', async () => {
    for (const wrong of [
      ['--key', 'x'],
      ['--rpc', 'node'],
      ['--base-url', 'here'],
    ])
      expect(await verify([at('receipt.json'), ...wrong]), wrong[0]).toMatchObject({ code: 2, out: '' });
  });

  it('tells nothing that moves a cursor: neither where the keys cannot be had, nor as JSON', async () => {
    const verification = { jwks_uri: 'http://127.0.0.1:1/\u001b[2J\u009b2J\nValid: task' };
    await writeFile(at('escape.json'), JSON.stringify({ ...receipt, verification }));
    for (const json of [[], ['--json']]) {
      const { out, err } = await verify([at('escape.json'), ...json]);
      expect(out + err).toContain('does not answer');
      expect((out + err).trimEnd()).not.toMatch(/\p{Cc}/u);
    }
  });

  it('--json is one object, of the same names whatever became of it', async () => {
    const told = [];
    for (const name of ['receipt.json', 'forged.json', 'nowhere.json']) {
      const { code, out } = await verify([at(name), ...keys(), '--json']);
      told.push([code, ...objectsIn(out)]);
    }
    const [good, bad, unread] = told as [number, Record<string, unknown>][];
    expect(good).toMatchObject([0, { outcome: 'valid', kind: 'receipt', fault: null, keys: { from: 'given' } }]);
    expect(bad).toMatchObject([
      1,
      { outcome: 'invalid', fault: { code: 'copy_mismatch' }, claims: null, report: null },
    ]);
    expect(unread).toMatchObject([3, { outcome: 'unknown', fault: { code: 'unreadable' }, kind: null }]);
    expect(good?.[1]).toMatchObject({
      claims: { jti: paidCall.task_id },
      checks: expect.arrayContaining([{ sentence: 'The issuer signed these claims (ES256).' }]),
      spend: { lane: 'paid', is_spend: true, amount: '2000', payment_ref: paidCall.payment?.ref },
    });
    const names = ['chain', 'checks', 'claims', 'covers', 'fault', 'keys', 'kind', 'outcome', 'place', 'report'];
    for (const [, object] of [good, bad, unread] as [number, object][])
      expect(Object.keys(object).sort()).toEqual([...names, 'source', 'spend', 'tally']);
  });

  it('3 where the chain was asked for and does not answer: neither valid nor not', async () => {
    const { code, out } = await verify([at('receipt.json'), ...keys(), '--rpc', `${origin}/missing`]);
    expect(code).toBe(3);
    expect(out).toContain('  open  The node answered with status 404. (rpc_unavailable)');
    expect(out).toContain('Whether USDC moved is UNKNOWN');
  });
});

describe('npm run verify -- DIR', () => {
  it('0: every .json in it and below, in order, a line for each, and links are not followed', async () => {
    const { code, out } = await verify([many(), ...keys()]);
    expect(code).toBe(0);
    const lines = out.trimEnd().split('\n');
    const sums = lines.splice(DOCUMENTS + 1);
    expect(sums[0]).toBe(`${DOCUMENTS + 1} documents: ${DOCUMENTS + 1} valid, 0 NOT valid, 0 unknown.`);
    expect(lines).toHaveLength(DOCUMENTS + 1);
    expect(lines).toEqual([...lines].sort());
    const { payer, pay_to, ref } = paidCall.payment ?? {};
    expect(lines.slice(0, 2)).toEqual([
      `  ok    ${join(many(), '0000.json')}: receipt ${paidCall.task_id}: Paid: 0.002 USDC by ${payer} to ${pay_to} in ${ref}`,
      `  ok    ${join(many(), '0001.json')}: receipt ${waivedCall.task_id}: Nothing was paid: an API key was used (not spend)`,
    ]);
    // Whoever reads that all are valid reads that this one was not among them.
    expect(sums.splice(1, 1)).toEqual([
      'Skipped 1 entry: a link, or a file with another ending than .json, .cose, .scitt, .jwt, .zip, .txt, .note or .tlog-proof.',
    ]);
    expect(sums.slice(1)).toEqual([
      `2 receipts. Not counted again: ${DOCUMENTS - 1} more documents of these receipts, 0 receipts of a transfer that another receipt names.`,
      `Spend whose transfer was seen: 0.002 USDC by ${payer} on base (1 receipts).`,
    ]);
    expect(out).not.toContain('link.json');
  });

  it('1 with one that is not valid, 3 with one that cannot be read, and each is named', async () => {
    await writeFile(join(many(), 'rubbish.json'), 'no json');
    const unread = await verify([many(), ...keys(), '--json']);
    expect(unread.code).toBe(3);
    const objects = objectsIn(unread.out);
    expect(objects.pop()).toMatchObject({
      summary: { documents: DOCUMENTS + 2, skipped: 1, valid: DOCUMENTS + 1, invalid: 0, unknown: 1, receipts: 2 },
    });
    expect(objects).toHaveLength(DOCUMENTS + 2);
    expect(objects.filter(({ outcome }) => outcome !== 'valid')).toMatchObject([
      { source: join(many(), 'rubbish.json'), outcome: 'unknown', fault: { code: 'unreadable' } },
    ]);
    await writeFile(join(many(), 'forged.json'), JSON.stringify(forged));
    const invalid = await verify([many(), ...keys()]);
    expect(invalid).toMatchObject({
      code: 1,
      out: expect.stringContaining(`FAIL  ${join(many(), 'forged.json')}: amount`),
    });
    expect(invalid.out).toContain(`${DOCUMENTS + 3} documents: ${DOCUMENTS + 1} valid, 1 NOT valid, 1 unknown.`);
  });

  it('3 for an empty one, and 2 for a proof, which is of one receipt', async () => {
    await mkdir(at('empty'), { recursive: true });
    expect(await verify([at('empty'), ...keys()])).toMatchObject({
      code: 3,
      err: expect.stringContaining('nothing was verified'),
    });
    expect(await verify([many(), ...keys(), '--proof', 'x'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('for one receipt'),
    });
  });

  it('where a document’s keys cannot be had nothing is known of it', async () => {
    await mkdir(at('keyless'), { recursive: true });
    const verification = { jwks_uri: 'http://127.0.0.1:1/jwks.json' };
    await writeFile(at('keyless/one.json'), JSON.stringify({ ...receipt, verification }));
    expect(await verify([at('keyless')])).toMatchObject({ code: 3, out: expect.stringContaining('does not answer') });
  });
});
