import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { reportStart } from '../../../gateway/operations/report-start.js';
import { duringStart, publishStartEnd } from '../../../gateway/operations/start-steps.js';
import { limits } from '../../../schema/limits.ts';
import { startGateway } from '../../harness/gateway.ts';
import { ownPort } from '../../harness/own-port.ts';
import { atEnd } from '../../harness/release.ts';

/* What is read of a start while it lasts, and of one that a signal ends. */

const STOPPED = 'stopped before it was ready; no data is lost, and it can be started again';

/** A server that takes connections and says nothing. */
async function silentServer(): Promise<string> {
  const server = createServer(() => {}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => server.close());
  return `postgresql://svc@127.0.0.1:${(server.address() as AddressInfo).port}/svc`;
}

async function starting(environment: Readonly<Record<string, string>> = {}) {
  const given = { DATABASE_URL: await silentServer(), BASE_RPC_URL: 'http://127.0.0.1:1', ...environment };
  const gateway = await startGateway({ environment: given, port: await ownPort(), await_health: false });
  const messages = () => gateway.logs.filter(it => it.startsWith('{')).map(it => JSON.parse(it).msg as string);
  return { ...gateway, messages };
}

it('says at once that it starts, as JSON, and then what it waits for; SIGINT is answered at once, and a second one ends it', async () => {
  const gateway = await starting();
  await expect.poll(gateway.messages).toContainEqual(expect.stringMatching(/^still preparing the database \(\d+ s\)$/));
  expect(JSON.parse(gateway.logs[0] ?? '')).toMatchObject({
    level: 30,
    time: expect.any(Number),
    pid: gateway.process.pid,
    msg: 'starting the spend receipt gateway; press Ctrl-C to stop',
  });
  gateway.process.kill('SIGINT');
  await expect
    .poll(gateway.messages)
    .toContainEqual(expect.stringMatching(/^stopping when .*; press Ctrl-C again to stop at once$/));
  // npm forwards Ctrl-C as a second SIGINT, which must not count as a second key press.
  gateway.process.kill('SIGINT');
  await sleep(limits.signal_echo_ms + 100);
  expect(gateway.process.exitCode).toBeNull();
  expect(await gateway.kill('SIGINT')).toBe(0);
  await expect.poll(() => gateway.messages().at(-1)).toBe(STOPPED);
});

it('SIGTERM before the program is loaded ends it at once, with what to do next', async () => {
  const gateway = await starting();
  await expect.poll(gateway.messages).toHaveLength(1);
  expect(await gateway.kill('SIGTERM')).toBe(0);
  await expect.poll(() => gateway.messages().at(-1)).toBe(STOPPED);
});

it('a signal while its services are being found: they are stopped in order, and it serves nobody', async () => {
  const gateway = await starting();
  await expect.poll(gateway.messages).toContainEqual(expect.stringMatching(/^still /));
  gateway.process.kill('SIGTERM');
  expect(await gateway.exited).toBe(0);
  expect(gateway.messages().at(-1)).toBe(STOPPED);
  expect(gateway.messages().join()).not.toContain('serving on');
});

it('LOG_LEVEL=warn leaves its lines out', async () => {
  const gateway = await starting({ LOG_LEVEL: 'warn', PORT: 'x' });
  expect(await gateway.exited).toBe(1);
  await expect.poll(() => gateway.logs).toEqual([expect.stringMatching(/^PORT: /)]);
});

it('names each step while it lasts, and falls silent once it serves', async () => {
  const lines: string[] = [];
  const silent = () => {
    const before = lines.length;
    return sleep(50).then(() => lines.length === before);
  };
  reportStart('it', line => lines.push(line.replace(/\(\d+ s\)/, '(N s)')), 5);
  const [postgres, chain] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()];
  const steps = [duringStart('starting Postgres', postgres.promise), duringStart('starting a chain', chain.promise)];
  await expect.poll(() => lines).toContain('still starting Postgres, starting a chain (N s)');
  chain.resolve();
  await expect.poll(() => lines.at(-1)).toBe('still starting Postgres (N s)');
  postgres.resolve(1);
  expect(await Promise.all(steps)).toEqual([1, undefined]);
  await expect.poll(() => lines.at(-1)).toBe('still starting (N s)');
  publishStartEnd();
  expect(await silent()).toBe(true);
});
