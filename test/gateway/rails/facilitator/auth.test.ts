import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  auditArrivals,
  type FacilitatorService,
  openFacilitatorService,
  settledAnswerTo,
} from '../../../harness/facilitator/open-service.ts';
import { type FacilitatorVisit, honest } from '../../../harness/facilitator.ts';
import { nameOf, newBuyer, type Order, send } from '../../../harness/faults/buyer.ts';
import type { RunningService } from '../../../harness/worker-gateway.ts';

/* A facilitator that requires authentication, and checks it. */

const TOKEN = `a-token-${randomBytes(16).toString('hex')}`;
const KEY_ID = 'organizations/one/apiKeys/two';

let service: FacilitatorService;
beforeAll(async () => {
  service = await openFacilitatorService();
});
afterAll(async () => {
  service.facilitator.demand(() => null);
  await auditArrivals(service);
});

/** An order from a new wallet, so that its transfers can be counted. */
async function order(prompt: string): Promise<Order> {
  return (await newBuyer(service.ground)).chat(prompt);
}

const readiness = async ({ url }: RunningService) => {
  const answer = await fetch(`${url}/readyz`);
  return { status: answer.status, body: await answer.json() };
};

describe('FACILITATOR_AUTH=bearer:<token>', () => {
  let gateway: RunningService;
  const knows = ({ authorization }: FacilitatorVisit) => (authorization === `Bearer ${TOKEN}` ? null : 401);
  beforeAll(async () => {
    gateway = await service.start({ FACILITATOR_AUTH: `bearer:${TOKEN}` });
  });

  it('verify, settle and supported each show it, and the payment is settled', async () => {
    const asked = new Set<string>();
    service.facilitator.demand(knocking => {
      asked.add(`${knocking.method} ${knocking.path}`);
      return knows(knocking);
    });
    const paid = await order('By token');
    expect((await send(gateway, paid)).status).toBe(200);
    await expect
      .poll(async () => (await readiness(gateway)).status === 200 && [...asked].sort())
      .toEqual(['GET /supported', 'POST /settle', 'POST /verify']);
    expect(await service.transfersOf(paid)).toHaveLength(1);
  });

  it.each([401, 403])(
    '503 facilitator_unavailable, uncharged, where it answers %s to /verify; then the same payment is charged once',
    async status => {
      service.facilitator.demand(() => status);
      const paid = await order(`Turned away with ${status}`);
      const refused = await send(gateway, paid);
      expect(nameOf(refused)).toBe('503 facilitator_unavailable');
      expect(refused.body).toMatchObject({ charged: false });
      expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(service.timesAsked(paid)).toBe(0);
      expect(gateway.logs.join('\n')).toContain(`refused our credentials (HTTP ${status}): FACILITATOR_AUTH`);
      service.facilitator.demand(knows);
      expect((await send(gateway, paid)).status).toBe(200);
      expect(await service.transfersOf(paid)).toHaveLength(1);
    },
  );

  it('503 settlement_pending where it answers 401 to /settle alone: it may have sent it; the same payment is charged once', async () => {
    service.facilitator.demand(knocking => (knocking.path === '/settle' ? 401 : knows(knocking)));
    const paid = await order('Turned away in the midst of it');
    const gateway = await service.startPollingFast({ FACILITATOR_AUTH: `bearer:${TOKEN}` });
    const refused = await send(gateway, paid);
    expect(nameOf(refused)).toBe('503 settlement_pending');
    expect(refused.body.charged).not.toBe(false);
    expect(await service.transfersOf(paid)).toEqual([]);
    service.facilitator.demand(knows);
    expect((await settledAnswerTo(gateway, paid)).status).toBe(200);
    expect(await service.transfersOf(paid)).toHaveLength(1);
  });

  it('200 where it settles and says 401: the chain decides', async () => {
    service.facilitator.demand(knows);
    service.facilitator.behave({ settles: true, reply: { kind: 'status', status: 401 } });
    const paid = await order('Settled by who does not know us');
    expect((await send(gateway, paid)).status).toBe(200);
    expect(await service.transfersOf(paid)).toHaveLength(1);
    service.facilitator.behave(honest);
  });

  it('/readyz names it while it turns us away from /supported', async () => {
    service.facilitator.demand(() => 401);
    await expect.poll(() => readiness(gateway)).toMatchObject({ status: 503, body: { away: ['facilitator'] } });
    service.facilitator.demand(knows);
    await expect.poll(() => readiness(gateway)).toMatchObject({ status: 200 });
  });

  it('the token stands nowhere in the log, though it was said back to us', () => {
    expect(gateway.logs.join('\n')).not.toContain(TOKEN);
  });
});

describe.each(['ES256', 'EdDSA'] as const)('FACILITATOR_AUTH=cdp:<key id>:<secret>, which signs by %s', alg => {
  it('a token for each request, good for that one alone and for 120 seconds; its secret is in no log', async () => {
    const { secret, public_key } = newKey(alg);
    const gateway = await service.start({ FACILITATOR_AUTH: `cdp:${KEY_ID}:${secret}` });
    const nonces: unknown[] = [];
    const asked = new Set<string>();
    service.facilitator.demand(async ({ method, place, path, authorization }) => {
      try {
        const token = authorization?.match(/^Bearer (\S+)$/)?.[1] ?? '';
        const named = { algorithms: [alg], issuer: 'cdp', subject: KEY_ID, audience: 'cdp_service' };
        const { payload, protectedHeader } = await jwtVerify(token, public_key, named);
        expect(payload).toMatchObject({ uri: `${method} ${place}`, uris: [`${method} ${place}`] });
        expect(Number(payload.exp) - Number(payload.nbf)).toBe(120);
        expect(protectedHeader).toMatchObject({
          kid: KEY_ID,
          typ: 'JWT',
          nonce: expect.stringMatching(/^[0-9a-f]{32}$/),
        });
        nonces.push(protectedHeader.nonce);
        asked.add(path);
        return null;
      } catch {
        return 401;
      }
    });
    const paid = await order(`Signed by ${alg}`);
    expect((await send(gateway, paid)).status).toBe(200);
    await expect
      .poll(async () => (await readiness(gateway)).status === 200 && [...asked].sort())
      .toEqual(['/settle', '/supported', '/verify']);
    expect(new Set(nonces).size).toBe(nonces.length);
    service.facilitator.demand(() => 401);
    expect(nameOf(await send(gateway, await order(`Unknown by ${alg}`)))).toBe('503 facilitator_unavailable');
    const log = gateway.logs.join('\n');
    expect(log).toContain('refused our credentials (HTTP 401)');
    expect(log).not.toMatch(/eyJ[\w-]+\.eyJ/);
    for (const line of secret.split('\\n').filter(part => part.length > 16)) expect(log).not.toContain(line);
  });
});

/** A key as CDP issues it: PEM with escaped newlines, or seed and public key in base64. */
function newKey(alg: 'ES256' | 'EdDSA'): { secret: string; public_key: KeyObject } {
  if (alg === 'ES256') {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = privateKey.export({ format: 'pem', type: 'sec1' }).toString();
    return { secret: pem.replaceAll('\n', '\\n'), public_key: publicKey };
  }
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const { d = '', x = '' } = privateKey.export({ format: 'jwk' });
  const bytes = [d, x].map(part => Buffer.from(part, 'base64url'));
  return { secret: Buffer.concat(bytes).toString('base64'), public_key: publicKey };
}
