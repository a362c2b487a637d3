import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { verifyReceipt } from '../../subgraphs/receipt/verify/receipt.ts';
import { audit } from '../harness/faults/audit.ts';
import { newBuyer, send } from '../harness/faults/buyer.ts';
import { untilAllClosed } from '../harness/faults/claims.ts';
import { openGround } from '../harness/faults/ground.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/* Two gateways on one database change their seed one after the other. test/world/gateways/rotation.test.ts does this under load. */

type Svc = JsonObject & { readonly issuer_signature: { readonly kid: string } };

const [OLD, NEW] = Array.from({ length: 2 }, () => randomBytes(32).toString('hex')) as [string, string];
const by = (...issuer_keys: string[]) => ({ environment: { ISSUER_KEYS: issuer_keys.join(',') } });

it('a new seed in ISSUER_KEYS takes the place of the old one: at each step all receipts verify by the keys of both', async () => {
  const ground = await openGround();
  const buyer = await newBuyer(ground);
  const gateways: RunningService[] = [await ground.start(by(OLD)), await ground.start(by(OLD))];
  const receipts: Svc[] = [];
  const buyAtEach = async () => {
    for (const gateway of gateways) {
      const answer = await send(gateway, await buyer.chat(`call ${receipts.length}`));
      expect(answer.status).toBe(200);
      receipts.push(answer.body.svc as Svc);
    }
    for (const { url } of gateways) {
      const jwks = (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as JsonObject;
      for (const svc of receipts) expect(verifyReceipt(svc, jwks)).toMatchObject({ kind: 'valid' });
    }
  };
  await buyAtEach();
  for (const index of [1, 0]) {
    await gateways[index]?.stop();
    gateways[index] = await ground.start(by(NEW, OLD));
    await buyAtEach();
  }
  const kids = receipts.map(({ issuer_signature }) => issuer_signature.kid);
  const [old, fresh] = [kids.at(0), kids.at(-1)];
  expect(old).not.toBe(fresh);
  expect(kids).toEqual([old, old, old, fresh, fresh, fresh]);
  await untilAllClosed(ground);
  expect(await audit(ground)).toBe(receipts.length);
});
