import { decodePaymentRequiredHeader } from '@x402/core/http';
import { getAddress } from 'viem';
import { beforeAll, describe, expect, it } from 'vitest';
import type { NetworkName } from '../../schema/network.ts';
import { audit } from '../harness/faults/audit.ts';
import {
  type Answer,
  answerTo,
  harmless,
  jwsOf,
  nameOf,
  newBuyer,
  type Sendable,
  send,
  submitElsewhere,
  trySend,
} from '../harness/faults/buyer.ts';
import { claimOf } from '../harness/faults/claims.ts';
import { eventually, type Ground, openGround, untilReached } from '../harness/faults/ground.ts';
import { newSolanaBuyer } from '../harness/solana/orders.ts';

/*
 * The next start has another treasury. Purchases that were paid to the former one are delivered, and no further payment to it is accepted.
 */

let ground: Ground;
let environment: Readonly<Record<string, string>>;
let buyers: Readonly<Record<NetworkName, { chat(content: string): Promise<Sendable> }>>;
beforeAll(async () => {
  ground = await openGround({ solana: true });
  const PAY_TO_SOLANA = (await ground.solana?.svm.newTreasury()) ?? '';
  environment = { PAY_TO_BASE: getAddress(`0x${'ab'.repeat(20)}`), PAY_TO_SOLANA };
  buyers = { base: await newBuyer(ground), solana: await newSolanaBuyer(ground) };
});

const words: readonly (readonly [NetworkName, string])[] = [
  ['base', 'invalid_exact_evm_recipient_mismatch'],
  ['solana', 'invalid_exact_svm_payload_recipient_mismatch'],
];

function wordOf({ status, headers }: Answer) {
  return [status, decodePaymentRequiredHeader(headers.get('PAYMENT-REQUIRED') ?? '').error];
}

describe.each(words)('a service that is paid elsewhere on %s now', (network, word) => {
  it('delivers again what was paid for, and claims nothing that was not', async () => {
    const [order, unpaid] = [await buyers[network].chat('again'), await buyers[network].chat('never')];
    const before = await ground.start();
    const first = await answerTo(before, order);
    expect(first.status).toBe(200);
    await before.stop();
    const charged = await audit(ground);
    const after = await ground.start({ environment });
    const again = await send(after, order);
    expect([again.status, jwsOf(again)]).toEqual([200, jwsOf(first)]);
    expect(nameOf(await send(after, { ...order, body: unpaid.body }))).toBe('409 claim_already_settled');
    expect(wordOf(await send(after, unpaid))).toEqual([402, word]);
    expect(await claimOf(ground, unpaid)).toBeNull();
    expect(await audit(ground)).toBe(charged);
    await after.stop();
  });

  it('finishes what was sent by a process that died, and asks nobody to pay again', async () => {
    const charged = await audit(ground);
    const dying = await ground.startDying({ plan: { point: 'after_broadcast' } });
    const order = await buyers[network].chat('late');
    const lost = trySend(dying, order);
    await untilReached(dying, 'after_broadcast');
    await dying.endLease();
    expect(await lost).toBeNull();
    const after = await ground.start({ environment });
    await eventually('an answer', async () => {
      const answer = await send(after, order);
      expect(harmless).toContain(nameOf(answer));
      return answer.status === 200 || null;
    });
    expect(await audit(ground)).toBe(charged + 1);
    await after.stop();
  });
});

it('counts nothing as paid that others have moved to another payee', async () => {
  const moved = await (await newBuyer(ground)).chat('moved by a stranger');
  await submitElsewhere(ground, moved);
  const after = await ground.start({ environment });
  expect(wordOf(await send(after, moved))).toEqual([402, 'invalid_exact_evm_recipient_mismatch']);
  expect(await claimOf(ground, moved)).toBeNull();
  await after.stop();
});
