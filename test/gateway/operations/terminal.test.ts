import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Config } from '../../../gateway/config/read-config.ts';
import { greeting } from '../../../gateway/operations/greeting.ts';
import { readableLines } from '../../../gateway/operations/logger.ts';
import { freshDatabase } from '../../harness/database.ts';
import { mortal } from '../../harness/mortal.ts';
import { ownPort } from '../../harness/own-port.ts';
import { atEnd } from '../../harness/release.ts';
import { ROOT } from '../../harness/root.ts';
import { clearScratch, makeScratch } from '../../harness/scratch.ts';

/* The service as a person at a terminal meets it: `script` (util-linux) gives it one. */

const CTRL_C = '\x03';

async function atTerminal(program: string, given: Readonly<Record<string, string>>) {
  const data_dir = await makeScratch();
  atEnd(() => clearScratch(data_dir));
  const { url } = await freshDatabase();
  const service = { DATABASE_URL: url, BASE_RPC_URL: 'http://127.0.0.1:1', SOLANA_RPC_URL: '', ...given };
  const command = `exec "${process.execPath}" gateway/launch.ts ${program}`;
  const child = spawn(...mortal('script', ['-qec', command, '/dev/null']), {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: data_dir, DATA_DIR: data_dir, ...service },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  atEnd(() => child.kill('SIGKILL'));
  let text = '';
  child.stdout.on('data', chunk => {
    text += chunk;
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  return {
    data_dir,
    lines: () => text.split('\r\n'),
    async type(keys: string): Promise<number | null> {
      child.stdin.write(keys);
      return (await exited)[0];
    },
  };
}

describe('on a terminal', () => {
  it('npm start greets, logs in plain lines, and ends well at Ctrl-C', async () => {
    const port = await ownPort();
    const terminal = await atTerminal('gateway/main.ts', { PORT: String(port) });
    await expect.poll(terminal.lines).toContain('Spend receipt gateway');
    const url = `http://127.0.0.1:${port}`;
    await expect
      .poll(terminal.lines)
      .toEqual(
        expect.arrayContaining([
          `  address    ${url}`,
          '  stand-ins  hubs, router: no real money moves',
          `  made up    11 keys and addresses, kept in ${terminal.data_dir}/secrets`,
          '  next       npm run demo      (in a second terminal: a buyer pays, and checks the receipt)',
          '  stop       Ctrl-C: what is under way comes to its end first',
        ]),
      );
    await (await fetch(`${url}/v1/models`)).text();
    const answered =
      /^\d\d:\d\d:\d\d info {2}answered request_id=\S+ method=GET door=\/v1\/models status=200 duration_ms=\S+$/;
    await expect.poll(terminal.lines).toContainEqual(expect.stringMatching(answered));
    const away = 'BASE_RPC_URL does not answer (ECONNREFUSED): no payments are taken until it does';
    expect(terminal.lines()).toContainEqual(
      expect.stringMatching(`^[0-9:]{8} warn  ${away.replaceAll(/[()]/g, '\\$&')}$`),
    );
    expect(terminal.lines().filter(line => line.startsWith('{'))).toEqual([]);
    expect(await terminal.type(CTRL_C)).toBe(0);
  });

  it('npm run subgraph says how its gateway finds it', async () => {
    const port = await ownPort();
    const terminal = await atTerminal('gateway/commands/subgraph.ts book', { PORT: String(port) });
    const next = `  next       SUBGRAPH_URLS='{"book":"http://127.0.0.1:${port}"}' npm start      (its gateway, at http://127.0.0.1:4000)`;
    await expect.poll(terminal.lines).toContain(next);
    expect(await terminal.type(CTRL_C)).toBe(0);
  });
});

describe('the greeting', () => {
  const config = { profile: 'production', stand_ins: [], data_dir: '/data', solana: null } as const;

  it('names every service in whose place a stand-in runs, and a Solana only where one does', () => {
    const stand_ins = ['DATABASE_URL', 'BASE_RPC_URL', 'SOLANA_RPC_URL', 'HUBS', 'ROUTER_URL'] as const;
    const solana = {} as Config['solana'];
    const said = (given: object) => greeting('http://here', { ...config, profile: 'development', stand_ins, ...given });
    expect(said({ solana })).toContain('  stand-ins  Postgres, Base, Solana, hubs, router: no real money moves');
    expect(said({ solana: null })).toContain('  stand-ins  Postgres, Base, hubs, router: no real money moves');
  });

  it('speaks of no demo in production', () => {
    expect(greeting('https://pay.example', config).join('\n')).not.toMatch(/demo|stand-in|made up/);
  });
});

describe('readable lines', () => {
  it('show what an error was, and facts with blanks as JSON', () => {
    const said: string[] = [];
    const line = { level: 50, time: 0, pid: 1, hostname: 'h', msg: 'it broke', what: 'two words', n: 2 };
    readableLines(text => said.push(text)).write(JSON.stringify({ ...line, err: { stack: 'Error: x\n    at y' } }));
    expect(said.join('')).toMatch(/^\d\d:\d\d:\d\d error it broke what="two words" n=2\nError: x\n {4}at y\n$/);
  });
});
