import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';
import { startGate } from '../../harness/doors/gate.ts';
import { startCluster } from '../../harness/faults/cluster.ts';
import { eventually, type Ground, openGround } from '../../harness/faults/ground.ts';
import { parseExposition } from '../../harness/operations/exposition.ts';
import { productionEnvironment } from '../../harness/operations/production-environment.ts';
import { ownFolder } from '../../harness/scratch.ts';
import type { RunningService } from '../../harness/worker-gateway.ts';

const METRICS_TOKEN = `metrics-${randomBytes(16).toString('hex')}`;
const production = productionEnvironment();

let cluster: Awaited<ReturnType<typeof startCluster>>;
let ground: Ground;
let base: Awaited<ReturnType<typeof startGate>>;
let gateway: RunningService;

beforeAll(async () => {
  cluster = await startCluster();
  ground = await openGround({ database_url: cluster.url });
  base = await startGate(ground.chain.rpc_url);
  gateway = await ground.start({ environment: { BASE_RPC_URL: base.url, METRICS_TOKEN } });
});

const get = (path: string, headers: Record<string, string> = {}) => fetch(gateway.url + path, { headers });

/** The names that /readyz gives at last: none where it is ready. */
function lacks(expected: readonly string[]): Promise<void> {
  return expect
    .poll(async () => {
      const answer = await get('/readyz');
      const { away = [], ...told } = (await answer.json()) as { away?: string[]; code?: string };
      expect([answer.status, told.code]).toEqual(away.length > 0 ? [503, 'unavailable'] : [200, undefined]);
      return away;
    })
    .toEqual(expected);
}

/** The process answers, whatever it lacks. */
async function lives(): Promise<void> {
  expect(await (await get('/livez', { 'X-SVC-Session': 'svcs_unknown' })).json()).toEqual({ status: 'ok' });
}

const linesAt = (level: number) => gateway.logs.filter(line => line.includes(`"level":${level},`));

async function scraped() {
  const answer = await get('/metrics', { authorization: `Bearer ${METRICS_TOKEN}` });
  expect(answer.status).toBe(200);
  return parseExposition(await answer.text()).samples;
}

describe('GET /readyz', () => {
  it('200 while paid calls can be taken', () => lacks([]));

  it('503 base while the chain cannot be reached; /livez stays 200', async () => {
    base.cut();
    await lacks(['base']);
    await lives();
    expect((await scraped()).get('svc_away{need="base"}')).toBe(1);
    // What is away is no error of the process; each round says so, and asks again.
    await eventually('a round to fail', () => linesAt(40).some(line => /round of reconcile failed/.test(line)) || null);
    expect(linesAt(50)).toEqual([]);
    base.open();
    await lacks([]);
  });

  it('503 database and lease while nothing can be written; metrics are served without what only it knows', async () => {
    await cluster.readOnly(true);
    await lacks(['database', 'lease']);
    await lives();
    await cluster.readOnly(false);
    await lacks([]);
    await cluster.stopAtOnce();
    await lacks(['database', 'lease']);
    await lives();
    const samples = await scraped();
    expect([...samples.keys()].filter(key => /^svc_(log_leaves|open_claims)/.test(key))).toEqual([]);
    expect(samples.get('svc_away{need="database"}')).toBe(1);
    await cluster.start();
    await lacks([]);
    expect(await eventually('read again', async () => (await scraped()).get('svc_log_leaves') ?? null)).toBe(0);
  });
});

describe('GET /metrics', () => {
  it('404 as of any path that is not there, without the token or with another', async () => {
    const nowhere = await (await get('/nowhere')).text();
    for (const authorization of ['', 'Bearer', `Bearer ${METRICS_TOKEN}x`, `Basic ${METRICS_TOKEN}`, METRICS_TOKEN]) {
      const answer = await get('/metrics', { authorization });
      expect([answer.status, await answer.text()]).toEqual([404, nowhere]);
    }
    expect((await get(`/metrics?token=${METRICS_TOKEN}`)).status).toBe(404);
  });

  it('404 in production without METRICS_TOKEN, and 200 with it to whoever shows it', async () => {
    // Another service than the first one, so that it has a database of its own.
    const { url } = await freshDatabase();
    const environment = { ...production, DRAIN_MS: '0' };
    const silent = await ground.start({ url, data_dir: await ownFolder(), environment });
    expect(await (await fetch(`${silent.url}/health`)).json()).toMatchObject({ profile: 'production' });
    expect((await fetch(`${silent.url}/metrics`)).status).toBe(404);
    expect((await fetch(`${silent.url}/metrics`, { headers: { authorization: 'Bearer ' } })).status).toBe(404);
    await silent.stop();
  });
});
