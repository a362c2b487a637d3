import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { verifyReceiptAudit } from '../../../subgraphs/receipt/verify/audit.ts';
import { verifyReceipt } from '../../../subgraphs/receipt/verify/receipt.ts';
import { audit } from '../../harness/faults/audit.ts';
import { answerTo, nameOf, newBuyer, type Order, send } from '../../harness/faults/buyer.ts';
import { untilAllClosed } from '../../harness/faults/claims.ts';
import { eventually, type Ground, openGround } from '../../harness/faults/ground.ts';
import { refusalOf } from '../../harness/faults/operator.ts';
import { revokeKeyBy } from '../../harness/faults/revoke.ts';
import { ROOT } from '../../harness/root.ts';
import type { RunningService } from '../../harness/worker-gateway.ts';

/*
 * Two processes change their seed under load, one after the other, like behind a load balancer that stops sending to each before it is
 * stopped. Then the new key leaks, a third one replaces it, and the leaked one is revoked while a process still signs with it.
 */

const seeds = Array.from({ length: 3 }, () => randomBytes(32).toString('hex')) as [string, string, string];
const [OLD, NEW, NEWEST] = seeds;
const AT_ONCE = 4;
/** Maximum number of calls for each caller. The load ends earlier if the restarts do. */
const CALLS_MAX = 400;

const run = promisify(execFile);

let ground: Ground;
let gateways: RunningService[];
let buyers: readonly Awaited<ReturnType<typeof newBuyer>>[];
const by = (...issuer_keys: string[]) => ({ environment: { ISSUER_KEYS: issuer_keys.join(',') } });

beforeAll(async () => {
  ground = await openGround();
  gateways = [await ground.startProcess(by(OLD)), await ground.startProcess(by(OLD))];
  buyers = await Promise.all(Array.from({ length: AT_ONCE }, () => newBuyer(ground)));
});

const read = async ({ url }: RunningService, path: string) => (await fetch(url + path)).json() as Promise<JsonObject>;
const jwksOf = (gateway: RunningService) => read(gateway, '/.well-known/jwks.json');
const auditAt = (gateway: RunningService, { task_id }: Svc) => read(gateway, `/receipt/${task_id}?format=auditor`);

type Svc = JsonObject & {
  readonly task_id: string;
  readonly issuer_signature: { readonly kid: string };
};
const svcOf = ({ body }: { readonly body: JsonObject }) => body.svc as Svc;
const kidOf = ({ issuer_signature }: Svc) => issuer_signature.kid;

/** Number of calls in progress at each process, which a load balancer lets it complete before it is stopped. */
const under_way = new Map<RunningService, number>();

async function through<T>(number: number, call: (at: RunningService) => Promise<T>): Promise<T> {
  const at = gateways[number % gateways.length] as RunningService;
  const count = (by: number) => under_way.set(at, (under_way.get(at) ?? 0) + by);
  count(1);
  try {
    return await call(at);
  } finally {
    count(-1);
  }
}

/** Restarts one of the processes that get calls. It gets none from before its stop until it serves with its new seeds. */
async function restart(index: number, ...issuer_keys: string[]): Promise<void> {
  const [stopped] = gateways.splice(index, 1) as [RunningService];
  await eventually('its calls to end', () => (under_way.get(stopped) ?? 0) === 0 || null);
  await stopped.stop();
  gateways.splice(index, 0, await ground.startProcess(by(...issuer_keys)));
}

interface Load {
  readonly heard: string[];
  readonly receipts: Svc[];
}

/** Makes calls one after the other, each at the next process, until `until` returns true. No call is sent twice. */
async function callOn({ chat }: (typeof buyers)[number], until: () => boolean, load: Load): Promise<void> {
  for (let number = 0; number < CALLS_MAX && !until(); number++) {
    const order = await chat(`under load ${number}`);
    const { url, answer } = await through(number, async at => ({ url: at.url, answer: await send(at, order) }));
    load.heard.push(nameOf(answer));
    const svc = svcOf(answer);
    load.receipts.push(svc);
    // The holder of a receipt may request the key from any process at once.
    const verified = verifyReceipt(svc, await through(number + 1, jwksOf), { base_url: url });
    if (verified.kind === 'invalid') load.heard.push(`${verified.code} by the keys of another process`);
    const checkpoint = await through(number + 1, async ({ url }) => (await fetch(`${url}/log/checkpoint`)).status);
    if (checkpoint !== 200) load.heard.push(`checkpoint ${checkpoint}`);
  }
}

const load: Load = { heard: [], receipts: [] };

describe('a new seed in ISSUER_KEYS, under load', () => {
  it('takes the place of the old one process by process: no call fails, and each receipt verifies at once', async () => {
    const before = await audit(ground);
    let done = false;
    const callers = buyers.map(buyer => callOn(buyer, () => done, load));
    await restart(1, NEW, OLD);
    await restart(0, NEW, OLD);
    const fresh = svcOf(await answerTo(gateways[0] as RunningService, await lastOrder()));
    done = true;
    await Promise.all(callers);

    expect(load.heard.filter(name => name !== '200')).toEqual([]);
    const kids = [...new Set(load.receipts.map(kidOf))];
    expect(kids).toHaveLength(2);
    expect(kids).toContain(kidOf(fresh));
    await untilAllClosed(ground);
    expect(await audit(ground)).toBe(before + load.receipts.length + 1);
  });

  it('leaves what either key has signed verifying, also where both signed side by side', async () => {
    const jwks = await jwksOf(gateways[1] as RunningService);
    for (const svc of load.receipts) expect(verifyReceipt(svc, jwks)).toMatchObject({ kind: 'valid' });
    const times = (jwks.keys as readonly JsonObject[]).map(({ nbf, exp }) => [typeof nbf, typeof exp]);
    expect(times).toEqual([...Array(3).fill(['number', 'undefined']), ...Array(3).fill(['undefined', 'number'])]);
    for (const kid of new Set(load.receipts.map(kidOf))) {
      const last = load.receipts.findLast(svc => kidOf(svc) === kid) as Svc;
      const shown = await auditAt(gateways[0] as RunningService, last);
      expect(verifyReceiptAudit(shown, jwks)).toMatchObject({ kind: 'valid' });
    }
  });
});

const lastOrder = (): Promise<Order> => (buyers[0] as (typeof buyers)[number]).chat('and one more');

describe('a key that leaked', () => {
  let leaked: Svc;
  let kid: string;

  it('is not revoked while it is the newest', async () => {
    leaked = svcOf(await answerTo(gateways[0] as RunningService, await lastOrder()));
    kid = kidOf(leaked);
    expect(await revokeKeyBy(ground, `${NEW},${OLD}`, kid, 'it leaked')).toContain('that key still signs');
    expect(await revokeKeyBy(ground, `${NEW},${OLD}`, kid)).toContain('usage: npm run revoke-key');
  });

  it('once revoked signs no more: a process that has nothing else takes no payments, and others go on', async () => {
    await restart(1, NEWEST, NEW);
    const [stale, fresh] = gateways as [RunningService, RunningService];
    expect((await answerTo(stale, await lastOrder())).status).toBe(200);
    expect(await revokeKeyBy(ground, `${NEWEST},${NEW}`, kid, 'it leaked')).toContain(`Revoked: ${kid}`);

    await eventually('the stale process says so', () => stale.logs.some(line => line.includes('was revoked')) || null);
    const order = await lastOrder();
    const refused = await send(stale, order);
    expect(refused.status).toBe(503);
    const answer = await answerTo(fresh, order);
    expect([answer.status, kidOf(svcOf(answer)) === kid]).toEqual([200, false]);
    const named = (await read(stale, '/.well-known/revocations')).keys as readonly JsonObject[];
    expect(named.filter(({ status }) => status === 'revoked').map(each => each.reason)).toEqual(
      Array(3).fill('it leaked'),
    );
    await untilAllClosed(ground);
    await audit(ground);
  });

  it('is refused at a start, and its receipts are judged by the log', async () => {
    const [stale, fresh] = gateways as [RunningService, RunningService];
    await stale.stop();
    expect(await refusalOf(ground, by(NEW))).toContain(`${kid}, was revoked at`);
    const verify = (path: string) =>
      run('npm', ['run', '-s', 'verify', '--', `${fresh.url}/receipt/${leaked.task_id}${path}`], { cwd: ROOT })
        .then(({ stdout }) => stdout)
        .catch(({ stdout }: { stdout: string }) => stdout);
    expect(await verify('?format=auditor')).toContain('the receipt was in the log before the revocation');
    const jwks = `${fresh.url}/.well-known/jwks.json`;
    const bare = verifyReceipt(leaked, (await (await fetch(jwks)).json()) as JsonObject);
    expect(bare).toMatchObject({ kind: 'invalid', code: 'key_revoked' });
  });
});
