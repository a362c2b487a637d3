import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { progressBar } from '../../gateway/commands/export/progress-bar.ts';
import { examine } from '../../gateway/commands/verify/examine.ts';
import { runCommand } from '../harness/commands/run.ts';
import { ask, type Service, sharedService } from '../harness/doors/open-service.ts';
import { startGateway } from '../harness/gateway.ts';
import { ownFolder } from '../harness/scratch.ts';

let service: Service;
let agent: Awaited<ReturnType<Service['newAgent']>>;
let folder: string;
beforeAll(async () => {
  [service, folder] = await Promise.all([sharedService(), ownFolder()]);
  agent = await service.newAgent();
  for (const name of ['one', 'two\nlines, "quoted"', 'three'])
    await service.buy(agent.account, ask(name, { intent_id: name }));
});

const ENTRY = 'gateway/commands/export.ts';
const words = (args: readonly string[]) => ['--agent', String(agent.agent_id), '--url', service.url, ...args];
const shown = () => ({ SVC_SESSION: agent.session });

const exporting = (args: readonly string[], environment: Record<string, string> = shown()) =>
  runCommand(ENTRY, words(args), { environment });

/** Runs the export command as a process. */
async function exportingAlone(args: readonly string[]) {
  const command = await startGateway({ entry: ENTRY, args: words(args), environment: shown(), await_health: false });
  return { code: await command.exited, text: command.logs.join('\n') };
}

async function streamed(format: string): Promise<string> {
  const path = `/v1/agents/${agent.agent_id}/book/export/stream?format=${format}`;
  return (await fetch(service.url + path, { headers: { 'X-SVC-Session': agent.session } })).text();
}

const rowsIn = (text: string) => text.replace(/\{"end":.*\n$/, '');

describe('npm run export', () => {
  it.each(['csv', 'ndjson'])('writes the whole book as %s, which the ending of the file asks for', async format => {
    const out = join(folder, `book.${format}`);
    expect(await exporting(['--out', out])).toMatchObject({ code: 0, text: expect.stringContaining('4 rows') });
    expect(await readFile(out, 'utf8')).toBe(await streamed(format));
  });

  it('--bundle: an archive that verifies offline, page by page, and nothing else under that name', async () => {
    const out = join(folder, 'book.zip');
    const made = await exporting(['--out', out, '--bundle']);
    expect(made).toMatchObject({ code: 0, text: expect.stringContaining('no older rows match') });
    const { kind, verified } = await examine(out, {}, new Map());
    expect([kind, verified.fault, verified.claims]).toMatchObject(['bundle', null, { rows: 4, receipts: 4 }]);
    const older = await exporting(['--out', out, '--bundle', '--before', '3']);
    expect(older.code).toBe(0);
    const part = (await examine(out, {}, new Map())).verified;
    expect(part).toMatchObject({ fault: null, claims: { rows: 2, receipts: 2 } });
    expect(JSON.stringify(part.report)).toContain('that 4 rows match');
    for (const wrong of [
      ['--out', join(folder, 'b.csv'), '--bundle'],
      ['--out', out, '--before', '3'],
    ])
      expect(await exporting(wrong)).toMatchObject({ code: 2, text: expect.stringContaining('usage:') });
  });

  it('goes by --format where the ending says none, and by .jsonl as by .ndjson', async () => {
    const [bare, lines] = [join(folder, 'book'), join(folder, 'book.JSONL')];
    expect(await exporting(['--out', bare, '--format', 'csv'])).toMatchObject({ code: 0 });
    expect(await readFile(bare, 'utf8')).toBe(await streamed('csv'));
    expect(await exporting(['--out', lines])).toMatchObject({ code: 0 });
    expect(await readFile(lines, 'utf8')).toBe(await streamed('ndjson'));
  });

  it.each([
    ['book.json', [], 'json is not an export format; use .csv, .ndjson, .jsonl or .parquet'],
    ['book.csv.gz', ['--format', 'csv'], 'gz is not an export format'],
    ['book.csv', ['--format', 'parquet'], 'the file name says csv, but --format says parquet'],
    ['book', [], 'the file name has no ending'],
  ])('refuses --out %s with %j, and writes no file', async (name, args, why) => {
    const out = join(folder, 'refused', name);
    await mkdir(join(folder, 'refused'), { recursive: true });
    expect(await exporting(['--out', out, ...args])).toMatchObject({ code: 2, text: expect.stringContaining(why) });
    expect(await readdir(join(folder, 'refused'))).toEqual([]);
  });

  it('writes Parquet', async () => {
    const out = join(folder, 'book.parquet');
    expect(await exportingAlone(['--out', out])).toMatchObject({ code: 0 });
    expect((await readFile(out)).subarray(-4).toString()).toBe('PAR1');
  });

  it('goes on behind the last whole row of what was cut off, wherever that was', async () => {
    for (const format of ['csv', 'ndjson']) {
      const whole = Buffer.from(await streamed(format));
      for (const share of [0, 0.03, 0.5, 0.75, 0.999]) {
        const out = join(folder, `cut-${share}.${format}`);
        await writeFile(`${out}.part`, whole.subarray(0, Math.floor(whole.length * share)));
        expect(await exporting(['--out', out])).toMatchObject({ code: 0 });
        // The last line of NDJSON counts the rows of this export, not those that were in the file before.
        expect(rowsIn(await readFile(out, 'utf8'))).toBe(rowsIn(whole.toString()));
      }
    }
  });

  it('takes the session from a file, and says so where there is none or a wrong one', async () => {
    const [out, file] = [join(folder, 'by-file.csv'), join(folder, 'session')];
    await writeFile(file, `${agent.session}\n`);
    expect(await exporting(['--out', out, '--session-file', file], {})).toMatchObject({ code: 0 });
    expect(await exporting(['--out', out], {})).toMatchObject({
      code: 1,
      text: expect.stringContaining('the session of the book is missing'),
    });
    const wrong = await exporting(['--out', out], { SVC_SESSION: 'guess' });
    expect(wrong).toMatchObject({ code: 1, text: expect.stringContaining('does not open this book') });
  });

  it('tells its usage', async () => {
    expect(await exportingAlone([])).toMatchObject({ code: 2, text: expect.stringContaining('usage:') });
  });
});

describe('the bar of its progress', () => {
  it('stands on a terminal and nowhere else', () => {
    const drawn = (isTTY: boolean) => {
      let text = '';
      const write = (piece: string) => {
        text += piece;
        return true;
      };
      const bar = progressBar({ isTTY, write } as never, { unit: 'rows', total: 1_000_000 });
      bar.show(500_000);
      bar.end();
      return text;
    };
    expect(drawn(true)).toContain(`[${'#'.repeat(15)}${'.'.repeat(15)}] 50% 500,000 of 1,000,000 rows`);
    expect(drawn(false)).toBe('');
  });
});
