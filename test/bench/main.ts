import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { freePort } from '../../gateway/development/detached.ts';
import { startBenchHub } from './hub.ts';
import { signedPayments } from './payments.ts';

/*
 * What one paid call costs this service: chain and hub do nothing, everything else is real (HTTP, x402, EIP-712
 * recovery, four durable group commits, log, signatures, GraphQL). Medians of alternating rounds; loopback only.
 */

const ROUNDS = 5;
const CALLS = 2_000;
const CONNECTIONS = 64;
const body = JSON.stringify({ model: 'bench/small', messages: [{ role: 'user', content: 'Hello' }] });

interface Round {
  readonly calls_per_second: number;
  readonly cpu_us_per_call: number;
}

async function cpuOf(child: ChildProcess): Promise<number> {
  child.send('cpu');
  const [{ cpu }] = (await once(child, 'message')) as [{ cpu: NodeJS.CpuUsage }];
  return cpu.user + cpu.system;
}

async function round(child: ChildProcess, pool: Pool, headers: readonly string[]): Promise<Round> {
  const before = await cpuOf(child);
  const began = performance.now();
  const waiting = [...headers];
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (let header = waiting.pop(); header; header = waiting.pop()) await pay(pool, header);
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  const cpu_us_per_call = ((await cpuOf(child)) - before) / headers.length;
  return { calls_per_second: headers.length / seconds, cpu_us_per_call };
}

async function pay(pool: Pool, header: string): Promise<void> {
  const response = await pool.request({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { 'content-type': 'application/json', 'payment-signature': header },
    body,
  });
  const text = await response.body.text();
  if (response.statusCode !== 200) throw new Error(`a paid call answered ${response.statusCode}: ${text}`);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

async function withServer<T>(use: (child: ChildProcess, url: string, pay_to: `0x${string}`) => Promise<T>): Promise<T> {
  const data_dir = await mkdtemp(join(tmpdir(), 'svc-bench-'));
  const hub = await startBenchHub();
  const environment = {
    PATH: process.env.PATH,
    HOME: data_dir,
    DATA_DIR: data_dir,
    PORT: String(await freePort()),
    HUBS: JSON.stringify([hub.config]),
    BASE_RPC_URL: 'http://127.0.0.1:1',
  };
  const child = fork(new URL('server.ts', import.meta.url), { execArgv: ['--import', 'tsx'], env: environment });
  try {
    const [{ url, pay_to }] = (await once(child, 'message')) as [{ url: string; pay_to: `0x${string}` }];
    return await use(child, url, pay_to);
  } finally {
    const ended = once(child, 'exit');
    child.disconnect();
    await ended;
    hub.close();
    await rm(data_dir, { recursive: true, force: true });
  }
}

await withServer(async (child, url, pay_to) => {
  const pool = new Pool(url, { connections: CONNECTIONS });
  await round(child, pool, signedPayments(CALLS, pay_to));
  const rounds: Round[] = [];
  for (let n = 0; n < ROUNDS; n++) rounds.push(await round(child, pool, signedPayments(CALLS, pay_to)));
  await pool.close();
  console.log('| work | calls per second | CPU per call |');
  console.log('|---|---|---|');
  const rate = median(rounds.map(one => one.calls_per_second)).toFixed(0);
  const cpu = (median(rounds.map(one => one.cpu_us_per_call)) / 1000).toFixed(2);
  console.log(`| paid call, no-op chain and hub, ${CONNECTIONS} at once | ${rate} | ${cpu} ms |`);
});
