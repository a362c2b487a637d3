import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../../schema/limits.ts';
import { freshDatabase } from '../../../harness/database.ts';
import { ownPort } from '../../../harness/own-port.ts';
import { withParentDeathSignal } from '../../../harness/parent-death-signal.ts';
import { atEnd } from '../../../harness/release.ts';
import { ROOT } from '../../../harness/root.ts';
import { clearScratch, makeScratch } from '../../../harness/scratch.ts';

/* The service at a terminal, which `script` (Debian's bsdutils) provides. */

const CTRL_C = '\x03';

async function atTerminal(program: string, given: Readonly<Record<string, string>>) {
  const data_dir = await makeScratch();
  atEnd(() => clearScratch(data_dir));
  const { url } = await freshDatabase();
  const service = { DATABASE_URL: url, BASE_RPC_URL: 'http://127.0.0.1:1', SOLANA_RPC_URL: '', ...given };
  const command = `exec "${process.execPath}" gateway/launch.js ${program}`;
  const child = spawn(...withParentDeathSignal('script', ['-qec', command, '/dev/null']), {
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
    press: (keys: string) => void child.stdin.write(keys),
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
          `  generated  11 keys and addresses, kept in ${terminal.data_dir}/secrets`,
          '  next       npm run demo      (in a second terminal: a buyer pays, and checks the receipt)',
          '  stop       Ctrl-C: calls in progress are finished first',
          `  open       ${url}/v1/chat/completions      (in a browser: what it sells, and how to pay)`,
        ]),
      );
    expect(terminal.lines()[0]).toBe('starting the spend receipt gateway; press Ctrl-C to stop');
    await (await fetch(`${url}/v1/models`)).text();
    const answered =
      /^\d\d:\d\d:\d\d info {2}answered request_id=\S+ method=GET endpoint=\/v1\/models status=200 duration_ms=\S+$/;
    await expect.poll(terminal.lines).toContainEqual(expect.stringMatching(answered));
    const away =
      'BASE_RPC_URL does not answer (ECONNREFUSED); no payments are accepted until it does. It is tried again every 2 seconds';
    expect(terminal.lines()).toContainEqual(
      expect.stringMatching(`^[0-9:]{8} warn  ${away.replaceAll(/[()]/g, '\\$&')}$`),
    );
    expect(terminal.lines().filter(line => line.startsWith('{'))).toEqual([]);
    expect(await terminal.type(CTRL_C)).toBe(0);
  });

  it('npm start waits for a database that does not answer, says so, and ends at Ctrl-C with what to do next', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    atEnd(() => silent.close());
    const { port } = silent.address() as AddressInfo;
    const given = { DATABASE_URL: `postgresql://svc@127.0.0.1:${port}/svc`, PORT: String(await ownPort()) };
    const terminal = await atTerminal('gateway/main.ts', given);
    await expect.poll(terminal.lines).toContainEqual(expect.stringMatching(/^still preparing the database \(\d+ s\)$/));
    terminal.press(CTRL_C);
    await expect
      .poll(terminal.lines)
      .toContainEqual(expect.stringMatching(/^\^Cstopping when the current step of the start is done/));
    await sleep(limits.signal_echo_ms + 100);
    expect(await terminal.type(CTRL_C)).toBe(0);
    // The text follows the terminal's echo of the key.
    await expect
      .poll(() => terminal.lines().join('\n'))
      .toContain('stopped before it was ready; no data is lost, and it can be started again');
  });

  it('npm run subgraph says how its gateway finds it', async () => {
    const port = await ownPort();
    const terminal = await atTerminal('gateway/commands/subgraph.ts book', { PORT: String(port) });
    const next = `  next       SUBGRAPH_URLS='{"book":"http://127.0.0.1:${port}"}' npm start      (its gateway, at http://127.0.0.1:4000)`;
    await expect.poll(terminal.lines).toContain(next);
    expect(await terminal.type(CTRL_C)).toBe(0);
  });
});
