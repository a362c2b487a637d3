import { generateKeyPairSync } from 'node:crypto';
import { getBase58Decoder } from '@solana/kit';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import { beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../../harness/faults/audit.ts';
import { answerTo, jwsOf, send, trySend } from '../../../harness/faults/buyer.ts';
import { type Ground, openGround } from '../../../harness/faults/ground.ts';
import { newSolanaBuyer } from '../../../harness/solana/orders.ts';
import type { RunningService } from '../../../harness/worker-gateway.ts';

/* Who pays the fees is another at the next start, or not known: what was paid before is delivered all the same. */

let ground: Ground;
let buyer: Awaited<ReturnType<typeof newSolanaBuyer>>;
beforeAll(async () => {
  ground = await openGround({ solana: true });
  buyer = await newSolanaBuyer(ground);
});

/** Base58 of seed and public key. */
function newKey(): string {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32);
  const address = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  return getBase58Decoder().decode(Buffer.concat([seed, address]));
}

const NOBODY = 'http://127.0.0.1:9';
const others: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['another key', { SOLANA_FEE_PAYER_KEY: newKey() }],
  ['a facilitator that is away', { FACILITATOR_URL: NOBODY, FACILITATOR_KEYS: '', SOLANA_FEE_PAYER_KEY: '' }],
];

async function offered(gateway: RunningService): Promise<readonly string[]> {
  const { headers } = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST' });
  return decodePaymentRequiredHeader(headers.get('PAYMENT-REQUIRED') ?? '').accepts.map(({ network }) => network);
}

describe.each(others)('a service whose payer of fees is now %s', (name, environment) => {
  it('delivers again what was paid for, and refuses what was not', async () => {
    const [order, unpaid] = [await buyer.chat(`${name} again`), await buyer.chat(`${name} never`)];
    const before = await ground.start();
    const first = await send(before, order);
    expect(first.status).toBe(200);
    await before.stop();
    const charged = await audit(ground);
    const after = await ground.start({ environment });
    expect((await offered(after)).some(network => network.startsWith('solana:'))).toBe(name === 'another key');
    const again = await send(after, order);
    expect([again.status, jwsOf(again)]).toEqual([200, jwsOf(first)]);
    expect((await send(after, unpaid)).status).toBe(402);
    expect(await audit(ground)).toBe(charged);
    await after.stop();
  });

  it('finishes what was sent by a process that died, and asks nobody to pay again', async () => {
    const charged = await audit(ground);
    const dying = await ground.startDying({ plan: { point: 'after_broadcast' } });
    const order = await buyer.chat(`${name} late`);
    const lost = trySend(dying, order);
    await dying.died;
    expect(await lost).toBeNull();
    await dying.endLease();
    const after = await ground.start({ environment });
    expect((await answerTo(after, order)).status).toBe(200);
    expect(await audit(ground)).toBe(charged + 1);
    await after.stop();
  });
});
