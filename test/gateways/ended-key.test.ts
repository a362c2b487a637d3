import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { audit } from '../harness/faults/audit.ts';
import { answerTo, nameOf, newBuyer, send } from '../harness/faults/buyer.ts';
import { claimOf, untilAllClosed } from '../harness/faults/claims.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';
import { revokeKeyBy } from '../harness/faults/revoke.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/* A signing key ends while calls are in progress at a process that has no other key. Another process serves with the key that is valid. */

const [OLD, NEW] = Array.from({ length: 2 }, () => randomBytes(32).toString('hex')) as [string, string];

let ground: Ground;
let stale: RunningService;
let fresh: RunningService;
let buyer: Awaited<ReturnType<typeof newBuyer>>;
const by = (...issuer_keys: string[]) => ({ environment: { ISSUER_KEYS: issuer_keys.join(',') } });

beforeAll(async () => {
  ground = await openGround();
  stale = await ground.startProcess(by(OLD));
  fresh = await ground.start(by(NEW, OLD));
  buyer = await newBuyer(ground);
});

describe('a key that ends while a call is under way', () => {
  it('takes no money for what it could give no receipt for, and the same payment buys at another process', async () => {
    const before = await audit(ground);
    const known = Promise.withResolvers<void>();
    ground.hub.behave({ kind: 'answer', until: known.promise });
    const order = await buyer.chat('answered once the key has ended');
    const answering = send(stale, order);
    await eventually('the hub to be asked', () => ground.hub.requests.length > 0 || null);
    const jwks = (await (await fetch(`${stale.url}/.well-known/jwks.json`)).json()) as { keys: JsonObject[] };
    const kid = String(jwks.keys.findLast(({ alg }) => alg === 'ES256')?.kid);
    expect(await revokeKeyBy(ground, `${NEW},${OLD}`, kid, 'it leaked')).toContain(`Revoked: ${kid}`);
    await eventually(
      'the process to know',
      () => stale.logs.some(line => /was revoked; no more payments are accepted/.test(line)) || null,
    );
    known.resolve();

    const answer = await answering;
    expect([nameOf(answer), answer.body.charged]).toEqual(['503 unavailable', false]);
    expect(await claimOf(ground, order)).toMatchObject({ state: 'released' });
    expect(await ground.chain.transfers(ground.pay_to)).toHaveLength(before);

    expect((await answerTo(fresh, order)).status).toBe(200);
    await untilAllClosed(ground);
    expect(await audit(ground)).toBe(before + 1);
  });

  it('was told beforehand: a process whose key gave way says until when it takes payments', () => {
    expect(stale.logs.some(line => /was replaced; this process accepts payments until/.test(line))).toBe(true);
  });
});
